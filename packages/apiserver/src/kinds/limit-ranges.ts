import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, withMetadata } from "../request/json.ts";
import { each, fill } from "./defaults/fill.ts";

/** Where the store keeps limit ranges. */
export const limitRangeResource = "/limitranges";

/** A new pod with what the LimitRanges of its namespace give to containers that do not say how much they want; an annotation tells of it. */
export function fillFromLimits(pod: JsonObject, ranges: readonly JsonObject[]): JsonObject {
  return ranges.reduce(fillFromRange, pod);
}

function fillFromRange(pod: JsonObject, range: JsonObject): JsonObject {
  const items = objectsAt(objectAt(range, "spec"), "limits").filter((item) => item["type"] === "Container");
  const given = (field: string): JsonObject => Object.assign({}, ...items.map((item) => objectAt(item, field))) as JsonObject;
  const defaults: Readonly<Record<string, JsonObject>> = { requests: given("defaultRequest"), limits: given("default") };
  const told: string[] = [];
  const filled =
    (title: string) =>
    (container: JsonObject): JsonObject => {
      const resources = objectAt(container, "resources");
      const sides = Object.entries(defaults).map(([side, amounts]) => {
        const own = objectAt(resources, side);
        const missing = Object.keys(amounts).filter((name) => own[name] === undefined);
        const word = side === "requests" ? "request" : "limit";
        if (missing.length > 0) told.push(`${missing.toSorted().join(", ")} ${word} for ${title} ${stringAt(container, "name") ?? ""}`);
        return [side, fill(own, amounts)] as const;
      });
      const next = Object.fromEntries(sides.filter(([, amounts]) => Object.keys(amounts).length > 0));
      return { ...container, resources: { ...resources, ...next } };
    };
  const spec = each(each(objectAt(pod, "spec"), "containers", filled("container")), "initContainers", filled("init container"));
  if (told.length === 0) return pod;
  const annotations = {
    ...objectAt(metadataOf(pod), "annotations"),
    "kubernetes.io/limit-ranger": `LimitRanger plugin set: ${told.join("; ")}`,
  };
  return withMetadata({ ...pod, spec }, { annotations });
}
