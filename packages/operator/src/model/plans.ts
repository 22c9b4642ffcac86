import type { ConditionInput, ReadyReason, ReasonOf } from "@talos-operator/api";
import type { ConfigChange, Hazard } from "@talos-operator/talos";
import type { KnownConfig } from "./config.ts";
import type { Action } from "./effect.ts";
import type { DeclaredMachine, MachineName, MachineRole } from "./machine.ts";
import type { SeenMachine } from "./observation.ts";
import type { ClusterFacts, FailedConfigFact, IntentFact, MachineFact } from "./record.ts";
import type { SeenNode } from "./workload.ts";

/** What is to be written down and sent for machines that wait in maintenance mode. */
export interface MachinePlan {
  /** The facts with every machine written down that may be configured now; the same object when there is nothing new. */
  readonly facts: ClusterFacts;
  /** Allowed once `facts` is stored. */
  readonly configure: readonly PlannedConfiguration[];
  /** Why machines that could be configured have to wait. */
  readonly held: readonly HeldMachine[];
  /** Machines that are stopped, each with a reason and the remedy. */
  readonly stopped: readonly StoppedMachine[];
}

/** A configuration that may be sent, and the key that must answer. */
export interface PlannedConfiguration {
  readonly machine: DeclaredMachine;
  readonly ifSpki: string;
  readonly installDisk: string | undefined;
}

/** A machine that could be configured, and why it has to wait: a sentence. */
export interface HeldMachine {
  readonly role: DeclaredMachine["role"];
  readonly says: string;
}

/** A machine to which nothing is sent. */
export interface StoppedMachine {
  readonly name: MachineName;
  readonly role: DeclaredMachine["role"];
  readonly reason: ReadyReason;
  readonly message: string;
}

/** A machine that is on its way out, and where it stands: for people. */
export interface Removal {
  readonly machine: MachineName;
  readonly role: MachineRole;
  readonly reason: ReasonOf<"Removing">;
  /** A sentence with its full stop. */
  readonly message: string;
}

/** What of a snapshot before machines are disturbed is the case, for people and for whoever disturbs them. */
export interface BeforeRisk {
  readonly reason: ReasonOf<"SnapshotBeforeRisk">;
  /** Sentences. */
  readonly message: string;
  /** They are left alone meanwhile. */
  readonly holds: boolean;
  /** What is about to happen to them; absent = they leave. */
  readonly before?: "upgrade";
  /** It is to be asked for now. */
  readonly take?: WantedSnapshot;
}

/** A TalosEtcdBackup that is to be made before machines are disturbed. */
export interface WantedSnapshot {
  /** The same for whoever asks for it again. */
  readonly name: string;
  /** 2 = the API server refused it once. */
  readonly attempt: 1 | 2;
  /** The TalosEtcdBackupSchedule whose store is used, and its UID. */
  readonly schedule: string;
  readonly ifUid: string;
  readonly machines: readonly MachineName[];
  /** To them after it, for people. */
  readonly happens: "leave" | "are upgraded";
}

/** What one pass does about machines that leave: facts to store first, then actions, and what is said. */
export interface RemovalStep {
  readonly facts: ClusterFacts;
  readonly actions: readonly Action[];
  readonly removals: readonly Removal[];
}

/** What one pass does about another Talos, and where that stands. */
export interface UpgradeStep {
  readonly facts: ClusterFacts;
  /** Allowed once `facts` is stored. */
  readonly actions: readonly Action[];
  /** `none`: every machine runs what is asked for. `held`: something is in the way that passes by itself. `stopped`: a person is needed. */
  readonly kind: "none" | "running" | "held" | "stopped";
  readonly reason?: ReasonOf<"UpgradePending">;
  /** What is done or waited for: sentences. */
  readonly says: string;
}

/** What one pass does for an etcd that is full, or about a member that is in the middle of being looked after. */
export interface CareStep {
  readonly facts: ClusterFacts;
  /** Allowed once `facts` is stored. */
  readonly actions: readonly Action[];
  /** What is done or waited for, without a full stop. */
  readonly says: string;
  /** Nothing goes on before somebody does something. */
  readonly needsPerson: boolean;
}

/** What may begin now, and what the rest waits for. */
export interface Rollout {
  readonly next: readonly ConfigPlan[];
  /** Drains that are begun or kept going. */
  readonly actions: readonly Action[];
  /** Why a machine is not next, in words for people; without a full stop. */
  readonly waiting: ReadonlyMap<MachineName, string>;
}

