import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, without } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { forbiddenValue } from "./rule-errors.ts";

/** What of a pod may not change: all but its images, its deadline and what it tolerates. */
export function validatePodUpdate(pod: JsonObject, old: JsonObject): readonly FieldError[] {
  const [spec, before] = [objectAt(pod, "spec"), objectAt(old, "spec")];
  for (const list of ["containers", "initContainers"])
    if (objectsAt(before, list).length !== objectsAt(spec, list).length)
      return [forbiddenValue(`spec.${list}`, "pod updates may not add or remove containers")];
  if (equalJson(fixedPart(before), fixedPart(spec))) return [];
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
