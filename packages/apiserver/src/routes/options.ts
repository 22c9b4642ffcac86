import { invalid } from "../request/status.ts";
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
  const refuse = (field: string, value: string, supported: readonly string[]): never => {
    const names = supported.map((name) => JSON.stringify(name)).join(", ");
    throw invalid("meta.k8s.io", optionsKind, "", [
      { reason: "FieldValueNotSupported", field, message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${names}` },
    ]);
  };
  const dryRun = query["dryRun"] ?? "";
  if (dryRun !== "" && dryRun !== "All") {
    refuse("dryRun", dryRun, ["All"]);
  }
  const fieldValidation = query["fieldValidation"] || "Warn";
  if (fieldValidation !== "Ignore" && fieldValidation !== "Warn" && fieldValidation !== "Strict") {
    refuse("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]);
  }
  const fieldManager = query["fieldManager"] ?? "";
  if (fieldManager.length > 128) {
    throw invalid("meta.k8s.io", optionsKind, "", [
      { reason: "FieldValueTooLong", field: "fieldManager", message: "Too long: may not be more than 128 bytes" },
    ]);
  }
  const agent = (request.headers["user-agent"] ?? "").split("/")[0] ?? "";
  return {
    dryRun: dryRun === "All",
    fieldValidation: fieldValidation as FieldValidation,
    manager: fieldManager !== "" ? fieldManager : agent === "" ? "unknown" : agent.slice(0, 128),
    force: query["force"] === "true" || query["force"] === "1",
  };
}
