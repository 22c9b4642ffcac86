import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Timers } from "@talos-operator/ports";
import { LookGate } from "./look-gate.ts";

/** Timers that ring by hand. */
function handTimers(): { timers: Timers; ring: () => void } {
  const pending = new Set<() => void>();
  return {
    timers: {
      schedule: (_delayMs: number, run: () => void) => {
        pending.add(run);
        return { cancel: () => void pending.delete(run) };
      },
    } as unknown as Timers,
    ring: () => {
      const due = Array.from(pending);
      pending.clear();
      for (const run of due) run();
    },
  };
}

function looks(
  gate: LookGate,
  count: number,
  wasSilent = false,
): { begun: () => number; finish: (n: number) => void; done: Promise<number[]> } {
  const open: (() => void)[] = [];
  const done = Array.from({ length: count }, (_, n) =>
    gate.pass(async () => {
      await new Promise<void>((resolve) => open.push(resolve));
      return n;
    }, wasSilent),
  );
  return { begun: () => open.length, finish: (n) => open[n]?.(), done: Promise.all(done) };
}

describe("the gate of looks", () => {
  it("lets 16 in at once and the next ones in their order", async () => {
    const gate = new LookGate(handTimers().timers);
    const { begun, finish, done } = looks(gate, 24);
    await setImmediate();
    assert.equal(begun(), 16);
    finish(5);
    await setImmediate();
    assert.equal(begun(), 17);
    for (let n = 0; n < 24; n += 1) {
      finish(n);
      await setImmediate();
    }
    assert.deepEqual(
      await done,
      Array.from({ length: 24 }, (_, n) => n),
    );
  });

  it("is not closed by machines that never answer", async () => {
    const { timers, ring } = handTimers();
    const gate = new LookGate(timers);
    const hanging = looks(gate, 16);
    const next = looks(gate, 16);
    await setImmediate();
    assert.deepEqual([hanging.begun(), next.begun()], [16, 0]);
    ring();
    await setImmediate();
    assert.equal(next.begun(), 16);
    // Those who gave their place away give it only once.
    for (let n = 0; n < 16; n += 1) hanging.finish(n);
    await hanging.done;
    const last = looks(gate, 1);
    await setImmediate();
    assert.equal(last.begun(), 0);
    next.finish(0);
    await setImmediate();
    assert.equal(last.begun(), 1);
  });

  it("has places of their own for machines that were silent: others wait for none of them", async () => {
    const { timers, ring } = handTimers();
    const gate = new LookGate(timers);
    const silent = looks(gate, 40, true);
    const answering = looks(gate, 16);
    await setImmediate();
    assert.deepEqual([silent.begun(), answering.begun()], [16, 16]);
    ring();
    await setImmediate();
    assert.equal(silent.begun(), 32, "whoever is slow gives the place to one of its kind");
  });

  it("gives the place back after a failure", async () => {
    const gate = new LookGate(handTimers().timers);
    for (let n = 0; n < 40; n += 1)
      await assert.rejects(
        gate.pass(() => Promise.reject(new Error("no")), false),
        /no/,
      );
  });

  it("knows when there are too many machines for a channel each", () => {
    const gate = new LookGate(handTimers().timers);
    for (let n = 0; n < 200; n += 1) gate.admit();
    assert.equal(gate.isCrowded(), false);
    gate.admit();
    assert.equal(gate.isCrowded(), true);
    gate.release();
    assert.equal(gate.isCrowded(), false);
  });
});
