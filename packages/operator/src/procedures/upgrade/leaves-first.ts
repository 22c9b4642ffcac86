import { elapsedMs } from "../../elapsed.ts";
import { isPodTaken } from "../../disruption/other-node.ts";
import { ownMachine } from "../../disruption/own-node.ts";
import { sentUnder } from "../configure/config-probe.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** Longer than a pod has to end. The intent stands: who is still there then may as well go down with its Node. Milliseconds. */
const LEAVES_WITHIN_MS = 60_000;

/**
 * Before the machine boots that this process runs on: its pod moves to another Node, where one takes it, so that somebody is there while the machine is away. Nobody
 * waits for it for ever: a budget, or a Deployment that makes no other pod, holds up no boot that is written down. `undefined` = nothing is in the way.
 */
export function leavesFirst(assessed: Assessment, intent: UpgradeIntent): readonly Action[] | undefined {
  const { machine } = intent;
  const own = ownMachine(assessed);
  if (own.kind !== "here" || own.machine !== machine || !isPodTaken(assessed, machine)) return undefined;
  const { seen } = assessed;
  const asked = sentUnder(seen, "EvictOperator", intent);
  if (asked === undefined) return [{ kind: "EvictOperator", machine, node: own.node }];
  return elapsedMs(asked.at, seen.now) < LEAVES_WITHIN_MS ? [] : undefined;
}
