import type { Finding } from "../validation/finding.ts";
import type { InertField, Inventory, NodeTaint } from "./cluster-model.ts";
import type { MachineTemplateSpec } from "./machine-spec.ts";

/** A value with the path of the field it was read from. */
export interface Told<T = string> {
  readonly field: string;
  readonly value: T;
}

/** A group as it was written, nothing checked. */
export interface DraftGroup {
  readonly role: "controlplane" | "worker";
  /** Absent for control planes. */
  readonly name?: Told;
  readonly replicas: Told<number>;
  readonly version?: Told;
  /** Path that the fields of `machineSpec` are below, for messages. */
  readonly field: string;
  readonly machineSpec: MachineTemplateSpec;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
}

/** What the two shapes say in different places, brought into one form, nothing checked. */
export interface Draft {
  readonly shape: "flat" | "nested";
  readonly name: Told;
  readonly clusterId: Told;
  readonly kubernetesVersion?: Told;
  readonly networkNamespace?: string;
  readonly inventory: Inventory;
  readonly groups: readonly DraftGroup[];
}

/** Collects what is wrong and what does nothing while a cluster is read. */
export interface Notes {
  readonly problems: Finding[];
  readonly inertFields: InertField[];
}

/** Reason of a finding about a KubernetesCluster. */
export type NoteReason = Finding["reason"];

/** Notes that something is wrong. */
export function wrong(notes: Notes, field: string, message: string, remedy: string, reason: NoteReason = "InvalidTopology"): void {
  notes.problems.push({ field, message, remedy, reason });
}

/** Notes that a field does nothing. */
export function inert(notes: Notes, field: string, why: string): void {
  notes.inertFields.push({ field, why });
}
