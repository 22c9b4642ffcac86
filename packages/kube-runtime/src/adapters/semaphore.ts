/** Lets at most `limit` callers in at once; the others wait in order. */
export interface Semaphore {
  /** Resolves with the way out, which must be called once. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** An empty room. */
export function createSemaphore(limit: number): Semaphore {
  let inside = 0;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) inside -= 1;
    else next();
  };
  return {
    enter(signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (inside < limit) {
        inside += 1;
        return Promise.resolve(leave);
      }
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting.delete(go);
          reject(signal.reason as Error);
        };
        const go = (): void => {
          waiting.delete(go);
          signal.removeEventListener("abort", onAbort);
          resolve(leave);
        };
        waiting.add(go);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}
