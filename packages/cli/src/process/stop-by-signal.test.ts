import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { stopBySignal } from "./stop-by-signal.ts";

function started(): { stopped: AbortSignal; exits: number[]; signal: (name: string, atMs: number) => void } {
  const signals = new EventEmitter();
  const exits: number[] = [];
  let nowMs = 0;
  const heard = { on: (name: string, listener: () => void) => signals.on(name, listener), exit: (code: number) => exits.push(code) };
  return {
    stopped: stopBySignal(heard, () => nowMs),
    exits,
    signal: (name, atMs) => {
      nowMs = atMs;
      signals.emit(name);
    },
  };
}

describe("a signal", () => {
  it("stops in order", () => {
    const { stopped, exits, signal } = started();
    assert.equal(stopped.aborted, false);
    signal("SIGTERM", 5000);
    assert.equal(stopped.aborted, true);
    assert.deepEqual(exits, []);
  });

  it("is one where npm passes on what the terminal sent already", () => {
    const { exits, signal } = started();
    signal("SIGINT", 5000);
    signal("SIGINT", 5001);
    signal("SIGINT", 5990);
    assert.deepEqual(exits, []);
  });

  it("ends everything at once the second time", () => {
    const { exits, signal } = started();
    signal("SIGINT", 5000);
    signal("SIGINT", 6000);
    assert.deepEqual(exits, [130]);
    const other = started();
    other.signal("SIGINT", 5000);
    other.signal("SIGTERM", 5001);
    assert.deepEqual(other.exits, [130]);
  });
});
