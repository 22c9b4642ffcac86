import { cloneJson, getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import { undecodable, type PatchOutcome } from "./outcome.ts";

/**
 * JSON Merge Patch (RFC 7386). `document` is not changed.
 *
 * As on a genuine server, fields that are null are left out of the objects of a list too.
 */
export function applyMergePatch(document: JsonObject, patch: unknown): PatchOutcome {
  if (!isObject(patch)) return undecodable(patch, "map[string]interface {}");
  return { ok: true, object: mergeObjects(document, patch) };
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(target)) {
    if (!Object.hasOwn(patch, key)) setOwn(result, key, cloneJson(target[key]));
    else if (patch[key] !== null) setOwn(result, key, mergeValue(target[key], patch[key]));
  }
  for (const key of Object.keys(patch)) {
    if (!Object.hasOwn(target, key) && patch[key] !== null) setOwn(result, key, mergeValue(undefined, getOwn(patch, key)));
  }
  return result;
}

function mergeValue(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return withoutNulls(patch);
  return mergeObjects(isObject(target) ? target : {}, patch);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isObject(value) ? mergeObjects({}, value) : value;
}
