import type { ReconcileMode, TalosControlPlane, UpgradeStatus } from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { ObjectKey } from "@talos-operator/kube-runtime";
import type { ClusterFigures } from "../metrics/figures.ts";
import type { KnownMachine } from "./brain.ts";
import type { Assessment } from "../model/assessment.ts";
import { raisedBy } from "../assess/alarmed.ts";
import { foundedBy } from "../assess/etcd-view.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { backupSources } from "../assess/backup-sources.ts";
import type { BackupSources, NoSources } from "../assess/backup-sources.ts";
import { importSources } from "../procedures/import/import-sources.ts";
import { writtenConfig } from "../spec/written-config.ts";
import { identityOf } from "../assess/identity.ts";
import { isTakenDown } from "../report/restarting.ts";
import { underWayOn } from "../assess/under-way.ts";
import type { PoolComposition } from "../procedures/compose/pool-composition.ts";
import type { PoolState } from "../report/pool-state.ts";
import { provenLook, unaddressedLook } from "../observe/proven-look.ts";
import { isNameTaken } from "../spec/machine-names.ts";
import { openRun } from "../record/upgrades.ts";
import type { ClusterSession } from "./cluster-session.ts";
import { UpgradeStages } from "./upgrade-stages.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { SeenAdoption } from "../model/adoption.ts";
import type { ConfigBase, DeclaredMachine } from "../model/machine.ts";
import type { Decision, Plan } from "../model/decision.ts";
import type { Observed } from "../model/observation.ts";
import type { StoppedMachine } from "../model/plans.ts";
import type { UpgradeProgress } from "../report/upgrade-progress.ts";

/** A cluster as the brain keeps it between passes. */
export interface Cluster {
  readonly key: ObjectKey;
  /** UID of its TalosControlPlane. */
  readonly uid: string;
  readonly session: ClusterSession;
  /** By name, as last observed. */
  machines: ReadonlyMap<string, DeclaredMachine>;
  decision: Decision | undefined;
  poolPlans: ReadonlyMap<string, Plan>;
  poolStates: ReadonlyMap<string, PoolState>;
  poolCompositions: ReadonlyMap<string, PoolComposition>;
  /** Machines to which nothing is sent, by name. */
  stopped: ReadonlyMap<string, StoppedMachine>;
  /** Machines that are under way to another Talos, by name. */
  upgrades: ReadonlyMap<string, UpgradeProgress>;
  readonly stages: UpgradeStages;
  /** How many machines run the Talos that is asked for; `undefined` = all of them. */
  upgradeStatus: UpgradeStatus | undefined;
  facts: ClusterFacts | undefined;
  areKeysInDoubt: boolean;
  /** The last pass did not learn what the record says: nobody could, or was to ({@link isUnread}). */
  isUnread: boolean;
  /** What the last pass saw of a cluster that is to be taken over, and is not yet. */
  importing: Importing | undefined;
  /** When somebody last wanted to take a backup of it. Milliseconds since the epoch. */
  backupAskedAt: number | undefined;
  /** Objects that the last pass finished with, when it did nothing else. */
  actedOn: string | undefined;
  /** Since when a change waits for statuses that say that something is under way. Milliseconds since the epoch. */
  answersAwaitedSince: number | undefined;
}

/** A cluster of others, between passes. No keys. */
export interface Importing {
  readonly controlPlane: TalosControlPlane;
  readonly places: SeenAdoption["places"];
  /** A config that a person wrote, and that may hold the keys. */
  readonly written: ConfigBase | undefined;
}

/** All clusters between passes. In memory only: a new process begins with none, and asks the world. */
export class Clusters {
  readonly #open: (key: ObjectKey) => ClusterSession;
  readonly #clusters = new Map<string, Cluster>();
  /** Cluster of each machine, by names with their namespace. */
  readonly #owners = new Map<string, string>();
  readonly #hadTurn = new Set<string>();

  /** @param open begins the session of a cluster */
  constructor(open: (key: ObjectKey) => ClusterSession) {
    this.#open = open;
  }

  /** The cluster of this object. An object with another UID is another cluster: nothing that was known counts for it. */
  of(key: ObjectKey, uid: string): Cluster {
    const text = keyText(key);
    const known = this.#clusters.get(text);
    if (known?.uid === uid) return known;
    known?.session.close();
    const made: Cluster = {
      key,
      uid,
      session: this.#open(key),
      machines: new Map(),
      decision: undefined,
      poolPlans: new Map(),
      poolStates: new Map(),
      poolCompositions: new Map(),
      stopped: new Map(),
      upgrades: new Map(),
      stages: new UpgradeStages(),
      upgradeStatus: undefined,
      facts: undefined,
      areKeysInDoubt: false,
      isUnread: false,
      importing: undefined,
      backupAskedAt: undefined,
      actedOn: undefined,
      answersAwaitedSince: undefined,
    };
    this.#clusters.set(text, made);
    return made;
  }

  get(key: ObjectKey): Cluster | undefined {
    return this.#clusters.get(keyText(key));
  }

  all(): Iterable<Cluster> {
    return this.#clusters.values();
  }

