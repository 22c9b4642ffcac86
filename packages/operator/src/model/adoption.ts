import type { ConfigChange } from "@talos-operator/talos";
import type { MachineName } from "./machine.ts";

/** A place where another operator, or a person, left the keys of a cluster. No keys in it. */
export interface FoundBundle {
  /** For people: `Secret demo-state`. */
  readonly source: string;
  /** Empty when the content is no whole bundle. */
  readonly fingerprint: string;
  readonly clusterId: string;
  /** Why it cannot be used; no part of the content. */
  readonly problem?: string;
}

/** What a running machine's own configuration says of the cluster it belongs to. No keys. */
export interface MachineReading {
  /** SMBIOS UUID; empty where the machine tells none. */
  readonly uuid: string;
  readonly machineType: "controlplane" | "worker" | undefined;
  readonly clusterId: string;
  readonly clusterName: string;
  readonly endpoint: string;
  readonly dnsDomain: string;
  readonly podSubnets: readonly string[];
  readonly serviceSubnets: readonly string[];
  /** With `v`; empty when the configuration names no image of the kubelet. */
  readonly kubernetesVersion: string;
  readonly installDisk: string | undefined;
  /** False when its keys are not those of the bundle that was found. */
  readonly hasKeysOfBundle: boolean;
  /** What this operator would write otherwise, values redacted. */
  readonly changes: readonly ConfigChange[];
}

/** A cluster that runs and that this operator does not know yet, as the rules see it. Plain data without keys. */
export interface SeenAdoption {
  /** True when the annotation asks for it; false when only traces of another operator were found. */
  readonly isAsked: boolean;
  /** `undefined` = the places could not be read. */
  readonly places: readonly FoundBundle[] | undefined;
  /** Configurations that were read, by machine; one that could not be read is a word why. */
  readonly readings: ReadonlyMap<MachineName, MachineReading | string>;
}
