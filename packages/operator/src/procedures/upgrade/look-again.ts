import { elapsedMs } from "../../elapsed.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";

/** While something about Nodes is awaited they are listed so often. Milliseconds. */
const NODES_AGAIN_MS = 3_000;

/** What was listed counts for so long before a boot. Milliseconds. */
const TOLD_FOR_MS = 60_000;

/** Without a full stop. */
export const NODES_UNTOLD = "the cluster's own API does not tell its Nodes, and whether a machine is well with another Talos is seen there";

/** The API of the cluster told its Nodes a moment ago, or nobody asks it. */
export function areNodesTold({ seen: { nodes, now } }: Assessment): boolean {
  if (nodes === undefined) return true;
  return nodes.nodes !== undefined && elapsedMs(nodes.toldAt ?? nodes.at, now) < TOLD_FOR_MS;
}

/** It told them since. */
export function areNodesToldSince({ seen: { nodes } }: Assessment, at: number): boolean {
  return nodes === undefined || (nodes.nodes !== undefined && (nodes.toldAt ?? nodes.at) > at);
}

/** Lists the Nodes of the cluster, now or in a moment. */
export function lookAtNodes({ seen }: Assessment): readonly Action[] {
  const { nodes } = seen;
  return nodes === undefined || nodes.isAsking || elapsedMs(nodes.at, seen.now) < NODES_AGAIN_MS ? [] : [{ kind: "LookAtNodes" }];
}
