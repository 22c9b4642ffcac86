import { isObject, setOwn } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { internalError, invalid, unknownResource } from "../request/status.ts";
import type { ResourceCall } from "./context.ts";

/** The `Scale` view of an object. @throws 404 when its kind has none */
export function toScale(call: ResourceCall, object: JsonObject): JsonObject {
  const paths = scalePathsOf(call);
  const metadata = metadataOf(object);
  // Built-in kinds have their selector in the spec, as an object; only a custom kind can say where else it is.
  const selector =
    call.kind.custom && paths.labelSelectorPath !== undefined ? valueAt(object, paths.labelSelectorPath) : selectorOf(object);
  const replicas = Number(valueAt(object, paths.specReplicasPath) ?? 0);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name: metadata["name"],
      ...(metadata["namespace"] === undefined ? {} : { namespace: metadata["namespace"] }),
      uid: metadata["uid"],
      resourceVersion: metadata["resourceVersion"],
      creationTimestamp: metadata["creationTimestamp"],
    },
    // Go leaves a zero out here.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: Number(valueAt(object, paths.statusReplicasPath) ?? 0),
      ...(typeof selector === "string" && selector !== "" ? { selector } : {}),
    },
  };
}

/** Who reads the Scale of a custom object that says no replicas is told so. @throws 500 */
export function refuseUnscaled(call: ResourceCall, object: JsonObject): void {
  const { specReplicasPath } = scalePathsOf(call);
  if (call.kind.custom && valueAt(object, specReplicasPath) === undefined) {
    throw internalError(`the spec replicas field "${specReplicasPath}" does not exist`);
  }
}

/** The object with the replicas of a `Scale`. @throws 404, 422 */
export function fromScale(call: ResourceCall, live: JsonObject, scale: JsonObject): JsonObject {
  const replicas = objectAt(scale, "spec")["replicas"] ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    const { group, names, custom } = call.kind;
    throw invalid(custom ? group : "autoscaling", custom ? names.kind : "Scale", call.name, [
      {
        reason: "FieldValueInvalid",
        field: custom ? ".spec.replicas" : "spec.replicas",
        message: `Invalid value: ${JSON.stringify(replicas)}: ${custom || typeof replicas !== "number" ? "should be a non-negative integer" : "must be greater than or equal to 0"}`,
      },
    ]);
  }
  const changed = withValueAt(live, segmentsOf(scalePathsOf(call).specReplicasPath), replicas);
  const wantedVersion = metadataOf(scale)["resourceVersion"];
  const resourceVersion = typeof wantedVersion === "string" && wantedVersion !== "" ? wantedVersion : metadataOf(live)["resourceVersion"];
  return { ...changed, metadata: { ...metadataOf(live), resourceVersion } };
}

function scalePathsOf(call: ResourceCall): NonNullable<ResourceCall["version"]["subresources"]["scale"]> {
  const paths = call.version.subresources.scale;
  if (paths === undefined) {
    throw unknownResource();
  }
  return paths;
}

function segmentsOf(path: string): readonly string[] {
  return path.replace(/^\./, "").split(".");
}

function valueAt(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const segment of segmentsOf(path)) {
    value = isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }
  return value;
}

function withValueAt(object: JsonObject, [first = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const copy = { ...object };
  setOwn(copy, first, rest.length === 0 ? value : withValueAt(objectAt(object, first), rest, value));
  return copy;
}

/** A LabelSelector as a text, as kube-apiserver prints it; the selector of a ReplicationController is a plain map. */
function selectorOf(object: JsonObject): string {
  const selector = objectAt(objectAt(object, "spec"), "selector");
  const isPlain = object["kind"] === "ReplicationController";
  const equal = Object.entries(isPlain ? selector : objectAt(selector, "matchLabels")).map(([key, value]) => [
    key,
    `${key}=${String(value)}`,
  ]);
  const others = objectsAt(selector, "matchExpressions").map((expression) => {
    const key = stringAt(expression, "key") ?? "";
    const values = `(${stringsAt(expression, "values").toSorted().join(",")})`;
    const texts: Readonly<Record<string, string>> = { In: `${key} in ${values}`, NotIn: `${key} notin ${values}`, Exists: key };
    return [key, texts[stringAt(expression, "operator") ?? ""] ?? `!${key}`];
  });
  return [...equal, ...others]
    .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}
