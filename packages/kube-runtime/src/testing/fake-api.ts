import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { isRecord } from "../client/error-of-response.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { mergePatch } from "./merge-patch.ts";
import { brokenConnection, untilAborted } from "./scripted-transport.ts";

/**
 * The least Kubernetes API that a client, an informer and an elector can be tested with: any kind, get, list with pages, watch, create,
 * update with resourceVersion, merge patch, delete; no schemas, no admission, no server-side apply (answers 415), selectors only as
 * `metadata.name=`. Everything that can go wrong on the way can be made to go wrong.
 */
export interface FakeApi {
  /** One more connection to the same store. */
  transport(): KubeTransport;
  /** Puts an object as if somebody else had written it. The path is that of its collection. */
  put(collection: string, object: KubeObject): KubeObject;
  remove(collection: string, namespace: string | undefined, name: string): void;
  objects(collection: string): readonly KubeObject[];
  /** Whether `sendInitialEvents` is offered; else it is refused as older servers do. Default true. */
  offersStreamedLists: boolean;
  readonly resourceVersion: string;
  readonly openWatches: number;
  readonly requests: readonly KubeRequest[];
  /** Decides about each request before it is served; `undefined` serves it. `"lose-reply"` serves it and then breaks the connection. */
  onRequest: ((request: KubeRequest) => KubeResponse | "break" | "hang" | "lose-reply" | undefined) | undefined;
  /** All open watches break. */
  breakWatches(): void;
  /** All open watches end in good order. */
  endWatches(): void;
  /** Open watches stay open and say nothing any more. */
  silenceWatches(): void;
  /** The next `count` events of each open watch come in reverse order; what is held back comes before the watch breaks or ends. */
  reverseNext(count: number): void;
  /** Sends an event to all open watches as it is. */
  inject(event: KubeWatchEvent): void;
  /** Sends a bookmark with the present version to all watches that asked for bookmarks. */
  bookmark(): void;
  /** Forgets all history: watches from older versions are answered with 410, the first time in `as` form. */
  compact(as?: "status" | "event"): void;
  /** The version counter goes to `version`, as after a restore from backup. */
  rewind(version: number): void;
}

interface Stored {
  readonly collection: string;
  readonly object: KubeObject;
}

interface OpenWatch {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly wantsBookmarks: boolean;
  readonly stream: EventStream;
  isSilent: boolean;
  /** Events that wait to be sent in reverse order once there are `reverseCount`. */
  readonly heldBack: KubeWatchEvent[];
  reverseCount: number;
}

const pattern = /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/(status))?$/;

