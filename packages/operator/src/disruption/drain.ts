import { annotations } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { elapsedMs } from "../elapsed.ts";
import { silentForMs } from "../looking/look.ts";
import { drainPolicyOf } from "./drain-policy.ts";
import type { DrainPolicy } from "./drain-policy.ts";
import { factsOf, intentOn, machineFact } from "../record/facts.ts";
import { onceFounderShows } from "../procedures/bootstrap/hidden-founder.ts";
import { wordFor } from "../assess/identity.ts";
import { countOf } from "../report/listed.ts";
import type { DrainState, SeenDrain } from "../model/workload.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Action } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Assessment } from "../model/assessment.ts";

/** Whether a machine may be disturbed now, as far as the pods on its Node are concerned. */
export type DrainAnswer =
  /** Nothing has to leave it, or has to be waited for, any more. */
  | { readonly kind: "ready" }
  /** Put `actions` into the verdict and wait; `message` says for what. */
  | { readonly kind: "act"; readonly actions: readonly Action[]; readonly message: string }
  /** Wait; `message` names what holds it up and what would release it. */
  | { readonly kind: "wait"; readonly message: string };

/** A drain is asked for again after this time, so that it is not given up. */
const ASK_AGAIN_MS = 20_000;

/** How long what was drained counts as drained: the cordon keeps new pods away, but not those that tolerate it. */
const DRAINED_FOR_MS = 5 * 60_000;

/** A machine that has been silent for so long runs nothing that could be moved. */
const DEAD_AFTER_MS = 60_000;

/**
 * Asks for a machine's Node to be cordoned and drained before something disruptive is done to the machine, and tells when that is so.
 *
 * To be asked in every pass right before the intent of the effect is written; once the intent stands, the drain is over. Asking again is what keeps a
 * drain going: one that no rule asks for any more is given up after a minute, and the cordon is taken off.
 *
 * Ready without a drain: before there is a Kubernetes, while the whole cluster goes, on a machine that is dead (its pods cannot be moved, and a dead
 * machine must not hold up its own replacement), and where a person or the policy says so.
 *
 * @param keepsItself the pod of this process stays: it goes under the intent that follows
 */
export function readyToDisturb(assessed: Assessment, name: MachineName, keepsItself?: true): DrainAnswer {
  const { seen } = assessed;
  const facts = factsOf(seen);
  const machine = assessed.byName.get(name);
  if (seen.drains === undefined || facts === undefined || machine === undefined) return ready;
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || seen.isParentGoing === true) return ready;
  if (intentOn(facts, name) !== undefined) return ready;
  if (isDead(machine)) return ready;
  const policy = drainPolicyOf(seen, machine);
  if (policy.kind === "Skip" || isWaived(seen, facts, name)) return ready;
  if (facts.bootstrapDone === undefined) {
    const awaited = onceFounderShows(seen, facts);
    return awaited === undefined ? ready : { kind: "wait", message: `${name} is drained ${awaited}` };
  }

  const drain = seen.drains.get(name);
  const isFresh = drain?.state?.kind !== "drained" || elapsedMs(drain.state.at, seen.now) < DRAINED_FOR_MS;
  if (drain !== undefined && isFresh && mayGoOn(drain, drain.state, policy)) return ready;
  const message = `${messageOf(machine, drain, policy, seen)}${policy.objection === undefined ? "" : ` ${policy.objection}`}`;
  if (!seen.mayDisturb) return { kind: "wait", message: `${name} is drained once nothing of an earlier leader can be under way any more.` };
  if (drain !== undefined && isFresh && elapsedMs(drain.askedAt, seen.now) < ASK_AGAIN_MS) return { kind: "wait", message };
  const before = drain === undefined ? cordonedBefore(assessed, name) : undefined;
  if (before !== undefined) return { kind: "wait", message: `${name} is drained once the Node of ${before} is schedulable again.` };
  const ifUuid = machineFact(facts, name)?.uuid ?? "";
  const drainIt = { kind: "CordonAndDrain", machine: name, address: machine.declared.address, ifUuid } as const;
  return { kind: "act", actions: [keepsItself === undefined ? drainIt : { ...drainIt, keepsItself }], message };
}

const ready: DrainAnswer = { kind: "ready" };

/** Reason and sentence about drains that are under way, for the condition; `undefined` when there is none. */
export function drainsState({ seen, byName }: Assessment): { readonly reason: ReasonOf<"Draining">; readonly message: string } | undefined {
  const told = [...(seen.drains ?? [])].flatMap(([name, drain]) => {
    const machine = byName.get(name);
    // Nobody waits for the drain of a dead machine any more.
    return machine === undefined || isDead(machine) || drain.state?.kind === "no-node"
      ? []
      : [{ reason: reasonOf(drain.state), message: messageOf(machine, drain, drainPolicyOf(seen, machine), seen) }];
  });
  const gravest = order.find((reason) => told.some((one) => one.reason === reason));
  return gravest === undefined ? undefined : { reason: gravest, message: told.map(({ message }) => message).join(" ") };
}

