import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, without } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { qosClassOf } from "./defaults/pod.ts";
import { forbiddenValue, invalidValue } from "./rule-errors.ts";

const lists = ["initContainers", "containers"] as const;
const resizable = ["cpu", "memory"];

const named = (containers: readonly JsonObject[]): ReadonlyMap<unknown, JsonObject> =>
  new Map(containers.map((container) => [container["name"], container]));

/** What is written through `/resize`: what containers ask for and may have, and nothing else. */
export function restrictToResources(live: JsonObject, next: JsonObject): JsonObject {
  const spec = { ...objectAt(live, "spec") };
  for (const list of lists) {
    const before = named(objectsAt(spec, list));
    if (before.size === 0 && objectsAt(objectAt(next, "spec"), list).length === 0) continue;
    spec[list] = objectsAt(objectAt(next, "spec"), list).map((wanted) => {
      const container = before.get(wanted["name"]);
      if (container === undefined) return wanted;
      const { resources, resizePolicy } = wanted;
      const sized = { ...without(container, "resources", "resizePolicy") };
      return { ...sized, ...(resources === undefined ? {} : { resources }), ...(resizePolicy === undefined ? {} : { resizePolicy }) };
    });
  }
  return { ...live, metadata: { ...metadataOf(live), managedFields: metadataOf(next)["managedFields"] }, spec };
}

/** A running pod keeps its containers and its quality of service; nothing that it asks for or may have is taken away. */
export function validateResize(pod: JsonObject, live: JsonObject): readonly FieldError[] {
  const [spec, before] = [objectAt(pod, "spec"), objectAt(live, "spec")];
  if (objectAt(metadataOf(live), "annotations")["kubernetes.io/config.mirror"] !== undefined)
    return [forbiddenValue("[]", "static pods cannot be resized")];
  if (objectAt(before, "os")["name"] === "windows") return [forbiddenValue("[]", "windows pods cannot be resized")];
  const pairs = lists.map((list) => ({ list, now: objectsAt(spec, list), old: objectsAt(before, list) }));
  const other = pairs.find(({ now, old }) => now.length !== old.length);
  if (other !== undefined) return [forbiddenValue(`spec.${other.list}`, `${other.list} may not be added or removed on resize`)];
  const quality = qosClassOf(live);
  const errors: readonly FieldError[] = [
    ...(qosClassOf(pod) === quality ? [] : [invalidValue("spec", quality, "Pod QOS Class may not change as a result of resizing")]),
    ...pairs.flatMap(({ list, now, old }) =>
      now.flatMap((container, index) => refuseRemoval(container, old[index] ?? {}, `spec.${list}[${index}]`, list)),
    ),
  ];
  if (errors.length > 0) return errors;
  const isElse = pairs.some(({ now, old }) => !equalJson(now.map(withoutSizes), old.map(withoutSizes)));
  return isElse ? [forbiddenValue("spec", "only cpu and memory resources are mutable")] : [];
}

function amountsOf(container: JsonObject, side: "limits" | "requests"): JsonObject {
  return objectAt(objectAt(container, "resources"), side);
}

function refuseRemoval(container: JsonObject, old: JsonObject, at: string, list: string): readonly FieldError[] {
  if (container["name"] !== old["name"]) return [forbiddenValue(`${at}.name`, `${list} may not be renamed or reordered on resize`)];
  return (["requests", "limits"] as const).flatMap((side) => {
    const [now, before] = [amountsOf(container, side), amountsOf(old, side)];
    return Object.keys(before).some((name) => now[name] === undefined)
      ? [forbiddenValue(`${at}.resources.${side}`, `resource ${side} cannot be removed`)]
      : [];
  });
}

/** A container but for the amounts that may change. */
function withoutSizes(container: JsonObject): JsonObject {
  const resources = objectAt(container, "resources");
  const [limits, requests] = [amountsOf(container, "limits"), amountsOf(container, "requests")];
  return {
    ...container,
    resources: { ...resources, limits: without(limits, ...resizable), requests: without(requests, ...resizable) },
  };
}
