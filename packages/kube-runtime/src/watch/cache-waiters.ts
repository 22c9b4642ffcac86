import type { Timers } from "@talos-operator/ports";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { CacheWait } from "./informer-types.ts";

/** Waits that end when a condition on the cache holds. */
export interface CacheWaiters {
  /** @throws KubeApiError `CACHE_TIMEOUT`, `CANCELED` */
  wait(isReached: () => boolean, call: string, options: CacheWait | undefined): Promise<void>;
  /** Looks at all conditions again. */
  check(): void;
  readonly size: number;
}

/** No waits yet. */
export function createCacheWaiters(timers: Timers): CacheWaiters {
  const waiting = new Set<() => void>();
  return {
    get size() {
      return waiting.size;
    },
    check() {
      for (const look of waiting) look();
    },
    wait(isReached, call, { signal, timeoutMs = 30_000 } = {}) {
      return new Promise((resolve, reject) => {
        if (isReached()) {
          resolve();
          return;
        }
        if (signal?.aborted === true) {
          reject(canceled());
          return;
        }
        const end = (settle: () => void): void => {
          waiting.delete(look);
          timer.cancel();
          signal?.removeEventListener("abort", onAbort);
          settle();
        };
        const look = (): void => {
          if (isReached()) end(resolve);
        };
        const onAbort = (): void => end(() => reject(canceled()));
        const timer = timers.schedule(timeoutMs, () =>
          end(() => reject(new KubeApiError("CACHE_TIMEOUT", { call, detail: `not reached within ${timeoutMs} ms` }))),
        );
        waiting.add(look);
        signal?.addEventListener("abort", onAbort, { once: true });

        function canceled(): KubeApiError {
          return new KubeApiError("CANCELED", { call, detail: "the caller gave the wait up", cause: signal?.reason });
        }
      });
    },
  };
}
