import assert from "node:assert/strict";
import { createSecretKey, type KeyObject } from "node:crypto";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createRsaPool } from "./rsa-pool.ts";

/** Keys that are finished by hand, numbered in the order in which their making began. */
function workshop(): { make: () => Promise<KeyObject>; finish: (n: number, error?: Error) => Promise<void>; begun: () => number } {
  const open: ((error?: Error) => void)[] = [];
  return {
    make: () =>
      new Promise((resolve, reject) => {
        const n = open.length;
        open.push((error) => (error === undefined ? resolve(createSecretKey(Buffer.from([n]))) : reject(error)));
      }),
    finish: async (n, error) => {
      open[n]?.(error);
      await setImmediate();
    },
    begun: () => open.length,
  };
}

const numberOf = async (key: Promise<KeyObject>): Promise<number | undefined> => (await key).export()[0];

describe("the pool of RSA keys", () => {
  it("makes one key at a time ahead, up to its size", async ({ mock }) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const shop = workshop();
    const pool = createRsaPool(2, shop.make);
    pool.warm();
    pool.warm();
    assert.equal(shop.begun(), 1);
    await shop.finish(0);
    assert.equal(shop.begun(), 2);
    await shop.finish(1);
    assert.equal(shop.begun(), 2, "it is full");
    assert.equal(await numberOf(pool.take()), 0);
    assert.equal(await numberOf(pool.take()), 1);
    assert.equal(shop.begun(), 2, "who took one has the processor for a while");
    mock.timers.tick(500);
    assert.equal(shop.begun(), 3, "what was taken is replaced");
    await shop.finish(2);
    assert.equal(shop.begun(), 4);
  });

  it("makes as many keys at once as it may for those who wait, and serves them in order", async () => {
    const shop = workshop();
    const pool = createRsaPool(0, shop.make, 2);
    const taken = [pool.take(), pool.take(), pool.take()].map((key) => numberOf(key));
    assert.equal(shop.begun(), 2);
    await shop.finish(1);
    await shop.finish(0);
    await shop.finish(2);
    assert.deepEqual(await Promise.all(taken), [1, 0, 2]);
    assert.equal(shop.begun(), 3, "nothing is made ahead without a size");
  });

  it("gives a key that is being made ahead to who waits", async () => {
    const shop = workshop();
    const pool = createRsaPool(1, shop.make);
    pool.warm();
    const taken = numberOf(pool.take());
    assert.equal(shop.begun(), 1);
    await shop.finish(0);
    assert.equal(await taken, 0);
  });

  it("tells a failure to who waits, and to nobody else", async () => {
    const shop = workshop();
    const pool = createRsaPool(1, shop.make);
    pool.warm();
    await shop.finish(0, new Error("ahead"));
    const taken = pool.take();
    const refused = assert.rejects(taken, /no entropy/);
    await shop.finish(1, new Error("no entropy"));
    await refused;
  });

  it("keeps nothing once it is closed, and still serves who waits", async () => {
    const shop = workshop();
    const pool = createRsaPool(2, shop.make);
    const taken = numberOf(pool.take());
    pool.close();
    await shop.finish(0);
    assert.equal(await taken, 0);
    assert.equal(shop.begun(), 1);
  });
});
