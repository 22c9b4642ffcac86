import type { KubeWatchEvent } from "@talos-operator/ports";
import { parseStatus } from "../client/error-of-response.ts";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import { type Change, changesOfItem, changesOfPage, type Listed, unlisted } from "./relist-diff.ts";
import { compareResourceVersions } from "./resource-version.ts";

/*
 *            start            last page or end bookmark      410, version too new, disorder, 5 failures
 *   empty ----------> listing ----------------------> watching --------------------------------------------------> listing
 *                     ^  |  ^                           |  ^
 *                     +--+  |                           +--+  event; ended, broken, refused: again from the last resourceVersion
 *    next page or event,    |
 *    failure                +--- the list is empty or older although the cache is not: ask again before believing it
 *
 * A list comes as a stream of events where the server offers that (`sendInitialEvents`), else in pages. Either way each object is taken into
 * the cache as it comes, and what was not listed leaves it at the end, so that a relist never needs the memory twice.
 *
 * The rule that must never break: a change is told once. After a recovery only what really differs from the cache is told, and nothing
 * that is not newer than the version up to which the cache is complete is told at all. No state is final.
 */

/** Where the informer stands. */
export type InformerState = EmptyState | ListingState | WatchingState;

/** Nothing was asked yet. */
interface EmptyState {
  readonly phase: "empty";
}

/** The list is being read. */
interface ListingState {
  readonly phase: "listing";
  /** How this list is read. */
  readonly by: "stream" | "pages";
  /** Whether the next list may be asked for as a stream; false once the server has shown that it does not offer that. */
  readonly canStream: boolean;
  /** Up to here the cache was complete before; `undefined` for the first list. */
  readonly previous: string | undefined;
  /** What this list has brought so far. */
  readonly listed: Listed | undefined;
  readonly next: string | undefined;
  /** Continue tokens that expired; after two the list is read in one piece, so that it ends at all. */
  readonly expiredPages: number;
  /** Lists that were not believed. */
  readonly doubts: number;
  readonly failures: number;
  /** This list has brought something that differs from the cache. */
  readonly hasChanged: boolean;
  /** As in `WatchingState`, before this list. */
  readonly fruitlessLists: number;
}

/** The cache is complete up to `resourceVersion` and follows. */
interface WatchingState {
  readonly phase: "watching";
  readonly canStream: boolean;
  readonly resourceVersion: string;
  /** Failures in a row without an event, a bookmark or a watch that lived. */
  readonly failures: number;
  /** This watch has brought something. */
  readonly hasProgress: boolean;
  /** Lists in a row after which no watch brought anything or lived: they slow down the answer to 410, which costs the server a whole list. */
  readonly fruitlessLists: number;
}

/** What happened. */
export type InformerInput<T> =
  /** `canStream`: ask for the list as a stream first. */
  | { readonly kind: "start"; readonly canStream: boolean }
  | { readonly kind: "page"; readonly items: readonly T[]; readonly resourceVersion: string; readonly next: string | undefined }
  | { readonly kind: "list-failed"; readonly status: number | undefined; readonly retryAfterMs: number | undefined }
  | { readonly kind: "watch-opened" }
  /** The watch has been open for `livedLongEnoughMs`. */
  | { readonly kind: "watch-lived" }
  | {
      readonly kind: "watch-refused";
      readonly status: number | undefined;
      readonly retryAfterMs: number | undefined;
      readonly isVersionTooNew: boolean;
    }
  | { readonly kind: "event"; readonly event: KubeWatchEvent }
  /** `isClean`: ended by the server in good order. `livedMs`: how long the watch was open. `isStalled`: a streamed list stopped before its end. */
  | { readonly kind: "watch-ended"; readonly isClean: boolean; readonly livedMs: number; readonly isStalled: boolean };

/** What to do next. The wait is `atLeastMs` plus a random part of `jitterMs`. */
export type InformerOrder =
  | { readonly do: "list"; readonly wait: Wait; readonly isPaged: boolean; readonly next: string | undefined }
  /** Open a watch that begins with everything there is. */
  | { readonly do: "stream"; readonly wait: Wait }
  | { readonly do: "watch"; readonly wait: Wait; readonly resourceVersion: string }
  /** Take the next event of the open watch. */
  | { readonly do: "read" };

/** A delay. */
interface Wait {
  readonly atLeastMs: number;
  readonly jitterMs: number;
}

/** Result of one step: `changes` are to be applied to the cache in order before the next step. */
export interface InformerStep<T> {
  readonly state: InformerState;
  readonly changes: readonly Change<T>[];
  readonly order: InformerOrder;
}

