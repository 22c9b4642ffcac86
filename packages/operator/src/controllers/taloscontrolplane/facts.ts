import type { Cni } from "@talos-operator/api";
import type { MachineName, MachineRole } from "./model.ts";

/**
 * What is written down about a cluster, as the rules see it: the content of its ClusterRecord.
 *
 * Only facts that cannot be had again by looking, and intents that must survive a crash. No secrets. Times are milliseconds since the epoch.
 */
export interface ClusterFacts {
  /** UID of the TalosControlPlane that the record was made for; another one means the object was moved or made anew. */
  readonly controlPlaneUid: string;
  readonly clusterId: string;
  readonly bundle: BundleFact;
  /** URL of the Kubernetes API in every configuration; chosen once. */
  readonly endpoint: string;
  /** Networks in every configuration; chosen once. Empty in records of before these fields. */
  readonly podCIDR: readonly string[];
  readonly serviceCIDR: readonly string[];
  /** Network plugin in every configuration; chosen once. Empty = none was named; `undefined` in records of before this field. */
  readonly cni: Cni | undefined;
  /** What the control planes are made with; a later change of the spec is an upgrade, not configuration. */
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly machines: readonly MachineFact[];
  readonly bootstrapIntent: BootstrapIntentFact | undefined;
  readonly bootstrapDone: BootstrapDoneFact | undefined;
  /** Wipes that may have been sent. */
  readonly resets: readonly ResetFact[];
  /** Newest last, at most 50. */
  readonly decisions: readonly DecisionFact[];
}

/** The secrets bundle in force. */
export interface BundleFact {
  readonly secretName: string;
  readonly fingerprint: string;
  /** True when the Secret was there before the record: machines may have been configured that the record does not know. */
  readonly wasFound: boolean;
}

/** One machine's identity, written down before the first byte of configuration is sent to it. */
export interface MachineFact {
  readonly name: MachineName;
  readonly role: MachineRole;
  readonly address: string;
  /** SMBIOS UUID; empty where the machine has none. */
  readonly uuid: string;
  readonly macs: readonly string[];
  /** Key of the maintenance certificate that was trusted on first use; `undefined` when the machine was first met configured. */
  readonly spki: string | undefined;
  /** `undefined` = not told. */
  readonly platform: string | undefined;
  /** `undefined` = none (containers). */
  readonly installDisk: string | undefined;
  /** Of the settings that its configuration was made from; `undefined` when it was met configured. */
  readonly configHash: string | undefined;
  readonly pinnedAt: number;
  /** When a person's word for `spki` was taken; `undefined` = it was trusted on first use. */
  readonly vouchedAt: number | undefined;
  /** From here on a configuration may have been sent, and the machine may hold etcd data. */
  readonly configuredAt: number | undefined;
  /** When the machine was proved wiped, or given up by a person. */
  readonly releasedAt: number | undefined;
}

/** Which machine founds etcd. Written before the call is sent, never changed to another machine. */
export interface BootstrapIntentFact {
  readonly machine: MachineName;
  readonly address: string;
  readonly uuid: string;
  readonly at: number;
  /** Until when the call may still take effect. */
  readonly deadline: number;
}

/** Proof that etcd was founded. */
export interface BootstrapDoneFact {
  readonly machine: MachineName;
  readonly address: string;
  readonly uuid: string;
  readonly at: number;
  readonly evidence: string;
}

/** A wipe that may have been sent. */
export interface ResetFact {
  readonly machine: MachineName;
  readonly address: string;
  readonly uuid: string;
  readonly role: MachineRole;
  readonly at: number;
  readonly why: string;
}

/** One remembered decision, for people. */
export interface DecisionFact {
  readonly at: number;
  readonly action: string;
  /** One word. */
  readonly reason: string;
  readonly machine?: MachineName;
  readonly message: string;
}

/** Most decisions that a record keeps. */
const DECISIONS_KEPT = 50;

/** The facts with more decisions, the oldest dropped beyond {@link DECISIONS_KEPT}. */
export function withDecisions(facts: ClusterFacts, ...decisions: readonly DecisionFact[]): ClusterFacts {
  return { ...facts, decisions: [...facts.decisions, ...decisions].slice(-DECISIONS_KEPT) };
}

/** The fact of one machine, or `undefined`. */
export function machineFact(facts: ClusterFacts | undefined, name: MachineName): MachineFact | undefined {
  return facts?.machines.find((machine) => machine.name === name);
}

/** The facts with one machine's replaced or added; the order of names is kept, new ones come last. */
export function withMachine(facts: ClusterFacts, next: MachineFact): ClusterFacts {
  const index = facts.machines.findIndex((machine) => machine.name === next.name);
  return { ...facts, machines: index < 0 ? [...facts.machines, next] : facts.machines.with(index, next) };
}
