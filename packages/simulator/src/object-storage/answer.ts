import { document, type Element } from "./xml.ts";
import type { S3Error } from "./s3-error.ts";

/** What is sent back. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: no body at all, also where the headers tell the length of one (HEAD). */
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** Called once the body has been sent, or will not be. */
  readonly release?: () => void;
}

export function xmlAnswer(element: Element): S3Answer {
  return { status: 200, headers: { "content-type": "application/xml" }, body: document(element) };
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>> = {}): S3Answer {
  // A 204 has no length.
  return { status, headers: status === 204 ? headers : { "content-length": "0", ...headers } };
}

export function errorAnswer(error: S3Error, method: string, requestId: string): S3Answer {
  if (method === "HEAD") return { status: error.status, headers: {} };
  const element: Element = [
    "Error",
    [
      ["Code", error.code],
      ["Message", error.message],
      ["RequestId", requestId],
    ],
  ];
  return { status: error.status, headers: { "content-type": "application/xml" }, body: document(element) };
}
