import type { MachineRole } from "../config/generate/input.ts";

/** What a machine boots, as far as an upgrade changes it. */
export interface Build {
  /** Talos version. */
  readonly version: string;
  /** Id of the schematic, which holds the extensions; `noSchematic` = an installer of Talos itself; absent = not known, and no reason for an upgrade. */
  readonly schematic?: string;
  /** Names of its system extensions; absent = not known. */
  readonly extensions?: readonly string[];
  /** Kernel arguments that the installer writes, in their order; absent as above. */
  readonly kernelArguments?: readonly string[];
}

/** A machine with what it runs, and what its pool or a pin of its own asks for. */
export interface UpgradeMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly runs: Build;
  readonly asked: Build;
  /** Contract that its configuration is written for, for example `1.13`: what it goes to has to read that. Absent = not known. */
  readonly configContract?: string;
}

/** What runs in a cluster, and what is asked for. */
export interface UpgradeWish {
  /** In any order. */
  readonly machines: readonly UpgradeMachine[];
  /** Of the cluster; `undefined` = nobody knows what runs. */
  readonly kubernetes: { readonly runs: string; readonly asked: string } | undefined;
  /** The version that a person allowed to go back to. */
  readonly allowDowngrade?: string;
  /** Names of the extensions that a person lets go. */
  readonly allowExtensionLoss?: readonly string[];
  /** Version of the data of etcd as its members tell it; absent = that of the oldest Talos among the control planes. */
  readonly etcdStorage?: string;
  /** True where the asker carries upgrades of Kubernetes out. */
  readonly upgradesKubernetes?: boolean;
}

/** One step of the whole cluster: Talos on the machines of a role, one after the other, or Kubernetes everywhere. */
export type Hop = TalosHop | KubernetesHop;

/** Machines of one role that get another Talos version, schematic or kernel arguments. */
export interface TalosHop {
  readonly kind: "talos";
  readonly role: MachineRole;
  /** With `v`. */
  readonly version: string;
  readonly isDowngrade: boolean;
  /** By name. */
  readonly machines: readonly MachineHop[];
}

/** What one machine boots before and after a hop. Schematic and kernel arguments change with its last one. */
export interface MachineHop {
  readonly name: string;
  readonly from: Build;
  readonly to: Build;
}

/** Kubernetes from one version to the next; both with `v`. */
export interface KubernetesHop {
  readonly kind: "kubernetes";
  readonly from: string;
  readonly version: string;
}

/** What leads from what runs to what is asked for. */
export type UpgradePlan =
  | { readonly kind: "settled" }
  | {
      readonly kind: "hops";
      /** In order, the first one first. */
      readonly hops: readonly Hop[];
      /** A hop that nobody carries out yet: nothing of the plan begins. */
      readonly heldBy?: KubernetesHop;
    }
  | { readonly kind: "none"; readonly refusals: readonly Refusal[] };

/** Why no legal sequence leads to what is asked for. Machines are named in their order; versions have a `v`. */
export type Refusal =
  /** A text that is no version. */
  | { readonly kind: "BadVersion"; readonly of: Product; readonly text: string; readonly machines: readonly string[] }
  | { readonly kind: "KubernetesUnseen" }
  /** The catalogue does not know the minor of a version that is asked for. */
  | { readonly kind: "UnknownMinor"; readonly of: Product; readonly version: string; readonly machines: readonly string[] }
  /** Upgrades pass through this minor, and the catalogue knows no release of it. */
  | { readonly kind: "NoRelease"; readonly of: Product; readonly minor: string; readonly machines: readonly string[] }
  /** The installer of `to` does not go over `from`. */
  | { readonly kind: "InstallerRefuses"; readonly from: string; readonly to: string; readonly machines: readonly string[] }
  /** A person has to allow it. */
  | {
      readonly kind: "DowngradeAsked";
      readonly of: Product;
      readonly from: string;
      readonly to: string;
      readonly machines: readonly string[];
    }
  /** That Talos does not read the configuration, which is written for a newer one. Contract: `1.14`. */
  | { readonly kind: "ConfigNewer"; readonly contract: string; readonly to: string; readonly machines: readonly string[] }
  /** Kubernetes never goes back a minor. */
  | { readonly kind: "KubernetesMinorBack"; readonly from: string; readonly to: string }
  /** What runs is built from a schematic, and the installer that is asked for from none: extensions would be gone with the next boot. */
  | { readonly kind: "SchematicLost"; readonly schematic: string; readonly machines: readonly string[] }
  /** Extensions run that the image that is asked for is known to lack: they would be gone with the next boot. */
  | { readonly kind: "ExtensionsLost"; readonly extensions: readonly string[]; readonly machines: readonly string[] }
  /** The etcd of that Talos does not read what a newer one has written. Minors of etcd: `3.5`. */
  | {
      readonly kind: "EtcdDataNewer";
      readonly version: string;
      readonly etcd: string;
      readonly data: string;
      readonly machines: readonly string[];
    }
  /** Machines would run Talos with a Kubernetes outside of its range, and nothing that is asked for changes that first. Minors: `1.36`. */
  | {
      readonly kind: "OutOfRange";
      /** The hop that the range forbids. */
      readonly hop: Product;
      readonly talos: string;
      readonly kubernetes: string;
      readonly oldest: string;
      readonly newest: string;
      readonly machines: readonly string[];
    }
  /** Workers would run a newer minor than control planes. */
  | {
      readonly kind: "WorkerAboveControlPlane";
      readonly worker: string;
      readonly controlPlane: string;
      readonly machines: readonly string[];
    };

/** Whose version it is. */
export type Product = "talos" | "kubernetes";
