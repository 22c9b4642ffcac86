import type { JsonObject } from "../json.ts";

/** A patched document, or why not: 400 = the patch is malformed, 413 = it is too long, 422 = it does not fit this document, 500 = the genuine server calls it internal. */
export type PatchOutcome =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly status: 400 | 413 | 422 | 500; readonly message: string };

/** A malformed patch, in the words of Go's JSON decoder. */
export function undecodable(value: unknown, wanted: string): PatchOutcome {
  const got = value === null ? "null" : Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return { ok: false, status: 400, message: `error decoding patch: json: cannot unmarshal ${got} into Go value of type ${wanted}` };
}

/** What the genuine server answers to every JSON patch that does not fit; it does not say which operation. */
export const patchRejected: PatchOutcome = {
  ok: false,
  status: 422,
  message: "the server rejected our request due to an error in our request",
};
