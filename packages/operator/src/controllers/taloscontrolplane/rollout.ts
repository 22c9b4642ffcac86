import { configIntents } from "./config-intents.ts";
import { routeOfState } from "./config-plan.ts";
import type { ConfigPlan } from "./config-plan.ts";
import { wasJustSent } from "./config-probe.ts";
import { isReadyNode } from "./describe.ts";
import { readyToDisturb } from "./drain.ts";
import { controlPlaneIntent } from "./facts.ts";
import type { ClusterFacts } from "./facts.ts";
import type { Action, MachineName, Observed } from "./model.ts";
import { mayDisturb } from "./quorum.ts";

/** What may begin now, and what the rest waits for. */
export interface Rollout {
  readonly next: readonly ConfigPlan[];
  /** Drains that are begun or kept going. */
  readonly actions: readonly Action[];
  /** Why a machine is not next, in words for people; without a full stop. */
  readonly waiting: ReadonlyMap<MachineName, string>;
}

/** After an effect that could not be sent, or one against drift, the machine is left in peace for a while. */
const HELD_BACK_MS = 10_000;
const REVERT_AGAIN_MS = 600_000;

/** After settings that were sent and did not come into force, without a sign why: longer each time. */
const TRY_AGAIN_MS = 300_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Chooses whose configuration is changed, or who is booted, next.
 *
 * Control planes first and one at a time, and only where etcd keeps its quorum without it; then workers, of each pool no more than `maxUnavailable` at once,
 * those already down counted. While any machine has failed with the settings it should have, nobody is next.
 */
export function chooseNext(seen: Observed, facts: ClusterFacts, plans: readonly ConfigPlan[]): Rollout {
  const wanting = plans.filter((plan) => wantsEffect(seen, plan));
  const waiting = new Map<MachineName, string>();
  const actions: Action[] = [];
  const next: ConfigPlan[] = [];
  const failed = plans.find((plan) => plan.state.kind === "failed");
  const hold = (plan: ConfigPlan, why: string): void => void waiting.set(plan.machine.declared.name, why);
  const mayBegin = (plan: ConfigPlan): boolean => {
    const { name } = plan.machine.declared;
    if (wasJustSent(seen, "HeldBack", name, HELD_BACK_MS)) return (hold(plan, "it could not be asked a moment ago"), false);
    if (plan.state.kind === "drifted" && wasJustSent(seen, "ApplyConfig", name, REVERT_AGAIN_MS))
      return (hold(plan, "it was brought back a short while ago and changed again"), false);
    const tries = plan.fact.failed?.tries ?? 0;
    if (tries > 0 && wasJustSent(seen, "ApplyConfig", name, Math.min(tries * TRY_AGAIN_MS, LONGEST_PAUSE_MS)))
      return (hold(plan, "what was sent before did not come into force; it is sent again after a while"), false);
    const disturbance = mayDisturb(seen, facts, plan.machine);
    if (disturbance.kind === "wait") return (hold(plan, disturbance.message), false);
    if (plan.state.kind !== "staged") return true;
    const drain = readyToDisturb(seen, name);
    if (drain.kind === "act") actions.push(...drain.actions);
    if (drain.kind !== "ready") hold(plan, drain.message);
    return drain.kind === "ready";
  };

  if (failed !== undefined) {
    for (const plan of wanting) hold(plan, `the rollout stopped at ${failed.machine.declared.name}`);
    return { next, actions, waiting };
  }
  const busy = controlPlaneIntent(facts);
  // A machine that waits for its boot comes first: two half-way are worse than one.
  const controlPlanes = wanting.filter((plan) => plan.machine.declared.role === "controlplane").toSorted((a, b) => weight(a) - weight(b));
  for (const plan of controlPlanes) {
    if (busy !== undefined) hold(plan, `${busy.machine} is in the middle of an effect (${busy.what})`);
    else if (next.length > 0 || actions.length > 0) hold(plan, "another control plane comes first");
    else if (mayBegin(plan)) next.push(plan);
  }
  const isControlPlaneBusy = next.length > 0 || actions.length > 0 || busy !== undefined;
  const down = downByPool(seen, facts);
  for (const plan of wanting.filter((one) => one.machine.declared.role === "worker").toSorted((a, b) => weight(a) - weight(b))) {
    const { name, owner } = plan.machine.declared;
    if (isControlPlaneBusy) {
      hold(plan, "control planes come first");
      continue;
    }
    const pool = down.get(owner.name) ?? new Set();
    const most = maxUnavailable(seen, owner.name);
    // A machine that is down itself takes nobody's place.
    if (!pool.has(name) && pool.size >= most)
      hold(plan, `${pool.size} of at most ${most} machine(s) of ${owner.name} are down or being changed`);
    else if (mayBegin(plan)) next.push(plan);
    if (next.includes(plan) || waiting.get(name)?.includes("drain") === true) down.set(owner.name, new Set([...pool, name]));
  }
  return { next, actions, waiting };
}

function wantsEffect(seen: Observed, { state }: ConfigPlan): boolean {
  if (state.kind === "change" || state.kind === "staged") return true;
  return state.kind === "drifted" && routeOfState(state) !== undefined && isToBeReverted(seen);
}

/** The policy of the control plane: what others changed on machines is brought back. Default: it is reported. */
export function isToBeReverted(seen: Observed): boolean {
  return seen.controlPlane.spec?.driftPolicy === "Revert";
}

/** Workers that are no ready node, or that something is under way on, by pool. */
function downByPool(seen: Observed, facts: ClusterFacts): Map<string, ReadonlySet<MachineName>> {
  const busy = new Set(configIntents(facts).map((intent) => intent.machine));
  const down = new Map<string, Set<MachineName>>();
  for (const machine of seen.machines) {
    const { role, name, owner } = machine.declared;
    if (role !== "worker" || (isReadyNode(machine) && !busy.has(name) && !facts.intents.some((intent) => intent.machine === name)))
      continue;
    down.set(owner.name, (down.get(owner.name) ?? new Set()).add(name));
  }
  return down;
}

/** How many machines of a worker pool may be down at once: a count, or a share that is rounded down; at least one. */
export function maxUnavailable(seen: Observed, pool: string): number {
  const worker = seen.workers.find((one) => one.metadata.name === pool);
  const given = worker?.spec?.rolloutStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  const size = seen.machines.filter((machine) => machine.declared.owner.name === pool).length;
  const share = /^(\d+)%$/.exec(String(given))?.[1];
  const count = share === undefined ? Number(given) : Math.floor((size * Number(share)) / 100);
  return Number.isInteger(count) && count > 1 ? count : 1;
}

function weight({ state }: ConfigPlan): number {
  return state.kind === "staged" ? 0 : 1;
}
