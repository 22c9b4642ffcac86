import { inspect } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

/** Bounds what hangs, in all tests. It is no measure: nothing that works comes near it on the slowest machine. */
export const HANGS_AFTER_MS = 600_000;

/** For `kubectl wait`: it gives up before whoever waits for it does, and says what it waited for. */
export const KUBECTL_WAITS = `--timeout=${HANGS_AFTER_MS / 1_000 - 30}s`;

const LOOK_EVERY_MS = 100;

/**
 * Looks again and again until there is something.
 *
 * @param look `undefined` or `false` = not yet
 * @param seen shown when nothing comes, so that the failure says how far it was
 * @throws Error after {@link HANGS_AFTER_MS}
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  seen: () => unknown = () => undefined,
): Promise<T> {
  const latest = performance.now() + HANGS_AFTER_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > latest) throw new Error(`never: ${what}; last seen: ${inspect(await seen(), { depth: 10 })}`);
    await sleep(LOOK_EVERY_MS);
  }
}
