import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { createSeededRandom, createVirtualTime, type VirtualTime } from "../testing/index.ts";
import type { Workqueue } from "./types.ts";
import { createWorkqueue } from "./workqueue.ts";

function start(): { readonly time: VirtualTime; readonly queue: Workqueue } {
  const time = createVirtualTime();
  return { time, queue: createWorkqueue({ clock: time.clock, timers: time.timers, random: createSeededRandom(1) }) };
}

/** Takes what is due now without waiting. */
async function takeDue(queue: Workqueue): Promise<string[]> {
  const taken: string[] = [];
  while (queue.stats().ready > 0) taken.push((await queue.take()) ?? "closed");
  return taken;
}

describe("workqueue", () => {
  it("hands keys out in the order in which they became due, each once", async () => {
    const { time, queue } = start();
    queue.addAfter("late", 100);
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    await time.advance(100);
    assert.deepEqual(await takeDue(queue), ["a", "b", "c", "late"]);
  });

  it("never hands a held key out a second time, and brings it round again when it was added meanwhile", async () => {
    const { queue } = start();
    queue.add("a");
    assert.equal(await queue.take(), "a");
    queue.add("a");
    assert.deepEqual(await takeDue(queue), []);
    queue.done("a");
    assert.deepEqual(await takeDue(queue), ["a"]);
    queue.done("a");
    assert.deepEqual(await takeDue(queue), []);
  });

  it("keeps a date that passes while the key is held", async () => {
    const { time, queue } = start();
    queue.add("a");
    await queue.take();
    queue.addAfter("a", 50);
    await time.advance(100);
    assert.deepEqual(await takeDue(queue), []);
    queue.done("a");
    assert.deepEqual(await takeDue(queue), ["a"]);
  });

  it("lets the earlier of two dates win, whichever came first", async () => {
    for (const dates of [
      [1_000, 300],
      [300, 1_000],
    ]) {
      const { time, queue } = start();
      for (const date of dates) queue.addAfter("a", date);
      await time.advance(299);
      assert.deepEqual(await takeDue(queue), []);
      await time.advance(1);
      assert.deepEqual(await takeDue(queue), ["a"]);
      queue.done("a");
      await time.advance(10_000);
      assert.deepEqual(await takeDue(queue), [], "the later date must be forgotten");
    }
  });

  it("keeps its dates when the wall clock jumps", async () => {
    const { time, queue } = start();
    queue.addAfter("a", 1_000);
    time.setClock(0);
    await time.advance(1_000);
    assert.deepEqual(await takeDue(queue), ["a"]);
  });

  for (const jumpMs of [3_600_000, -3_600_000])
    for (const dates of [
      [600_000, 300],
      [600_000, 599_900],
    ])
      it(`lets the earlier of two dates win when the wall clock jumps by ${jumpMs} ms between them (${dates.join(", ")})`, async () => {
        const { time, queue } = start();
        queue.addAfter("a", dates[0] ?? 0);
        await time.advance(599_000);
        time.setClock(time.clock.now() + jumpMs);
        queue.addAfter("a", dates[1] ?? 0);
        const earlier = Math.min(1_000, dates[1] ?? 0);
        await time.advance(earlier - 1);
        assert.deepEqual(await takeDue(queue), []);
        await time.advance(1);
        assert.deepEqual(await takeDue(queue), ["a"]);
        queue.done("a");
        await time.advance(3_600_000);
        assert.deepEqual(await takeDue(queue), [], "the later date must be forgotten");
        assert.equal(time.pending(), 0);
      });

  it("keeps no timer for a date that is not earlier, however many are wished for", () => {
    const { time, queue } = start();
    queue.addAfter("a", 60_000);
    for (let wish = 0; wish < 100; wish += 1) queue.addAfter("a", 30_000 + wish);
    assert.equal(time.pending(), 2);
  });

  it("doubles the backoff of one key from 5 ms, with the upper half random, until it is forgotten", () => {
    const { queue } = start();
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const whole = 5 * 2 ** attempt;
      const delay = queue.addRateLimited("a");
      assert.ok(delay >= whole / 2 && delay <= whole, `attempt ${attempt}: ${delay} of ${whole}`);
    }
    for (let attempt = 0; attempt < 10; attempt += 1) queue.addRateLimited("a");
    assert.ok(queue.addRateLimited("a") <= 300_000);
    assert.equal(queue.failures("a"), 23);
    assert.ok(queue.addRateLimited("b") <= 5, "another key is not slowed down");
    queue.forget("a");
    assert.ok(queue.addRateLimited("a") <= 5);
  });

  it("wakes waiting workers in their order, and all of them when it closes", async () => {
    const { time, queue } = start();
    const got: string[] = [];
    for (const worker of ["w1", "w2", "w3"]) void queue.take().then((key) => got.push(`${worker} ${key ?? "closed"}`));
    queue.add("a");
    queue.add("b");
    await time.settle();
    queue.addAfter("c", 1_000);
    queue.close();
    await time.settle();
    assert.deepEqual(got, ["w1 a", "w2 b", "w3 closed"]);
    assert.equal(time.pending(), 0);
    queue.add("d");
    assert.equal(await queue.take(), undefined);
  });

  it("refuses done for a key that nobody holds", () => {
    assert.throws(() => start().queue.done("a"), RangeError);
  });

  it("counts", async () => {
    const { time, queue } = start();
    queue.add("a");
    queue.add("b");
    queue.addAfter("c", 500);
    queue.addRateLimited("d");
    await queue.take();
    await time.advance(200);
    assert.deepEqual(queue.stats(), {
      ready: 2,
      readyLow: 0,
      delayed: 1,
      processing: 1,
      adds: 4,
      retries: 1,
      oldestReadyMs: 200,
      longestHeldMs: 200,
      totalHeldMs: 200,
    });
  });

  it("hands out a due key at once when the clock has jumped over its date", async () => {
    const { time, queue } = start();
    queue.addAfter("a", 60_000);
    time.setClock(time.clock.now() + 86_400_000);
    queue.add("a");
    assert.deepEqual(await takeDue(queue), ["a"]);
    queue.done("a");
    await time.advance(120_000);
    assert.deepEqual(await takeDue(queue), []);
  });

  it("lets new work go ahead of the flood of the start, and the flood end all the same", async () => {
    const { queue } = start();
    for (let count = 0; count < 10; count += 1) queue.add(`old-${count}`, "low");
    for (let count = 0; count < 9; count += 1) queue.add(`new-${count}`);
    const taken = await takeDue(queue);
    assert.equal(
      taken.join(" "),
      "new-0 new-1 new-2 new-3 old-0 new-4 new-5 new-6 new-7 old-1 new-8 old-2 old-3 old-4 old-5 old-6 old-7 old-8 old-9",
    );
  });

  it("raises a low key that is wanted now, and does not lower it again", async () => {
    const { queue } = start();
    for (const key of ["a", "b", "c"]) queue.add(key, "low");
    queue.add("c");
    queue.add("c", "low");
    queue.addAfter("b", 10_000);
    assert.deepEqual(await takeDue(queue), ["c", "a", "b"], "a wish for later raises nothing");
    assert.deepEqual(
      ["a", "c"].map((key) => queue.priorityOf(key)),
      ["low", "normal"],
    );
  });

  it("keeps the priority of a held key over its failure, and raises it for a wish that came meanwhile", async () => {
    const { time, queue } = start();
    for (const key of ["a", "b"]) queue.add(key, "low");
    await takeDue(queue);
    queue.addRateLimited("a");
    queue.addRateLimited("b");
    queue.add("b");
    queue.done("a");
    queue.done("b");
    await time.advance(100);
    await takeDue(queue);
    assert.deepEqual([queue.priorityOf("a"), queue.priorityOf("b")], ["low", "normal"]);
  });

  it("lets groups take turns, and keeps the order within each", async () => {
    const time = createVirtualTime();
    const queue = createWorkqueue({
      clock: time.clock,
      timers: time.timers,
      random: createSeededRandom(1),
      groupOf: (key) => key.slice(0, 1),
    });
    for (const key of ["a1", "a2", "a3", "b1", "c1", "c2"]) queue.add(key);
    assert.deepEqual(await takeDue(queue), ["a1", "b1", "c1", "a2", "c2", "a3"]);
  });

  it("keeps the three promises against a slow obvious model", async () => {
    const keys = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({
        do: fc.constant("add" as const),
        key: keys,
        delayMs: fc.constantFrom(0, 10, 50, 200),
        priority: fc.constantFrom("normal" as const, "low" as const),
      }),
      fc.record({ do: fc.constant("take" as const) }),
      fc.record({ do: fc.constant("done" as const), key: keys }),
      fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(5, 10, 60, 300) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { time, queue } = start();
        const dates = new Map<string, number>();
        const held = new Set<string>();
        for (const one of steps) {
          if (one.do === "wait") await time.advance(one.ms);
          else if (one.do === "add") {
            queue.addAfter(one.key, one.delayMs, one.priority);
            dates.set(one.key, Math.min(dates.get(one.key) ?? Infinity, time.now() + one.delayMs));
          } else if (one.do === "done") {
            if (held.delete(one.key)) queue.done(one.key);
          } else {
            const due = [...dates].filter(([key, at]) => at <= time.now() && !held.has(key)).map(([key]) => key);
            assert.equal(queue.stats().ready, due.length);
            if (due.length === 0) continue;
            const key = (await queue.take()) ?? "closed";
            assert.ok(due.includes(key), `${key} was not due or is held`);
            held.add(key);
            dates.delete(key);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