/** An empty store at version 1. */
export function createFakeApi(): FakeApi {
  const stored = new Map<string, Stored>();
  const history: { readonly version: number; readonly collection: string; readonly event: KubeWatchEvent }[] = [];
  const watches = new Set<OpenWatch>();
  const requests: KubeRequest[] = [];
  const snapshots = new Map<string, { readonly version: string; readonly items: readonly KubeObject[] }>();
  let version = 1;
  let uids = 0;
  let compactedAt = 0;
  let compactedAs: "status" | "event" = "status";

  const api: FakeApi = {
    transport: () => ({ send, watch, close: () => undefined }),
    put(collection, object) {
      const key = keyIn(collection, object.metadata?.namespace, object.metadata?.name ?? "");
      return write(key, collection, object, stored.has(key) ? "MODIFIED" : "ADDED");
    },
    remove: (collection, namespace, name) => void erase(keyIn(collection, namespace, name)),
    objects: (collection) => [...stored.values()].filter((entry) => entry.collection === collection).map((entry) => entry.object),
    get resourceVersion() {
      return String(version);
    },
    get openWatches() {
      return watches.size;
    },
    requests,
    offersStreamedLists: true,
    onRequest: undefined,
    breakWatches: () => forEachWatch((open) => open.stream.fail(brokenConnection("the connection broke"))),
    endWatches: () => forEachWatch((open) => open.stream.end()),
    silenceWatches() {
      for (const open of watches) {
        release(open);
        open.isSilent = true;
      }
    },
    reverseNext(count) {
      for (const open of watches) {
        release(open);
        open.reverseCount = count;
      }
    },
    inject(event) {
      for (const open of watches) if (!open.isSilent) open.stream.push(event);
    },
    bookmark() {
      for (const open of watches) {
        if (open.wantsBookmarks && !open.isSilent) {
          open.stream.push({ type: "BOOKMARK", object: { kind: "Bookmark", metadata: { resourceVersion: String(version) } } });
        }
      }
    },
    compact(as = "status") {
      compactedAt = version;
      compactedAs = as;
      history.length = 0;
      snapshots.clear();
    },
    rewind(to) {
      version = to;
      history.length = 0;
    },
  };
  return api;

  function forEachWatch(act: (open: OpenWatch) => void): void {
    for (const open of watches) {
      release(open);
      act(open);
    }
    watches.clear();
  }

  function deliver(open: OpenWatch, event: KubeWatchEvent): void {
    if (open.reverseCount === 0) {
      open.stream.push(event);
      return;
    }
    open.heldBack.push(event);
    if (open.heldBack.length >= open.reverseCount) release(open);
  }

  function release(open: OpenWatch): void {
    open.reverseCount = 0;
    for (const event of open.heldBack.splice(0).toReversed()) open.stream.push(event);
  }

  async function send(request: KubeRequest, options: KubeCallOptions = {}): Promise<KubeResponse> {
    requests.push(request);
    if (options.signal?.aborted === true) throw brokenConnection("aborted");
    const fault = api.onRequest?.(request);
    if (fault === "break") throw brokenConnection("the connection broke");
    if (fault === "hang") return untilAborted(options.signal);
    if (fault !== undefined && fault !== "lose-reply") return fault;
    const answer = serve(request);
    if (fault === "lose-reply") throw brokenConnection("the connection broke before the answer");
    return answer;
  }

  async function watch(request: KubeRequest, options: KubeCallOptions = {}): ReturnType<KubeTransport["watch"]> {
    requests.push(request);
    const none = createEventStream(undefined);
    none.end();
    const fault = api.onRequest?.(request);
    if (fault === "break" || fault === "lose-reply") throw brokenConnection("the connection broke");
    if (fault === "hang") return untilAborted(options.signal);
    if (fault !== undefined) return { ...fault, events: none.events };
    const isList = request.query?.["sendInitialEvents"] === "true";
    if (isList && !api.offersStreamedLists) {
      const refusal = statusObject(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch");
      return { ...respond(422, refusal), events: none.events };
    }
    const from = Number(request.query?.["resourceVersion"] ?? version);
    const target = parsePath(request);
    const expired = statusObject(410, "Expired", `too old resource version: ${from} (${compactedAt})`);
    if (from < compactedAt && compactedAs === "status") return { ...respond(410, expired), events: none.events };
    const stream = createEventStream(options.signal, () => watches.delete(open));
    const open: OpenWatch = {
      collection: target.collection,
      namespace: target.namespace,
      name: nameSelected(request),
      wantsBookmarks: request.query?.["allowWatchBookmarks"] === "true",
      stream,
      isSilent: false,
      heldBack: [],
      reverseCount: 0,
    };
    if (isList) {
      const concerned = [...stored.values()].map((entry) => ({ ...entry, event: { type: "ADDED", object: entry.object } as const }));
      for (const { collection, event } of concerned) if (concerns(open, collection, event)) stream.push(event);
      const metadata = { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } };
      stream.push({ type: "BOOKMARK", object: { kind: "Bookmark", metadata } });
    } else if (from < compactedAt) stream.push({ type: "ERROR", object: expired });
    else {
      for (const past of history) if (past.version > from && concerns(open, past.collection, past.event)) stream.push(past.event);
    }
    watches.add(open);
    return { status: 200, headers: {}, body: undefined, events: stream.events };
  }

  function serve(request: KubeRequest): KubeResponse {
    const { collection, namespace, name } = parsePath(request);
    const body = isRecord(request.body) ? (request.body as KubeObject) : {};
    if (name === undefined) {
      if (request.method === "GET") return list(request, collection, namespace);
      if (request.method !== "POST") return failure(405, "MethodNotAllowed", "not supported on a collection", undefined);
      const created = body.metadata?.name ?? "";
      const key = keyIn(collection, namespace, created);
      if (stored.has(key)) return failure(409, "AlreadyExists", `"${created}" already exists`, created);
      return respond(201, write(key, collection, body, "ADDED"));
    }
    const key = keyIn(collection, namespace, name);
    const current = stored.get(key)?.object;
    if (current === undefined) return failure(404, "NotFound", `"${name}" not found`, name);
    switch (request.method) {
      case "GET":
        return respond(200, current);
      case "PUT":
        return replace(key, collection, current, body);
      case "PATCH":
        if (request.headers?.["content-type"] !== "application/merge-patch+json")
          return failure(415, "UnsupportedMediaType", "merge patch only", name);
        return replace(key, collection, current, mergePatch(current, request.body) as KubeObject);
      case "DELETE":
        return remove(key, collection, current);
      case "POST":
        return failure(405, "MethodNotAllowed", "not supported on an object", name);
    }
  }

  function list(request: KubeRequest, collection: string, namespace: string | undefined): KubeResponse {
    const limit = Number(request.query?.["limit"] ?? 0);
    const token = request.query?.["continue"];
    const snapshot = token === undefined ? undefined : snapshots.get(token);
    if (token !== undefined && snapshot === undefined)
      return failure(410, "Expired", "the provided continue parameter is too old", undefined);
    const name = nameSelected(request);
    const all =
      snapshot?.items ??
      [...stored.values()]
        .filter((entry) => entry.collection === collection)
        .map((entry) => entry.object)
        .filter(
          (object) =>
            (namespace === undefined || object.metadata?.namespace === namespace) && (name === undefined || object.metadata?.name === name),
        );
    const listVersion = snapshot?.version ?? String(version);
    const items = limit > 0 ? all.slice(0, limit) : all;
    const rest = all.slice(items.length);
    const next = rest.length === 0 ? undefined : `page-${requests.length}`;
    if (next !== undefined) snapshots.set(next, { version: listVersion, items: rest });
    return respond(200, {
      apiVersion: "v1",
      kind: "ThingList",
      metadata: { resourceVersion: listVersion, ...(next === undefined ? {} : { continue: next }) },
      items,
    });
  }

  function replace(key: string, collection: string, current: KubeObject, next: KubeObject): KubeResponse {
    const { resourceVersion, uid, name } = next.metadata ?? {};
    const isStale = resourceVersion !== undefined && resourceVersion !== current.metadata?.resourceVersion;
    if (isStale || (uid !== undefined && uid !== current.metadata?.uid)) {
      return failure(409, "Conflict", "the object has been modified", name);
    }
    return respond(200, write(key, collection, next, "MODIFIED"));
  }

  function remove(key: string, collection: string, current: KubeObject): KubeResponse {
    if ((current.metadata?.finalizers?.length ?? 0) === 0) {
      erase(key);
      return respond(200, { kind: "Status", apiVersion: "v1", status: "Success" });
    }
    return respond(
      200,
      write(key, collection, { ...current, metadata: { ...current.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, "MODIFIED"),
    );
  }

  function write(key: string, collection: string, object: KubeObject, type: "ADDED" | "MODIFIED"): KubeObject {
    const old = stored.get(key)?.object;
    version += 1;
    uids += old === undefined ? 1 : 0;
    const uid = old?.metadata?.uid ?? `uid-${uids}`;
    const written: KubeObject = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(version) } };
    if (typeof written.metadata?.deletionTimestamp === "string" && (written.metadata.finalizers?.length ?? 0) === 0) {
      stored.set(key, { collection, object: written });
      return erase(key) ?? written;
    }
    stored.set(key, { collection, object: written });
    publish(collection, { type, object: written });
    return written;
  }

  function erase(key: string): KubeObject | undefined {
    const old = stored.get(key);
    if (old === undefined) return undefined;
    stored.delete(key);
    version += 1;
    const last = { ...old.object, metadata: { ...old.object.metadata, resourceVersion: String(version) } };
    publish(old.collection, { type: "DELETED", object: last });
    return last;
  }

  function publish(collection: string, event: KubeWatchEvent): void {
    history.push({ version, collection, event });
    for (const open of watches) if (!open.isSilent && concerns(open, collection, event)) deliver(open, event);
  }
}

