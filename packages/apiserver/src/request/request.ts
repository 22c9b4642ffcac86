import type { JsonObject } from "../json.ts";
import type { StatusError } from "./status.ts";

/** Who asks. Groups decide what is allowed; `system:masters` may do everything. */
export interface ApiUser {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One request, already parsed and authenticated. */
export interface ApiRequest {
  readonly method: string;
  /** Absolute path without query; segments still percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON value that the caller will not change any more; `undefined` without a body. */
  readonly body: unknown;
  /** Paths of the members that stand more than once in the text of the body; the last of each is in `body`. */
  readonly duplicateFields?: readonly string[];
  readonly user: ApiUser;
  /** Why the body could not be read: told to those who may make the request, of a kind that is served. */
  readonly bodyRefusal?: StatusError;
}

/** A complete answer. `body` may be shared with the store: whoever hands it on copies or serialises it. */
export interface ApiAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON value, or a string for plain text. */
  readonly body: unknown;
}

/** An accepted watch. Nothing is delivered before `start`. */
export interface ApiStream {
  readonly kind: "stream";
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Begins delivery. `onEvent` is called synchronously with the write that caused the event, `onEnd` once when the server ends the watch.
   * Returns the function that stops it; repeated calls do nothing.
   */
  start(onEvent: (event: ApiWatchEvent) => void, onEnd: () => void): () => void;
}

/** One event as it goes to the client. `object` may be shared with the store. */
export interface ApiWatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: JsonObject;
}
