import { getOwn, isObject, type JsonObject } from "../json.ts";

/** The object as PartialObjectMetadata: its metadata and nothing else. */
export function toPartialObjectMetadata(object: JsonObject, version: "v1" | "v1beta1" = "v1"): JsonObject {
  const metadata = getOwn(object, "metadata");
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: isObject(metadata) ? metadata : {} };
}

/** Objects as PartialObjectMetadataList. `listMeta` is the metadata of the list (resourceVersion, continue). */
export function toPartialObjectMetadataList(objects: readonly JsonObject[], listMeta: JsonObject): JsonObject {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: listMeta,
    items: objects.map((object) => toPartialObjectMetadata(object)),
  };
}