/** Where one machine stands between what the spec asks for, what was last applied, and what it runs. */
export type ConfigState =
  /** Its configuration was not read yet, or cannot be. */
  | { readonly kind: "unknown"; readonly detail: string }
  /** It runs what was last applied, for these settings. `otherwise`: what this release of the operator would write differently; nobody asked for it. */
  | { readonly kind: "settled"; readonly otherwise: readonly ConfigChange[] }
  /** The settings stand, and somebody else changed the machine, in force or for the next boot. `part`: it is its META. */
  | { readonly kind: "drifted"; readonly config: KnownConfig; readonly part?: "meta" }
  /** Nothing is sent: what was read is written down. */
  | { readonly kind: "learn"; readonly next: MachineFact; readonly why: string }
  /** The settings changed. */
  | { readonly kind: "change"; readonly route: ChangeRoute; readonly config: KnownConfig }
  /** The settings changed, and hold what a Talos does not read that has to: they follow when the upgrade has ended. Or, `isName`, another machine's name. In words. */
  | { readonly kind: "held"; readonly why: string; readonly isName?: true }
  /** The settings changed, and hold a hazard that nobody accepted: they are sent when they are corrected, or when a person says so. */
  | { readonly kind: "hazard"; readonly config: KnownConfig; readonly hazards: readonly Hazard[] }
  /** The settings changed in a way that is never sent. */
  | { readonly kind: "never"; readonly config: KnownConfig }
  /** The machine refused these settings or took them back. */
  | { readonly kind: "failed"; readonly failure: FailedConfigFact }
  /** The settings are on the machine's disk and wait for a boot. */
  | { readonly kind: "staged"; readonly config: KnownConfig }
  /** An effect is open; what it shows ends it. */
  | { readonly kind: "under-way"; readonly intent: IntentFact };

/** How settings get onto a machine: `rewrite` brings the disk back to what is in force already, `meta` writes its META. */
export type ChangeRoute = "guarded" | "reboot" | "rewrite" | "meta";

/** One machine with its state. */
export interface ConfigPlan {
  readonly machine: SeenMachine;
  readonly fact: MachineFact;
  /** Hash of the settings that are wanted: of the configuration, or of META where that is what the state is about. */
  readonly settings: string;
  readonly state: ConfigState;
}

/** Why a cluster is not ready yet: one reason, the facts, and what would release it. */
export interface Waiting {
  readonly reason: ReadyReason;
  readonly message: string;
  /** The message says itself what a person can do: what the catalogue says to the reason would be a second remedy. */
  readonly saysRemedy?: true;
  /** Only workers are waited for: the control plane is as asked for, and the pools say the rest. */
  readonly ofWorkers?: true;
  /** An edit of a cluster that runs is refused: nothing of it is carried out, and what runs is as ready as it was. */
  readonly ofEdit?: true;
}

/** What one rule says: what to do now, and what is waited for. */
export interface Verdict {
  readonly actions: readonly Action[];
  readonly waiting?: Waiting;
  /** Conditions of this rule, beside those that only describe what was seen. */
  readonly conditions?: readonly ConditionInput[];
  /** Default: by what is waited for; `undefined` in the decision = a watch or a look will wake us. */
  readonly requeueAfterMs?: number;
}

/** A condition's reason and message before it is put under its type. */
export interface Said<R extends string> {
  readonly reason: R;
  readonly message: string;
  /** The message says itself what a person can do. */
  readonly saysRemedy?: true;
}

/** A machine whose Node has our cordon. */
export interface Cordoned {
  readonly fact: MachineFact;
  /** Name of the Node. */
  readonly node: string;
  /** Whether its kubelet reports it ready; `undefined` = not listed since, or without a network plugin none can be. */
  readonly isReady: boolean | undefined;
  /** The machine itself, where it is up as far as it says: a ready node, or one that lacks nothing but a network plugin that is yet to be installed. */
  readonly up: SeenMachine | undefined;
}

/** A Node that is still there, of a machine that was released, or has another Node by now. */
export interface LeftNode {
  readonly fact: MachineFact;
  readonly node: SeenNode;
  /** The Node that the machine has by now; absent = it was released. */
  readonly renamedTo?: string;
}

/** A Node under a name that a machine of the cluster seems to have had before. */
export interface FormerName extends LeftNode {
  readonly renamedTo: string;
  /** UUID and address show whose it was; otherwise a person decides. */
  readonly isProven: boolean;
}
