import { isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceClient } from "@talos-operator/kube-runtime";
import type { KubeCallOptions } from "@talos-operator/ports";
import { nodeType } from "./kinds.ts";
import type { NodeObject, Taint } from "./kinds.ts";
import { isNodeOf, isUpgradeTaint, seenNode, UPGRADE_TAINT } from "./seen-node.ts";
import type { NodeOwner } from "../model/workload.ts";

const FIELD_MANAGER = "talos-operator/workload";

/** Writes of kubelet and controllers come between reading and writing now and then. */
const ATTEMPTS = 5;

/** Nodes that are written at once. */
const TOGETHER = 8;

/** Until when the next calls must be answered, asked before each handful. @throws EffectError where they must not be sent any more */
export type CallLimits = () => Promise<KubeCallOptions>;

/** Taints of a Node as they are to be; `undefined` = as they are. */
type Change = (node: NodeObject, taints: readonly Taint[]) => readonly Taint[] | undefined;

/**
 * Puts our taint on these Nodes: one list, and a write for each that lacks it. What is another machine's by now, or keeps pods away by itself, is left as it is.
 *
 * @throws KubeApiError
 */
export async function putUpgradeTaint(
  client: KubeClient,
  owners: readonly (NodeOwner & { readonly node: string })[],
  limits: CallLimits,
): Promise<void> {
  const byNode = new Map(owners.map((owner) => [owner.node, owner]));
  await changeTaints(client, new Set(byNode.keys()), limits, (node, taints) => {
    const owner = byNode.get(node.metadata?.name ?? "");
    const seen = seenNode(node);
    if (owner === undefined || !isNodeOf(seen, owner) || seen.isSchedulable === false || seen.hasUpgradeTaint === true) return undefined;
    return [...taints, { key: UPGRADE_TAINT, effect: "PreferNoSchedule" }];
  });
}

/** Takes our taint off these Nodes, and no other taint. @throws KubeApiError */
export async function takeUpgradeTaintOff(client: KubeClient, names: readonly string[], limits: CallLimits): Promise<void> {
  await changeTaints(client, new Set(names), limits, (_node, taints) =>
    taints.some(isUpgradeTaint) ? taints.filter((taint) => !isUpgradeTaint(taint)) : undefined,
  );
}

async function changeTaints(client: KubeClient, names: ReadonlySet<string>, limits: CallLimits, wanted: Change): Promise<void> {
  const nodes = client.resource<NodeObject>(nodeType);
  const { items } = await nodes.list(await limits());
  const concerned = items.filter((node) => names.has(node.metadata?.name ?? "") && wanted(node, node.spec?.taints ?? []) !== undefined);
  for (let index = 0; index < concerned.length; index += TOGETHER) {
    const options = await limits();
    await Promise.all(concerned.slice(index, index + TOGETHER).map((node) => rewrite(nodes, node, options, wanted)));
  }
}

/** A list of taints is replaced as a whole: only the one that was read is, so that nobody else's is lost. */
async function rewrite(nodes: ResourceClient<NodeObject>, read: NodeObject, options: KubeCallOptions, wanted: Change): Promise<void> {
  let node: NodeObject | undefined = read;
  for (let attempt = 1; node !== undefined; attempt += 1) {
    const { name = "", resourceVersion } = node.metadata ?? {};
    const taints = wanted(node, node.spec?.taints ?? []);
    if (taints === undefined) return;
    const value = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
    try {
      await nodes.patch({ name }, { type: "merge", value }, { ...options, fieldManager: FIELD_MANAGER });
      return;
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      if (!isConflict(thrown) || attempt >= ATTEMPTS) throw thrown;
      node = await nodes.tryGet({ name }, options);
    }
  }
}
