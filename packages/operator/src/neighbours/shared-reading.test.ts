import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SharedReading } from "./shared-reading.ts";

/** A reading that ends when it is told to, and counts how often it began. */
function reading(): {
  readonly shared: SharedReading<number>;
  readonly begun: () => number;
  readonly end: (failure?: Error) => Promise<void>;
} {
  let count = 0;
  let settle: ((failure?: Error) => void) | undefined;
  const shared = new SharedReading(() => {
    count += 1;
    const number = count;
    return new Promise<number>((resolve, reject) => {
      settle = (failure) => (failure === undefined ? resolve(number) : reject(failure));
    });
  });
  return {
    shared,
    begun: () => count,
    end: async (failure) => {
      settle?.(failure);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe("a reading that several share", () => {
  it("begins at once when none is under way", async () => {
    const { shared, begun, end } = reading();
    const first = shared.ask();
    assert.equal(begun(), 1);
    await end();
    assert.equal(await first, 1);
    const second = shared.ask();
    assert.equal(begun(), 2);
    await end();
    assert.equal(await second, 2);
  });

  it("is never one that began before it was asked for, and is one for all who asked before it began", async () => {
    const { shared, begun, end } = reading();
    const first = shared.ask();
    const others = [shared.ask(), shared.ask(), shared.ask()];
    assert.equal(begun(), 1);
    await end();
    assert.equal(await first, 1);
    assert.equal(begun(), 2);
    const later = shared.ask();
    await end();
    assert.deepEqual(await Promise.all(others), [2, 2, 2]);
    await end();
    assert.equal(await later, 3);
  });

  it("that fails fails for those who share it and for nobody else", async () => {
    const { shared, end } = reading();
    const first = assert.rejects(shared.ask(), /away/);
    const second = shared.ask();
    await end(new Error("away"));
    await first;
    await end();
    assert.equal(await second, 2);
    const failing = [shared.ask(), shared.ask()].map((one) => assert.rejects(one, /gone/));
    await end(new Error("gone"));
    await end(new Error("gone"));
    await Promise.all(failing);
  });
});
