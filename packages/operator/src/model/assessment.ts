import type { ReasonOf, TalosWorker } from "@talos-operator/api";
import type { SeenConfig } from "./config.ts";
import type { EtcdDoubt, EtcdQuorum } from "./etcd.ts";
import type { EtcdMember } from "./look.ts";
import type { MachineName } from "./machine.ts";
import type { Observed, SeenMachine } from "./observation.ts";
import type {
  BeforeRisk,
  CareStep,
  ConfigPlan,
  Cordoned,
  FormerName,
  LeftNode,
  MachinePlan,
  RemovalStep,
  Rollout,
  Said,
  UpgradeStep,
  Verdict,
  Waiting,
} from "./plans.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "./record.ts";
import type { SeenDrain } from "./workload.ts";

/** Whether a machine's UUID is its own, is shown by another machine of the cluster too, or is one that vendors ship by the thousand. */
export type IdentityKind = "own" | "shared" | "vendor" | "none";

/** One machine with everything that is known of it. */
export interface AssessedMachine extends SeenMachine {
  /** A spec lists it; false for one that only the record knows, and that leaves. */
  readonly isListed: boolean;
  /** What the record says of it; `undefined` = it does not know the machine, or there is none. */
  readonly fact: MachineFact | undefined;
  /** How far its UUID tells it from others; `undefined` before it was written down. */
  readonly identity: IdentityKind | undefined;
  /** A configuration of this cluster may be on it. */
  readonly isMember: boolean;
  /** Effects that may have been sent to it and whose end was not seen. */
  readonly intents: readonly IntentFact[];
  /** The TalosWorker that lists or listed it; `undefined` for a control plane, and where the pool is gone. */
  readonly pool: TalosWorker | undefined;
  /** What it runs, read back; `undefined` = nobody read it. */
  readonly config: SeenConfig | undefined;
  /** The drain of its Node; `undefined` = there is none. */
  readonly drain: SeenDrain | undefined;
  /** It is a ready node. */
  readonly isReady: boolean;
}

/**
 * Whether the keys that machines of this cluster were configured with are there. `in-doubt`: nobody can read record or bundle just now. `lost`: they are away, or
 * others than those that the record names; the condition SecretsLost says what is the matter. Unless they are sound, what a machine shows proves nothing, and no
 * advice is given that could destroy it.
 */
export type KeysState = "sound" | "in-doubt" | "lost";

/** A member of etcd that no machine shows, and that is nobody's as far as is known. */
export interface StrayMember {
  readonly member: EtcdMember;
  /** A machine that may be it all the same. */
  readonly mayBeOf?: MachineName;
  /** The record was made anew: there may be machines that it does not know. */
  readonly isForgotten?: true;
}

/** The machines of one worker pool. */
export interface AssessedPool {
  readonly worker: TalosWorker | undefined;
  /** Those that it lists. */
  readonly machines: readonly AssessedMachine[];
  /** Those that it listed once and that were not released. */
  readonly leaving: readonly AssessedMachine[];
  /** How many of its machines may be down at once. At least 1. */
  readonly limit: number;
  /** Those that count against it already, listed or leaving, and why. */
  readonly down: ReadonlyMap<MachineName, DownKind>;
}

/**
 * Why a machine counts against what may be down in its pool. `down`: it is no ready node, or an effect on it is open; `draining`: its Node is cordoned and drained by
 * us; `staged`: its settings, or another Talos, wait for a boot.
 */
export type DownKind = "down" | "draining" | "staged";

/**
 * What one pass concludes from its observation: every rule, every condition and every plan reads it here, and each thing in it is derived once. Plain data but for
 * the plans, which are made when they are first asked for.
 */
export interface Assessment {
  readonly seen: Observed;
  /** What the record says; `undefined` = there is none, or nobody could read it. */
  readonly facts: ClusterFacts | undefined;
  /** In the order of declaration, control planes first. */
  readonly machines: readonly AssessedMachine[];
  /** Machines that the record knows, that were not released, and that no spec declares any more. */
  readonly former: readonly AssessedMachine[];
  /** Both by name. */
  readonly byName: ReadonlyMap<MachineName, AssessedMachine>;
  /** By name of the TalosWorker, those that are gone too. */
  readonly pools: ReadonlyMap<string, AssessedPool>;
  /** etcd as its members tell it, members that are joining still in it. */
  readonly etcdMembership: EtcdQuorum | EtcdDoubt;
  /** The same as it may be relied on for disturbing a member: nobody is joining. */
  readonly etcd: EtcdQuorum | EtcdDoubt;
  /** Where every machine's configuration stands, control planes first; empty before etcd is bootstrapped. */
  readonly configs: readonly ConfigPlan[];
  /** Whose configuration is changed next, and why others wait; `undefined` while there is no record. */
  readonly rollout: Rollout | undefined;
  /** What is done about machines that wait in maintenance mode; `undefined` while there is no record. */
  readonly joining: MachinePlan | undefined;
  /** How machines leave a cluster that stays; `undefined` while there is no record. */
  readonly leaving: RemovalStep | undefined;
  /** What of a snapshot of etcd before running control planes leave is the case; `undefined` = none that has a vote does. */
  readonly beforeRisk: BeforeRisk | undefined;
  /** Members of etcd that belong to no machine; `undefined` = nobody can say now. */
  readonly strays: readonly StrayMember[] | undefined;
  /** What is done about them; `undefined` = there are none, or no record. */
  readonly straying: CareStep | undefined;
  /** The same before control planes are upgraded; `undefined` = none is, or it is not known yet whether one may be. */
  readonly beforeUpgrade: BeforeRisk | undefined;
  /** What is done about another Talos; `undefined` while there is no record. */
  readonly upgrade: UpgradeStep | undefined;
  /** How etcd is looked after; `undefined` = there is nothing to do, or no record. */
  readonly care: CareStep | undefined;
  /** What is done about the machines of worker pools that are deleted while their cluster stays; `undefined` = nothing, and nothing is waited for. */
  readonly goingPools: Verdict | undefined;
  /** Machines of the cluster whose Nodes have our cordon, although nothing is about to happen to them. */
  readonly idleCordons: readonly Cordoned[];
  /** Nodes of machines that were released and are not asked for again, and those that machines had before they got another name. */
  readonly leftNodes: readonly LeftNode[];
  /** Nodes that fit machines which have another Node by now, whether or not it is proven that they were theirs. */
  readonly formerNames: readonly FormerName[];
  readonly keys: KeysState;
  /** How etcd is, for people. */
  readonly health: Said<ReasonOf<"EtcdHealthy">>;
  /** Whether etcd was bootstrapped, and if not, what is waited for. */
  readonly bootstrap: Said<ReasonOf<"Bootstrapped">>;
  /** What the cluster waits for, the gravest first; `undefined` = it is as asked for. */
  readonly waiting: Waiting | undefined;
  /** The same of the control plane alone: a worker never keeps it from being ready. */
  readonly ownWaiting: Waiting | undefined;
}
