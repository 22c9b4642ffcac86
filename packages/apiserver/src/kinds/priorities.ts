/** The priorities that every cluster has: what it cannot live without. */
export const systemPriorities: Readonly<Record<string, { readonly value: number; readonly description: string }>> = {
  "system-node-critical": {
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  "system-cluster-critical": {
    value: 2_000_000_000,
    description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
};
