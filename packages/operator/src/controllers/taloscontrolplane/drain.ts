import type { Action, MachineName, Observed } from "./model.ts";

/** Whether a machine may be disturbed now, as far as the pods on its Node are concerned. */
export type DrainAnswer =
  /** Nothing has to leave it, or has to be waited for, any more. */
  | { readonly kind: "ready" }
  /** Put `actions` into the verdict and wait; `message` says for what. */
  | { readonly kind: "act"; readonly actions: readonly Action[]; readonly message: string }
  /** Wait; `message` names what holds it up and what would release it. */
  | { readonly kind: "wait"; readonly message: string };

/**
 * Asks for a machine's Node to be cordoned and drained before something disruptive is done to the machine, and tells when that is so.
 *
 * To be asked in every pass right before the intent of the effect is written; once the intent stands, the drain is over. Asking again is what keeps a
 * drain going: one that no rule asks for any more is given up after a minute, and the cordon is taken off.
 */
export function readyToDisturb(seen: Observed, machine: MachineName): DrainAnswer {
  // No client of the cluster's own API is wired in.
  if (seen.drains === undefined) return { kind: "ready" };
  return { kind: "wait", message: `${machine} is to be drained first.` };
}
