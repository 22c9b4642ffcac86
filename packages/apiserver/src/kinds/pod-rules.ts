import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { refuseLabel } from "../request/names.ts";
import { between, largestInt32 } from "./number-rules.ts";
import {
  validateEnvironment,
  validateIds,
  validateKernel,
  validateNaming,
  validatePlacement,
  validateProbes,
  validateResources,
  validateVolumes,
} from "./pod-part-rules.ts";
import { validatePodUpdate } from "./pod-update-rules.ts";
import { problemsOfPortName, validatePortNumber } from "./port-rules.ts";
import { duplicate, invalidValue, required, unsupported } from "./rule-errors.ts";

/** What a pod spec may not say, of a pod as of a template. */
export function validatePodSpec(spec: JsonObject, at: string): readonly FieldError[] {
  const errors: FieldError[] = [...validateVolumes(spec, at)];
  const volumes = new Set(objectsAt(spec, "volumes").map((volume) => volume["name"]));
  const seen = new Set<unknown>();
  const containers = objectsAt(spec, "containers");
  if (containers.length === 0) errors.push(required(`${at}.containers`));
  for (const list of ["containers", "initContainers"] as const) {
    objectsAt(spec, list).forEach((container, index) => {
      // One by one: there may be more than a call takes arguments.
      for (const error of validateContainer(container, `${at}.${list}[${index}]`, volumes, seen)) errors.push(error);
    });
  }
  const policies = ["Always", "OnFailure", "Never"];
  const policy = stringAt(spec, "restartPolicy") ?? "";
  if (!policies.includes(policy)) errors.push(unsupported(`${at}.restartPolicy`, policy, policies));
  if (spec["hostNetwork"] === true) errors.push(...validateHostPorts(containers, `${at}.containers`));
  errors.push(...between(spec["activeDeadlineSeconds"], `${at}.activeDeadlineSeconds`, 1, largestInt32));
  return [...errors, ...validateIds(spec, at), ...validateKernel(spec, at), ...validateNaming(spec, at), ...validatePlacement(spec, at)];
}

/** On the node's network a port is the same inside and outside. */
function validateHostPorts(containers: readonly JsonObject[], at: string): readonly FieldError[] {
  return containers.flatMap((container, index) =>
    objectsAt(container, "ports").flatMap((port, position) =>
      port["hostPort"] === undefined || port["hostPort"] === port["containerPort"]
        ? []
        : [
            invalidValue(
              `${at}[${index}].ports[${position}].hostPort`,
              port["hostPort"],
              "must match `containerPort` when `hostNetwork` is true",
            ),
          ],
    ),
  );
}

function validateContainer(container: JsonObject, at: string, volumes: ReadonlySet<unknown>, seen: Set<unknown>): readonly FieldError[] {
  const errors: FieldError[] = [];
  const name = stringAt(container, "name") ?? "";
  const refusals = refuseLabel(name);
  if (name === "") errors.push(required(`${at}.name`));
  else if (refusals.length > 0) errors.push(...refusals.map((why) => invalidValue(`${at}.name`, name, why)));
  else if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
  seen.add(name);
  const image = stringAt(container, "image") ?? "";
  if (image === "") errors.push(required(`${at}.image`));
  else if (image.trim() !== image) errors.push(invalidValue(`${at}.image`, image, "must not have leading or trailing whitespace"));
  const portNames = new Set<string>();
  objectsAt(container, "ports").forEach((port, index) => errors.push(...validateContainerPort(port, `${at}.ports[${index}]`, portNames)));
  for (const error of validateEnvironment(container, at)) errors.push(error);
  objectsAt(container, "volumeMounts").forEach((mount, index) => {
    const volume = stringAt(mount, "name") ?? "";
    if (volume === "") errors.push(required(`${at}.volumeMounts[${index}].name`));
    else if (!volumes.has(volume)) {
      errors.push({
        reason: "FieldValueNotFound",
        field: `${at}.volumeMounts[${index}].name`,
        message: `Not found: ${JSON.stringify(volume)}`,
      });
    }
    if ((stringAt(mount, "mountPath") ?? "") === "") errors.push(required(`${at}.volumeMounts[${index}].mountPath`));
  });
  const pullPolicies = ["Always", "IfNotPresent", "Never"];
  const pullPolicy = stringAt(container, "imagePullPolicy") ?? "";
  if (!pullPolicies.includes(pullPolicy)) errors.push(unsupported(`${at}.imagePullPolicy`, pullPolicy, pullPolicies));
  return [...errors, ...validateProbes(container, at), ...validateResources(container, at), ...validateIds(container, at)];
}

function validateContainerPort(port: JsonObject, at: string, names: Set<string>): readonly FieldError[] {
  const errors: FieldError[] = [];
  const name = stringAt(port, "name") ?? "";
  const refusals = name === "" ? [] : problemsOfPortName(name);
  if (refusals.length > 0) errors.push(...refusals.map((why) => invalidValue(`${at}.name`, name, why)));
  else if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
  else if (name !== "") names.add(name);
  const onNode = port["hostPort"];
  if (onNode !== undefined && onNode !== 0) errors.push(...validatePortNumber(onNode, `${at}.hostPort`));
  const number = port["containerPort"];
  if (number === undefined || number === 0) errors.push(required(`${at}.containerPort`));
  else errors.push(...validatePortNumber(number, `${at}.containerPort`));
  const protocols = ["SCTP", "TCP", "UDP"];
  const protocol = stringAt(port, "protocol") ?? "";
  if (!protocols.includes(protocol)) errors.push(unsupported(`${at}.protocol`, protocol, protocols));
  return errors;
}

/** What a pod may not say, and what of it may not change. */
export function validatePod(pod: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const errors = validatePodSpec(objectAt(pod, "spec"), "spec");
  return old === undefined || errors.length > 0 ? errors : validatePodUpdate(pod, old);
}
