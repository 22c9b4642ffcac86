import { isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeCallOptions } from "@talos-operator/ports";
import { nodeType } from "./kinds.ts";
import type { NodeObject } from "./kinds.ts";
import { seenNode } from "./seen-node.ts";
import type { SeenNode } from "../model/workload.ts";

/**
 * Deletes one Node object if it is still as was decided on: it fits, and no kubelet reports it ready. A Node that changes meanwhile stays.
 *
 * A kubelet registers only when it starts: a Node deleted under a living one would be missed until its machine reboots.
 *
 * @returns false when nothing was deleted
 * @throws KubeApiError
 */
export async function deleteNodeObject(
  client: KubeClient,
  name: string,
  fits: (node: SeenNode) => boolean,
  options: KubeCallOptions,
): Promise<boolean> {
  const nodes = client.resource<NodeObject>(nodeType);
  const node = await nodes.tryGet({ name }, options);
  if (node === undefined) return false;
  const seen = seenNode(node);
  if (seen.isReady || !fits(seen)) return false;
  const { uid, resourceVersion } = node.metadata ?? {};
  const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  try {
    await nodes.delete({ name }, { ...options, preconditions });
    return true;
  } catch (thrown) {
    // Looked at again when the Nodes are listed the next time.
    if (isNotFound(thrown) || isConflict(thrown)) return false;
    throw thrown;
  }
}
