import { isConflict } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeCallOptions } from "@talos-operator/ports";
import { nodeType } from "./kinds.ts";
import type { NodeObject } from "./kinds.ts";
import { isNodeOf, seenNode, CORDON_MARK } from "./seen-node.ts";
import type { NodeOwner } from "../model/workload.ts";

const FIELD_MANAGER = "talos-operator/workload";

/** Writes of kubelet and controllers come between reading and writing now and then. */
const ATTEMPTS = 5;

/** What became of a cordon or of taking it off. */
export type CordonOutcome =
  /** Done, or it was so before. */
  | "done"
  /** There is no such Node. */
  | "no-node"
  /** What stands under that name is another machine's. Nothing was written. */
  | "other-machine"
  /** Only when taking off: the cordon is not ours. Nothing was written. */
  | "not-ours";

/**
 * Makes a Node unschedulable and marks it as cordoned by us. A Node that somebody else cordoned stays theirs: it gets no mark.
 *
 * @throws KubeApiError
 */
export function cordon(client: KubeClient, name: string, owner: NodeOwner, why: string, options: KubeCallOptions): Promise<CordonOutcome> {
  return change(client, name, owner, options, (node) =>
    node.spec?.unschedulable === true ? undefined : { spec: { unschedulable: true }, annotations: { [CORDON_MARK]: why } },
  );
}

/**
 * Takes our own cordon off, with its mark. Where a person made the Node schedulable meanwhile, only the mark goes.
 *
 * @throws KubeApiError
 */
export async function uncordon(client: KubeClient, name: string, owner: NodeOwner, options: KubeCallOptions): Promise<CordonOutcome> {
  let isOurs = true;
  const outcome = await change(client, name, owner, options, (node) => {
    isOurs = node.metadata?.annotations?.[CORDON_MARK] !== undefined;
    return isOurs ? { spec: { unschedulable: null }, annotations: { [CORDON_MARK]: null } } : undefined;
  });
  return outcome === "done" && !isOurs ? "not-ours" : outcome;
}

interface NodeChange {
  readonly spec: { readonly unschedulable: true | null };
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** Reads, decides, and writes only what was read: another machine's Node under this name is never touched. */
async function change(
  client: KubeClient,
  name: string,
  owner: NodeOwner,
  options: KubeCallOptions,
  wanted: (node: NodeObject) => NodeChange | undefined,
): Promise<CordonOutcome> {
  const nodes = client.resource<NodeObject>(nodeType);
  for (let attempt = 1; ; attempt += 1) {
    const node = await nodes.tryGet({ name }, options);
    if (node === undefined) return "no-node";
    if (!isNodeOf(seenNode(node), owner)) return "other-machine";
    const next = wanted(node);
    if (next === undefined) return "done";
    // No two objects ever have the same: this is also the UID.
    const resourceVersion = node.metadata?.resourceVersion;
    const value = { metadata: { resourceVersion, annotations: next.annotations }, spec: next.spec };
    try {
      await nodes.patch({ name }, { type: "merge", value }, { ...options, fieldManager: FIELD_MANAGER });
      return "done";
    } catch (thrown) {
      if (!isConflict(thrown) || attempt >= ATTEMPTS) throw thrown;
    }
  }
}
