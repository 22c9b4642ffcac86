import type { JsonObject } from "../json.ts";
import type { PrinterColumn } from "../schema/index.ts";
import { ageOf } from "./age.ts";
import { findByPath } from "./json-path.ts";

/** The cell of a declared column. An absent value is null, which kubectl prints as nothing. */
export function cellOf(object: JsonObject, column: PrinterColumn, now: Date): unknown {
  // Of several values the first is shown, as kube-apiserver does.
  const [value] = findByPath(object, column.jsonPath);
  if (value === undefined || value === null) return null;
  switch (column.type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}