const firstDelayMs = 100;
const longestDelayMs = 30_000;
/** A server may ask for an hour (429 with Retry-After 3600); a cache that follows nothing for that long is worth less than one request a minute. */
const longestRetryAfterMs = 60_000;
/** A watch that was open for so long has shown that the server is well, even if nothing happened. */
export const livedLongEnoughMs = 5_000;
const failuresBeforeRelist = 5;
const mostDoubts = 2;
const mostFruitlessLists = 5;

/** Annotation of the bookmark that ends a streamed list. */
const endOfList = "k8s.io/initial-events-end";
const failuresBeforePages = 2;

/**
 * One step of the informer: pure, total, synchronous. `known` is the cache as it stands.
 */
export function stepInformer<T extends KubeObject>(
  state: InformerState,
  input: InformerInput<T>,
  known: ReadonlyMap<string, T>,
): InformerStep<T> {
  switch (input.kind) {
    case "start":
      return beginList({ canStream: input.canStream, previous: undefined, failures: 0, fruitlessLists: 0 }, noWait);
    case "page":
      return state.phase === "listing" && state.by === "pages" ? onPage(state, input, known) : ignore(state);
    case "list-failed":
      return state.phase === "listing" && state.by === "pages" ? onListFailed(state, input) : ignore(state);
    case "watch-opened":
      if (state.phase === "watching") return read({ ...state, hasProgress: false });
      return isStreaming(state) ? read(state) : ignore(state);
    case "watch-lived":
      if (state.phase === "watching") return read({ ...state, failures: 0, fruitlessLists: 0 });
      return isStreaming(state) ? read(state) : ignore(state);
    case "watch-refused":
      if (state.phase === "watching") return onRefused(state, input);
      return isStreaming(state) ? onStreamRefused(state, input) : ignore(state);
    case "event":
      if (state.phase === "watching") return onEvent(state, input.event, known);
      return isStreaming(state) ? onListedEvent(state, input.event, known) : ignore(state);
    case "watch-ended":
      if (state.phase === "watching") return onEnded(state, input);
      return isStreaming(state) ? streamFailed(input.isStalled ? { ...state, canStream: false } : state, undefined) : ignore(state);
  }
}

/** The watch has brought something: the cache is complete up to `resourceVersion`. Written out, since this happens with every event. */
function progress({ canStream }: WatchingState, resourceVersion: string): WatchingState {
  return { phase: "watching", canStream, resourceVersion, failures: 0, hasProgress: true, fruitlessLists: 0 };
}
const noWait: Wait = { atLeastMs: 0, jitterMs: 0 };
const readOn: InformerOrder = { do: "read" };

function isStreaming(state: InformerState): state is ListingState {
  return state.phase === "listing" && state.by === "stream";
}

function beginList<T>(begin: Pick<ListingState, "canStream" | "previous" | "failures" | "fruitlessLists">, wait: Wait): InformerStep<T> {
  const by = begin.canStream ? "stream" : "pages";
  const fresh = { listed: undefined, next: undefined, expiredPages: 0, doubts: 0, hasChanged: false };
  return list({ phase: "listing", by, ...fresh, ...begin }, wait);
}

/** The list is complete. One that brought something shows that the server is well: what failed before does not count any more. */
function follow(state: ListingState, resourceVersion: string, hasChanged: boolean): WatchingState {
  return {
    phase: "watching",
    canStream: state.canStream,
    resourceVersion,
    failures: hasChanged ? 0 : state.failures,
    hasProgress: false,
    fruitlessLists: state.fruitlessLists + 1,
  };
}

function onPage<T extends KubeObject>(
  state: ListingState,
  page: { readonly items: readonly T[]; readonly resourceVersion: string; readonly next: string | undefined },
  known: ReadonlyMap<string, T>,
): InformerStep<T> {
  // All pages of a list have its version, so the first one shows whether the list can be believed.
  if (state.listed === undefined && state.doubts < mostDoubts) {
    const isSuddenlyEmpty = page.items.length === 0 && page.next === undefined && known.size > 0;
    const isOlder = state.previous !== undefined && (compareResourceVersions(page.resourceVersion, state.previous) ?? 0) < 0;
    if (isSuddenlyEmpty || isOlder) return doubt(state);
  }
  const listed: Listed = { keys: page.items.map(keyOf), isThere: true, before: state.listed };
  const changes = changesOfPage(page.items, known);
  const hasChanged = state.hasChanged || changes.length > 0;
  if (page.next !== undefined) return { ...list<T>({ ...state, listed, next: page.next, hasChanged }, noWait), changes };
  const gone = unlisted(known, listed);
  return {
    state: follow(state, page.resourceVersion, hasChanged || gone.length > 0),
    changes: [...gone, ...changes],
    order: { do: "watch", wait: noWait, resourceVersion: page.resourceVersion },
  };
}

