import type { KubeWatchEvent } from "@talos-operator/ports";
import { parseStatus } from "../client/error-of-response.ts";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import { type Change, diffRelist } from "./relist-diff.ts";
import { compareResourceVersions } from "./resource-version.ts";

/*
 *            start            last page              410, version too new, disorder, 5 failures
 *   empty ----------> listing ----------> watching --------------------------------------------------> listing
 *                     ^  |  ^               |  ^
 *                     +--+  |               +--+  event; ended, broken, refused: again from the last resourceVersion
 *              next page,   |
 *              failure      +--- the list is empty or older although the cache is not: ask again before believing it
 *
 * The rule that must never break: a change is told once. After a recovery only what really differs from the cache is told, and nothing
 * that is not newer than the version up to which the cache is complete is told at all. No state is final.
 */

/** Where the informer stands. */
export type InformerState<T> = EmptyState | ListingState<T> | WatchingState;

/** Nothing was asked yet. */
interface EmptyState {
  readonly phase: "empty";
}

/** Pages are being read. */
interface ListingState<T> {
  readonly phase: "listing";
  /** Up to here the cache was complete before; `undefined` for the first list. */
  readonly previous: string | undefined;
  readonly pages: readonly (readonly T[])[];
  readonly next: string | undefined;
  /** Continue tokens that expired; after two the list is read in one piece, so that it ends at all. */
  readonly expiredPages: number;
  /** Completed lists that were not believed. */
  readonly doubts: number;
  readonly failures: number;
}

/** The cache is complete up to `resourceVersion` and follows. */
interface WatchingState {
  readonly phase: "watching";
  readonly resourceVersion: string;
  /** Failures in a row without an event, a bookmark or a watch that lived. */
  readonly failures: number;
  /** This watch has brought something. */
  readonly hasProgress: boolean;
}

/** What happened. */
export type InformerInput<T> =
  | { readonly kind: "start" }
  | { readonly kind: "page"; readonly items: readonly T[]; readonly resourceVersion: string; readonly next: string | undefined }
  | { readonly kind: "list-failed"; readonly status: number | undefined; readonly retryAfterMs: number | undefined }
  | { readonly kind: "watch-opened" }
  | {
      readonly kind: "watch-refused";
      readonly status: number | undefined;
      readonly retryAfterMs: number | undefined;
      readonly isVersionTooNew: boolean;
    }
  | { readonly kind: "event"; readonly event: KubeWatchEvent }
  /** `isClean`: ended by the server in good order. `livedMs`: how long the watch was open. */
  | { readonly kind: "watch-ended"; readonly isClean: boolean; readonly livedMs: number };

/** What to do next. The wait is `atLeastMs` plus a random part of `jitterMs`. */
export type InformerOrder =
  | { readonly do: "list"; readonly wait: Wait; readonly isPaged: boolean; readonly next: string | undefined }
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
  readonly state: InformerState<T>;
  readonly changes: readonly Change<T>[];
  readonly order: InformerOrder;
}

const firstDelayMs = 100;
const longestDelayMs = 30_000;
/** A server may ask for an hour (429 with Retry-After 3600); a cache that follows nothing for that long is worth less than one request a minute. */
const longestRetryAfterMs = 60_000;
const livedLongEnoughMs = 5_000;
const failuresBeforeRelist = 5;
const mostDoubts = 2;

/**
 * One step of the informer: pure, total, synchronous. `known` is the cache as it stands.
 */
export function stepInformer<T extends KubeObject>(
  state: InformerState<T>,
  input: InformerInput<T>,
  known: ReadonlyMap<string, T>,
): InformerStep<T> {
  switch (input.kind) {
    case "start":
      return list({ ...emptyListing, previous: undefined }, noWait);
    case "page":
      return state.phase === "listing" ? onPage(state, input, known) : ignore(state);
    case "list-failed":
      return state.phase === "listing" ? onListFailed(state, input) : ignore(state);
    case "watch-opened":
      return state.phase === "watching" ? read({ ...state, hasProgress: false }) : ignore(state);
    case "watch-refused":
      return state.phase === "watching" ? onRefused(state, input) : ignore(state);
    case "event":
      return state.phase === "watching" ? onEvent(state, input.event, known) : ignore(state);
    case "watch-ended":
      return state.phase === "watching" ? onEnded(state, input) : ignore(state);
  }
}

const noWait: Wait = { atLeastMs: 0, jitterMs: 0 };
const emptyListing = { phase: "listing", pages: [], next: undefined, expiredPages: 0, doubts: 0, failures: 0 } as const;

function onPage<T extends KubeObject>(
  state: ListingState<T>,
  page: { readonly items: readonly T[]; readonly resourceVersion: string; readonly next: string | undefined },
  known: ReadonlyMap<string, T>,
): InformerStep<T> {
  // What did not change is kept as the object that the cache already holds, so that a relist does not need the memory twice.
  const pages = [...state.pages, page.items.map((item) => sameAsKnown(item, known))];
  if (page.next !== undefined) return list({ ...state, pages, next: page.next }, noWait);

  const count = pages.reduce((sum, items) => sum + items.length, 0);
  const isSuddenlyEmpty = count === 0 && known.size > 0;
  const isOlder = state.previous !== undefined && (compareResourceVersions(page.resourceVersion, state.previous) ?? 0) < 0;
  if ((isSuddenlyEmpty || isOlder) && state.doubts < mostDoubts) {
    const again: ListingState<T> = { ...state, pages: [], next: undefined, doubts: state.doubts + 1 };
    return list(again, { atLeastMs: 1_000 * 2 ** state.doubts, jitterMs: 500 });
  }
  return {
    state: { phase: "watching", resourceVersion: page.resourceVersion, failures: state.failures, hasProgress: false },
    changes: diffRelist(known, pages),
    order: { do: "watch", wait: noWait, resourceVersion: page.resourceVersion },
  };
}

