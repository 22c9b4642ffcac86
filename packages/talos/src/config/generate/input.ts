import type { SecretsBundle } from "../../secrets/bundle.ts";
import type { Contract } from "../../versions/contract.ts";

/** What a machine config is generated from. What is absent is left to Talos's generator defaults, which the field comments name. */
export interface MachineConfigInput {
  readonly role: MachineRole;
  readonly clusterName: string;
  /** URL of the Kubernetes API. Whatever Talos reads as a URL is taken; {@link parseEndpoint} refuses what no client could use. */
  readonly endpoint: string;
  /** Talos minor of the machine, such as `1.13`; see {@link contractFor}. */
  readonly contract: Contract;
  /** Such as `1.36.1`; a leading `v` is dropped. Empty leaves all images out (contracts before 1.14 only). */
  readonly kubernetesVersion: string;
  readonly secrets: SecretsBundle;
  /**
   * Keeps the AES-CBC secret of a bundle from before Talos 1.3, so that a control plane can read what an older one encrypted in etcd. Talos's own
   * generator leaves it out from contract 1.3 on, and from 1.14 on writes it as a secretbox key, with which those Secrets cannot be read, or leaves it out
   * beside a secretbox secret. Default false: the bytes of the generator.
   */
  readonly keepAesCbcSecret?: boolean;
  /** Where and how Talos installs itself. */
  readonly install?: InstallInput;
  /** `container` leaves the install section out and forwards cluster DNS to the host, as Talos in a container demands. Default `metal`. */
  readonly platform?: "metal" | "container";
  /** Further names and addresses for the certificates of the Talos API and of the Kubernetes API. */
  readonly additionalSans?: readonly string[];
  /** Default `cluster.local`. */
  readonly dnsDomain?: string;
  /** Default `10.244.0.0/16`, the IPv6 range when the endpoint is a bare IPv6 address. */
  readonly podSubnets?: readonly string[];
  /** Default `10.96.0.0/12`, the IPv6 range when the endpoint is a bare IPv6 address. */
  readonly serviceSubnets?: readonly string[];
  /** Default: flannel that Talos installs. */
  readonly cni?: CniInput;
  /** Lets workloads run on control planes. Default false. */
  readonly allowSchedulingOnControlPlanes?: boolean;
  /** Discovery service. Default true. */
  readonly discovery?: boolean;
  /** Port of the local API server of control planes, when it differs from 6443. */
  readonly localApiServerPort?: number;
  /** Port of KubePrism; 0 switches it off. Default: 7445 from contract 1.6 on. */
  readonly kubePrismPort?: number;
  /** Forwards cluster DNS through the host. Default: from contract 1.8 on. */
  readonly forwardKubeDnsToHost?: boolean;
  /** WireGuard mesh between machines; false is written out. Default: not said, which Talos takes for off. */
  readonly kubeSpan?: boolean;
  /** Mirrors per registry host, in order of preference. */
  readonly registryMirrors?: Readonly<Record<string, readonly string[]>>;
  /** TLS settings per registry host. */
  readonly registryTls?: Readonly<Record<string, RegistryTlsInput>>;
  readonly sysctls?: Readonly<Record<string, string>>;
  /** False switches network time off, for sites without any. Default: Talos's own servers. */
  readonly timeSync?: boolean;
  /** Leaves Kubernetes and etcd out: a machine that only runs Talos; contracts from 1.14 on. Default false. */
  readonly withoutKubernetes?: boolean;
  /** Extra logging on the machine. Default false. */
  readonly debug?: boolean;
  /** Network settings inside v1alpha1; contracts before 1.14. */
  readonly network?: NetworkInput;
  /** Extra disks inside v1alpha1; contracts before 1.14. */
  readonly userDisks?: readonly UserDiskInput[];
}

/** `init` is a control plane that bootstraps itself: deprecated, kept for old configs. */
export type MachineRole = "controlplane" | "worker" | "init";

/** How Talos installs itself; what is absent is not written. */
export interface InstallInput {
  /** Device path. From contract 1.14 on, no disk means no install document. */
  readonly disk?: string;
  /** Installer image reference. */
  readonly image?: string;
  /** Wipes the disk before the install. Default false. */
  readonly wipe?: boolean;
  /** False leaves the install document out although a disk is given; contracts from 1.14 on. Default true. */
  readonly unattended?: boolean;
  /** Kernel arguments; they are set through the image from contract 1.14 on and ignored by Talos there. */
  readonly extraKernelArgs?: readonly string[];
}

/** Network plugin of the cluster, as the generator names it. */
export interface CniInput {
  readonly name: "flannel" | "none" | "custom";
  /** Manifests of a `custom` plugin. */
  readonly urls?: readonly string[];
  readonly flannel?: { readonly extraArgs?: readonly string[] };
}

/** How the machine meets the TLS of a registry. */
export interface RegistryTlsInput {
  /** PEM text of the authority. */
  readonly ca?: string;
  readonly insecureSkipVerify?: boolean;
}

/** Network settings of one machine. */
export interface NetworkInput {
  readonly nameservers?: readonly string[];
  readonly interfaces?: readonly NetworkInterfaceInput[];
  /** WireGuard mesh, inside v1alpha1 whatever the contract has a document for. Default false. */
  readonly kubeSpan?: boolean;
}

/** One interface of a machine; what is absent is not written. */
export interface NetworkInterfaceInput {
  readonly name: string;
  readonly addresses?: readonly string[];
  readonly mtu?: number;
  readonly dhcp?: boolean;
  readonly dhcpv4?: boolean;
  readonly dhcpv6?: boolean;
  readonly ignore?: boolean;
  /** Shared virtual address; control planes only. */
  readonly vip?: string;
}

/** A disk that Talos partitions and mounts beside its own. */
export interface UserDiskInput {
  readonly device: string;
  /** `sizeBytes` absent: the rest of the disk. */
  readonly partitions: readonly { readonly mountpoint: string; readonly sizeBytes?: number }[];
}
