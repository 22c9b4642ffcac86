import { isReadyNode } from "../../assess/machine-state.ts";
import { controlPlaneMargin } from "../../disruption/control-plane-margin.ts";
import { poolBudgets } from "../../disruption/pool-budget.ts";
import type { Place, PoolBudgets } from "../../disruption/pool-budget.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { resetMachine } from "../../effects/reset-machine.ts";
import { whyHeld } from "../../disruption/slot-words.ts";
import { once } from "../../assess/once.ts";
import { endOfContainer, isContainer, isStop, wordsOfEnd, wordsOfStop } from "./container-end.ts";
import { awaitsConfirmation } from "./emptied-pool.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { intentOn, machineFact } from "../../record/facts.ts";
import { IntentRoom } from "../../record/room.ts";
import { isWiped, LATE_MS, leaversOf, policyOf, poolOf, resetIntent, unreachable, waits, wipeForbidden } from "./removal.ts";
import type { Leaver } from "./removal.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed } from "../../model/observation.ts";
import type { Removal, RemovalStep } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * Plans how workers leave: drained, wiped, released once they answer in maintenance mode. Several at once, as far as `maxUnavailable` of their pool allows,
 * counting the machines of the pool that are down or being changed already; and none while the control plane needs attention itself.
 */
export function planWorkerRemovals(assessed: Assessment, facts: ClusterFacts): RemovalStep {
  const { seen } = assessed;
  const margin = once(() => controlPlaneMargin(assessed, facts));
  const planning: Planning = { assessed, draft: new FactsDraft(facts), budgets: poolBudgets(assessed), margin, actions: [], removals: [] };
  withdraw(planning);
  for (const leaver of leaversOf(seen, facts, "worker").toSorted(engagedFirst(seen, facts))) {
    const said = planOne(planning, leaver);
    if (said === undefined) continue;
    if (said.reason === "Draining" || said.reason === "Resetting") planning.budgets.take(leaver.machine);
    planning.removals.push(said);
  }
  return { facts: planning.draft.facts(), actions: planning.actions, removals: planning.removals };
}

/** What becomes of the pass, as one worker after another is planned. */
interface Planning {
  readonly assessed: Assessment;
  readonly draft: FactsDraft;
  readonly budgets: PoolBudgets;
  readonly margin: () => ReturnType<typeof controlPlaneMargin>;
  readonly actions: Action[];
  readonly removals: Removal[];
  /** Counted when the first wipe is written down. */
  room?: IntentRoom;
}

/** @returns what is said of it; `undefined` = it is let go */
function planOne(planning: Planning, leaver: Leaver): Removal | undefined {
  const { assessed, draft } = planning;
  const { seen } = assessed;
  const { machine, fact } = leaver;
  const facts = draft.before;
  const intent = intentOn(facts, fact.name, "Reset");
  const say = (reason: Removal["reason"], message: string): Removal => waits(fact, reason, message);
  if (isWiped(facts, leaver)) return letGo(planning, leaver, "AnswersInMaintenance", `${fact.name} answers in maintenance mode.`);
  const forbidden = wipeForbidden(seen, leaver);
  if (forbidden !== undefined) return say("ConfirmationRequired", forbidden);
  const pool = poolOf(seen, machine);
  if (intent === undefined && policyOf(pool?.spec) === "preserve")
    return letGo(
      planning,
      leaver,
      "Preserved",
      `${fact.name} is released as it is: deletionPolicy of ${machine.declared.owner.name} is preserve.`,
    );
  const confirmation = awaitsConfirmation(seen, facts, leaver);
  if (confirmation !== undefined) return say("ConfirmationRequired", confirmation);

  const end = intent !== undefined && isContainer(machine.look, fact) ? endOfContainer(seen, machine, intent) : undefined;
  if (end !== undefined) return letGo(planning, leaver, end === "stopped" ? "Stopped" : "StartedAgain", wordsOfEnd(fact.name, end));
  if (machine.look.kind !== "running") {
    if (intent !== undefined && isContainer(machine.look, fact) && machine.look.kind === "silent") {
      if (isStop(seen, machine, intent)) draft.replace(intent, { ...intent, stoppedAt: seen.now });
      return say("Resetting", wordsOfStop(fact.name, "worker"));
    }
    if (intent === undefined) return unreachable(facts, machine, fact);
    if (seen.now < intent.deadline) return say("Resetting", resetting(fact.name));
    close(planning, intent, "Silent");
    return say("MachineUnreachable", unreachable(facts, machine, fact).message);
  }
  if (intent !== undefined) return pursue(planning, leaver, intent);
  // A machine on its way down takes no wipe, or forgets it in its boot.
  if (intentOn(facts, fact.name, "Reboot") !== undefined)
    return say("WaitingForTurn", `${fact.name} leaves once it has booted: it was asked to a moment ago.`);
  return begin(planning, leaver);
}