  /** True once in a process for each cluster. */
  isFirstTurn(key: ObjectKey): boolean {
    if (this.#hadTurn.has(keyText(key))) return false;
    this.#hadTurn.add(keyText(key));
    return true;
  }

  /** Takes what a pass has seen of the cluster. @returns what was known of it before */
  saw(cluster: Cluster, assessed: Assessment): Pick<Cluster, "machines" | "facts"> {
    const { seen, facts, keys } = assessed;
    const before = { machines: cluster.machines, facts: cluster.facts };
    const { namespace } = cluster.key;
    for (const { declared } of [...seen.machines.filter(({ declared: one }) => !isNameTaken(one)), ...seen.former])
      this.#owners.set(keyText({ namespace, name: declared.name }), keyText(cluster.key));
    cluster.machines = new Map(seen.machines.map(({ declared }) => [declared.name, declared]));
    cluster.facts = facts;
    cluster.areKeysInDoubt = keys !== "sound";
    cluster.isUnread = seen.record.kind === "unknown";
    cluster.importing = importingOf(seen);
    if (seen.mode === "reconcile") cluster.session.strays.saw(assessed.strays?.map(({ member }) => member.id));
    return before;
  }

  /** What is known of a machine, whosever it is. */
  machine(key: ObjectKey, now: number): KnownMachine | undefined {
    const cluster = this.#clusters.get(this.#owners.get(keyText(key)) ?? "");
    if (cluster === undefined) return undefined;
    const { session, facts } = cluster;
    const declared = cluster.machines.get(key.name);
    const fact = machineFact(facts, key.name);
    return {
      look: believedLook(cluster, key.name, now),
      fact,
      declared,
      identity: facts === undefined || fact === undefined ? undefined : identityOf(facts, fact),
      sent: session.sent().get(`Configure/${key.name}`),
      underWay: underWayOn(facts, session.sent(), key.name),
      stopped: cluster.stopped.get(key.name),
      upgrade: cluster.upgrades.get(key.name),
      hasRecord: facts !== undefined,
      areKeysInDoubt: cluster.areKeysInDoubt,
      hasOpenEffect: intentOn(facts, key.name) !== undefined,
      isRestarted: facts?.intents.some((intent) => intent.machine === key.name && isTakenDown(intent, now)) === true,
    };
  }

  /**
   * What a backup is taken from; only machines that are proved to be those of the record, or, while an import is pending, to hold the keys that were found. A
   * cluster that nobody reads is read from the next pass on.
   */
  backupSources(key: ObjectKey, now: number): BackupSources | NoSources | "not-looked" | undefined {
    const cluster = this.#clusters.get(keyText(key));
    if (cluster !== undefined) cluster.backupAskedAt = now;
    if (cluster?.decision === undefined || cluster.isUnread) return "not-looked";
    const seen = [...cluster.machines.values()].map((declared) => ({ declared, look: believedLook(cluster, declared.name, now) }));
    const { importing, session } = cluster;
    if (importing !== undefined) {
      const readings = session.adoption.seen();
      return importSources(
        importing.controlPlane,
        importing,
        seen.map((machine) => ({ ...machine, reading: readings.get(machine.declared.name) })),
      );
    }
    return backupSources(cluster.facts, seen);
  }

  /** Ends what goes on for a cluster whose object is gone. */
  forget(key: ObjectKey): void {
    const text = keyText(key);
    this.#clusters.get(text)?.session.close();
    this.#clusters.delete(text);
    this.#hadTurn.delete(text);
  }

  close(): void {
    for (const { session } of this.#clusters.values()) session.close();
    this.#clusters.clear();
  }
}

function importingOf(seen: Observed): Importing | undefined {
  const { adoption, controlPlane } = seen;
  if (adoption === undefined || seen.record.kind !== "absent") return undefined;
  return { controlPlane, places: adoption.places, written: adoption.isAsked ? writtenConfig(seen) : undefined };
}

/** How long a cluster is read after somebody wanted to back it up. Milliseconds. */
const ASKED_MS = 60_000;

/** True for a cluster whose annotation says disable: it is left alone, but for backups, which only read. */
export function isUnread(mode: ReconcileMode, { backupAskedAt }: Pick<Cluster, "backupAskedAt">, now: number): boolean {
  return mode === "disable" && (backupAskedAt === undefined || Math.abs(now - backupAskedAt) > ASKED_MS);
}

function believedLook({ session, machines, facts }: Cluster, name: string, now: number): KnownMachine["look"] {
  const declared = machines.get(name);
  const look = session.machines.look(name);
  if (declared === undefined) return look;
  return declared.address === "" ? unaddressedLook(now) : provenLook(facts, declared, look);
}

/** What metrics show of a cluster. */
export function clusterFigures({ key: { namespace = "", name }, machines, session, facts, upgradeStatus }: Cluster): ClusterFigures {
  const looks = [...machines.values()].map((declared) => ({ declared, look: session.machines.look(declared.name) }));
  const etcds = looks.flatMap(({ declared, look }) =>
    look.kind === "running" && look.etcd !== undefined ? [{ machine: declared.name, etcd: look.etcd }] : [],
  );
  return {
    machines: looks.map(({ declared: { role }, look }) => ({
      role,
      stage: look.kind === "running" ? (look.stage ?? look.kind) : look.kind,
    })),
    members: foundedBy(looks)?.members ?? [],
    strays: session.strays.count === 0 ? [] : [{ namespace, name, count: session.strays.count }],
    openEffects: facts?.intents.length ?? 0,
    files: etcds.flatMap(({ machine, etcd: { dbSizeBytes: sizeBytes, dbInUseBytes: inUseBytes } }) =>
      sizeBytes === undefined || inUseBytes === undefined ? [] : [{ namespace, name, machine, sizeBytes, inUseBytes }],
    ),
    alarms: [...new Set(raisedBy(etcds).map(({ kind }) => kind))].map((alarm) => ({ namespace, name, alarm })),
    upgrade: {
      namespace,
      name,
      isOpen: openRun(facts) !== undefined,
      ...(upgradeStatus === undefined ? {} : { machines: countsOf(upgradeStatus) }),
      quarantined: [...new Set((facts?.quarantine ?? []).map(({ version }) => version))],
    },
  };
}

function countsOf({ done = 0, machines = 0 }: UpgradeStatus): { readonly done: number; readonly left: number } {
  return { done, left: machines - done };
}
