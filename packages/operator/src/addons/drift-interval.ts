import { goDurationMs } from "./helm-options.ts";

const HOUR_MS = 3_600_000;

/** Where nothing is said. */
const DEFAULT_INTERVAL = "6h";

/** How far comparisons of one release are apart. @returns milliseconds; `undefined` for what is no duration of 1 hour to 30 days */
export function driftIntervalMs(text = DEFAULT_INTERVAL): number | undefined {
  const ms = goDurationMs(text, 30 * 24 * HOUR_MS);
  return ms === undefined || ms < HOUR_MS ? undefined : ms;
}
