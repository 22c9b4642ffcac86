import type { TalosWorker } from "@talos-operator/api";
import type { Observed } from "../../model/observation.ts";
import { isLeftAlone } from "./pool-notes.ts";

/**
 * Worker pools for which something is written now, their finalizer first and their TalosMachines then. Not those that are deleted or paused, nor one whose spec
 * has something wrong in it: of that nothing is made, and it may go as it came.
 */
export function composedPools(seen: Observed): readonly TalosWorker[] {
  return seen.workers.filter(
    ({ metadata: { name, deletionTimestamp } }) =>
      deletionTimestamp === undefined &&
      seen.heldPools?.has(name) !== true &&
      seen.unsoundPools?.includes(name) !== true &&
      !isLeftAlone(seen, name),
  );
}
