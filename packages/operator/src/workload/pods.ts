import { controllerOf } from "@talos-operator/kube-runtime";
import type { PodObject } from "./kinds.ts";

/** The kubelet's own copy of a static pod carries it. */
const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** What is to be done with the pods of a Node so that it may be disturbed. */
export interface PodsToLeave {
  /** To be evicted. */
  readonly toEvict: readonly PodObject[];
  /** Evicted or deleted already, and still there. */
  readonly leaving: readonly PodObject[];
}

/**
 * Sorts the pods of a Node. Three kinds do not have to leave: static pods and pods of a DaemonSet, which would come back at once, and pods that have
 * finished, which serve nobody.
 */
export function podsToLeave(pods: readonly PodObject[], nodeName: string): PodsToLeave {
  const staying = pods
    .filter((pod) => pod.spec?.nodeName === nodeName && hasToLeave(pod))
    .toSorted((a, b) => (podText(a) < podText(b) ? -1 : 1));
  return {
    toEvict: staying.filter((pod) => pod.metadata?.deletionTimestamp === undefined),
    leaving: staying.filter((pod) => pod.metadata?.deletionTimestamp !== undefined),
  };
}

function hasToLeave(pod: PodObject): boolean {
  if (pod.metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined) return false;
  if (controllerOf(pod)?.kind === "DaemonSet") return false;
  return pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed";
}

/** `namespace/name` */
export function podText(pod: PodObject): string {
  return `${pod.metadata?.namespace ?? ""}/${pod.metadata?.name ?? ""}`;
}
