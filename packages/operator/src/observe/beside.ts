import type { ObjectKey } from "@talos-operator/kube-runtime";
import { elapsedMs } from "../elapsed.ts";
import type { BrainOptions } from "../reconcilers/brain.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { Observed } from "../model/observation.ts";

/** So long it counts that another operator was seen at work, in milliseconds; then it is looked again. */
const COUNTS_MS = 25_000;

/**
 * Adds whether another operator is at work on the cluster. Before anything is begun on a cluster of others it is looked whether those are still there; later
 * what an effect has found counts for a while.
 */
export async function withNeighbours(
  seen: Observed,
  session: ClusterSession,
  key: ObjectKey,
  { clock, neighbours, log }: Pick<BrainOptions, "clock" | "neighbours" | "log">,
): Promise<Observed> {
  const now = clock.now();
  const isFresh = session.beside !== undefined && elapsedMs(session.beside.at, now) < COUNTS_MS;
  if (seen.adoption !== undefined && !isFresh) {
    try {
      const other = await neighbours.find(key, true);
      session.beside = other === undefined ? undefined : { at: now, value: other };
    } catch (thrown) {
      log.debug({ namespace: key.namespace ?? "", name: key.name, err: thrown }, "Whether another operator is at work is not known");
      return { ...seen, beside: "whether there is one cannot be read" };
    }
  } else if (!isFresh) session.beside = undefined;
  return session.beside === undefined ? seen : { ...seen, beside: session.beside.value };
}
