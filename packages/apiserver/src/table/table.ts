import { getOwn, isObject, type JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";
import { definitionNameOf } from "../builtin/index.ts";
import { builtinCells } from "./builtin-cells.ts";
import { scaleCells, scaleColumns } from "./scale-cells.ts";
import { cellOf } from "./custom-cells.ts";
import { toPartialObjectMetadata } from "./partial-metadata.ts";

/** How a Table is wanted. */
export interface TableOptions {
  /** Ages are counted up to this moment. */
  readonly now: Date;
  /** What each row carries beside its cells; default Metadata. */
  readonly includeObject?: "None" | "Metadata" | "Object";
  /** Metadata of the Table: resourceVersion, continue, remainingItemCount. */
  readonly listMeta?: JsonObject;
  /** Version of meta.k8s.io; default v1. */
  readonly version?: "v1" | "v1beta1";
  /** False leaves the column definitions out, as in watch events after the first. Default true. */
  readonly withColumns?: boolean;
}

/** A meta.k8s.io Table of the objects, as `kubectl get` asks for. */
export function toTable(kind: CompiledVersion, objects: readonly JsonObject[], options: TableOptions): JsonObject {
  const { now, includeObject = "Metadata", listMeta = {}, version = "v1", withColumns = true } = options;
  const isScale = objects[0]?.["kind"] === "Scale" && objects[0]["apiVersion"] === "autoscaling/v1";
  const cells = isScale ? scaleCells : cellWriterOf(kind);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: listMeta,
    columnDefinitions: withColumns ? (isScale ? scaleColumns(definitionNameOf(kind) === undefined) : columnsOf(kind)) : [],
    rows: objects.map((object) => ({
      cells: cells(object, now),
      object: includeObject === "None" ? null : includeObject === "Object" ? object : toPartialObjectMetadata(object, version),
    })),
  };
}

const nameColumn = { name: "Name", type: "string", format: "name", description: "Name of the object.", priority: 0 };

function columnsOf(kind: CompiledVersion): JsonObject[] {
  const columns = kind.columns.map(({ name, type, format = "", description = "", priority = 0, jsonPath }) => ({
    name,
    type,
    format,
    description:
      description === "" && jsonPath !== "" ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
  }));
  return definitionNameOf(kind) === undefined ? [nameColumn, ...columns] : columns;
}

function cellWriterOf(kind: CompiledVersion): (object: JsonObject, now: Date) => readonly unknown[] {
  const builtin = definitionNameOf(kind) === undefined ? undefined : builtinCells[kind.names.kind];
  if (builtin !== undefined) return builtin;
  return (object, now) => {
    const metadata = getOwn(object, "metadata");
    const name = isObject(metadata) ? getOwn(metadata, "name") : undefined;
    return [name ?? "", ...kind.columns.map((column) => cellOf(object, column, now))];
  };
}
