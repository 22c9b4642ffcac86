import { quoteGo } from "../go-print.ts";
import { invalid } from "../request/status.ts";
import type { StatusCause } from "../request/status.ts";
import { isYes } from "../request/query-flag.ts";
import type { ApiRequest } from "../request/request.ts";

/** How unknown fields are answered. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** Query parameters of writes. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Reads them. Without `fieldManager` the first part of the user agent names the manager.
 *
 * @param optionsKind `CreateOptions`, `UpdateOptions` or `PatchOptions`, for error messages
 * @throws 422 for values that do not exist
 */
export function parseWriteOptions(request: ApiRequest, optionsKind: string): WriteOptions {
  const query = request.query;
  const dryRun = query["dryRun"] ?? "";
  const fieldValidation = query["fieldValidation"] || "Warn";
  const fieldManager = query["fieldManager"] ?? "";
  const problems: StatusCause[] = [];
  if (Buffer.byteLength(fieldManager) > 128) {
    problems.push({ reason: "FieldValueTooLong", field: "fieldManager", message: "Too long: may not be more than 128 bytes" });
  }
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(fieldManager);
  if (unprintable !== null) {
    const code = (unprintable[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const at = Buffer.byteLength(fieldManager.slice(0, unprintable.index));
    const message = `Invalid value: ${quoteGo(fieldManager)}: invalid character U+${code} (at position ${at})`;
    problems.push({ reason: "FieldValueInvalid", field: "fieldManager", message });
  }
  if (dryRun !== "" && dryRun !== "All") problems.push(unsupported("dryRun", `[${quoteGo(dryRun)}]`, ["All"]));
  if (fieldValidation !== "Ignore" && fieldValidation !== "Warn" && fieldValidation !== "Strict") {
    problems.push(unsupported("fieldValidation", quoteGo(fieldValidation), ["", "Ignore", "Strict", "Warn"]));
  }
  if (problems.length > 0) throw invalid("meta.k8s.io", optionsKind, "", problems);
  const agent = (request.headers["user-agent"] ?? "").split("/")[0] ?? "";
  return {
    dryRun: dryRun === "All",
    fieldValidation: fieldValidation as FieldValidation,
    manager: fieldManager !== "" ? fieldManager : agent === "" ? "unknown" : agent.slice(0, 128),
    force: isYes(query["force"]),
  };
}

function unsupported(field: string, shown: string, supported: readonly string[]): StatusCause {
  const names = supported.map((name) => JSON.stringify(name)).join(", ");
  return { reason: "FieldValueNotSupported", field, message: `Unsupported value: ${shown}: supported values: ${names}` };
}
