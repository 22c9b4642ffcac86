import type { JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";

/** A patched document, or why not: 400 = the patch is malformed, 422 = it does not fit this document. */
export type PatchOutcome =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly status: 400 | 422; readonly message: string };

/** JSON Patch (RFC 6902). `document` is not changed. */
export function applyJsonPatch(_document: JsonObject, _operations: unknown): PatchOutcome {
  throw new Error("in work");
}

/** JSON Merge Patch (RFC 7386). `document` is not changed. */
export function applyMergePatch(_document: JsonObject, _patch: unknown): PatchOutcome {
  throw new Error("in work");
}

/** Kubernetes' strategic merge patch; for built-in kinds only, the genuine server answers 415 for custom ones. `document` is not changed. */
export function applyStrategicMergePatch(_kind: CompiledVersion, _document: JsonObject, _patch: unknown): PatchOutcome {
  throw new Error("in work");
}
