import { S3Error } from "./s3-error.ts";

/** A request without its body, read but not yet believed. */
export interface S3Request {
  readonly method: string;
  /** Empty when the request is for the service itself. */
  readonly bucket: string;
  /** Empty when the request is for the bucket itself. Any text of up to 1,024 bytes; never a path. */
  readonly key: string;
  /** The path as it is signed: encoded anew from what it says, so that one key has one form. */
  readonly canonicalPath: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** Names in lower case; a header that came twice has its values joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
}

/** S3's limit, in bytes. */
const LONGEST_KEY = 1024;

/**
 * @param target what stands in the request line: path and query, never resolved
 * @param rawHeaders names and values in turn, as Node's parser gives them
 * @throws S3Error `InvalidURI`, `KeyTooLongError`, `InvalidArgument`
 */
export function readS3Request(method: string, target: string, rawHeaders: readonly string[]): S3Request {
  const [rawPath = "", ...rest] = target.split("?");
  if (!rawPath.startsWith("/")) throw new S3Error("InvalidURI");
  const path = decoded(rawPath);
  const end = path.indexOf("/", 1);
  const bucket = end === -1 ? path.slice(1) : path.slice(1, end);
  const key = end === -1 ? "" : path.slice(end + 1);
  demandKey(key);
  return {
    method,
    bucket,
    key,
    canonicalPath: encodePath(path),
    query: readQuery(rest.join("?")),
    headers: readHeaders(rawHeaders),
  };
}

/** @throws S3Error `KeyTooLongError`, or `InvalidArgument` for letters that no answer in XML 1.0 could name */
function demandKey(key: string): void {
  if (Buffer.byteLength(key) > LONGEST_KEY) throw new S3Error("KeyTooLongError");
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(key))
    throw new S3Error("InvalidArgument", "A key with control characters is not taken here.");
}

/** The one form of a path in AWS's signatures: all but unreserved letters and `/` as `%XX`. */
function encodePath(path: string): string {
  return encodeURIComponent(path)
    .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%2F", "/");
}

/** The only value of a parameter; `undefined` without one. @throws S3Error `InvalidArgument` when it is given twice */
export function parameter(request: S3Request, name: string): string | undefined {
  const values = request.query.get(name);
  if (values !== undefined && values.length > 1) throw new S3Error("InvalidArgument", `${name} is given more than once.`);
  return values?.[0];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not UTF-8, or a percent sign that encodes nothing.
    throw new S3Error("InvalidURI");
  }
}

function readQuery(text: string): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query.get(name);
    if (known === undefined) query.set(name, [value]);
    else known.push(value);
  }
  return query;
}

function readHeaders(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = raw[at + 1] ?? "";
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}
