import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { duplicate, forbiddenValue } from "./rule-errors.ts";

/** What a container that was added for debugging cannot have: it is nothing that a workload could rely on. */
const notForDebugging = [
  "ports",
  "resources",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
  "resizePolicy",
  "restartPolicy",
];

/** What is written through `/ephemeralcontainers`: those and nothing else. */
export function restrictToDebugContainers(live: JsonObject, next: JsonObject): JsonObject {
  const { ephemeralContainers: _, ...spec } = objectAt(live, "spec");
  const given = objectAt(next, "spec")["ephemeralContainers"];
  return { ...live, metadata: next["metadata"], spec: { ...spec, ...(given === undefined ? {} : { ephemeralContainers: given }) } };
}

/** What is there stays as it is; what is new has a name of its own and nothing that belongs to the workload. */
export function validateDebugContainers(pod: JsonObject, live: JsonObject): readonly FieldError[] {
  const at = "spec.ephemeralContainers";
  const spec = objectAt(pod, "spec");
  const now = objectsAt(spec, "ephemeralContainers");
  const others = ["containers", "initContainers"].flatMap((list) => objectsAt(spec, list).map((container) => container["name"]));
  const names = new Set<unknown>(others);
  const errors = now.flatMap((container, index): readonly FieldError[] => {
    const here = `${at}[${index}]`;
    const found: FieldError[] = names.has(container["name"]) ? [duplicate(`${here}.name`, container["name"])] : [];
    names.add(container["name"]);
    const target = stringAt(container, "targetContainerName") ?? "";
    if (target !== "" && !others.includes(target))
      found.push({ reason: "FieldValueNotFound", field: `${here}.targetContainerName`, message: `Not found: ${JSON.stringify(target)}` });
    const isSet = (field: string): boolean => container[field] !== undefined && !equalJson(container[field], {});
    return [
      ...found,
      ...notForDebugging.filter(isSet).map((field) => forbiddenValue(`${here}.${field}`, "cannot be set for an Ephemeral Container")),
    ];
  });
  const isStatic = objectAt(metadataOf(live), "annotations")["kubernetes.io/config.mirror"] !== undefined;
  if (isStatic) return [forbiddenValue("", "static pods do not support ephemeral containers")];
  const changed = objectsAt(objectAt(live, "spec"), "ephemeralContainers").flatMap((old) => {
    const kept = now.find((container) => container["name"] === old["name"]);
    if (kept === undefined)
      return [forbiddenValue(at, `existing ephemeral containers ${JSON.stringify(old["name"])} may not be removed\n`)];
    return equalJson(kept, old)
      ? []
      : [forbiddenValue(at, `existing ephemeral containers ${JSON.stringify(old["name"])} may not be changed`)];
  });
  return [...errors, ...changed];
}
