import { metadataOf, objectAt, stringAt, without } from "../request/json.ts";
import type { JsonObject } from "../json.ts";
import type { FieldError } from "../schema/index.ts";
import { invalidValue } from "./rule-errors.ts";

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

/** A stored Event as `v1` shows it: with the times that Go prints even when there are none, which `kubectl get events --sort-by` looks for. */
export function eventToServed(event: JsonObject): JsonObject {
  return { eventTime: null, firstTimestamp: null, lastTimestamp: null, ...event };
}

/** A stored (`v1`) Event as `events.k8s.io/v1` shows it. */
export function eventToNewApi(event: JsonObject): JsonObject {
  // The same times under their other names.
  return { deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null, ...rename(event, renamed, "events.k8s.io/v1") };
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

/** An event stands in the namespace of what it is about; of what has none, in `default` or where Kubernetes itself is. */
export function validateEvent(event: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  if (old !== undefined) return [];
  const namespace = stringAt(metadataOf(event), "namespace") ?? "";
  const about = stringAt(objectAt(event, "involvedObject"), "namespace") ?? "";
  const isFit = about === "" ? ["default", "kube-system"].includes(namespace) : about === namespace;
  return isFit ? [] : [invalidValue("involvedObject.namespace", about, "does not match event.namespace")];
}
