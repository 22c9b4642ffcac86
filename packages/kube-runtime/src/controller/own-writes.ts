import type { Logger } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import type { Informer } from "../watch/informer-types.ts";

type Awaited = Pick<Informer<KubeObject>, "waitForResourceVersion">;

/** What passes wrote and caches have not shown yet. */
export interface OwnWrites {
  /** Keys that wait for a cache. */
  readonly size: number;
  /** A pass of `key` wrote this; `undefined` is nothing. */
  expect(key: string, informer: Awaited, written: KubeObject | string | undefined): void;
  /** Resolves once every cache has seen what the last pass of `key` wrote, or when `stop` aborts; `undefined` when it wrote nothing. */
  seen(key: string, stop: AbortSignal): Promise<void> | undefined;
  /** Resolves when nobody waits any more. */
  settled(): Promise<void>;
}

/** Nothing written. */
export function createOwnWrites(log: Logger): OwnWrites {
  const expected = new Map<string, Map<Awaited, string>>();
  const waiting = new Map<string, Promise<void>>();

  async function wait(key: string, versions: ReadonlyMap<Awaited, string>, stop: AbortSignal): Promise<void> {
    for (const [informer, resourceVersion] of versions) {
      // However long the API server is away, the key must not go on with a cache that lacks its own write.
      while (!stop.aborted) {
        try {
          await informer.waitForResourceVersion(resourceVersion, { signal: stop });
          break;
        } catch (err) {
          if (!stop.aborted) log.warn({ err, object: key, resourceVersion }, "Cache does not show the controller's own write yet");
        }
      }
    }
  }

  return {
    get size() {
      return waiting.size;
    },
    expect(key, informer, written) {
      const resourceVersion = typeof written === "object" ? written.metadata?.resourceVersion : written;
      if (resourceVersion === undefined || resourceVersion === "") return;
      const versions = expected.get(key) ?? new Map<Awaited, string>();
      expected.set(key, versions.set(informer, resourceVersion));
    },
    seen(key, stop) {
      const versions = expected.get(key);
      if (versions === undefined) return undefined;
      expected.delete(key);
      const done = wait(key, versions, stop).finally(() => waiting.delete(key));
      waiting.set(key, done);
      return done;
    },
    async settled() {
      await Promise.all(waiting.values());
    },
  };
}
