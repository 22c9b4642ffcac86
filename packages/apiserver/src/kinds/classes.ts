import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { refuseLabel, refuseSubdomain } from "../request/names.ts";
import { forbidden } from "../request/status.ts";
import type { FieldError } from "../schema/index.ts";
import type { WriteFacts } from "./kind.ts";
import { invalidValue, required } from "./rule-errors.ts";

// Classes of storage, ingresses and runtimes: what they may say, what of them stays, and what objects get from them.

/** A StorageClass says who provides, and stays what it is: volumes were made by it. */
export function validateStorageClass(storage: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  return [
    ...((stringAt(storage, "provisioner") ?? "") === "" ? [required("provisioner")] : []),
    ...changed(storage, old, ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"], ""),
  ];
}

/** An IngressClass names its controller by a path with a domain. */
export function validateIngressClass(ingress: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(ingress, "spec");
  const controller = stringAt(spec, "controller") ?? "";
  const [domain = "", ...path] = controller.split("/");
  const isPath = refuseSubdomain(domain).length === 0 && path.join("/") !== "";
  return [
    ...(controller === "" ? [required("spec.controller")] : []),
    ...(controller === "" || isPath
      ? []
      : [invalidValue("spec.controller", controller, 'must be a domain-prefixed path (such as "acme.io/foo")')]),
    ...changed(spec, old === undefined ? undefined : objectAt(old, "spec"), ["controller"], "spec."),
  ];
}

/** A RuntimeClass names what runs containers. */
export function validateRuntimeClass(runtime: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const handler = stringAt(runtime, "handler") ?? "";
  const refusals = handler === "" ? [required("handler")] : refuseLabel(handler).map((why) => invalidValue("handler", handler, why));
  return [...refusals, ...changed(runtime, old, ["handler"], "")];
}

function changed(object: JsonObject, old: JsonObject | undefined, fields: readonly string[], at: string): readonly FieldError[] {
  if (old === undefined) return [];
  return fields
    .filter((field) => !equalJson(old[field] ?? null, object[field] ?? null))
    .map((field) => invalidValue(`${at}${field}`, object[field], "field is immutable"));
}

const defaultMark = "ingressclass.kubernetes.io/is-default-class";

/** A new ingress that names no class gets the newest of the default ones. */
export function beginIngress(ingress: JsonObject, old: JsonObject | undefined, { stored }: WriteFacts): JsonObject {
  const spec = objectAt(ingress, "spec");
  const isNamed =
    spec["ingressClassName"] !== undefined || objectAt(metadataOf(ingress), "annotations")["kubernetes.io/ingress.class"] !== undefined;
  if (old !== undefined || isNamed) return ingress;
  const orderOf = (one: JsonObject): string => stringAt(metadataOf(one), "creationTimestamp") ?? "";
  const nameOf = (one: JsonObject): string => stringAt(metadataOf(one), "name") ?? "";
  const [newest] = stored("networking.k8s.io/ingressclasses")
    .filter((one) => objectAt(metadataOf(one), "annotations")[defaultMark] === "true")
    .toSorted((a, b) => (orderOf(a) === orderOf(b) ? (nameOf(a) < nameOf(b) ? -1 : 1) : orderOf(a) > orderOf(b) ? -1 : 1));
  return newest === undefined ? ingress : { ...ingress, spec: { ...spec, ingressClassName: nameOf(newest) } };
}

/**
 * A new pod as its RuntimeClass wants it: what the runtime itself takes, and where it is installed.
 *
 * @throws 403 for a class that is not there, or that the pod contradicts
 */
export function runAsClassed(pod: JsonObject, classes: () => readonly JsonObject[]): JsonObject {
  const spec = objectAt(pod, "spec");
  const wanted = stringAt(spec, "runtimeClassName") ?? "";
  const refuse = (why: string): Error => forbidden({ group: "", plural: "pods" }, stringAt(metadataOf(pod), "name") ?? "", why);
  if (wanted === "") {
    if (spec["overhead"] === undefined) return pod;
    throw refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  const found = classes().find((one) => metadataOf(one)["name"] === wanted);
  if (found === undefined) throw refuse(`pod rejected: RuntimeClass ${JSON.stringify(wanted)} not found`);
  const overhead = objectAt(found, "overhead")["podFixed"];
  if (spec["overhead"] !== undefined && !equalJson(spec["overhead"], overhead ?? null))
    throw refuse(
      overhead === undefined
        ? "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        : "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    );
  const scheduling = objectAt(found, "scheduling");
  const [selector, own] = [objectAt(scheduling, "nodeSelector"), objectAt(spec, "nodeSelector")];
  for (const [label, value] of Object.entries(selector)) {
    const said = own[label];
    if (said !== undefined && said !== value)
      throw refuse(
        `conflict: runtimeClass.scheduling.nodeSelector[${label}] = ${String(value)}; pod.spec.nodeSelector[${label}] = ${JSON.stringify(said).replaceAll('"', "")}`,
      );
  }
  const given = objectsAt(spec, "tolerations");
  const tolerations = objectsAt(scheduling, "tolerations").filter((one) => !given.some((other) => equalJson(one, other)));
  return {
    ...pod,
    spec: {
      ...spec,
      ...(overhead === undefined ? {} : { overhead }),
      ...(Object.keys(selector).length === 0 ? {} : { nodeSelector: { ...own, ...selector } }),
      ...(tolerations.length === 0 ? {} : { tolerations: [...given, ...tolerations] }),
    },
  };
}
