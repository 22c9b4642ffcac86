import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, without } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { forbiddenValue, invalidValue } from "./rule-errors.ts";

/** What of a pod may not change: all but its images, its deadline, what it tolerates, and what holds its scheduling back. */
export function validatePodUpdate(pod: JsonObject, old: JsonObject): readonly FieldError[] {
  const [spec, before] = [objectAt(pod, "spec"), objectAt(old, "spec")];
  for (const list of ["containers", "initContainers"])
    if (objectsAt(before, list).length !== objectsAt(spec, list).length)
      return [forbiddenValue(`spec.${list}`, "pod updates may not add or remove containers")];
  const errors = [...deadlineErrors(spec, before), ...gateErrors(spec, before), ...tolerationErrors(spec, before)];
  if (errors.length > 0) return errors;
  const isHeld = objectsAt(before, "schedulingGates").length > 0;
  const selector = isHeld ? selectorErrors(spec, before) : [];
  if (selector.length > 0) return selector;
  const fixed = (of: JsonObject): JsonObject => (isHeld ? without(fixedPart(of), "nodeSelector") : fixedPart(of));
  if (equalJson(fixed(before), fixed(spec))) return [];
  return [
    forbiddenValue(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    ),
  ];
}

/** A pod that was bound stays where it is; the binding itself is a write of the scheduler to another address. */
function fixedPart(spec: JsonObject): JsonObject {
  const imageless = (list: string): readonly JsonObject[] => objectsAt(spec, list).map((container) => without(container, "image"));
  return {
    ...without(spec, "activeDeadlineSeconds", "tolerations", "schedulingGates"),
    containers: imageless("containers"),
    initContainers: imageless("initContainers"),
  };
}

function deadlineErrors(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const [now, before] = [spec["activeDeadlineSeconds"], old["activeDeadlineSeconds"]];
  if (typeof before !== "number") return [];
  const at = "spec.activeDeadlineSeconds";
  if (typeof now !== "number") return [invalidValue(at, null, "must not update from a positive integer to nil value")];
  return now > before ? [invalidValue(at, now, "must be less than or equal to previous value")] : [];
}

function gateErrors(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const before = new Set(objectsAt(old, "schedulingGates").map(({ name }) => name));
  return objectsAt(spec, "schedulingGates").flatMap(({ name }, index) =>
    before.has(name)
      ? []
      : [
          forbiddenValue(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${String(name)}'`,
          ),
        ],
  );
}

/** Of what is tolerated only for how long may change. */
function tolerationErrors(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const timeless = (toleration: JsonObject): JsonObject => without(toleration, "tolerationSeconds");
  const now = objectsAt(spec, "tolerations").map(timeless);
  const isKept = objectsAt(old, "tolerations").every((toleration) => now.some((one) => equalJson(one, timeless(toleration))));
  return isKept ? [] : [forbiddenValue("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

/** A pod whose scheduling is held back may be sent to fewer nodes than before. */
function selectorErrors(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const now = objectAt(spec, "nodeSelector");
  const isKept = Object.entries(objectAt(old, "nodeSelector")).every(([label, value]) => now[label] === value);
  const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
  return isKept ? [] : [invalidValue("spec.nodeSelector", now, why)];
}
