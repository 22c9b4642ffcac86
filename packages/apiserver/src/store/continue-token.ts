import { isObject } from "../json.ts";
import { badRequest } from "../request/status.ts";
import type { StatusError } from "../request/status.ts";

const tokenVersion = "meta.k8s.io/v1";

/** Where a paged list goes on. */
export interface ContinueToken {
  /** Revision of the snapshot that all pages show; -1 = the newest, after the old one was compacted away. */
  readonly revision: number;
  /** Last key of the page before. */
  readonly after: string;
}

/** Opaque text for `metadata.continue`. */
export function printContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.after })).toString("base64url");
}

/** @throws 400 for a text that this server never gave out */
export function parseContinueToken(text: string): ContinueToken {
  const encoded = text.replaceAll(/[\r\n]/g, "");
  const stray = encoded.search(/[^A-Za-z0-9_-]/);
  if (stray >= 0 || encoded.length % 4 === 1) throw refused(`illegal base64 data at input byte ${stray >= 0 ? stray : encoded.length - 1}`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(encoded, "base64url").toString("utf8"));
  } catch {
    // The parser is another one, and would say it in other words.
    throw refused("start the list again without it");
  }
  const { v = "", rv = 0, start = "" } = isObject(value) ? value : {};
  if (v !== tokenVersion) throw refused(`server does not recognize this encoded version ${String(v)}`);
  if (typeof rv !== "number" || typeof start !== "string") throw refused("start the list again without it");
  if (rv === 0) throw refused(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  if (start === "") throw refused(`encoded start key empty (version ${tokenVersion})`);
  if (start.split("/").includes("..")) throw refused(start);
  return { revision: rv, after: start };
}

function refused(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
