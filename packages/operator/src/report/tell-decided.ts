import type { TalosControlPlane } from "@talos-operator/api";
import type { BrainOptions } from "../reconcilers/brain.ts";
import type { Cluster } from "../reconcilers/clusters.ts";
import type { Decision } from "../model/decision.ts";
import { clusterOf } from "./tell-news.ts";

/** Counts a decision, and tells where it was held back: once for each fault, for one that is met again in every pass is one. */
export function tellDecided(
  options: BrainOptions,
  { decision: before, key }: Cluster,
  controlPlane: TalosControlPlane,
  { broken, rule }: Decision,
): void {
  options.figures?.decided(rule);
  if (broken === undefined) return;
  const { id, says, detail } = broken;
  options.onInvariantBroken?.(id, detail);
  options.figures?.invariantBroken(id);
  if (before?.broken?.id === id && before.broken.detail === detail) return;
  options.log.error(
    { namespace: key.namespace ?? "", name: key.name, rule, invariant: id, detail },
    "Held back what would break an invariant",
  );
  options.events.tell(clusterOf({ controlPlane }), "InvariantBroken", "Decide", `${id}: ${says} ${detail}.`);
}
