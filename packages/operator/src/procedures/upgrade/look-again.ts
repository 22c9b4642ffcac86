import { elapsedMs } from "../../elapsed.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";

/** While something about Nodes is awaited they are listed so often. Milliseconds. */
const NODES_AGAIN_MS = 3_000;

/** What was listed counts for so long before a boot. Milliseconds. */
const LISTED_FOR_MS = 60_000;

/** Without a full stop. */
export const NODES_UNLISTED =
  "the cluster's own API does not list its Nodes, and whether a machine is well with another Talos is seen there";

/** The API of the cluster listed its Nodes a moment ago, or nobody asks it. */
export function areNodesListed({ seen: { nodes, now } }: Assessment): boolean {
  if (nodes === undefined) return true;
  return nodes.nodes !== undefined && elapsedMs(nodes.listedAt ?? nodes.at, now) < LISTED_FOR_MS;
}

/** It listed them since. */
export function areNodesListedSince({ seen: { nodes } }: Assessment, at: number): boolean {
  return nodes === undefined || (nodes.nodes !== undefined && (nodes.listedAt ?? nodes.at) > at);
}

/** Lists the Nodes of the cluster, now or in a moment. */
export function lookAtNodes({ seen }: Assessment): readonly Action[] {
  const { nodes } = seen;
  return nodes === undefined || nodes.isAsking || elapsedMs(nodes.at, seen.now) < NODES_AGAIN_MS ? [] : [{ kind: "LookAtNodes" }];
}
