import type { JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";

/** How a Table is wanted. `includeObject` defaults to Metadata; `listMeta` goes into the Table's metadata. */
export interface TableOptions {
  readonly now: Date;
  readonly includeObject?: "None" | "Metadata" | "Object";
  readonly listMeta?: JsonObject;
  /** `v1` (default) or `v1beta1` of meta.k8s.io. */
  readonly version?: "v1" | "v1beta1";
  /** False leaves the column definitions out, as in watch events after the first. Default true. */
  readonly withColumns?: boolean;
}

/** A meta.k8s.io Table of the objects, as `kubectl get` asks for. */
export function toTable(_kind: CompiledVersion, _objects: readonly JsonObject[], _options: TableOptions): JsonObject {
  throw new Error("in work");
}

/** The object as PartialObjectMetadata. */
export function toPartialObjectMetadata(_object: JsonObject, _version: "v1" | "v1beta1" = "v1"): JsonObject {
  throw new Error("in work");
}

/** A list as PartialObjectMetadataList. */
export function toPartialObjectMetadataList(_objects: readonly JsonObject[], _listMeta: JsonObject): JsonObject {
  throw new Error("in work");
}
