import { elapsedMs } from "../../elapsed.ts";
import { isReadyNode, stateOf } from "../../assess/machine-state.ts";
import type { IntentFact } from "../../model/record.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Before, BegunNote, Observed, SeenMachine, SentEffect } from "../../model/observation.ts";

/** How a machine is now, to be remembered with what is sent to it. */
export function howBefore(machine: SeenMachine | undefined): Before {
  return machine !== undefined && isReadyNode(machine) ? "ready" : "not ready";
}

/**
 * What is wrong with a machine as seen from outside, after a configuration was tried on it: the Talos API with our certificate, its etcd member, its node.
 * `undefined` = nothing.
 */
export function troubleOf(machine: SeenMachine, before: Before): string | undefined {
  const { look } = machine;
  if (look.kind === "running" && before === "not ready") return undefined;
  const trouble = memberTroubleOf(machine);
  if (look.kind !== "running" || trouble !== undefined) return trouble;
  if (isReadyNode(machine)) return undefined;
  return missingOn(machine) ?? "its node is not ready";
}

/** What the machine itself says is missing: its services, its static pods, its node. @param but of no interest */
export function missingOn({ look }: SeenMachine, but?: string): string | undefined {
  const unmet = look.kind === "running" ? look.unmet.filter(({ name }) => name !== but) : [];
  const words = unmet.map((one) => (one.reason === "" ? one.name : `${one.name} (${one.reason})`)).join(", ");
  return words === "" ? undefined : `its node is not ready: ${words}`;
}

/** The same without its node: the Talos API with our certificate, and its etcd member. */
export function memberTroubleOf(machine: SeenMachine): string | undefined {
  const { look, declared } = machine;
  if (look.kind !== "running") return `its Talos API does not answer as before (${stateOf(machine)})`;
  if (declared.role !== "controlplane") return undefined;
  const { etcd } = look;
  if (etcd?.service !== "Running" || !etcd.isHealthy) return "etcd on it is not healthy";
  if (etcd.leader === undefined || etcd.leader === "0" || etcd.members?.some((member) => member.id === etcd.localMember) !== true)
    return "its etcd member knows no leader or is not in its own list";
  return undefined;
}

/** What this process sent under an intent, and nothing of before. */
export function sentUnder(seen: Observed, effect: string, intent: IntentFact): SentEffect | undefined {
  return ifUnder(seen, intent, seen.sent.get(`${effect}/${intent.machine}`));
}

/** What was noted, where that was after the intent was written down. */
function ifUnder<T extends Pick<SentEffect, "at" | "order">>(seen: Observed, intent: IntentFact, noted: T | undefined): T | undefined {
  if (noted === undefined) return undefined;
  const begun = begunHere(seen, intent);
  const isLater = begun?.order === undefined || noted.order === undefined ? noted.at >= intent.at : noted.order > begun.order;
  return isLater ? noted : undefined;
}

/** What was noted when this process wrote the intent down; `undefined` = another one did. */
function begunHere(seen: Observed, intent: IntentFact): BegunNote | undefined {
  const begun = seen.notes?.get(intent.machine)?.begun;
  const { what, second } = begunBy(intent);
  return begun?.what === what && begun.second === second ? begun : undefined;
}

/** Which intent it is, as a process notes it. */
export function begunBy({ what, at, recorded }: IntentFact): BegunNote {
  return { what, second: Math.floor((recorded?.at ?? at) / 1000) };
}

/**
 * Why the call of an open intent was not made and will not be; `undefined` where nobody can say so. This process wrote the intent down, and either the call
 * was held back at the last moment, or its pass ended before it, as when an answer of the Kubernetes API was lost. An intent of another process may have been
 * sent by that one, whatever becomes of a repetition here.
 */
export function notSent(seen: Observed, effect: string, intent: IntentFact): string | undefined {
  if (begunHere(seen, intent) === undefined || sentUnder(seen, effect, intent) !== undefined) return undefined;
  return ifUnder(seen, intent, seen.notes?.get(intent.machine)?.heldBack)?.why ?? "the Kubernetes API did not answer as it should";
}

/** After an effect that could not be sent the machine is left in peace for a while: without a pause the next pass would try at once again. */
const HELD_BACK_MS = 10_000;

/** True when an effect on this machine was held back a moment ago, whether or not an earlier call of it had been made. */
export function wasJustHeldBack(seen: Observed, machine: MachineName): boolean {
  const heldBack = seen.notes?.get(machine)?.heldBack;
  return heldBack !== undefined && elapsedMs(heldBack.at, seen.now) < HELD_BACK_MS;
}
