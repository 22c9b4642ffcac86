import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { createVirtualTime } from "./virtual-time.ts";

describe("virtual time", () => {
  it("runs timers in the order of their dates, ties in the order of creation", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 20 })), async (delays) => {
        const time = createVirtualTime();
        const ran: [number, number][] = [];
        delays.forEach((delay, index) => time.timers.schedule(delay, () => ran.push([delay, index])));
        await time.advance(20);
        assert.deepEqual(
          ran,
          delays.map((delay, index): [number, number] => [delay, index]).toSorted((a, b) => a[0] - b[0] || a[1] - b[1]),
        );
      }),
    );
  });

  it("lets all promises of one timer settle before the next timer runs", async () => {
    const time = createVirtualTime();
    const seen: string[] = [];
    const work = async (name: string, delay: number): Promise<void> => {
      await time.timers.sleep(delay);
      for (let hop = 0; hop < 50; hop += 1) await Promise.resolve();
      seen.push(`${name} at ${time.now() - Date.UTC(2026, 0, 1)}`);
      await time.timers.sleep(5);
      seen.push(`${name} again`);
    };
    void work("a", 10);
    void work("b", 10);
    await time.advance(15);
    assert.deepEqual(seen, ["a at 10", "b at 10", "a again", "b again"]);
  });

  it("forgets cancelled timers and rejects aborted sleeps with the reason", async () => {
    const time = createVirtualTime();
    const timer = time.timers.schedule(10, () => assert.fail("cancelled"));
    timer.cancel();
    timer.cancel();
    const abort = new AbortController();
    const sleep = assert.rejects(time.timers.sleep(10, abort.signal), /enough/);
    abort.abort(new Error("enough"));
    await sleep;
    await assert.rejects(time.timers.sleep(10, abort.signal), /enough/);
    assert.deepEqual([time.pending(), time.nextIn()], [0, undefined]);
    await time.advance(20);
  });

  it("runs until a condition holds, and stops at the limit or when nothing is left", async () => {
    const time = createVirtualTime();
    let ticks = 0;
    const tick = (): void => {
      ticks += 1;
      if (ticks < 5) time.timers.schedule(1_000, tick);
    };
    tick();
    assert.equal(await time.runUntil(() => ticks === 3), true);
    assert.equal(await time.runUntil(() => ticks === 99, 500), false);
    assert.equal(ticks, 3);
    assert.equal(await time.runUntil(() => ticks === 99), false);
    assert.equal(ticks, 5);
  });

  it("moves the wall clock without running timers", async () => {
    const time = createVirtualTime(1_000);
    let ran = false;
    time.timers.schedule(50, () => {
      ran = true;
    });
    time.setClock(1_000_000);
    await time.settle();
    assert.deepEqual([time.clock.now(), time.now(), ran], [1_000_000, 1_000, false]);
    await time.advance(50);
    assert.deepEqual([time.clock.now(), ran], [1_000_050, true]);
  });
});