function concerns(open: OpenWatch, collection: string, event: KubeWatchEvent): boolean {
  const { metadata } = event.object as KubeObject;
  return (
    open.collection === collection &&
    (open.namespace === undefined || open.namespace === metadata?.namespace) &&
    (open.name === undefined || open.name === metadata?.name)
  );
}

function parsePath(request: KubeRequest): {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
} {
  const found = pattern.exec(request.path);
  if (found === null) throw new RangeError(`the fake API has no path ${request.path}`);
  const [, root = "", namespace, plural = "", name] = found;
  return { collection: `${root}/${plural}`, namespace, name: name === undefined ? undefined : decodeURIComponent(name) };
}

function keyIn(collection: string, namespace: string | undefined, name: string): string {
  return `${collection}|${namespace ?? ""}|${name}`;
}

function nameSelected(request: KubeRequest): string | undefined {
  return /^metadata\.name=(.+)$/.exec(request.query?.["fieldSelector"] ?? "")?.[1];
}

function respond(status: number, body: unknown): KubeResponse {
  return { status, headers: { "content-type": "application/json" }, body };
}

function failure(status: number, reason: string, message: string, name: string | undefined): KubeResponse {
  return respond(status, { ...statusObject(status, reason, message), details: name === undefined ? {} : { name } });
}

/** A Status object as a server sends it. */
export function statusObject(code: number, reason: string, message: string): Record<string, unknown> {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}
