import { findCondition } from "@talos-operator/api";
import type { TalosClusterAddonRelease } from "@talos-operator/api";
import type { ListedRun } from "../../workers/runner.ts";

/** Workers of all addons at once. */
export const RUNS_AT_ONCE = 2;

/** A run that may take longer leaves one of the turns to other namespaces. Milliseconds. */
const LONG_MS = 30 * 60_000;

/** Who else is at work, or waits for it. */
export interface Turns {
  /** Runs of other releases that are not ended. */
  readonly othersRunning: number;
  /** Those of them that are of the same namespace. */
  readonly neighboursRunning: number;
  /** A release of another namespace waits for its turn. */
  readonly isAwaitedElsewhere: boolean;
}

/** Counts runs and who waits for one. Pure. */
export function turnsOf(
  { metadata: { uid, namespace } }: TalosClusterAddonRelease,
  runs: readonly ListedRun[],
  releases: readonly TalosClusterAddonRelease[],
): Turns {
  const others = runs.filter(({ hasEnded, owner }) => !hasEnded && owner.uid !== uid);
  return {
    othersRunning: others.length,
    neighboursRunning: others.filter(({ owner }) => owner.namespace === namespace).length,
    isAwaitedElsewhere: others.length > 0 && releases.some((other) => other.metadata.namespace !== namespace && waitsForItsTurn(other)),
  };
}

function waitsForItsTurn({ status }: TalosClusterAddonRelease): boolean {
  const reason = findCondition(status?.conditions, "Ready")?.reason;
  return status?.run === undefined && (reason === "Installing" || reason === "Deleting");
}

/**
 * Why it is not this one's turn; `undefined` = it is. A namespace has one turn whatever others do, and both only for what ends soon, while nobody of another one waits:
 * whoever may make addons in one namespace, with hooks that never end, must not hold up those of all others for as long as Helm may wait. Pure.
 *
 * @param taskMs how long the worker may work
 */
export function waitsForTurn({ othersRunning, neighboursRunning, isAwaitedElsewhere }: Turns, taskMs: number): string | undefined {
  if (othersRunning >= RUNS_AT_ONCE) return `${othersRunning} addons are being worked on, as many as may at once.`;
  if (neighboursRunning === 0) return undefined;
  if (isAwaitedElsewhere) return "Another addon of this namespace is being worked on, and those of other namespaces come first.";
  if (taskMs > LONG_MS)
    return "Another addon of this namespace is being worked on; two at once only with a spec.helmSpec.options.timeout of at most 8m.";
  return undefined;
}
