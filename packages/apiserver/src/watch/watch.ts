import { parseCount } from "../request/parse-count.ts";
import { isYes } from "../request/query-flag.ts";
import { keyPrefixOf, matcherOf, parseResourceVersion } from "../routes/list.ts";
import type { ApiContext, ResourceCall } from "../routes/context.ts";
import type { JsonObject } from "../json.ts";
import { toServedVersion } from "../kinds/kind.ts";
import { withMetadata } from "../request/json.ts";
import type { ApiWatchEvent } from "../request/request.ts";
import { expired, invalid, tooManyRequests } from "../request/status.ts";
import type { StatusError } from "../request/status.ts";
import type { Change } from "../store/state.ts";

/** Begins delivery; see `ApiStream.start`. */
export type WatchStart = (onEvent: (event: ApiWatchEvent) => void, onEnd: () => void) => () => void;

/** When the client names no end, a watch lives this long plus up to as much again, so that not all of them reconnect at once. */
const defaultTimeoutSeconds = 1800;

/**
 * Prepares a watch.
 *
 * ```
 * rv absent or 0 ─► ADDED for all that is there ─┐
 * rv N, retained ─► changes after N ─────────────┼─► changes as they happen (+ bookmarks) ─► end at timeoutSeconds
 * rv N, compacted ─► ERROR 410 ─► end            │
 * sendInitialEvents ─► ADDED, bookmark "end" ────┘
 * ```
 * Delivery is synchronous with the write; nothing is skipped and nothing comes twice.
 *
 * @throws 400 or 422 for parameters that do not go together, 429 when as many watches are open as may be
 */
export function prepareWatch(context: ApiContext, call: ResourceCall): WatchStart {
  const { open, limit } = context.watches;
  if (open >= limit) {
    throw tooManyRequests(`${limit} watches are open, which is all that this server takes; close some, or try again later`);
  }
  const { query } = call.request;
  const wantsBookmarks = isYes(query["allowWatchBookmarks"]);
  const sendInitial = query["sendInitialEvents"] === undefined ? undefined : isYes(query["sendInitialEvents"]);
  checkMatch(query["resourceVersionMatch"] ?? "", sendInitial, query["continue"] ?? "");
  const matches = matcherOf(call);
  const wanted = query["resourceVersion"] ?? "";
  const since = wanted === "" ? 0 : parseResourceVersion(wanted);
  const seconds = parseCount(query["timeoutSeconds"] ?? "") || Math.round(defaultTimeoutSeconds * (1 + context.random.fraction()));

  return (onEvent, onEnd) => {
    const serve = (object: JsonObject): JsonObject => toServedVersion(call.kind, call.version, object);
    const bookmark = (annotations: JsonObject | undefined): ApiWatchEvent => ({
      type: "BOOKMARK",
      object: {
        kind: call.version.names.kind,
        apiVersion: call.version.apiVersion,
        metadata: {
          resourceVersion: String(context.state.revision),
          creationTimestamp: null,
          ...(annotations === undefined ? {} : { annotations }),
        },
      },
    });
    let isOver = false;
    context.watches.open++;
    const cleanups: (() => void)[] = [() => context.watches.open--];
    const stop = (): void => {
      isOver = true;
      for (const cleanup of cleanups.splice(0)) cleanup();
    };
    const end = (): void => {
      if (!isOver) {
        stop();
        onEnd();
      }
    };
    const prefix = keyPrefixOf(call);
    const deliver = (change: Change): void => {
      const event = change.key.startsWith(prefix) && change.revision > since ? eventFor(change, serve, matches) : undefined;
      if (event !== undefined && !isOver) onEvent(event);
    };

    const startsWithState = sendInitial === true || (sendInitial === undefined && since === 0);
    if (!startsWithState && since > 0 && since < context.state.compactedRevision) {
      onEvent({ type: "ERROR", object: tooOld(since, context.state.compactedRevision).toStatus() });
      end();
      return stop;
    }
    if (startsWithState) {
      for (const entry of context.state.list(call.kind.resource, prefix)) {
        const object = serve(entry.object);
        if (matches(object)) onEvent({ type: "ADDED", object });
      }
      // Also where nobody asked for initial events by name: a watch from 0 is one with them.
      if (wantsBookmarks) onEvent(bookmark({ "k8s.io/initial-events-end": "true" }));
    } else if (since > 0) {
      for (const change of context.state.changesSince(call.kind.resource, since)) deliver(change);
    }
    if (isOver) return stop;
    cleanups.push(context.state.subscribe(call.kind.resource, deliver));

    const timeout = context.timers.schedule(seconds * 1000, () => {
      if (wantsBookmarks && !isOver) onEvent(bookmark(undefined));
      end();
    });
    cleanups.push(() => timeout.cancel());
    if (wantsBookmarks) scheduleBookmarks(context, cleanups, () => onEvent(bookmark(undefined)));
    context.closing.addEventListener("abort", end, { once: true });
    cleanups.push(() => context.closing.removeEventListener("abort", end));
    return stop;
  };
}

function scheduleBookmarks(context: ApiContext, cleanups: (() => void)[], send: () => void): void {
  let timer = context.timers.schedule(context.bookmarkIntervalMs, again);
  function again(): void {
    timer = context.timers.schedule(context.bookmarkIntervalMs, again);
    send();
  }
  cleanups.push(() => timer.cancel());
}

/** What a watcher with a selector sees: an object that stops matching is gone for it, one that starts to match is new. */
function eventFor(
  change: Change,
  serve: (object: JsonObject) => JsonObject,
  matches: (object: JsonObject) => boolean,
): ApiWatchEvent | undefined {
  const object = serve(change.object);
  const matchedBefore = change.previous !== undefined && matches(serve(change.previous));
  const matchesNow = change.type !== "DELETED" && matches(object);
  if (matchesNow) {
    return { type: matchedBefore ? "MODIFIED" : "ADDED", object };
  }
  if (!matchedBefore || change.previous === undefined) {
    return undefined;
  }
  const last = change.type === "DELETED" ? object : withMetadata(serve(change.previous), { resourceVersion: String(change.revision) });
  return { type: "DELETED", object: last };
}

function checkMatch(match: string, sendInitial: boolean | undefined, continueToken: string): void {
  const problems: string[] = [];
  if (sendInitial !== undefined && match !== "NotOlderThan") {
    problems.push("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (sendInitial === undefined && match !== "") {
    problems.push("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  // In these words where no resourceVersionMatch is given, too.
  if (continueToken !== "") problems.push("resourceVersionMatch is forbidden when continue is provided");
  if (problems.length === 0) return;
  const causes = problems.map((why) => ({ reason: "FieldValueForbidden", field: "resourceVersionMatch", message: `Forbidden: ${why}` }));
  throw invalid("meta.k8s.io", "ListOptions", "", causes);
}

function tooOld(wanted: number, oldest: number): StatusError {
  return expired(`too old resource version: ${wanted} (${oldest})`);
}
