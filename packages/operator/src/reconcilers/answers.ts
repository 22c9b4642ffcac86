import type { TalosControlPlane } from "@talos-operator/api";
import type { Logger } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import { hasAnswered } from "../controllers/shared/kstatus.ts";
import type { Told } from "../controllers/shared/kstatus.ts";
import type { StatusWriter } from "../controllers/shared/status-writer.ts";
import { reportStart } from "../report/tell.ts";
import type { Cluster } from "./clusters.ts";
import type { Decision } from "../model/decision.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";

/** The longest that a change waits for the statuses of others, in milliseconds: their controllers may be unable to write them, and a cluster needs no status. */
const ANSWERS_WITHIN_MS = 2_000;

/** How soon it is looked again whether they are written. Milliseconds. */
export const ANSWERS_AGAIN_MS = 50;

/** Since when the first change waits; `undefined` = none does. Kept by the cluster between passes. */
export interface AnswersAwaited {
  answersAwaitedSince: number | undefined;
}

/**
 * Objects whose statuses still read as if nothing were under way, though machines of theirs are about to be changed: pools of these machines, and what the cluster
 * is composed by. Empty when nobody is waited for, or has been for {@link ANSWERS_WITHIN_MS}.
 *
 * @param others what else must read so
 */
export function awaitedAnswers(
  toChange: ReadonlySet<MachineName>,
  seen: Observed,
  others: readonly Told[],
  cluster: AnswersAwaited,
): readonly Told[] {
  const pools = new Set(
    [...seen.machines, ...seen.former].flatMap(({ declared: { name, owner } }) =>
      // A control plane may have the name of a pool.
      toChange.has(name) && owner.kind === "TalosWorker" ? [owner.name] : [],
    ),
  );
  const objects = [...seen.workers.filter(({ metadata }) => pools.has(metadata.name)), ...others];
  const silent = toChange.size === 0 ? [] : objects.filter((object) => !hasAnswered(object));
  if (silent.length === 0) {
    cluster.answersAwaitedSince = undefined;
    return [];
  }
  cluster.answersAwaitedSince ??= seen.now;
  return elapsedMs(cluster.answersAwaitedSince, seen.now) < ANSWERS_WITHIN_MS ? silent : [];
}

/** What a pass is about to change. */
interface Start {
  readonly seen: Observed;
  readonly decision: Decision;
  readonly toChange: ReadonlySet<MachineName>;
  readonly cluster: AnswersAwaited & Pick<Cluster, "facts">;
  readonly statuses: StatusWriter<TalosControlPlane>;
  readonly log: Logger;
}

/**
 * Reports that something begins: whoever reads statuses that are stale would take their objects for finished.
 *
 * @param composing what the control plane and its pools are parts of
 * @returns whether objects still read as if nothing did, and are waited for
 */
export async function areStale(controlPlane: TalosControlPlane, composing: readonly Told[], start: Start): Promise<boolean> {
  const { seen, decision, toChange, cluster, statuses, log } = start;
  const isReported = hasAnswered(controlPlane) || (await reportStart(controlPlane, seen, decision, cluster.facts, statuses, log));
  return awaitedAnswers(toChange, seen, isReported ? composing : [controlPlane, ...composing], cluster).length > 0;
}