function onListFailed<T>(
  state: ListingState<T>,
  { status, retryAfterMs }: { readonly status: number | undefined; readonly retryAfterMs: number | undefined },
): InformerStep<T> {
  const failures = state.failures + 1;
  if (status === 410) {
    const again: ListingState<T> = { ...state, pages: [], next: undefined, expiredPages: state.expiredPages + 1, failures };
    return list(again, backoff(failures, undefined));
  }
  return list({ ...state, failures }, backoff(failures, retryAfterMs));
}

function onRefused<T>(
  state: WatchingState,
  input: { readonly status: number | undefined; readonly retryAfterMs: number | undefined; readonly isVersionTooNew: boolean },
): InformerStep<T> {
  const failures = state.failures + 1;
  const mustList = input.status === 410 || input.status === 400 || input.status === 404 || input.isVersionTooNew;
  if (mustList || failures % failuresBeforeRelist === 0) return relist(state, failures, backoff(failures, input.retryAfterMs));
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
    return read({ phase: "watching", resourceVersion: version, failures: 0, hasProgress: true });
  }
  if (order !== undefined && order <= 0) {
    // Versions only grow within a watch. What the cache already holds is a repetition; anything else means that the order was lost.
    if (order === 0 || isRepetition(event.type, object, version, known)) return read(state);
    return relist(state, state.failures + 1, backoff(state.failures + 1, undefined));
  }
  return {
    state: { phase: "watching", resourceVersion: version, failures: 0, hasProgress: true },
    changes: changesOf(event.type, object, known),
    order: { do: "read" },
  };
}

function onErrorEvent<T>(state: WatchingState, object: unknown): InformerStep<T> {
  const status = parseStatus(object);
  // At least one failure even after progress: a server that says 410 after every event must not be listed in a tight loop.
  const failures = state.hasProgress ? 1 : state.failures + 1;
  if (status?.code === 410 || status?.reason === "Expired" || status?.reason === "Gone") {
    return relist(state, failures, backoff(failures, undefined));
  }
  return again(state, failures, status?.retryAfterSeconds === undefined ? undefined : status.retryAfterSeconds * 1000);
}

function onNonsense<T>(state: WatchingState): InformerStep<T> {
  return again(state, state.failures + 1, undefined);
}

function again<T>(state: WatchingState, failures: number, retryAfterMs: number | undefined): InformerStep<T> {
  if (failures % failuresBeforeRelist === 0) return relist(state, failures, backoff(failures, retryAfterMs));
  return watch({ ...state, failures }, backoff(failures, retryAfterMs));
}

function changesOf<T extends KubeObject>(
  type: "ADDED" | "MODIFIED" | "DELETED",
  object: T,
  known: ReadonlyMap<string, T>,
): readonly Change<T>[] {
  const key = keyOf(object);
  const previous = known.get(key);
  const isSame = previous !== undefined && previous.metadata?.uid === object.metadata?.uid;
  if (type === "DELETED") return isSame ? [{ type: "deleted", key, object }] : [];
  if (previous === undefined) return [{ type: "added", key, object }];
  if (!isSame) {
    return [
      { type: "deleted", key, object: previous },
      { type: "added", key, object },
    ];
  }
  return previous.metadata?.resourceVersion === object.metadata?.resourceVersion ? [] : [{ type: "updated", key, object, previous }];
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

function sameAsKnown<T extends KubeObject>(item: T, known: ReadonlyMap<string, T>): T {
  const old = known.get(keyOf(item));
  const isSame =
    old !== undefined &&
    old.metadata?.uid === item.metadata?.uid &&
    item.metadata?.resourceVersion !== undefined &&
    old.metadata?.resourceVersion === item.metadata.resourceVersion;
  return isSame ? old : item;
}

function list<T>(state: ListingState<T>, wait: Wait): InformerStep<T> {
  return { state, changes: [], order: { do: "list", wait, isPaged: state.expiredPages < 2, next: state.next } };
}

function watch<T>(state: WatchingState, wait: Wait): InformerStep<T> {
  return { state, changes: [], order: { do: "watch", wait, resourceVersion: state.resourceVersion } };
}

function relist<T>(state: WatchingState, failures: number, wait: Wait): InformerStep<T> {
  return list({ ...emptyListing, previous: state.resourceVersion, failures }, wait);
}

function read<T>(state: WatchingState): InformerStep<T> {
  return { state, changes: [], order: { do: "read" } };
}

// An input that belongs to another phase is late; what the phase was doing is ordered again.
function ignore<T>(state: InformerState<T>): InformerStep<T> {
  if (state.phase === "watching") return watch(state, noWait);
  return list(state.phase === "listing" ? state : { ...emptyListing, previous: undefined }, noWait);
}

function backoff(failures: number, retryAfterMs: number | undefined): Wait {
  const half = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 20)) / 2;
  return { atLeastMs: Math.max(half, Math.min(retryAfterMs ?? 0, longestRetryAfterMs)), jitterMs: half };
}
