import type { TreeNode } from "@talos-operator/operator";

const base = { namespace: "default", ready: "True", notes: [], children: [] } as const;

export function machineNode(name: string, more: Partial<TreeNode> = {}): TreeNode {
  const address = name.slice(name.indexOf("-") + 1);
  return { ...base, kind: "TalosMachine", name, role: "worker", state: "Available", talos: "v1.13.9", address, ...more };
}

/** One that waits. */
export function waitingNode(name: string, message: string, more: Partial<TreeNode> = {}): TreeNode {
  const notes = [{ type: "Ready", status: "False", reason: "NodesNotReady", message }] as const;
  return machineNode(name, { ready: "False", state: "Installing", notes, ...more });
}

export function poolNode(machines: readonly TreeNode[], more: Partial<TreeNode> = {}): TreeNode {
  const counted = { ready: machines.filter(({ ready }) => ready === "True").length, wanted: machines.length };
  return {
    ...base,
    kind: "TalosWorker",
    name: "first",
    role: "worker",
    state: "Ready",
    talos: "v1.13.9",
    machines: counted,
    children: machines,
    ...more,
  };
}

export function clusterNode(pools: readonly TreeNode[], more: Partial<TreeNode> = {}): TreeNode {
  return {
    ...base,
    kind: "TalosCluster",
    name: "first",
    state: "Ready",
    talos: "v1.13.9",
    kubernetes: "v1.36.3",
    children: pools,
    ...more,
  };
}

/** Names with numbers. */
export function many(count: number, make: (name: string) => TreeNode): readonly TreeNode[] {
  return Array.from({ length: count }, (_, index) => make(`w-10.${Math.floor(index / 250)}.0.${index % 250}`));
}
