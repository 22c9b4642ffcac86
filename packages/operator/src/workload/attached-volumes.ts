import { isForbidden, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeCallOptions } from "@talos-operator/ports";
import { claimType, volumeAttachmentType } from "./kinds.ts";
import type { ClaimObject, PodObject, VolumeAttachmentObject } from "./kinds.ts";

/** What of a Node's volumes is still attached once the pods are gone that had to leave. */
export type AttachedVolumes =
  | { readonly kind: "reported"; readonly volumes: readonly string[] }
  /** This API says nothing of volumes, and never will to whoever asks again. */
  | { readonly kind: "unreported"; readonly detail: string };

/**
 * PersistentVolumes that are attached to a Node and that no pod which stays there uses: those of pods that left, whoever drained them. Names, in their order.
 *
 * @param staying what is on the Node, and stays
 * @param kubelet client of the user of that Node, who may read the claims of its pods
 * @param attacher client of a user who may list what is attached
 * @throws KubeApiError when the API does not answer
 */
export async function volumesLeft(
  nodeName: string,
  staying: readonly PodObject[],
  kubelet: KubeClient,
  attacher: KubeClient,
  options: KubeCallOptions,
): Promise<AttachedVolumes> {
  try {
    const { items } = await attacher.resource<VolumeAttachmentObject>(volumeAttachmentType).list(options);
    const attached = items.flatMap(({ spec, status }) => {
      const volume = spec?.source?.persistentVolumeName;
      return spec?.nodeName === nodeName && status?.attached === true && volume !== undefined ? [volume] : [];
    });
    if (attached.length === 0) return { kind: "reported", volumes: [] };
    const used = new Set<string | undefined>();
    for (const claim of staying.flatMap(claimsOf))
      used.add((await kubelet.resource<ClaimObject>(claimType).tryGet(claim, options))?.spec?.volumeName);
    return { kind: "reported", volumes: attached.filter((volume) => !used.has(volume)).toSorted() };
  } catch (thrown) {
    if (!isForbidden(thrown) && !isNotServed(thrown)) throw thrown;
    return { kind: "unreported", detail: `the API answers ${thrown.code} to ${thrown.call}` };
  }
}

/** The claims of a pod, those included that are made for it. A pod that has finished uses none. */
function claimsOf({ metadata, spec, status }: PodObject): readonly { readonly namespace: string; readonly name: string }[] {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return [];
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = ephemeral === undefined ? persistentVolumeClaim?.claimName : `${metadata?.name ?? ""}-${name}`;
    return claim === undefined ? [] : [{ namespace: metadata?.namespace ?? "", name: claim }];
  });
}
