import type { ClusterGroup, ClusterModel } from "@talos-operator/api";
import { compareContracts } from "@talos-operator/talos";
import { nodeAnnotations } from "./node-annotations.ts";

/** First contract whose Kubernetes settings are documents of their own. */
const DOCUMENTS_SINCE = "1.14";

/** First contract whose configs take the kernel's arguments from the image; Talos refuses further ones beside that. */
const IMAGE_ARGUMENTS_SINCE = "1.12";

/**
 * What a cluster asks for beyond the fields of a pool, as patches of the machine config. Pure.
 *
 * @param contract that the pool's configurations are written for, for example `1.13`
 */
export function patchesOf(model: ClusterModel, group: ClusterGroup, contract: string): readonly Readonly<Record<string, unknown>>[] {
  const isControlPlane = group.role === "controlplane";
  const { kubelet, install, certSANs } = model;
  const image =
    kubelet.image ??
    (group.kubernetesVersion === model.kubernetesVersion ? undefined : `ghcr.io/siderolabs/kubelet:${group.kubernetesVersion}`);
  const kubeletFields = { ...(image === undefined ? {} : { image }), ...unlessEmpty("extraArgs", kubelet.extraArgs) };
  const taints = Object.fromEntries(group.taints.map(({ key, value, effect }) => [key, value === "" ? effect : `${value}:${effect}`]));
  const annotations = nodeAnnotations(model, group);
  const hasDocuments = compareContracts(contract, DOCUMENTS_SINCE) >= 0;
  const node = {
    ...unlessEmpty("labels", group.labels),
    ...unlessEmpty("annotations", annotations),
    ...unlessEmpty("taints", taints),
  };
  // The install document knows neither: what asks for them there was refused or answered before.
  const installFields = hasDocuments
    ? {}
    : {
        ...(install.bootloader ? {} : { bootloader: false }),
        ...(install.extraKernelArgs.length === 0
          ? {}
          : {
              extraKernelArgs: [...install.extraKernelArgs],
              ...(compareContracts(contract, IMAGE_ARGUMENTS_SINCE) >= 0 ? { grubUseUKICmdline: false } : {}),
            }),
      };
  // Where the inventory has another id than the object a name, the id is what Talos calls the cluster, as existing machines know it.
  const clusterName = model.clusterId === model.name ? undefined : model.clusterId;
  const v1alpha1 = tree({
    machine: {
      certSANs: certSANs.length === 0 ? undefined : [...certSANs],
      install: some(installFields),
      ...(hasDocuments
        ? {}
        : {
            kubelet: some(kubeletFields),
            nodeLabels: some(group.labels),
            nodeAnnotations: some(annotations),
            nodeTaints: some(taints),
          }),
    },
    cluster: hasDocuments
      ? {}
      : { clusterName, apiServer: isControlPlane && certSANs.length > 0 ? { certSANs: [...certSANs] } : undefined },
  });
  const held = isControlPlane ? heldAddressOf(model) : [];
  if (!hasDocuments) return [...v1alpha1, ...held];
  return [
    ...v1alpha1,
    ...held,
    ...document("KubeClusterConfig", clusterName === undefined ? {} : { clusterName }),
    ...document("KubeNodeConfig", node),
    ...document("KubeletConfig", kubeletFields),
    ...document("KubeAPIServerConfig", isControlPlane && certSANs.length > 0 ? { certExtraSANs: [...certSANs] } : {}),
  ];
}

/** Name of the link that holds the endpoint's address, as published operators call it. */
const HELD_LINK = "net0";

/**
 * The endpoint's address on the control planes themselves. Talos gives a plain alias to a physical link only when it is the only one that fits, so on a machine
 * with several nothing is named and nothing comes up, never a wrong one. Neither document ends the DHCP that machines do by themselves, as one about a link would.
 */
function heldAddressOf({ endpoint }: ClusterModel): readonly Readonly<Record<string, unknown>>[] {
  if (endpoint.mode !== "given" || endpoint.heldAddress === undefined) return [];
  return [
    ...document("LinkAliasConfig", { name: HELD_LINK, selector: { match: "true" } }),
    ...document("Layer2VIPConfig", { name: endpoint.heldAddress, link: HELD_LINK }),
  ];
}

/** One patch without its empty branches, or none. */
function tree(patch: Readonly<Record<string, Readonly<Record<string, unknown>>>>): readonly Readonly<Record<string, unknown>>[] {
  const branches = Object.entries(patch).flatMap(([key, branch]) => {
    const set = Object.entries(branch).filter(([, value]) => value !== undefined);
    return set.length === 0 ? [] : [[key, Object.fromEntries(set)] as const];
  });
  return branches.length === 0 ? [] : [Object.fromEntries(branches)];
}

function document(kind: string, fields: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return Object.keys(fields).length === 0 ? [] : [{ apiVersion: "v1alpha1", kind, ...fields }];
}

function some<T extends object>(fields: T): T | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function unlessEmpty(key: string, fields: object): Readonly<Record<string, unknown>> {
  return Object.keys(fields).length === 0 ? {} : { [key]: { ...fields } };
}
