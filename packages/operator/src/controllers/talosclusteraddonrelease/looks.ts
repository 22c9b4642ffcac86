import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../../elapsed.ts";
import type { SeenHealth } from "./health.ts";

/** Clusters that are looked at at once. */
const LOOKS_AT_ONCE = 8;

/** A look that is under way wakes its release; this is for one that never ends. Milliseconds. */
const WAIT_MS = 10_000;

/** A cluster that does not answer is asked again so rarely at most. Milliseconds. */
const UNREACHABLE_MS = 60_000;

/** What is to be looked at. */
export interface Wanted<Key> {
  /** Of the release. */
  readonly uid: string;
  readonly inputs: string | undefined;
  /** The cluster. */
  readonly place: string;
  /** Who is woken when it was seen. */
  readonly wake: Key;
}

/**
 * Looks at what releases run, beside the passes over them: those are one at a time, and a cluster that answers slowly, or not at all, must hold up no release of
 * another one.
 */
export interface Looks<Key> {
  /** What is known; begins to look where that is nothing, or too old. Never throws, and `look` must not reject. */
  healthOf(wanted: Wanted<Key>, look: () => Promise<SeenHealth>): SeenHealth;
  /** What is known, and what somebody is looking at, counts no longer. */
  forget(uid: string): void;
}

interface Known {
  readonly inputs: string | undefined;
  readonly at: number;
  readonly health: SeenHealth;
  /** How often in a row the cluster did not answer. */
  readonly misses: number;
}

/** @param onSeen called after each look */
export function createLooks<Key>(clock: Clock, onSeen: (wake: Key) => void): Looks<Key> {
  const known = new Map<string, Known>();
  /** One for each release that is looked at, or waits for its turn. */
  const open = new Map<string, { readonly place: string; readonly inputs: string | undefined; begin: (() => Promise<void>) | undefined }>();
  const busy = new Set<string>();

  const beginNext = (): void => {
    for (const one of open.values()) {
      if (busy.size >= LOOKS_AT_ONCE) return;
      if (one.begin === undefined || busy.has(one.place)) continue;
      const { begin } = one;
      one.begin = undefined;
      busy.add(one.place);
      void begin().finally(() => {
        busy.delete(one.place);
        beginNext();
      });
    }
  };

  return {
    healthOf({ uid, inputs, place, wake }, look) {
      const now = clock.now();
      const found = known.get(uid);
      const before = found?.inputs === inputs ? found : undefined;
      const left = before === undefined ? 0 : before.health.lookAgainMs - elapsedMs(before.at, now);
      if (before !== undefined && left > 0) return { ...before.health, lookAgainMs: left };
      if (open.get(uid)?.inputs !== inputs || !open.has(uid)) {
        const one = { place, inputs, begin: undefined as (() => Promise<void>) | undefined };
        one.begin = async () => {
          const health = await look();
          // Forgotten meanwhile, or asked for with other inputs.
          if (open.get(uid) !== one) return;
          open.delete(uid);
          const misses = health.kind === "unreachable" ? (before?.misses ?? 0) + 1 : 0;
          const lookAgainMs = misses > 1 ? Math.min(UNREACHABLE_MS, health.lookAgainMs * 2 ** (misses - 1)) : health.lookAgainMs;
          known.set(uid, { inputs, at: clock.now(), health: { ...health, lookAgainMs }, misses });
          onSeen(wake);
        };
        open.set(uid, one);
        beginNext();
      }
      return before === undefined
        ? { kind: "looking", ready: undefined, lookAgainMs: WAIT_MS }
        : { ...before.health, lookAgainMs: WAIT_MS };
    },
    forget(uid) {
      known.delete(uid);
      open.delete(uid);
    },
  };
}