/** A list that says less than we know is asked for again, in pages, before it is believed. */
function doubt<T>(state: ListingState): InformerStep<T> {
  const again: ListingState = { ...state, by: "pages", listed: undefined, next: undefined, doubts: state.doubts + 1 };
  return list(again, { atLeastMs: 1_000 * 2 ** state.doubts, jitterMs: 500 });
}

function onListFailed<T>(
  state: ListingState,
  { status, retryAfterMs }: { readonly status: number | undefined; readonly retryAfterMs: number | undefined },
): InformerStep<T> {
  const failures = state.failures + 1;
  if (status === 410) {
    const again: ListingState = { ...state, listed: undefined, next: undefined, expiredPages: state.expiredPages + 1, failures };
    return list(again, backoff(failures, undefined));
  }
  return list({ ...state, failures }, backoff(failures, retryAfterMs));
}

/** An event before the end of a streamed list: what is there, and now and then what just changed. */
function onListedEvent<T extends KubeObject>(state: ListingState, event: KubeWatchEvent, known: ReadonlyMap<string, T>): InformerStep<T> {
  if (event.type === "ERROR") {
    const status = parseStatus(event.object);
    return streamFailed(state, status?.retryAfterSeconds === undefined ? undefined : status.retryAfterSeconds * 1000);
  }
  const object = event.object as T;
  const version = object.metadata?.resourceVersion;
  if (version === undefined || (event.type !== "BOOKMARK" && object.metadata?.name === undefined)) return streamFailed(state, undefined);
  const isOlder = state.previous !== undefined && (compareResourceVersions(version, state.previous) ?? 0) < 0;
  if (event.type === "BOOKMARK") {
    if (object.metadata?.annotations?.[endOfList] !== "true") return read(state);
    // The list is complete: what it did not bring is gone.
    if (isOlder || (state.listed === undefined && known.size > 0)) return doubt(state);
    const gone = unlisted(known, state.listed);
    return { state: follow(state, version, state.hasChanged || gone.length > 0), changes: gone, order: readOn };
  }
  const key = keyOf(object);
  const held = known.get(key);
  // Up to `previous` the cache was complete, so an older object that it does not hold means that the store went back.
  if (isOlder && held?.metadata?.resourceVersion !== version) return doubt(state);
  const listed: Listed = { keys: [key], isThere: event.type !== "DELETED", before: state.listed };
  const changes = changesOfItem(event.type, key, object, held);
  return { ...read<T>({ ...state, listed, hasChanged: state.hasChanged || changes.length > 0 }), changes };
}

function onStreamRefused<T>(
  state: ListingState,
  { status, retryAfterMs }: { readonly status: number | undefined; readonly retryAfterMs: number | undefined },
): InformerStep<T> {
  // The server, or one on the way, does not know such a request: from now on in pages.
  const isUnknown = status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 410, 429].includes(status);
  if (isUnknown) return list({ ...state, by: "pages", canStream: false, listed: undefined }, noWait);
  return streamFailed(state, retryAfterMs);
}

/** Again from the beginning; after the second time in a row in pages, whatever the reason. */
function streamFailed<T>(state: ListingState, retryAfterMs: number | undefined): InformerStep<T> {
  const failures = state.failures + 1;
  const by = state.canStream && failures % failuresBeforePages !== 0 ? "stream" : "pages";
  return list({ ...state, by, listed: undefined, failures }, backoff(failures, retryAfterMs));
}

function onRefused<T>(
  state: WatchingState,
  input: { readonly status: number | undefined; readonly retryAfterMs: number | undefined; readonly isVersionTooNew: boolean },
): InformerStep<T> {
  const failures = state.failures + 1;
  const mustList = input.status === 410 || input.status === 400 || input.status === 404 || input.isVersionTooNew;
  if (mustList || failures % failuresBeforeRelist === 0)
    return relist(state, failures, backoff(afterExpiry(state, failures), input.retryAfterMs));
  return watch({ ...state, failures }, backoff(failures, input.retryAfterMs));
}

function onEnded<T>(state: WatchingState, { isClean, livedMs }: { readonly isClean: boolean; readonly livedMs: number }): InformerStep<T> {
  const hasLived = state.hasProgress || livedMs >= livedLongEnoughMs;
  // A server that ends every watch at once in good order must not be asked in a tight loop either.
  const failures = hasLived ? (isClean ? 0 : 1) : state.failures + 1;
  if (failures > 0 && failures % failuresBeforeRelist === 0) return relist(state, failures, backoff(failures, undefined));
  return watch({ ...state, failures }, failures === 0 ? noWait : backoff(failures, undefined));
}

