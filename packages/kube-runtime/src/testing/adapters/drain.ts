/**
 * Resolves when every promise that can settle without time or I/O has settled.
 *
 * Node empties the whole microtask queue before it runs an immediate, so one immediate is enough however long the chain of promises is.
 */
export function drainPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
