import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timers } from "@talos-operator/ports";
import { SOAK_MS } from "./config-intents.ts";
import { Soaks } from "./soaks.ts";

/** Timers that ring by hand, each once. */
function handTimers(): { readonly timers: Timers; readonly ring: () => void; readonly waiting: () => number } {
  const set = new Set<() => void>();
  const schedule: Timers["schedule"] = (delayMs, callback) => {
    assert.equal(delayMs, SOAK_MS);
    set.add(callback);
    return { cancel: () => void set.delete(callback) };
  };
  const ring = (): void => {
    for (const callback of set) callback();
    set.clear();
  };
  return { timers: { schedule } as Timers, ring, waiting: () => set.size };
}

test("a machine is looked at until the timer has run, and anew from each thing that is sent to it", () => {
  const { timers, ring, waiting } = handTimers();
  const soaks = new Soaks(timers, SOAK_MS);
  soaks.begin("a");
  assert.deepEqual([...soaks.of(["a"])], ["a"]);
  ring();
  assert.deepEqual([...soaks.of(["a"])], []);
  soaks.begin("a");
  soaks.begin("a");
  assert.equal(waiting(), 1);
  assert.deepEqual([...soaks.of(["a"])], ["a"]);
});

test("a machine that another process sent something to is looked at from when it is first heard of", () => {
  const { timers, ring } = handTimers();
  const soaks = new Soaks(timers, SOAK_MS);
  assert.deepEqual([...soaks.of(["a"])], ["a"]);
  ring();
  assert.deepEqual([...soaks.of(["a", "b"])], ["b"]);
});

test("a machine that nothing is open on any more is forgotten with its timer", () => {
  const { timers, ring, waiting } = handTimers();
  const soaks = new Soaks(timers, SOAK_MS);
  soaks.begin("a");
  soaks.of([]);
  assert.equal(waiting(), 0);
  soaks.begin("a");
  ring();
  soaks.close();
  assert.deepEqual([...soaks.of(["a"])], ["a"]);
});
