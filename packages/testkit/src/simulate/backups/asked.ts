import type { ClusterRecord, TalosEtcdBackup } from "@talos-operator/api";
import { isConditionTrue } from "@talos-operator/api";
import type { BackupFacts } from "@talos-operator/backup";
import type { BackupRunner, BackupRunRequest } from "@talos-operator/operator";
import type { JudgedCluster } from "../backup-rules.ts";
import { eventType, type KubeObject } from "@talos-operator/kube-runtime";
import type { Life } from "../life.ts";
import { NAMESPACE } from "../scenario.ts";
import type { ObjectView } from "../object-view.ts";
import { createBackupObjectRules } from "./object-rules.ts";
import { createRunJobs } from "./run-jobs.ts";
import { decodeWith, type StandInInput, type StoredBackup } from "./stand-in.ts";

/** A recipient that validation takes, and the identity that the simulated codec finds for it. */
export const KEEPER = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
const IDENTITY = `AGE-SECRET-KEY-1${KEEPER.slice(4).toUpperCase()}`;

/** What is told of an object whose backup goes. */
const GONE = /^(\S+) (was removed from the store\.|stays in the store: the bucket keeps its bytes)/;

/** Backups that controllers decide about. */
export interface AskedOfControllers {
  runnerFor(life: Life): BackupRunner;
  /** Those that are called good, and are there. */
  backups(): readonly StoredBackup[];
  /** Somebody changed this backup in the store. */
  tampered(slot: string): void;
  /** No run is left, and the record holds no claim that counts. */
  isIdle(): boolean;
  /** What is not over yet, for people. */
  waitsFor(): readonly string[];
  judge(): Promise<void>;
}

export function createAskedOfControllers(
  input: Pick<StandInInput, "client" | "workers" | "rules" | "report" | "clock" | "trace"> & { readonly objects: ObjectView },
): AskedOfControllers {
  const { client, objects, workers, rules, report, clock, trace } = input;
  const changed = new Map<string, number>();
  const clusters = new Map<string, JudgedCluster>();

  const clusterOf = ({ task, secrets }: BackupRunRequest): JudgedCluster => ({
    owner: task.owner,
    manifestKey: secrets.manifestKey ?? "",
    prefix: task.place.prefix,
    decode: decodeWith(IDENTITY),
  });
  const objectRules = createBackupObjectRules({
    objects,
    report,
    now: () => clock.now(),
    changedAt: (slot) => changed.get(slot),
    onReady: ({ metadata, status }, facts) => {
      trace.add(`backup ${metadata.name} is Ready after ${status?.attempts ?? 0} tries`);
      judge(status?.clusterId, facts);
    },
  });
  const judge = (clusterId: string | undefined, facts: BackupFacts): void => {
    const cluster = clusters.get(clusterId ?? "");
    if (cluster === undefined) report("S25", `the backup ${facts.slot} is called good, and no run of its cluster ever began`);
    else if (!changed.has(facts.slot)) void rules.judgeReady(cluster, facts);
  };
  const jobs = createRunJobs({
    workers,
    clock,
    clusterOf: (run) => {
      const cluster = clusters.get(run.task.owner.clusterId) ?? clusterOf(run);
      clusters.set(run.task.owner.clusterId, cluster);
      return cluster;
    },
    onStart: (run, going) => objectRules.starts(run, going),
  });
  objects.onChange(() => objectRules.changed());
  const all = (): readonly TalosEtcdBackup[] => objects.all("talosetcdbackups") as unknown as readonly TalosEtcdBackup[];
  const stored = (): readonly StoredBackup[] =>
    all().flatMap(({ metadata, status }) => {
      const { slot, filename: object } = status ?? {};
      const isThere = metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, "Ready");
      return !isThere || slot === undefined || object === undefined ? [] : [{ slot, facts: { object }, isTampered: changed.has(slot) }];
    });
  return {
    runnerFor: (life) => jobs.runnerFor(life),
    backups: stored,
    tampered: (slot) => void changed.set(slot, clock.now()),
    isIdle: () => {
      // A write that arrives late leaves one behind, which nobody heeds after its deadline.
      const claims = (objects.all("clusterrecords") as unknown as readonly ClusterRecord[]).some(
        ({ spec }) => spec.snapshot !== undefined && clock.now() < Date.parse(spec.snapshot.deadline),
      );
      return jobs.names().length === 0 && !claims;
    },
    waitsFor: () => [
      ...(["talosetcdbackups", "talosetcdbackupschedules"] as const).flatMap((plural) =>
        objects.all(plural).map(({ metadata, status }) => {
          const proof = status?.conditions?.find(({ type }) => type === "Proved");
          return `${metadata?.name ?? ""}: ${objects.waitsFor(plural, metadata?.name ?? "")} (Proved ${proof?.reason ?? "-"})`;
        }),
      ),
      ...jobs.names().map((name) => `run ${name}`),
    ],
    async judge() {
      objectRules.changed();
      for (const cluster of clusters.values()) rules.judgeVersions(cluster);
      const { items } = await client.resource<KubeObject & { readonly note?: string }>(eventType).list({ namespace: NAMESPACE });
      for (const { note = "" } of items) {
        const [, object = "", what] = GONE.exec(note) ?? [];
        if (what !== undefined) rules.judgeGone(object, what === "was removed from the store.");
      }
    },
  };
}
