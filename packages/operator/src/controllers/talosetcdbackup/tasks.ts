import { byteSize } from "@talos-operator/api";
import type { BackupRun, ClusterRecord, TalosEtcdBackup } from "@talos-operator/api";
import { manifestKeyOf } from "@talos-operator/backup";
import type { BackupTask, KnownBackup, StoreKeys, TaskSecrets } from "@talos-operator/backup";
import { printSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import type { ReaderCredentials } from "../../looking/connections.ts";
import type { BackupSources } from "../../assess/backup-sources.ts";
import { taskTimeoutMs } from "./run.ts";
import { placeOf } from "./place.ts";
import { slotOf } from "./slot.ts";

/** The most that etcd itself allows. Bytes. */
const LARGEST = 8 * 2 ** 30;

/** What was read for a run, live. In memory only, and handed to the worker alone. */
export interface RunInput {
  /** Absent: the cluster and its keys are gone, and what it stored is known by the status alone. Never for `take`. */
  readonly bundle?: SecretsBundle;
  readonly store: StoreKeys | undefined;
  /** `os:etcd:backup`; for `take`. */
  readonly credentials?: ReaderCredentials;
  readonly identity?: string;
  /** For `take` with recipients. Absent: its import is pending. */
  readonly record?: ClusterRecord;
  readonly sources?: BackupSources;
  /** Takes of this cluster that go on, by their slot and try; for `take`. */
  readonly running?: readonly RunningTake[];
}

/** A take that goes on: its open uploads have an owner. */
export interface RunningTake {
  readonly slot: string;
  readonly attempt: string;
}

/** Takes of the cluster of `backup` that go on beside its own. Of an object that is away, or knows no run any more, none does. */
export function otherTakes({ metadata, status }: TalosEtcdBackup, all: readonly TalosEtcdBackup[]): readonly RunningTake[] {
  return all.flatMap((other) => {
    const { run, controlPlane } = other.status ?? {};
    const isOther =
      other.metadata.namespace === metadata.namespace && other.metadata.uid !== metadata.uid && controlPlane === status?.controlPlane;
    return isOther && run?.task === "take" ? [{ slot: slotOf(other), attempt: run.attempt }] : [];
  });
}

/** The task of a run, or why there is none: its source is not what it was when the run was decided on. */
export function taskOf(backup: TalosEtcdBackup, run: BackupRun, input: RunInput, mayBePlain: boolean): BackupTask | undefined {
  const { spec, status, metadata } = backup;
  const common = {
    owner: { namespace: metadata.namespace ?? "", controlPlane: status?.controlPlane ?? "", clusterId: status?.clusterId ?? "" },
    place: placeOf(spec.backupStorage, mayBePlain),
    timeoutMs: taskTimeoutMs(backup, run.task),
  };
  const slot = slotOf(backup);
  const known = knownOf(backup);
  if (run.task === "remove") return { ...common, kind: "remove", slots: [slot], ...(known === undefined ? {} : { known }) };
  if (run.task === "prove") return { ...common, kind: "prove", slot, drill: "restore", ...(known === undefined ? {} : { known }) };
  const voter = input.sources?.voters.find(({ machine, memberId }) => machine === run.source?.machine && memberId === run.source.memberId);
  if (voter === undefined || input.sources === undefined) return undefined;
  const { talosVersion, kubernetesVersion } = input.sources;
  return {
    ...common,
    kind: "take",
    slot,
    attempt: run.attempt,
    source: { address: voter.address, memberId: voter.memberId, machine: voter.machine },
    recipients: spec.encryption?.recipients ?? [],
    ...(talosVersion === "" ? {} : { talosVersion }),
    ...(kubernetesVersion === "" ? {} : { kubernetesVersion }),
    maxBytes: spec.maxSize === undefined ? LARGEST : (byteSize(spec.maxSize) ?? LARGEST),
    drill: "restore",
    ...(input.running === undefined ? {} : { running: [{ slot, attempt: run.attempt }, ...input.running] }),
  };
}

/** What the status says of the bytes that are stored; `undefined` where it leaves something out. */
export function knownOf({ status }: TalosEtcdBackup): KnownBackup | undefined {
  const { filename: object, size, sha256, storedSize, storedSha256 } = status ?? {};
  if (object === undefined || size === undefined || sha256 === undefined || storedSize === undefined || storedSha256 === undefined)
    return undefined;
  return { object, size, sha256, storedSize, storedSha256 };
}

/** The secrets that belong to a task. */
export function secretsOf({ spec }: TalosEtcdBackup, run: BackupRun, input: RunInput): TaskSecrets {
  const { bundle, store, credentials, identity, record } = input;
  const hasRecipients = (spec.encryption?.recipients ?? []).length > 0;
  return {
    ...(bundle === undefined ? {} : { manifestKey: manifestKeyOf(bundle) }),
    ...(store === undefined ? {} : { store }),
    ...(credentials === undefined ? {} : { talos: { ca: credentials.ca, certificate: credentials.certificate, key: credentials.key } }),
    ...(identity === undefined || run.task !== "prove" ? {} : { identity }),
    ...(run.task !== "take" || !hasRecipients || bundle === undefined
      ? {}
      : {
          clusterKeys: {
            bundle: printSecretsBundle(bundle),
            ...(record === undefined ? {} : { record: JSON.stringify(withoutManagedFields(record)) }),
          },
        }),
  };
}

/** What a person needs of a record to make it anew. */
function withoutManagedFields({ apiVersion, kind, metadata, spec }: ClusterRecord): object {
  const { namespace, name, labels, annotations } = metadata;
  return { apiVersion, kind, metadata: { namespace, name, labels, annotations }, spec };
}
