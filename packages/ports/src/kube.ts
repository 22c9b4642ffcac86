/**
 * The Kubernetes API as a transport: a request goes out, an HTTP answer comes back.
 *
 * One implementation speaks HTTPS (`kube-runtime/https`), one calls the embedded API in the same process (`apiserver`),
 * and in simulation a third stands between the two and loses replies.
 */
export interface KubeTransport {
  /**
   * Sends one request and waits for the whole answer. Every HTTP status is an answer, not an error.
   *
   * @throws KubeTransportFailure (any error whose `name` is that) when no complete answer arrived: refused, reset, timed out, aborted.
   *   Whether the request took effect is then unknown.
   */
  send(request: KubeRequest, options?: KubeCallOptions): Promise<KubeResponse>;
  /**
   * Opens a watch (the caller has put `watch=true` into the query). Resolves once response headers arrived.
   * With a status other than 200 `events` is empty and `body` holds the Status.
   */
  watch(request: KubeRequest, options?: KubeCallOptions): Promise<KubeWatchResponse>;
  /** Closes pooled connections. Calls in flight fail. */
  close(): void;
}

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute path without query, for example `/api/v1/namespaces/default/secrets/a`. Segments are already percent-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Lower-case names. `content-type` selects the patch type; default `application/json`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value; the transport serialises it. */
  readonly body?: unknown;
}

export interface KubeCallOptions {
  readonly signal?: AbortSignal;
  /** Whole call for `send` (default 30_000), until headers for `watch` (default 30_000). */
  readonly timeoutMs?: number;
  /**
   * The caller of `watch` does not look at `metadata.managedFields`: a transport that saves work by it may leave the field out of the objects.
   * Default false.
   */
  readonly ignoresManagedFields?: boolean;
}

export interface KubeResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; a string when the answer was not JSON. */
  readonly body: unknown;
}

export interface KubeWatchResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Ends when the server ends the stream; throws when the connection breaks. Leaving the loop closes the connection. */
  readonly events: KubeWatchEvents;
}

export interface KubeWatchEvents extends AsyncIterable<KubeWatchEvent> {
  /**
   * For a reader inside the loop to whom a promise for each event is too much: the event after the last one that was read, when it has come already.
   * `undefined` says that the loop must go on: it waits, ends or throws.
   */
  nextReady?(): KubeWatchEvent | undefined;
}

export interface KubeWatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  /** The object, or a Status for `ERROR`. Objects of one watch may share parts that say the same: never change one. */
  readonly object: unknown;
}
