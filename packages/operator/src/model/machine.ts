import type { MachineSpec, ReadyReason } from "@talos-operator/api";
import type { Hazard } from "@talos-operator/talos";
import type { ConfigText } from "@talos-operator/talos/client";

/**
 * A whole machine config that a person wrote, taken as it is in place of a generated one. What is printed of it, and what may be compared and remembered, is
 * everything but the text: that may hold the cluster's keys.
 */
export interface ConfigBase {
  /** For people: `ConfigMap demo-config, key controlplane.yaml`. */
  readonly source: string;
  /** Of the text. */
  readonly hash: string;
  readonly machineType: string | undefined;
  readonly endpoint: string | undefined;
  readonly podSubnets: readonly string[];
  readonly serviceSubnets: readonly string[];
  /** With `v`; `undefined` when it names no kubelet image. */
  readonly kubernetesVersion: string | undefined;
  readonly installDisk: string | undefined;
  /** Of the whole secrets bundle in it; `undefined` when it holds no keys, as that of a worker, or not all. */
  readonly fingerprint: string | undefined;
  /** Names of keys and tokens in it; with all of them there is a fingerprint. */
  readonly keys: readonly string[];
  readonly clusterId: string | undefined;
  /** Its kubelet asks the cluster for the certificate that it serves with. */
  readonly rotatesServerCertificates: boolean;
  readonly text: ConfigText;
}

/** What one machine's configuration is made from: the settings of its pool with its own on top, and what only a TalosMachine made by hand can say. */
export interface MachineSettings extends MachineSpec {
  /** Host name of the node; `undefined` = what patches say, else the one that Talos makes. */
  readonly hostname?: string;
  /** A whole config that a person wrote, in place of the generated one. */
  readonly base?: ConfigBase;
  /** Further addresses for the names in its certificate. */
  readonly ips?: readonly string[];
}

/** Why the address of a machine is not known, for the condition that says so. */
export interface AddressProblem {
  readonly reason: ReadyReason;
  /** What is wrong, and what to do. Never a value out of the referenced object: it may be one that the author of the reference must not read. */
  readonly message: string;
}

/** `metadata.name` of a TalosMachine; never changes with the address. */
export type MachineName = string;

/** What a machine is for. */
export type MachineRole = "controlplane" | "worker";

/** One machine as the specs declare it, with everything that its configuration depends on. */
export interface DeclaredMachine {
  readonly name: MachineName;
  readonly role: MachineRole;
  /** Where it is to be found; while `problem` is set, where it was when it was written down, and empty when it never was. */
  readonly address: string;
  /** The object that `machineRef` names, as `Kind/name`; `undefined` where the address is given. */
  readonly reference?: string;
  /** A person made its TalosMachine; no pool lists it. */
  readonly isHandMade?: true;
  /** Why its address is not known, or not to be used. Nothing is configured there. */
  readonly problem?: AddressProblem;
  /** The whole config that its object names is not there, or another cluster's: nobody knows what it is to run. */
  readonly isConfigUnknown?: true;
  /** Hazards that hold back the configuration that it would get as its first; absent = none. */
  readonly hazards?: readonly Hazard[];
  /** The TalosControlPlane or TalosWorker that lists it. */
  readonly owner: { readonly kind: "TalosControlPlane" | "TalosWorker"; readonly name: string };
  /** Field that declares it, for messages: `spec.metalSpec.machines[0]`. */
  readonly field: string;
  readonly version: string;
  /** Shared settings with those of the machine on top. */
  readonly machineSpec: MachineSettings;
}
