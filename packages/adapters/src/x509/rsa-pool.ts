import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

/** RSA-4096 keys made ahead of time: one costs about a second of processor time, which would otherwise be the longest step of a first cluster. */
export interface RsaPool {
  /** Hands out a ready key, or makes one now. */
  take(): Promise<KeyObject>;
  /** Starts filling up to the size given at creation. Idempotent; one key is made at a time. */
  warm(): void;
  /** Forgets the keys; nothing is refilled afterwards. */
  close(): void;
}

/** @param size keys kept ready; 0 makes every key when it is asked for */
export function createRsaPool(size: number): RsaPool {
  const ready: KeyObject[] = [];
  let making: Promise<void> | undefined;
  let closed = false;

  const makeOne = async (): Promise<KeyObject> => (await generate("rsa", { modulusLength: 4096 })).privateKey;

  const refill = (): void => {
    if (closed || making !== undefined || ready.length >= size) return;
    making = makeOne().then(
      (key) => {
        making = undefined;
        if (!closed) ready.push(key);
        refill();
      },
      // The next take() makes its own key and reports why that fails.
      () => {
        making = undefined;
      },
    );
  };

  return {
    async take() {
      // A key under way is nearer than one begun now.
      if (ready.length === 0 && making !== undefined) await making;
      const key = ready.shift();
      if (size > 0) refill();
      return key ?? (await makeOne());
    },
    warm: refill,
    close() {
      closed = true;
      ready.length = 0;
    },
  };
}
