import { elapsedMs } from "../../elapsed.ts";
import { isPodTaken } from "../../disruption/other-node.ts";
import { ownMachine } from "../../disruption/own-node.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { evictOperator } from "../../effects/evict-operator.ts";
import { sentUnder } from "../configure/config-probe.ts";
import { lookAtNodes } from "./look-again.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** Longer than a pod has to end. Milliseconds. */
const LEAVES_WITHIN_MS = 60_000;

/** The same for the last time that it was asked for. Milliseconds. */
const AFTER_THE_LAST_MS = 20_000;

/**
 * Before the machine boots that this process runs on: its pod moves to another Node, where one takes it, so that somebody is there while the machine is away. Nobody
 * waits for it for ever: a budget, an API that is silent, or a Deployment that makes no other pod, holds up no boot that is written down. `undefined` = nothing is in
 * the way.
 */
export function leavesFirst(assessed: Assessment, intent: UpgradeIntent): readonly Action[] | undefined {
  const { seen } = assessed;
  const { machine } = intent;
  const own = ownMachine(assessed);
  const isEarly = elapsedMs(Math.max(intent.at, seen.watchedSince), seen.now) < LEAVES_WITHIN_MS;
  // Who has just begun may run on that very Node.
  if (own.kind === "unknown") return isEarly ? lookAtNodes(assessed) : undefined;
  if (own.kind !== "here" || own.machine !== machine || !isPodTaken(assessed, machine)) return undefined;
  const asked = sentUnder(seen, "EvictOperator", intent);
  if (asked === undefined || (isEarly && mayAskAgain(seen, evictOperator, machine)))
    return [{ kind: "EvictOperator", machine, node: own.node }];
  return isEarly || elapsedMs(asked.at, seen.now) < AFTER_THE_LAST_MS ? [] : undefined;
}
