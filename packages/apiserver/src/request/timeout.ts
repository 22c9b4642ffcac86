import { quoteGo } from "../go-print.ts";
import { badRequest } from "./status.ts";

const units: ReadonlySet<string> = new Set(["ns", "us", "µs", "μs", "ms", "s", "m", "h"]);

/**
 * Refuses a `timeout` in a query that is no duration of Go (`34s`, `1m30s`). Nothing here takes long enough for a good one to count.
 *
 * @throws 400
 */
export function refuseBadTimeout(text: string | undefined): void {
  const why = text === undefined || text === "" ? undefined : problemOfDuration(text);
  if (why !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${why}`);
}

function problemOfDuration(text: string): string | undefined {
  const shown = quoteGo(text.slice(0, 100));
  const rest = text.replace(/^[-+]/u, "");
  if (rest === "0") return undefined;
  let at = 0;
  while (at === 0 || at < rest.length) {
    const [part = "", number = "", unit = ""] = /^(\d+\.?\d*|\.\d+)([^\d.]*)/u.exec(rest.slice(at)) ?? [];
    if (number === "") return `invalid duration ${shown}`;
    if (unit === "") return `missing unit in duration ${shown}`;
    if (!units.has(unit)) return `unknown unit ${quoteGo(unit)} in duration ${shown}`;
    at += part.length;
  }
  return undefined;
}
