import type { TalosCallOptions } from "@talos-operator/ports";

/**
 * Calls that a machine carries out under the call itself: a caller that goes away ends them where they are. Every other one takes effect in the moment in
 * which it arrives, whoever waits for its answer.
 */
export function diesWithItsCall(path: string): boolean {
  return path.endsWith("/Bootstrap");
}

/** The same call, which is cut off also when `cut` aborts. */
export function cutBy<O extends TalosCallOptions>(options: O, cut: AbortSignal): O {
  return { ...options, signal: options.signal === undefined ? cut : AbortSignal.any([options.signal, cut]) };
}
