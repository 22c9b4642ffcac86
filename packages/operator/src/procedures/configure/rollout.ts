import { rfc3339 } from "@talos-operator/api";
import { elapsedMs } from "../../elapsed.ts";
import { isInForceAtOnce } from "../../config/compare.ts";
import { configIntents } from "./config-intents.ts";
import { codesOf, hazardWords, heldBack } from "./hazards.ts";
import { whyTooSmall } from "./etcd-quota.ts";
import { bootsForSpace } from "./larger-quota.ts";
import { routeOfState } from "./plan.ts";
import { renamingByMeta, renamingOf } from "./renaming.ts";
import { wasJustHeldBack } from "./config-probe.ts";
import { controlPlaneMargin } from "../../disruption/control-plane-margin.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { applyConfig } from "../../effects/apply-config.ts";
import { always, mayAskAgain } from "../../effects/define.ts";
import { REVERT_AGAIN_MS, triedPause } from "../../effects/on-running-machine.ts";
import { writeMeta } from "../../effects/write-meta.ts";
import { poolBudgets } from "../../disruption/pool-budget.ts";
import type { Place } from "../../disruption/pool-budget.ts";
import type { Disruption } from "../../disruption/reasons.ts";
import { whyHeld } from "../../disruption/slot-words.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import type { KnownConfig } from "../../model/config.ts";
import { countOf } from "../../report/listed.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
import type { ConfigPlan, Rollout } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** However often it was brought back in the last day. */
const LONGEST_PEACE_MS = 6 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

const SENT_AGAIN = "what was sent before did not come into force; it is sent again after a while";

/**
 * Chooses whose configuration is changed, or who is booted, next.
 *
 * Control planes first and one at a time, and only where etcd keeps its quorum without it; then workers, as far as the budget of their pool allows. While any machine has failed with the settings it should have, nobody is next; nor while one that did not keep what it was
 * sent, without a sign why, is left in peace: settings that boot a machine must not go around. A worker that failed stops no control plane whose boot brings the space that etcd
 * waits for.
 */
export function chooseNext(assessed: Assessment, facts: ClusterFacts, plans: readonly ConfigPlan[]): Rollout {
  const { seen } = assessed;
  const failed = plans.filter((plan) => plan.state.kind === "failed");
  const choice = new Choice();
  const wanting: ConfigPlan[] = [];
  for (const plan of plans.filter((one) => wantsEffect(seen, one)).toSorted((a, b) => weight(a) - weight(b))) {
    const stopping = failed.find((other) => isControlPlane(other) || reasonOf(assessed, plan) !== "enlarge");
    if (stopping === undefined) wanting.push(plan);
    else choice.hold(plan, `the rollout stopped at ${stopping.machine.declared.name}`);
  }
  const pausing = wanting.find((plan) => plan.state.kind === "change" && isPausing(seen, plan));
  if (pausing !== undefined) {
    const { name } = pausing.machine.declared;
    for (const plan of wanting)
      choice.hold(plan, plan === pausing ? SENT_AGAIN : `${name} comes first: what was sent to it did not come into force yet`);
    return choice;
  }
  const halfway = plans.find((plan) => isControlPlane(plan) && isHalfway(plan));
  for (const plan of wanting.filter(isControlPlane)) {
    if (halfway !== undefined) choice.hold(plan, `${halfway.machine.declared.name} waits for its boot and does not report its state`);
    else if (choice.isUnderWay()) choice.hold(plan, "another control plane comes first");
    else choice.take(plan, mayBegin(assessed, facts, plan));
  }
  const isControlPlaneBusy = choice.isUnderWay() || plans.some((plan) => isControlPlane(plan) && plan.state.kind === "under-way");
  const budgets = poolBudgets(assessed);
  for (const plan of wanting.filter((one) => !isControlPlane(one))) {
    const place = budgets.placeFor(plan.machine, reasonOf(assessed, plan));
    const alone = isRiskyBoot(plan) ? bootUnderWay(facts, choice) : undefined;
    if (isControlPlaneBusy) choice.hold(plan, "control planes come first");
    else if (alone !== undefined) choice.hold(plan, `${alone} boots first: a part of the change could not be tried`);
    else if (place.kind === "none") choice.hold(plan, placeWords(plan, place));
    else if (choice.take(plan, mayBegin(assessed, facts, plan))) budgets.take(plan.machine);
  }
  return choice;
}