const order = [
  "Refused",
  "BudgetBlocks",
  "ApiUnreachable",
  "VolumesAttached",
  "PodsLeaving",
  "Drained",
] as const satisfies readonly ReasonOf<"Draining">[];

function reasonOf(state: DrainState | undefined): (typeof order)[number] {
  switch (state?.kind) {
    case "refused":
      return "Refused";
    case "unreachable":
      return "ApiUnreachable";
    case "drained":
      return "Drained";
    case "evicting":
      return state.blocked.length > 0 ? "BudgetBlocks" : "PodsLeaving";
    case "detaching":
      return "VolumesAttached";
    default:
      return "PodsLeaving";
  }
}

function mayGoOn(drain: SeenDrain, state: DrainState | undefined, policy: DrainPolicy): boolean {
  const isOver = drain.ranMs >= policy.timeoutMs;
  switch (state?.kind) {
    case "drained":
    case "no-node":
      return true;
    case "unreachable":
      // Nobody serves the API of this cluster: no budget is kept there, and what would repair it must not wait for it for ever.
      return drain.unreachableMs >= policy.timeoutMs;
    default:
      return isOver && policy.kind === "Proceed";
  }
}

function messageOf({ declared: { name }, look }: SeenMachine, drain: SeenDrain | undefined, policy: DrainPolicy, seen: Observed): string {
  const facts = factsOf(seen);
  const minutes = Math.max(1, Math.round(policy.timeoutMs / 60_000));
  const wayOut =
    policy.kind === "Proceed"
      ? `It is disturbed all the same ${minutes} min after the drain began, as ${annotations.drainPolicy} says.`
      : `To go on without: annotate the TalosControlPlane ${annotations.proceedWithoutDrain}: ${wordFor(facts, name, undefined)}.`;
  const state = drain?.state;
  switch (state?.kind) {
    case undefined:
      return `${name} is being cordoned and drained.`;
    case "drained":
      return `${name} is cordoned and drained${state.volumesUnknown === undefined ? "" : `; whether volumes are still attached to it is not known: ${state.volumesUnknown}`}.`;
    case "detaching":
      return `The drain of ${name} waits for volumes: its pods have left, and its Node still has ${countOf(state.volumesLeft, "volume")} attached: ${state.volumes.join(", ")}. The CSI driver that detaches them releases it. ${wayOut}`;
    case "no-node":
      return `${name} has no Node.`;
    case "unreachable":
      if (look.kind === "silent") return `${name} cannot be drained, for it does not answer; a minute after that began it counts as dead.`;
      return `${name} cannot be drained: the cluster's own API does not answer (${state.detail}). It is disturbed all the same once that has lasted ${minutes} min.`;
    case "refused":
      return `${name} cannot be drained: ${state.detail}. ${wayOut}`;
    case "evicting": {
      const named = state.blocked.map(
        ({ pod, budget }) => `${pod} (${budget === undefined ? "several PodDisruptionBudgets" : `PodDisruptionBudget ${budget}`})`,
      );
      if (named.length > 0)
        return `The drain of ${name} is held up: ${named.join(", ")} must not be evicted now. More healthy replicas elsewhere, or a budget that allows a disruption, release it. ${wayOut}`;
      const leaving = state.leaving.length === 0 ? "" : `: ${state.leaving.join(", ")}`;
      return `${name} is being drained; ${countOf(state.podsLeft, "pod")} left on it${leaving}.`;
    }
  }
}

/**
 * A machine that is back and about to be made schedulable: pods of the next one need the room. One that does not come back, or whose Node cannot be written,
 * holds nobody up.
 */
function cordonedBefore({ seen, idleCordons }: Assessment, name: MachineName): MachineName | undefined {
  return idleCordons.find(
    ({ fact, up }) => fact.name !== name && up !== undefined && seen.sent.get(`Uncordon/${fact.name}`)?.outcome !== "unknown",
  )?.fact.name;
}

/** A person's word for one machine. */
function isWaived(seen: Observed, facts: ClusterFacts, name: MachineName): boolean {
  const named = seen.controlPlane.metadata.annotations?.[annotations.proceedWithoutDrain];
  return named !== undefined && named !== "" && named === wordFor(facts, name, undefined);
}

/** Nothing of this cluster runs there any more, or nobody could tell for a minute. */
function isDead(machine: SeenMachine): boolean {
  const { look } = machine;
  if (look.kind === "silent") return silentForMs(look) >= DEAD_AFTER_MS;
  return look.kind === "maintenance" || look.kind === "foreign" || look.kind === "not-talos";
}
