import { isReadyNode } from "../conditions/machine-state.ts";
import { controlPlaneMargin } from "../disruption/control-plane-margin.ts";
import { poolBudgets } from "../disruption/pool-budget.ts";
import type { PoolBudgets } from "../disruption/pool-budget.ts";
import { whyHeld } from "../disruption/slot-words.ts";
import { endOfContainer, isContainer, KEEPS_VOLUMES, withStop, wordsOfEnd } from "./container-end.ts";
import { readyToDisturb } from "./drain.ts";
import { intentOn, machineFact, withDecisions, withIntent, withoutIntent } from "../record/facts.ts";
import { intentsThatFit } from "../record/room.ts";
import {
  isWiped,
  LATE_MS,
  leaversOf,
  mayAskAgain,
  policyOf,
  poolOf,
  released,
  resetIntent,
  unreachable,
  waits,
  wipeForbidden,
} from "./removal.ts";
import type { Leaver } from "./removal.ts";
import type { ClusterFacts, IntentFact } from "../../../model/record.ts";
import type { Action } from "../../../model/effect.ts";
import type { Observed } from "../../../model/observation.ts";
import type { Removal, RemovalStep } from "../../../model/plans.ts";
import type { Assessment } from "../../../model/assessment.ts";

/**
 * Plans how workers leave: drained, wiped, released once they answer in maintenance mode. Several at once, as far as `maxUnavailable` of their pool allows,
 * counting the machines of the pool that are down or being changed already; and none while the control plane needs attention itself.
 */
export function planWorkerRemovals(assessed: Assessment, facts: ClusterFacts): RemovalStep {
  const { seen } = assessed;
  const actions: Action[] = [];
  const removals: Removal[] = [];
  let next = withdrawn(seen, facts);
  const budgets = poolBudgets(assessed, next);
  for (const leaver of leaversOf(seen, next, "worker").toSorted(engagedFirst(seen, next))) {
    const step = planOne(assessed, next, leaver, budgets);
    next = step.facts;
    if (step.removals.some(({ reason }) => reason === "Draining" || reason === "Resetting")) budgets.take(leaver.machine);
    actions.push(...step.actions);
    removals.push(...step.removals);
  }
  return { facts: next, actions, removals };
}

function planOne(assessed: Assessment, facts: ClusterFacts, leaver: Leaver, budgets: PoolBudgets): RemovalStep {
  const { seen } = assessed;
  const { machine, fact } = leaver;
  const intent = intentOn(facts, fact.name, "Reset");
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  const letGo = (reason: string, message: string): RemovalStep => ({
    facts: released(seen, facts, fact, reason, message),
    actions: [],
    removals: [],
  });
  if (isWiped(facts, leaver)) return letGo("AnswersInMaintenance", `${fact.name} answers in maintenance mode.`);
  const pool = poolOf(seen, machine);
  const forbidden = wipeForbidden(seen, leaver);
  if (forbidden !== undefined) return say("ConfirmationRequired", forbidden);
  if (intent === undefined && policyOf(pool?.spec) === "preserve")
    return letGo("Preserved", `${fact.name} is released as it is: deletionPolicy of ${machine.declared.owner.name} is preserve.`);

  const end = intent !== undefined && isContainer(machine.look, fact) ? endOfContainer(seen, machine, intent) : undefined;
  if (end !== undefined) return letGo(end === "stopped" ? "Stopped" : "StartedAgain", wordsOfEnd(fact.name, end));
  if (machine.look.kind !== "running") {
    if (intent !== undefined && isContainer(machine.look, fact) && machine.look.kind === "silent")
      return { ...say("Resetting", stopping(fact.name)), facts: withStop(seen, facts, machine, intent) };
    if (intent === undefined) return { facts, actions: [], removals: [unreachable(facts, machine, fact)] };
    if (seen.now < intent.deadline) return say("Resetting", resetting(fact.name));
    return { ...say("MachineUnreachable", unreachable(facts, machine, fact).message), facts: closed(seen, facts, intent, "Silent") };
  }
  if (intent !== undefined) return pursue(seen, facts, leaver, intent);
  // A machine on its way down takes no wipe, or forgets it in its boot.
  if (intentOn(facts, fact.name, "Reboot") !== undefined)
    return say("WaitingForTurn", `${fact.name} leaves once it has booted: it was asked to a moment ago.`);

  const margin = controlPlaneMargin(assessed, facts);
  // Before the bootstrap there is no control plane that it could be left alone for.
  if (margin.kind === "none" && margin.holder.kind !== "founding")
    return say("WaitingForTurn", `${fact.name} leaves later: ${whyHeld(margin.holder)}.`);
  const place = budgets.placeFor(machine, "remove");
  if (place.kind === "none")
    return say(
      "WaitingForTurn",
      `${fact.name} leaves when fewer machines of ${machine.declared.owner.name} are down: ${place.others.join(", ")}; ${place.limit} may be (maxUnavailable).`,
    );
  const drain = readyToDisturb(assessed, fact.name);
  if (drain.kind !== "ready")
    return { facts, actions: drain.kind === "act" ? drain.actions : [], removals: [waits(fact, "Draining", drain.message)] };
  const opened = resetIntent(seen, leaver, "The pool no longer lists this worker.");
  if (intentsThatFit(facts, opened) === 0)
    return say("WaitingForTurn", `${fact.name} leaves later: as many machines are being changed as the record holds.`);
  const next = withDecisions(withIntent(facts, opened), {
    at: seen.now,
    action: "Reset",
    reason: "NotListed",
    machine: fact.name,
    message: `${fact.name} is to be ${isContainer(machine.look, fact) ? "stopped" : "wiped"}: ${machine.declared.owner.name} no longer lists it.`,
  });
  return pursue(seen, next, leaver, opened);
}

