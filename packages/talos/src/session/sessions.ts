import type { Clock, TalosDialer, TalosTarget, Timers } from "@talos-operator/ports";

import type { SessionCredentials } from "./options.ts";
import { createTalosSession } from "./session.ts";
import type { TalosSession } from "./session.ts";

/** Sessions that are kept open at most, unless told otherwise: a connection costs some 0.2 MB. */
const DEFAULT_LIMIT = 500;

/** What all sessions have in common. */
export interface TalosSessionsOptions {
  readonly dialer: TalosDialer;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Sessions with an open connection at most. Default 500. Those with looks under way count but are not closed. */
  readonly limit?: number;
}

/** The sessions of many clusters, one each, of which those that were used last keep their connection. */
export interface TalosSessions {
  /**
   * The session of the cluster `key`, made when there is none; an existing one takes `endpoints` and `credentials` over.
   * Ask again for each use rather than keep it: one that was closed to make room is made anew then.
   */
  take(key: string, endpoints: readonly TalosTarget[], credentials: SessionCredentials): TalosSession;
  /** Closes the session of a cluster that is gone. */
  drop(key: string): void;
  /** Sessions that are open. */
  size(): number;
  close(): void;
}

/** Sessions of many clusters; the ones that were not used for the longest time are closed to make room. Whoever makes it closes it. */
export function createTalosSessions(options: TalosSessionsOptions): TalosSessions {
  const { limit = DEFAULT_LIMIT, ...ports } = options;
  // A map keeps the order of insertion: the first key is the one that was not used for the longest time.
  const open = new Map<string, TalosSession>();
  const makeRoom = (wanted: string): void => {
    for (const [key, session] of open) {
      if (open.size <= limit || key === wanted) return;
      if (session.inFlight() > 0) continue;
      open.delete(key);
      session.close();
    }
  };
  return {
    take(key, endpoints, credentials) {
      const known = open.get(key);
      const session = known ?? createTalosSession({ ...ports, endpoints, credentials });
      if (known !== undefined) {
        known.setEndpoints(endpoints);
        known.setCredentials(credentials);
        open.delete(key);
      }
      open.set(key, session);
      makeRoom(key);
      return session;
    },
    drop(key) {
      open.get(key)?.close();
      open.delete(key);
    },
    size: () => open.size,
    close() {
      for (const session of open.values()) session.close();
      open.clear();
    },
  };
}