/** Writes the wipe of a worker that runs down and sends it, once it may be disturbed. */
function begin(planning: Planning, leaver: Leaver): Removal {
  const { assessed, draft, budgets } = planning;
  const { seen } = assessed;
  const { machine, fact } = leaver;
  const say = (reason: Removal["reason"], message: string): Removal => waits(fact, reason, message);
  const margin = planning.margin();
  // Before the bootstrap there is no control plane that it could be left alone for.
  if (margin.kind === "none" && margin.holder.kind !== "founding")
    return say("WaitingForTurn", `${fact.name} leaves later: ${whyHeld(margin.holder)}.`);
  const place = budgets.placeFor(machine, "remove");
  if (place.kind === "none")
    return say(
      "WaitingForTurn",
      `${fact.name} is removed after ${namesOf(place)} (maxUnavailable of ${machine.declared.owner.name}: ${place.limit}).`,
    );
  const drain = readyToDisturb(assessed, fact.name);
  if (drain.kind !== "ready") {
    if (drain.kind === "act") planning.actions.push(...drain.actions);
    return say("Draining", drain.message);
  }
  const opened = resetIntent(seen, leaver, "The pool no longer lists this worker.");
  planning.room ??= new IntentRoom(draft.facts());
  if (!planning.room.tryTake(opened))
    return say("WaitingForTurn", `${fact.name} leaves later: as many machines are being changed as the record holds.`);
  draft.open(opened);
  draft.decide({
    at: seen.now,
    action: "Reset",
    reason: "NotListed",
    machine: fact.name,
    message: `${fact.name} is to be ${isContainer(machine.look, fact) ? "stopped" : "wiped"}: ${machine.declared.owner.name} no longer lists it.`,
  });
  return pursue(planning, leaver, opened);
}

/** Goes on with a wipe that stands in the record. */
function pursue({ assessed: { seen }, actions }: Planning, { machine, fact }: Leaver, intent: IntentFact): Removal {
  const isAtWork = machine.look.kind === "running" && machine.look.stage === "resetting" && seen.now < intent.deadline;
  if (!isAtWork && seen.mayDisturb && mayAskAgain(seen, resetMachine, fact.name))
    actions.push({
      kind: "ResetMachine",
      machine: fact.name,
      address: intent.address,
      ifUuid: intent.uuid,
      isGraceful: true,
      ifUnlisted: "worker",
    });
  return waits(fact, "Resetting", isContainer(machine.look, fact) ? wordsOfStop(fact.name, "worker") : resetting(fact.name));
}

/** Wipes of workers that are listed again: closed when nothing can come of them any more. */
function withdraw(planning: Planning): void {
  const { assessed, draft } = planning;
  const { seen, byName } = assessed;
  const facts = draft.before;
  for (const intent of facts.intents) {
    if (intent.role !== "worker" || intent.what !== "Reset") continue;
    const machine = byName.get(intent.machine);
    if (machine?.isListed !== true || machine.pool?.metadata.deletionTimestamp !== undefined) continue;
    const fact = machineFact(facts, intent.machine);
    if (fact !== undefined && isWiped(facts, { machine, fact })) {
      letGo(planning, { machine, fact }, "AnswersInMaintenance", `${fact.name} answers in maintenance mode.`);
      continue;
    }
    const isAtWork = machine.look.kind !== "running" || machine.look.stage === "resetting";
    if (!isAtWork && seen.now >= intent.deadline + LATE_MS) close(planning, intent, "ListedAgain");
  }
}

function letGo({ assessed: { seen }, draft }: Planning, { fact }: Leaver, reason: string, message: string): undefined {
  draft.release(fact, seen.now, reason, message);
}

function close({ assessed: { seen }, draft }: Planning, { machine, what }: IntentFact, reason: string): void {
  draft.close(machine, what);
  draft.decide({ at: seen.now, action: "CloseReset", reason, machine, message: `The wipe of ${machine} did not take place.` });
}

/** Those that are down, the first of them by name. */
function namesOf({ count, others }: Place & { readonly kind: "none" }): string {
  return `${others.join(", ")}${count > others.length ? ` and ${count - others.length} more` : ""}`;
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
