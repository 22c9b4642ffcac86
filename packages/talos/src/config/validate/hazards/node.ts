import type { ConfigMap } from "../../document/value.ts";
import { at, listAt, mapAt } from "../access.ts";
import { documentOf, isControlPlane, type HazardFinding, type HazardInput } from "./hazard.ts";

/** Labels that a kubelet may set on its own Node although they are of Kubernetes. */
const kubeletLabels: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
  "node.kubernetes.io/instance-type",
]);

/** Domains that are a kubelet's own, subdomains included. */
const kubeletDomains = ["kubelet.kubernetes.io", "node.kubernetes.io"] as const;

/**
 * Whether kube-apiserver lets a kubelet set this label on its own Node.
 *
 * @see kubernetes `plugin/pkg/admission/noderestriction`, `staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go`
 */
function isKubeletLabel(key: string): boolean {
  const domain = domainOf(key);
  if (isWithin(domain, "node-restriction.kubernetes.io")) return false;
  return !isOfKubernetes(domain) || isKnownToKubelets(key, domain);
}

function domainOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? "" : key.slice(0, slash);
}

function isOfKubernetes(domain: string): boolean {
  return isWithin(domain, "kubernetes.io") || isWithin(domain, "k8s.io");
}

function isKnownToKubelets(key: string, domain: string): boolean {
  return kubeletLabels.has(key) || kubeletDomains.some((own) => isWithin(domain, own));
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/** Labels and taints that never get onto the Node, and labels that the kubelet does not start with. */
export function nodeHazards(input: HazardInput): readonly HazardFinding[] {
  if (input.v1alpha1 === undefined) return [];
  return [...(isControlPlane(input) ? [] : [...restrictedLabels(input), ...restrictedTaints(input)]), ...kubeletLabelArguments(input)];
}

type Field = "nodeLabels" | "nodeTaints";

/** Names in a map of the config, with their places, wherever it is said. */
function namesIn(input: HazardInput, field: Field): readonly { readonly document: string; readonly path: string; readonly key: string }[] {
  const own = field === "nodeLabels" ? "labels" : "taints";
  const places: readonly (readonly [string, string, ConfigMap | undefined])[] = [
    ["v1alpha1", `machine.${field}`, mapAt(input.v1alpha1, "machine", field)],
    ["KubeNodeConfig", own, mapAt(documentOf(input, "KubeNodeConfig"), own)],
  ];
  return places.flatMap(([document, path, members]) =>
    [...(members ?? new Map()).keys()].map((key: string) => ({ document, path: `${path}["${key}"]`, key })),
  );
}

/** A worker writes its labels as its kubelet, all of them in one request: one that is forbidden takes the others with it. */
function restrictedLabels(input: HazardInput): readonly HazardFinding[] {
  return namesIn(input, "nodeLabels")
    .filter(({ key }) => !isKubeletLabel(key))
    .map(({ document, path }) => ({
      code: "NODE_LABEL_RESTRICTED",
      document,
      path,
      message: `no worker may set it, and then none of its labels arrives; use kubectl label node, or a domain of your own`,
    }));
}

/** From Talos 1.14 on a kubelet registers with its taints, which is allowed; before, Talos writes them later, which is not. */
function restrictedTaints(input: HazardInput): readonly HazardFinding[] {
  if (input.registersWithTaints) return [];
  return namesIn(input, "nodeTaints").map(({ document, path }) => ({
    code: "NODE_TAINT_RESTRICTED",
    document,
    path,
    message: `no worker of this Talos may set it, and then none of its labels arrives; use kubectl taint node`,
  }));
}

/** @see kubernetes `cmd/kubelet/app/options` ValidateKubeletFlags: here node-restriction.kubernetes.io is as forbidden as any other */
function kubeletLabelArguments(input: HazardInput): readonly HazardFinding[] {
  const own = documentOf(input, "KubeletConfig");
  const places: readonly (readonly [string, string, ConfigMap | undefined])[] = [
    ["v1alpha1", "machine.kubelet.extraArgs", mapAt(input.v1alpha1, "machine", "kubelet", "extraArgs")],
    ["KubeletConfig", "extraArgs", mapAt(own, "extraArgs")],
  ];
  return places.flatMap(([document, path, members]) => {
    const value = at(members, "node-labels");
    const texts =
      typeof value === "string" ? [value] : listAt(members, "node-labels").map((item) => (typeof item === "string" ? item : ""));
    const refused = texts
      .flatMap((text) => text.split(","))
      .map((pair) => (pair.split("=")[0] ?? "").trim())
      .find((key) => isOfKubernetes(domainOf(key)) && !isKnownToKubelets(key, domainOf(key)));
    if (refused === undefined) return [];
    const message = `the kubelet does not start with the label ${refused}, so the machine has no Node; use kubectl label node`;
    return [{ code: "KUBELET_LABEL_REFUSED", document, path: `${path}["node-labels"]`, message } satisfies HazardFinding];
  });
}
