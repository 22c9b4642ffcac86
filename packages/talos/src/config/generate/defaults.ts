import { type YamlMapping } from "../yaml/emit.ts";
import type { MachineConfigInput } from "./input.ts";

/** Where images come from when no patch says otherwise. */
const kubeletImage = "ghcr.io/siderolabs/kubelet";
const kubernetesImages = "registry.k8s.io";
/** Registry of Kubernetes images in contract 1.2, while the project moved. */
const oldKubernetesImages = "k8s.gcr.io";

/** Image of one Kubernetes component, `undefined` when the input names no version. */
export function componentImage(
  input: MachineConfigInput,
  component: "kubelet" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kube-proxy",
): string | undefined {
  const version = input.kubernetesVersion.replace(/^v/, "");
  if (version === "") return undefined;
  const tag = `v${version}`;
  return component === "kubelet" ? `${kubeletImage}:${tag}` : `${kubernetesImages}/${component}:${tag}`;
}

/** Mirror that contract 1.2 writes, so that pulls of the old registry name reach the new one. */
export const alternateRegistryMirror: readonly [string, readonly string[]] = [
  oldKubernetesImages,
  [`https://${kubernetesImages}`, `https://${oldKubernetesImages}`],
];

/** PodSecurity admission: baseline enforced, restricted audited and warned, kube-system exempt. */
export const podSecurityConfiguration: YamlMapping = {
  apiVersion: "pod-security.admission.config.k8s.io/v1alpha1",
  defaults: {
    audit: "restricted",
    "audit-version": "latest",
    enforce: "baseline",
    "enforce-version": "latest",
    warn: "restricted",
    "warn-version": "latest",
  },
  exemptions: { namespaces: ["kube-system"], runtimeClasses: [], usernames: [] },
  kind: "PodSecurityConfiguration",
};

/** Audit policy: metadata of every request. */
export const auditPolicy: YamlMapping = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };

/** Label that keeps control planes out of external load balancers. */
export const excludeFromLoadBalancers = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Pod and service networks. */
export function subnetsOf(
  input: MachineConfigInput,
  isIpv6: boolean,
): { podSubnets: readonly string[]; serviceSubnets: readonly string[] } {
  return {
    podSubnets: input.podSubnets ?? [isIpv6 ? "fc00:db8:10::/56" : "10.244.0.0/16"],
    serviceSubnets: input.serviceSubnets ?? [isIpv6 ? "fc00:db8:20::/112" : "10.96.0.0/12"],
  };
}

/** Port of KubePrism, 0 for none. */
export function kubePrismPortOf(input: MachineConfigInput, isOnByDefault: boolean): number {
  return input.kubePrismPort ?? (isOnByDefault ? 7445 : 0);
}

/** A text that says something. */
export function unlessBlank(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** A list, or nothing when it is empty: Talos leaves empty lists out. */
export function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}
