import type { JsonObject } from "../json.ts";
import { refuseLabel } from "../request/names.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { validatePodUpdate } from "./pod-update-rules.ts";
import { duplicate, invalidValue, required, unsupported } from "./rule-errors.ts";

const policies = ["Always", "OnFailure", "Never"];

/** What a pod spec may not say, of a pod as of a template: containers have names, images and volumes that are there. */
export function validatePodSpec(spec: JsonObject, at: string): readonly FieldError[] {
  const volumes = objectsAt(spec, "volumes");
  const errors: FieldError[] = [...refuseNames(volumes, `${at}.volumes`, new Set())];
  if (objectsAt(spec, "containers").length === 0) errors.push(required(`${at}.containers`));
  const mountable = new Set(volumes.map((volume) => volume["name"]));
  const seen = new Set<unknown>();
  for (const list of ["containers", "initContainers"]) {
    const containers = objectsAt(spec, list);
    // One by one: there may be more than a call takes arguments.
    for (const error of refuseNames(containers, `${at}.${list}`, seen)) errors.push(error);
    containers.forEach((container, index) => {
      for (const error of validateContainer(container, `${at}.${list}[${index}]`, mountable)) errors.push(error);
    });
  }
  const policy = stringAt(spec, "restartPolicy") ?? "";
  if (!policies.includes(policy)) errors.push(unsupported(`${at}.restartPolicy`, policy, policies));
  return errors;
}

function refuseNames(named: readonly JsonObject[], at: string, seen: Set<unknown>): readonly FieldError[] {
  return named.flatMap((one, index) => {
    const name = stringAt(one, "name") ?? "";
    const here = `${at}[${index}].name`;
    const isTwice = seen.has(name);
    seen.add(name);
    if (name === "") return [required(here)];
    return isTwice ? [duplicate(here, name)] : refuseLabel(name).map((why) => invalidValue(here, name, why));
  });
}

function validateContainer(container: JsonObject, at: string, volumes: ReadonlySet<unknown>): readonly FieldError[] {
  const image = stringAt(container, "image") ?? "";
  return [
    ...(image === "" ? [required(`${at}.image`)] : []),
    ...objectsAt(container, "volumeMounts").flatMap((mount, index): readonly FieldError[] => {
      const volume = stringAt(mount, "name") ?? "";
      const field = `${at}.volumeMounts[${index}].name`;
      if (volume === "") return [required(field)];
      return volumes.has(volume) ? [] : [{ reason: "FieldValueNotFound", field, message: `Not found: ${JSON.stringify(volume)}` }];
    }),
  ];
}

/** What a pod may not say, and what of it may not change. */
export function validatePod(pod: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const errors = validatePodSpec(objectAt(pod, "spec"), "spec");
  return old === undefined || errors.length > 0 ? errors : validatePodUpdate(pod, old);
}