function onEvent<T extends KubeObject>(state: WatchingState, event: KubeWatchEvent, known: ReadonlyMap<string, T>): InformerStep<T> {
  if (event.type === "ERROR") return onErrorEvent(state, event.object);
  const object = event.object as T;
  const version = object.metadata?.resourceVersion;
  if (version === undefined || (event.type !== "BOOKMARK" && object.metadata?.name === undefined)) return onNonsense(state);
  const order = compareResourceVersions(version, state.resourceVersion);
  if (event.type === "BOOKMARK") {
    // The store went back (it was restored from a backup): only a list can tell what is true now.
    if (order !== undefined && order < 0) return relist(state, state.failures + 1, backoff(state.failures + 1, undefined));
    if (order === 0) return read(state);
    return read(progress(state, version));
  }
  if (order !== undefined && order <= 0) {
    // Versions only grow within a watch. What the cache already holds is a repetition; anything else means that the order was lost.
    if (order === 0 || isRepetition(event.type, object, version, known)) return read(state);
    return relist(state, state.failures + 1, backoff(state.failures + 1, undefined));
  }
  const key = keyOf(object);
  return { state: progress(state, version), changes: changesOfItem(event.type, key, object, known.get(key)), order: readOn };
}

function onErrorEvent<T>(state: WatchingState, object: unknown): InformerStep<T> {
  const status = parseStatus(object);
  // At least one failure even after progress: a server that says 410 after every event must not be listed in a tight loop.
  const failures = state.hasProgress ? 1 : state.failures + 1;
  if (status?.code === 410 || status?.reason === "Expired" || status?.reason === "Gone") {
    return relist(state, failures, backoff(afterExpiry(state, failures), undefined));
  }
  return again(state, failures, status?.retryAfterSeconds === undefined ? undefined : status.retryAfterSeconds * 1000);
}

/** By how many failures the next list is slowed down. The part of the lists ends at 1.6 s: what changes all the time must still be seen. */
function afterExpiry(state: WatchingState, failures: number): number {
  return Math.max(failures, Math.min(state.fruitlessLists, mostFruitlessLists));
}

function onNonsense<T>(state: WatchingState): InformerStep<T> {
  return again(state, state.failures + 1, undefined);
}

function again<T>(state: WatchingState, failures: number, retryAfterMs: number | undefined): InformerStep<T> {
  if (failures % failuresBeforeRelist === 0) return relist(state, failures, backoff(failures, retryAfterMs));
  return watch({ ...state, failures }, backoff(failures, retryAfterMs));
}

function isRepetition<T extends KubeObject>(
  type: "ADDED" | "MODIFIED" | "DELETED",
  object: T,
  version: string,
  known: ReadonlyMap<string, T>,
): boolean {
  const held = known.get(keyOf(object));
  if (held === undefined) return type === "DELETED";
  return (compareResourceVersions(version, held.metadata?.resourceVersion ?? "0") ?? 1) <= 0;
}

function list<T>(state: ListingState, wait: Wait): InformerStep<T> {
  if (state.by === "stream") return { state, changes: [], order: { do: "stream", wait } };
  return { state, changes: [], order: { do: "list", wait, isPaged: state.expiredPages < 2, next: state.next } };
}

function watch<T>(state: WatchingState, wait: Wait): InformerStep<T> {
  return { state, changes: [], order: { do: "watch", wait, resourceVersion: state.resourceVersion } };
}

function relist<T>(state: WatchingState, failures: number, wait: Wait): InformerStep<T> {
  const { canStream, fruitlessLists } = state;
  return beginList({ canStream, previous: state.resourceVersion, failures, fruitlessLists }, wait);
}

function read<T>(state: WatchingState | ListingState): InformerStep<T> {
  return { state, changes: [], order: readOn };
}

// An input that belongs to another phase is late; what the phase was doing is ordered again.
function ignore<T>(state: InformerState): InformerStep<T> {
  if (state.phase === "watching") return watch(state, noWait);
  return state.phase === "listing"
    ? list(state, noWait)
    : beginList({ canStream: false, previous: undefined, failures: 0, fruitlessLists: 0 }, noWait);
}

function backoff(failures: number, retryAfterMs: number | undefined): Wait {
  const half = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 20)) / 2;
  return { atLeastMs: Math.max(half, Math.min(retryAfterMs ?? 0, longestRetryAfterMs)), jitterMs: half };
}
