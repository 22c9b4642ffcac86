import type { Finding } from "../validation/finding.ts";
import type { MachineTemplateSpec } from "./machine-spec.ts";

/**
 * A KubernetesCluster understood, whichever shape it was written in: all defaults filled in, all versions complete, every group of machines
 * by its name. The only form of a cluster that reaches the rest of the code. `normaliseCluster` makes it.
 */
export interface ClusterModel {
  /** First part of the names of machines, name of the folder of files, label `cluster.vitistack.io/cluster-name`. A DNS label. */
  readonly name: string;
  /** Talos cluster name and label `vitistack.io/clusterid`. A DNS label. Equal to `name` in the flat shape. */
  readonly clusterId: string;
  /** `v1.33.6`: complete. Runs on the control planes. */
  readonly kubernetesVersion: string;
  /** `v1.13.7`: complete. */
  readonly talosVersion: string;
  /** Where the URL of the Kubernetes API comes from. */
  readonly endpoint: ClusterEndpoint;
  /** Further names and addresses for certificates: given ones, and those of a custom endpoint. */
  readonly certSANs: readonly string[];
  readonly podSubnets: readonly string[];
  readonly serviceSubnets: readonly string[];
  readonly dnsDomain: string;
  readonly install: InstallOptions;
  readonly kubelet: KubeletOptions;
  /** Present when token and authority of the Talos API are given; the values themselves never stand in the model. */
  readonly givenSecrets?: GivenSecrets;
  /** NetworkNamespace that addresses come from. Absent: the only one of the namespace, if there is one. */
  readonly networkNamespace?: string;
  /** What inventories know; empty in the flat shape. Free text: never a label, a file name or a path. */
  readonly inventory: Inventory;
  /** The control planes first, then groups of workers in the order written. */
  readonly groups: readonly ClusterGroup[];
}

/**
 * Where the URL of the Kubernetes API comes from. `given`: here it is. `none`: the address of the first control plane, once it has one. `shared`: an address
 * that the network is asked for, and as `none` where there is no network to ask.
 */
export type ClusterEndpoint =
  | {
      readonly mode: "given";
      readonly url: string;
      /** The address of the URL when the control planes themselves are to hold it: one at a time, as Talos elects. */
      readonly heldAddress?: string;
    }
  | { readonly mode: "none" | "shared" };

/** Where the given token and authority are: in the object itself, or in a Secret of its namespace. */
export type GivenSecrets = { readonly kind: "inline" } | { readonly kind: "secret"; readonly name: string };

/** The installation of Talos on each machine. */
export interface InstallOptions {
  /** Default: `/dev/sda`. */
  readonly disk: string;
  /** True when nobody wrote the disk: what a machine's provider reports wins then. */
  readonly isDefaultDisk: boolean;
  /** Installer image; absent: that of the Talos version. */
  readonly image?: string;
  /** Default: true. */
  readonly bootloader: boolean;
  /** Default: false. */
  readonly wipe: boolean;
  readonly extraKernelArgs: readonly string[];
}

/** Settings of the kubelet of each machine. */
export interface KubeletOptions {
  readonly image?: string;
  readonly extraArgs: Readonly<Record<string, string>>;
}

/** What an inventory knows of a cluster. */
export interface Inventory {
  readonly clusterUid?: string;
  readonly datacenter?: string;
  readonly environment?: string;
  readonly project?: string;
  readonly region?: string;
  readonly workorder?: string;
  readonly workspace?: string;
  readonly zone?: string;
}

/** Machines of one kind. */
export interface ClusterGroup {
  readonly role: "controlplane" | "worker";
  /** `cp` for the control planes; unique in the cluster. Second part of the names of machines. A DNS label. */
  readonly name: string;
  /** 1, 3, 5 or 7 control planes; 0 or more workers. */
  readonly replicas: number;
  /** `v1.33.6`: that of the kubelets. Never newer than the control plane's, at most three minors older. */
  readonly kubernetesVersion: string;
  /** What each Machine is made from, without `name` and what the operator adds. `provider` is there always. */
  readonly machineSpec: MachineTemplateSpec & { readonly provider: string };
  /** For Machines and nodes. */
  readonly labels: Readonly<Record<string, string>>;
  /** For Machines and nodes. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
}

/** A taint of a node. */
export interface NodeTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

/** What becomes of a KubernetesCluster: a model, or what is wrong with it. */
export interface NormalisedCluster {
  /** How it was written; decides only which words the status uses. */
  readonly shape: "flat" | "nested";
  /** Absent when there are problems. */
  readonly model?: ClusterModel;
  /** In the order of the fields. Nothing may be made of the cluster while there is one. */
  readonly problems: readonly Finding[];
  /** Fields that are set and do nothing, each with why; for the condition FieldNotSupported. Sorted by path. */
  readonly inertFields: readonly InertField[];
  /** Versions that were written without a patch or not at all, and what they were read as. */
  readonly resolvedVersions: readonly ResolvedVersion[];
}

/** Whose version it is. */
export type VersionOf = "talos" | "kubernetes";

/**
 * How versions were read before that were written without a patch: complete ones by what was asked for, without `v`; `""` where nothing was. What stands here stays
 * until something else is asked for: a newer release of the operator moves nothing.
 */
export type ReadVersions = Readonly<Partial<Record<VersionOf, Readonly<Record<string, string>>>>>;

/** A field that is set and does nothing. */
export interface InertField {
  readonly field: string;
  readonly why: string;
}

/** A version that was written short, or not at all, and the complete one it stands for. */
export interface ResolvedVersion {
  readonly of: VersionOf;
  readonly field: string;
  /** Empty = not at all. */
  readonly written: string;
  readonly version: string;
}

/** Versions that do not go together. */
export interface VersionConflict {
  /** Whose fault it is: Talos's alone, whatever Kubernetes is asked for, or that of the two together. */
  readonly of: "talos" | "both";
  /** A sentence. */
  readonly message: string;
}

/** What the operator knows beside the object. */
export interface ClusterDefaults {
  /** Complete Kubernetes versions with or without `v`; one without a patch means the newest of its minor here. Pre-releases never count. */
  readonly knownKubernetesVersions: readonly string[];
  /** The same for Talos. */
  readonly knownTalosVersions: readonly string[];
  /** Complete. For clusters that name none. */
  readonly talosVersion: string;
  /** Complete. For clusters that name none. */
  readonly kubernetesVersion: string;
  /** Default: `networkconfiguration`, which asks the network for an address, where there is one. */
  readonly endpointMode?: "networkconfiguration" | "none" | "talosvip" | "custom";
  /** Hosts of mode `custom`: the first is the endpoint, all are names in certificates. */
  readonly customEndpoint?: readonly string[];
  /** For groups that name none. Default: `default`. */
  readonly machineProvider?: string;
  /** Opens loopback addresses as endpoints, for demonstrations. Default: false. */
  readonly allowLoopback?: boolean;
  /** Why a Talos version does not run a Kubernetes version, or none at all; `undefined` when it does. Both complete, with `v`. */
  readonly versionConflict?: (talosVersion: string, kubernetesVersion: string) => VersionConflict | undefined;
}
