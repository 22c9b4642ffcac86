/** What is read of a pod to see what it has to do with the network of its Node. */
export interface NetworkedPod {
  readonly metadata: { readonly ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean }[] };
  readonly spec?: {
    readonly hostNetwork?: boolean;
    readonly volumes?: readonly { readonly hostPath?: { readonly path?: string } }[];
  };
}

/** Where containerd looks for the configuration of a network plugin, and for its programs. */
const PLUGIN_FOLDERS: ReadonlySet<string> = new Set(["/etc/cni/net.d", "/opt/cni/bin"]);

/**
 * Whether this pod, once it runs, gives its Node a network: one of a DaemonSet, on the host's network, that writes where network plugins are looked for.
 * That is how flannel, Cilium and Calico come; names count for nothing.
 */
export function bringsNetwork(pod: NetworkedPod): boolean {
  const { metadata, spec } = pod;
  const isDaemon = metadata.ownerReferences?.some(({ kind, controller }) => kind === "DaemonSet" && controller === true) === true;
  const writes = spec?.volumes?.some(({ hostPath }) => PLUGIN_FOLDERS.has(hostPath?.path?.replace(/\/+$/, "") ?? "")) === true;
  return isDaemon && isOnHostNetwork(pod) && writes;
}

/** Needs no network of its own, and so runs on a Node that has none. */
export function isOnHostNetwork({ spec }: NetworkedPod): boolean {
  return spec?.hostNetwork === true;
}