/** Goes on with a wipe that stands in the record. */
function pursue(seen: Observed, facts: ClusterFacts, { machine, fact }: Leaver, intent: IntentFact): RemovalStep {
  const isAtWork = machine.look.kind === "running" && machine.look.stage === "resetting" && seen.now < intent.deadline;
  const actions: Action[] =
    isAtWork || !seen.mayDisturb || !mayAskAgain(seen, `Reset/${fact.name}`)
      ? []
      : [
          {
            kind: "ResetMachine",
            machine: fact.name,
            address: intent.address,
            ifUuid: intent.uuid,
            isGraceful: true,
            ifUnlisted: "worker",
          },
        ];
  const words = isContainer(machine.look, fact) ? stopping(fact.name) : resetting(fact.name);
  return { facts, actions, removals: [waits(fact, "Resetting", words)] };
}

/** Wipes of workers that are listed again: closed when nothing can come of them any more. */
function withdrawn(seen: Observed, facts: ClusterFacts): ClusterFacts {
  return facts.intents.reduce((known, intent) => {
    if (intent.role !== "worker" || intent.what !== "Reset") return known;
    const machine = seen.machines.find(({ declared }) => declared.name === intent.machine);
    if (machine === undefined || poolOf(seen, machine)?.metadata.deletionTimestamp !== undefined) return known;
    const fact = machineFact(known, intent.machine);
    if (fact !== undefined && isWiped(known, { machine, fact }))
      return released(seen, known, fact, "AnswersInMaintenance", `${fact.name} answers in maintenance mode.`);
    const isAtWork = machine.look.kind !== "running" || machine.look.stage === "resetting";
    return isAtWork || seen.now < intent.deadline + LATE_MS ? known : closed(seen, known, intent, "ListedAgain");
  }, facts);
}

function closed(seen: Observed, facts: ClusterFacts, intent: IntentFact, reason: string): ClusterFacts {
  const message = `The wipe of ${intent.machine} did not take place.`;
  return withDecisions(withoutIntent(facts, intent.machine, intent.what), {
    at: seen.now,
    action: "CloseReset",
    reason,
    machine: intent.machine,
    message,
  });
}

function stopping(name: string): string {
  return `${name} is being stopped; it is released when it does not answer any more: ${KEEPS_VOLUMES}.`;
}

function resetting(name: string): string {
  return `${name} is being wiped; it is released once it answers in maintenance mode.`;
}

/** What is under way goes on first, then machines that are down already: taking them away disturbs nobody. */
function engagedFirst(seen: Observed, facts: ClusterFacts): (a: Leaver, b: Leaver) => number {
  const weight = ({ machine, fact }: Leaver): number =>
    intentOn(facts, fact.name) !== undefined ? 0 : seen.drains?.has(fact.name) === true ? 1 : isReadyNode(machine) ? 3 : 2;
  return (a, b) => weight(a) - weight(b) || (a.fact.name < b.fact.name ? -1 : 1);
}
