import { isObject } from "../json.ts";
import { badRequest } from "../request/status.ts";

/** Where a paged list goes on. */
export interface ContinueToken {
  /** Revision of the snapshot that all pages show; -1 = the newest, after the old one was compacted away. */
  readonly revision: number;
  /** Last key of the page before. */
  readonly after: string;
}

/** Opaque text for `metadata.continue`. */
export function printContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.after })).toString("base64url");
}

/** @throws 400 for a text that this server never gave out */
export function parseContinueToken(text: string): ContinueToken {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    // Falls through to the same refusal as a well-formed but foreign token.
    value = undefined;
  }
  if (isObject(value) && typeof value["rv"] === "number" && typeof value["start"] === "string") {
    return { revision: value["rv"], after: value["start"] };
  }
  throw badRequest("invalid continue token: continue key is not valid: start the list again without it");
}
