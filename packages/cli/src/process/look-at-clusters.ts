import { findInTrees, readTreeInput, statusTrees, type TreeNode } from "@talos-operator/operator";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { NamedObject } from "./apply-object.ts";
import type { NodeCheck } from "./node-check.ts";

/** Kinds whose Ready condition ends the wait. */
export const GOAL_KINDS: ReadonlySet<string> = new Set(["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker"]);

export interface ClusterLookOptions {
  readonly client: KubeClient;
  /** What was applied. */
  readonly applied: readonly NamedObject[];
  /** Asks the machines' own clusters what runs; consulted when a status calls a machine ready. Absent: the statuses alone count. */
  readonly nodes?: NodeCheck;
}

/** Every cluster of the API at one moment. */
export interface ClusterLook {
  readonly trees: readonly TreeNode[];
  /** Everything that was applied is Ready. */
  readonly isReady: boolean;
}

export async function lookAtClusters({ client, applied, nodes }: ClusterLookOptions): Promise<ClusterLook> {
  const input = await readTreeInput(client);
  const told = statusTrees(input);
  const trees = nodes !== undefined && someReady(told) ? statusTrees({ ...input, upNodes: await nodes.upNodes() }) : told;
  return { trees, isReady: isReadyAll(trees, applied) };
}

/** Addresses of a kind of machines that no object names. */
export function spareAddresses(trees: readonly TreeNode[], addresses: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  const take = ({ address, children }: TreeNode): void => {
    if (address !== undefined) taken.add(address);
    for (const child of children) take(child);
  };
  for (const tree of trees) take(tree);
  return addresses.filter((address) => !taken.has(address));
}

/** What a person must know when time is up: everything that is not Ready, and what each part waits for. */
export function waitingLines(trees: readonly TreeNode[], applied: readonly NamedObject[]): readonly string[] {
  const absent = goalsOf(applied)
    .filter((goal) => findInTrees(trees, goal) === undefined)
    .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}: it is not there`);
  const lines: string[] = [];
  const add = ({ kind, namespace, name, address, ready, notes, children }: TreeNode): void => {
    const title = kind === "TalosMachine" ? `${name}${address === undefined ? "" : ` (${address})`}` : `${kind} ${namespace}/${name}`;
    if (ready !== "True") lines.push(`${title}: ${notes[0]?.message ?? "Pending"}`);
    for (const child of children) add(child);
  };
  for (const tree of trees) add(tree);
  return [...absent, ...lines];
}

function isReadyAll(trees: readonly TreeNode[], applied: readonly NamedObject[]): boolean {
  const goals = goalsOf(applied);
  return goals.length > 0 && goals.every((goal) => findInTrees(trees, goal)?.ready === "True");
}

function goalsOf(applied: readonly NamedObject[]): readonly { readonly kind: string; readonly namespace: string; readonly name: string }[] {
  return applied
    .filter(({ kind }) => GOAL_KINDS.has(kind))
    .map(({ kind, metadata: { name, namespace = "default" } }) => ({ kind, namespace, name }));
}

function someReady(trees: readonly TreeNode[]): boolean {
  return trees.some(({ kind, ready, children }) => (kind === "TalosMachine" && ready === "True") || someReady(children));
}
