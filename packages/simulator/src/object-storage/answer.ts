import { document, type Element } from "./xml.ts";
import type { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";

/** What is sent back. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: no body at all, also where the headers tell the length of one (HEAD). */
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** Called once the body has been sent, or will not be. */
  readonly release?: () => void;
}

export function xmlAnswer(element: Element, headers: Readonly<Record<string, string>> = {}): S3Answer {
  return { status: 200, headers: { ...headers, "content-type": "application/xml" }, body: document(element) };
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>> = {}): S3Answer {
  // A 204 has no length.
  return { status, headers: status === 204 ? headers : { "content-length": "0", ...headers } };
}

export function errorAnswer(
  error: S3Error,
  request: Pick<S3Request, "method" | "bucket" | "key"> | undefined,
  requestId: string,
): S3Answer {
  // HEAD and 304 have no body.
  if (request?.method === "HEAD" || error.status === 304) return { status: error.status, headers: {} };
  const resource = request === undefined ? "/" : `/${request.bucket}${request.key === "" ? "" : `/${request.key}`}`;
  const element: Element = [
    "Error",
    [
      ["Code", error.code],
      ["Message", error.message],
      ...Object.entries(error.details).map(([name, value]): Element => [name, value]),
      ["Resource", resource],
      ["RequestId", requestId],
    ],
  ];
  return { status: error.status, headers: { "content-type": "application/xml" }, body: document(element) };
}

/** S3's form of a time in XML. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** HTTP's form of a time, in seconds. */
export function httpTime(at: number): string {
  return new Date(at).toUTCString();
}
