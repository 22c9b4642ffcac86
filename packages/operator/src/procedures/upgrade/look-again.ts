import { elapsedMs } from "../../elapsed.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";

/** While something about Nodes is awaited they are listed so often. Milliseconds. */
const NODES_AGAIN_MS = 3_000;

/** Lists the Nodes of the cluster, now or in a moment. */
export function lookAtNodes({ seen }: Assessment): readonly Action[] {
  const { nodes } = seen;
  return nodes === undefined || nodes.isAsking || elapsedMs(nodes.at, seen.now) < NODES_AGAIN_MS ? [] : [{ kind: "LookAtNodes" }];
}
