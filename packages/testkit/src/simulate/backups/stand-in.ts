import { createHash } from "node:crypto";
import type { BackupFacts, BackupTask, TakeTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import { manifestKeyOf } from "@talos-operator/backup";
import { simulatedCodec } from "@talos-operator/backup/testing";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, Keys, Timers } from "@talos-operator/ports";
import type { Datacenter, EtcdMember } from "@talos-operator/simulator";
import { parseSecretsBundle, signClientCertificate } from "@talos-operator/talos";
import type { BackupRules, JudgedCluster } from "../backup-rules.ts";
import type { Report } from "../violation.ts";
import { livingEtcd } from "../living-etcd.ts";
import { CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { secretType, type Secret } from "../../world/kinds.ts";
import { bundleKey } from "../troubles/input.ts";
import type { Trace } from "../trace.ts";
import type { Worker, Workers } from "./workers.ts";

export interface StandInInput {
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly workers: Workers;
  readonly rules: BackupRules;
  readonly trace: Trace;
  readonly report: Report;
  /** Whoever proves has nobody's identity: of what is encrypted the stored bytes alone can be compared. */
  readonly provesBlind: boolean;
}

/** A backup in the store, as far as somebody can change it there. */
export interface StoredBackup {
  readonly slot: string;
  /** Somebody changed it in the store. */
  readonly isTampered: boolean;
  /** Set once it is there. */
  readonly facts: Pick<BackupFacts, "object"> | undefined;
}

/** A backup that somebody asked for. */
export interface AskedBackup extends StoredBackup {
  readonly recipients: readonly string[];
  /** How often it was tried. */
  readonly tries: number;
  /** Set once it is there. */
  readonly facts: BackupFacts | undefined;
}

/**
 * Does what a manager does with workers, as simply as can be: gives a task again, with another attempt, until it has succeeded. It keeps its promises (one worker
 * a cluster at a time, each slot once), so whatever goes wrong beside them is the worker's.
 */
export interface StandIn {
  /** Asks for a backup; it is tried until it is there. */
  take(name: string, recipients?: readonly string[]): AskedBackup;
  /** The same slot once more, of a cluster that was made under the same name after this one. */
  takeAsSuccessor(slot: string): void;
  /** All that was asked for, in order. */
  backups(): readonly AskedBackup[];
  /** Has stored backups proved again; resolved by `isIdle`. */
  prove(slot: string): void;
  /** Somebody changed this backup in the store: from now on it must not be proved. */
  tampered(slot: string): void;
  /** Removes backups with their bytes. */
  remove(slots: readonly string[]): void;
  /** Nothing is left to do. */
  isIdle(): boolean;
  /** Judges every backup that is there. */
  judge(): Promise<void>;
}

/** An identity of the simulated codec, and its recipient. */
const IDENTITY = "AGE-SECRET-KEY-1SIMULATED";
export const RECIPIENT = "age1simulated";

const PREFIX = "backups";
const LOOK_MS = 1_000;
const TIMEOUT_MS = 10 * 60_000;
/** A worker that fell silent is given up so long after its time. */
const GRACE_MS = 60_000;
/** As much as etcd may hold: one that was full keeps half a gibibyte of content after its defragmentation. */
const MOST_BYTES = 8 * 2 ** 30;

/** What a worker says of a backup that is not as it was. */
const tamperedReasons: ReadonlySet<string> = new Set(["proof-failed", "backup-missing", "manifest-refused"]);

interface Known {
  readonly cluster: JudgedCluster;
  readonly secrets: TaskSecrets;
}

type Asked = { -readonly [K in keyof AskedBackup]: AskedBackup[K] } & { judged: JudgedCluster | undefined };

interface Errand {
  /** It is for the cluster that is made after this one. */
  readonly succeeds?: true;
  readonly make: () => BackupTask | undefined;
  readonly heard: (result: TaskResult) => boolean;
}

export function createStandIn(input: StandInInput): StandIn {
  const { client, datacenter, keys, clock, timers, workers, trace } = input;
  const asked: Asked[] = [];
  const errands: Errand[] = [];
  let isWorking = false;

  /** The keys of the cluster that has the name now; `undefined` while they are away or unusable. */
  const known = async (): Promise<Known | undefined> => {
    const secret = await client.resource<Secret>(secretType).tryGet(bundleKey);
    const text = Buffer.from(secret?.data?.["bundle"] ?? "", "base64").toString("utf8");
    if (text === "") return undefined;
    let bundle: ReturnType<typeof parseSecretsBundle>;
    try {
      bundle = parseSecretsBundle(text);
    } catch {
      // A trouble wrote something else there.
      return undefined;
    }
    const { certificate, key } = await signClientCertificate({
      keys,
      authority: bundle.certs.os,
      roles: ["os:etcd:backup"],
      notBefore: clock.now(),
      lifetimeMs: 3_600_000,
    });
    const manifestKey = manifestKeyOf(bundle);
    return {
      cluster: {
        owner: { namespace: NAMESPACE, controlPlane: CLUSTER_NAME, clusterId: bundle.cluster.id },
        manifestKey,
        prefix: PREFIX,
        decode: decodeWith(IDENTITY),
      },
      secrets: {
        talos: { ca: bundle.certs.os.certificate, certificate, key },
        manifestKey,
        clusterKeys: { bundle: text, record: "{}" },
        identity: IDENTITY,
      },
    };
  };

  /** A voter that runs, not the leader where there is a choice. */
  const source = (clusterId: string, tries: number): TakeTask["source"] | undefined => {
    const cluster = livingEtcd(datacenter).find((one) => one.clusterId === clusterId);
    if (cluster === undefined) return undefined;
    const fit = cluster.members.flatMap((member: EtcdMember) => {
      const machine = datacenter
        .machines()
        .find(({ state }) => state.etcd.data?.memberId === member.id && state.services["etcd"]?.state === "Running");
      return machine === undefined || member.isLearner ? [] : [{ member, machine }];
    });
    const others = fit.filter(({ member }) => member.id !== cluster.leader);
    const pool = others.length > 0 ? others : fit;
    const chosen = pool[tries % Math.max(1, pool.length)];
    return chosen === undefined ? undefined : { address: chosen.machine.address, memberId: chosen.member.id, machine: chosen.machine.name };
  };

  const finished = async (worker: Worker): Promise<TaskResult | undefined> => {
    const giveUpAt = clock.now() + TIMEOUT_MS + GRACE_MS;
    while (!worker.isOver() && clock.now() < giveUpAt) await timers.sleep(LOOK_MS);
    if (!worker.isOver()) worker.life.crash();
    return worker.result();
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    for (let errand = errands[0]; errand !== undefined; errand = errands[0]) {
      now = await known();
      const made = errand.make();
      if (now === undefined || made === undefined) {
        await timers.sleep(10 * LOOK_MS);
        continue;
      }
      const { cluster, secrets } = errand.succeeds === true ? successorOf(now) : now;
      const task = { ...made, owner: cluster.owner };
      const { identity: _identity, ...blind } = secrets;
      const given = task.kind === "prove" && input.provesBlind ? blind : secrets;
      const result = await finished(workers.start(cluster, task, given));
      if (result !== undefined && errand.heard(result)) errands.shift();
      else await timers.sleep(5 * LOOK_MS);
    }
    isWorking = false;
  };
  let now: Known | undefined;
  const order = (errand: Errand): void => {
    errands.push(errand);
    void work();
  };
  const base = (): Pick<TakeTask, "owner" | "place" | "timeoutMs"> | undefined =>
    now === undefined
      ? undefined
      : { owner: now.cluster.owner, place: { kind: "directory", path: "", prefix: PREFIX }, timeoutMs: TIMEOUT_MS };
  const taking = (one: Pick<Asked, "slot" | "recipients" | "tries">): TakeTask | undefined => {
    const from = now === undefined ? undefined : source(now.cluster.owner.clusterId, one.tries);
    const common = base();
    if (from === undefined || common === undefined) return undefined;
    one.tries += 1;
    const { slot, recipients, tries } = one;
    return { ...common, kind: "take", slot, attempt: `try-${tries}`, source: from, recipients, maxBytes: MOST_BYTES, drill: "read" };
  };

  return {
    take(name, recipients = []) {
      const slot = `${new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "")}-${name}`;
      const one: Asked = { slot, recipients, tries: 0, isTampered: false, facts: undefined, judged: undefined };
      asked.push(one);
      order({
        make: () => taking(one),
        heard(result) {
          if (result.kind !== "taken") return false;
          one.facts = result.facts;
          one.judged = now?.cluster;
          trace.add(`backup ${slot} is there after ${one.tries} tries`);
          if (one.judged !== undefined) void input.rules.judgeReady(one.judged, result.facts);
          return true;
        },
      });
      return one;
    },
    takeAsSuccessor(slot) {
      const one = { slot, recipients: [], tries: 0 };
      order({
        succeeds: true,
        make: () => taking(one),
        heard(result) {
          if (result.kind !== "taken") return false;
          if (result.found && one.tries === 1) input.report("S28", `the backup ${slot} of another cluster is taken for its own`);
          return true;
        },
      });
    },
    prove(slot) {
      order({
        make: () => {
          const common = base();
          return common === undefined ? undefined : { ...common, kind: "prove", slot, drill: "read" };
        },
        heard(result) {
          const isTampered = asked.some((one) => one.slot === slot && one.isTampered);
          if (result.kind === "proved" && isTampered) input.report("S26", `the backup ${slot} is proved, though somebody changed it`);
          return result.kind === "proved" || (isTampered && result.kind === "failed" && tamperedReasons.has(result.reason));
        },
      });
    },
    tampered(slot) {
      for (const one of asked) if (one.slot === slot) one.isTampered = true;
    },
    remove(slots) {
      let left = slots;
      order({
        make: () => {
          const common = base();
          return common === undefined ? undefined : { ...common, kind: "remove", slots: left };
        },
        heard(result) {
          // A manifest that is not ours stops the rest: what somebody changed is left to people.
          if (result.kind === "failed" && result.reason === "manifest-refused")
            left = left.filter((slot) => !asked.some((one) => one.slot === slot && one.isTampered));
          if (result.kind !== "removed" && left.length > 0) return false;
          for (const one of asked.filter((backup) => left.includes(backup.slot))) one.facts = undefined;
          return true;
        },
      });
    },
    backups: () => asked,
    isIdle: () => errands.length === 0,
    async judge() {
      for (const { facts, judged, isTampered } of asked)
        if (facts !== undefined && judged !== undefined && !isTampered) await input.rules.judgeReady(judged, facts);
      for (const cluster of new Set(asked.flatMap(({ judged }) => (judged === undefined ? [] : [judged]))))
        input.rules.judgeVersions(cluster);
    },
  };
}

/** What is stored, as it was before it was compressed and encrypted for this identity. */
export function decodeWith(identity: string): JudgedCluster["decode"] {
  return async (stored, encryption) => {
    const compressed = encryption === "age" ? simulatedCodec.decrypt(once(stored), identity) : once(stored);
    const chunks: Uint8Array[] = [];
    for await (const chunk of simulatedCodec.decompress(compressed)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
}

/** A cluster of the same name, with an id and keys of its own. */
function successorOf({ cluster, secrets }: Known): Known {
  const manifestKey = createHash("sha256").update(cluster.manifestKey).digest("base64");
  const owner = { ...cluster.owner, clusterId: `${cluster.owner.clusterId}-2` };
  return { cluster: { ...cluster, owner, manifestKey }, secrets: { ...secrets, manifestKey } };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  await Promise.resolve();
  yield bytes;
}