/** What is chosen, as it grows. */
class Choice implements Rollout {
  readonly next: ConfigPlan[] = [];
  readonly actions: Action[] = [];
  readonly waiting = new Map<MachineName, string>();
  #isDraining = false;

  hold({ machine }: ConfigPlan, why: string): void {
    this.waiting.set(machine.declared.name, why);
  }

  /** True when the machine takes a place: it is next, or it is being drained for that. */
  take(plan: ConfigPlan, may: Beginning): boolean {
    if (may.kind === "now") this.next.push(plan);
    else this.hold(plan, may.message);
    if (may.kind === "drain") this.actions.push(...may.actions);
    this.#isDraining ||= may.kind === "drain";
    return may.kind !== "hold";
  }

  isUnderWay(): boolean {
    return this.next.length > 0 || this.#isDraining;
  }
}

type Beginning =
  | { readonly kind: "now" }
  | { readonly kind: "hold"; readonly message: string }
  | { readonly kind: "drain"; readonly message: string; readonly actions: readonly Action[] };

function mayBegin(assessed: Assessment, facts: ClusterFacts, plan: ConfigPlan): Beginning {
  const { seen } = assessed;
  const { name } = plan.machine.declared;
  const hold = (message: string): Beginning => ({ kind: "hold", message });
  if (wasJustHeldBack(seen, name)) return hold("it could not be asked a moment ago");
  if (plan.state.kind === "drifted") {
    if (!mayAskAgain(seen, sentAs(plan), name, always(REVERT_AGAIN_MS)))
      return hold("it was brought back a short while ago and changed again");
    const until = leftInPeaceUntil(facts, name, seen.now);
    if (until !== undefined)
      return hold(
        `it was brought back again and again in the last day, and changed again each time: nothing is sent before ${rfc3339(until)}`,
      );
  }
  if (isPausing(seen, plan)) return hold(SENT_AGAIN);
  const hazards = plan.state.kind === "drifted" ? heldBack(facts, plan.settings, hazardsOfRevert(plan.state)) : [];
  if (hazards.length > 0) return hold(`${codesOf(hazards).join(", ")}: ${hazardWords(hazards, plan.machine.declared)}`);
  const why = reasonOf(assessed, plan);
  const { look } = plan.machine;
  const member = look.kind === "running" ? look.etcd?.localMember : undefined;
  const held = isControlPlane(plan)
    ? controlPlaneSlot(assessed, facts, { machine: name, why, member })
    : controlPlaneMargin(assessed, facts);
  if ("holder" in held) return hold(whyHeld(held.holder));
  const tooSmall = "config" in plan.state && isControlPlane(plan) ? whyTooSmall(plan.machine, plan.state.config) : undefined;
  if (tooSmall !== undefined) return hold(tooSmall);
  if (leavesItsNode(plan)) return onceDrained(assessed, name);
  if (plan.state.kind !== "staged") return { kind: "now" };
  // Without space no pod can be evicted, and no Node be cordoned.
  return why === "enlarge" ? { kind: "now" } : onceDrained(assessed, name);
}

/** Of what is brought back: the configuration, or META. */
function hazardsOfRevert({ config, part }: Extract<ConfigPlan["state"], { readonly kind: "drifted" }>): KnownConfig["hazards"] {
  return part === "meta" ? config.meta?.hazards : config.hazards;
}

function onceDrained(assessed: Assessment, name: MachineName): Beginning {
  const drain = readyToDisturb(assessed, name);
  if (drain.kind === "ready") return { kind: "now" };
  return { kind: "drain", message: drain.message, actions: drain.kind === "act" ? drain.actions : [] };
}

/** It boots with a hazard that a person accepted, or with what could be tried and makes no configuration by itself: nothing takes that back. */
function isRiskyBoot({ state }: ConfigPlan): boolean {
  return state.kind === "staged" && (state.config.hazards !== undefined || state.config.changes.some(isInForceAtOnce));
}

