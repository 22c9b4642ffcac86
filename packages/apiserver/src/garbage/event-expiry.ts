import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt } from "../request/json.ts";

/** How long an event is kept after it was last seen. kube-apiserver's default is the same. */
export const eventLifetimeMs = 3_600_000;

/** When a stored event was last seen, in milliseconds since the epoch; 0 when it does not say. */
export function eventLastSeenAt(event: JsonObject): number {
  const times = [
    stringAt(metadataOf(event), "creationTimestamp"),
    stringAt(event, "lastTimestamp"),
    stringAt(event, "eventTime"),
    stringAt(objectAt(event, "series"), "lastObservedTime"),
  ];
  return Math.max(0, ...times.map((time) => Date.parse(time ?? "")).filter((at) => !Number.isNaN(at)));
}
