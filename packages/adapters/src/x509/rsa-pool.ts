import { generateKeyPair, type KeyObject } from "node:crypto";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

/** Keys that are made at once when somebody waits for them: a processor stays free for the event loop, and two of libuv's four threads for signatures. */
const MOST_AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));

/** A ready key is replaced after this time: until then the processor belongs to whoever took it, who has a cluster to make. */
const REFILL_AFTER_MS = 500;

/** RSA-4096 keys made ahead of time: one costs about a second of processor time, which would otherwise be the longest step of a first cluster. */
export interface RsaPool {
  /** Hands out a ready key, or the next one that is made; first come, first served. */
  take(): Promise<KeyObject>;
  /** Starts filling up to the size given at creation. Idempotent; one key is made at a time while nobody waits. */
  warm(): void;
  /** Forgets the keys; nothing is refilled afterwards. Who waits still gets a key. */
  close(): void;
}

interface Waiter {
  resolve(key: KeyObject): void;
  reject(error: Error): void;
}

/**
 * @param size keys kept ready; 0 makes every key when it is asked for
 * @param makeKey makes one RSA-4096 key
 * @param atOnce keys made at once while somebody waits
 */
export function createRsaPool(size: number, makeKey: () => Promise<KeyObject> = makeRsa4096, atOnce: number = MOST_AT_ONCE): RsaPool {
  const ready: KeyObject[] = [];
  const waiting: Waiter[] = [];
  let making = 0;
  let closed = false;
  let refill: NodeJS.Timeout | undefined;

  const work = (): void => {
    const wanted = waiting.length > 0 ? Math.min(atOnce, waiting.length) : !closed && ready.length < size ? 1 : 0;
    while (making < wanted) {
      making += 1;
      void makeKey().then(
        (key) => {
          making -= 1;
          const waiter = waiting.shift();
          if (waiter !== undefined) waiter.resolve(key);
          else if (!closed) ready.push(key);
          work();
        },
        (error: unknown) => {
          making -= 1;
          // Nobody waited: the next take() makes its own key and reports why that fails.
          const waiter = waiting.shift();
          if (waiter === undefined) return;
          waiter.reject(error instanceof Error ? error : new Error(String(error)));
          work();
        },
      );
    }
  };

  return {
    take() {
      const key = ready.shift();
      if (key === undefined) {
        const taken = new Promise<KeyObject>((resolve, reject) => waiting.push({ resolve, reject }));
        work();
        return taken;
      }
      refill ??= setTimeout(() => {
        refill = undefined;
        work();
      }, REFILL_AFTER_MS).unref();
      return Promise.resolve(key);
    },
    warm: work,
    close() {
      closed = true;
      clearTimeout(refill);
      ready.length = 0;
    },
  };
}

async function makeRsa4096(): Promise<KeyObject> {
  return (await generate("rsa", { modulusLength: 4096 })).privateKey;
}