/** A worker that boots for its configuration, or is about to: its return proves the change for the next. */
function bootUnderWay(facts: ClusterFacts, { next }: Choice): MachineName | undefined {
  const open = configIntents(facts).find(({ what, role }) => what === "Reboot" && role === "worker");
  return open?.machine ?? next.find((plan) => plan.state.kind === "staged")?.machine.declared.name;
}

/**
 * At once: by what needs a boot it leaves it with the boot. One that shares its Node with another machine has none to be drained: its own name is the cure.
 */
function leavesItsNode({ machine: { look }, state }: ConfigPlan): boolean {
  if (state.kind !== "change" && state.kind !== "drifted") return false;
  if (look.kind === "running" && look.sharesNode !== undefined) return false;
  const route = routeOfState(state);
  const renaming = route === "meta" ? renamingByMeta : route === "guarded" ? renamingOf : undefined;
  return renaming?.(look, state.config) !== undefined;
}

/** Until when a machine is left alone that was brought back several times, as the record remembers; `undefined` = it is not. */
function leftInPeaceUntil({ decisions }: ClusterFacts, name: MachineName, now: number): number | undefined {
  const reverts = decisions.filter(({ machine, reason, at }) => machine === name && reason === "Drift" && elapsedMs(at, now) < DAY_MS);
  const last = reverts.at(-1);
  if (last === undefined || reverts.length < 2) return undefined;
  const until = last.at + Math.min(REVERT_AGAIN_MS * 2 ** (reverts.length - 1), LONGEST_PEACE_MS);
  return now < until ? until : undefined;
}

/** The effect that it takes. */
function sentAs({ state }: ConfigPlan): typeof writeMeta | typeof applyConfig {
  return routeOfState(state) === "meta" ? writeMeta : applyConfig;
}

/** How often these settings were sent to the machine and did not come into force, without a sign why. */
function triesOf({ fact, settings }: ConfigPlan): number {
  return fact.failed?.configHash === settings ? (fact.failed.tries ?? 0) : 0;
}

/** The same settings were sent to it a while ago, and are to be sent again after another while. */
function isPausing(seen: Observed, plan: ConfigPlan): boolean {
  const tries = triesOf(plan);
  return tries > 0 && !mayAskAgain(seen, sentAs(plan), plan.machine.declared.name, triedPause(tries));
}

/** What is staged needs nothing but its boot. */
function reasonOf(assessed: Assessment, plan: ConfigPlan): Disruption {
  const { state } = plan;
  const isWaiting = state.kind === "staged" || state.kind === "change";
  if (isWaiting && isControlPlane(plan) && bootsForSpace(assessed, state.config)) return "enlarge";
  return state.kind === "staged" ? "boot" : "configure";
}

function isControlPlane({ machine }: ConfigPlan): boolean {
  return machine.declared.role === "controlplane";
}

/** Its configuration is staged, and nobody knows whether it was booted: two half-way are worse than one. */
function isHalfway({ fact, settings, state }: ConfigPlan): boolean {
  return state.kind === "unknown" && fact.staged?.configHash === settings;
}

function wantsEffect(seen: Observed, { state }: ConfigPlan): boolean {
  if (state.kind === "change" || state.kind === "staged") return true;
  return state.kind === "drifted" && routeOfState(state) !== undefined && isToBeReverted(seen);
}

/** The policy of the control plane: what others changed on machines is brought back. Default: it is reported. */
export function isToBeReverted(seen: Observed): boolean {
  return seen.controlPlane.spec?.driftPolicy === "Revert";
}

function placeWords({ machine }: ConfigPlan, { limit, count }: Place & { readonly kind: "none" }): string {
  return `${count} of at most ${countOf(limit, "machine")} of ${machine.declared.owner.name} are down, leaving or being changed`;
}

function weight(plan: ConfigPlan): number {
  if (plan.state.kind === "staged") return 0;
  return triesOf(plan) > 0 ? 1 : 2;
}
