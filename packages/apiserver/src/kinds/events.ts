import { without } from "../request/json.ts";
import type { JsonObject } from "../json.ts";

/** Field names that differ between `v1` and `events.k8s.io/v1` Events: the stored name, then the other. */
const renamed: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

/** A stored (`v1`) Event as `events.k8s.io/v1` shows it. */
export function eventToNewApi(event: JsonObject): JsonObject {
  return rename(event, renamed, "events.k8s.io/v1");
}

/** An `events.k8s.io/v1` Event as it is stored. */
export function eventToCoreApi(event: JsonObject): JsonObject {
  return rename(
    event,
    renamed.map(([core, modern]) => [modern, core] as const),
    "v1",
  );
}

function rename(event: JsonObject, names: readonly (readonly [string, string])[], apiVersion: string): JsonObject {
  const result: JsonObject = { ...without(event, ...names.map(([from]) => from)), apiVersion };
  for (const [from, to] of names) {
    if (event[from] !== undefined) {
      result[to] = event[from];
    }
  }
  return result;
}
