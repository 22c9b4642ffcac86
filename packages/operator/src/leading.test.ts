import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Leadership } from "@talos-operator/kube-runtime";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { leadingBy } from "./leading.ts";

function term(signal: AbortSignal = new AbortController().signal): Leadership {
  return {
    token: { leaseTransitions: 0, resourceVersion: "1" },
    identity: "one",
    signal,
    since: 0,
    isHeld: () => true,
    remainingMs: () => 15_000,
    confirm: () => Promise.resolve(true),
    resign: () => undefined,
  };
}

describe("the right to disturb machines", () => {
  it("comes when a lease and the longest effect have passed, whatever the clock says", async () => {
    const time = createVirtualTime();
    const leading = leadingBy(term(), 15_000, time.timers);
    time.setClock(time.now() + 3_600_000);
    await time.advance(34_999);
    assert.equal(leading.mayDisturb, false);
    await time.advance(1);
    assert.equal(leading.mayDisturb, true);
  });

  it("is told once, so that what waited for it goes on", async () => {
    const time = createVirtualTime();
    const told: number[] = [];
    const leading = leadingBy(term(), 5_000, time.timers, () => told.push(time.now()));
    const begun = time.now();
    await time.advance(120_000);
    assert.deepEqual(told, [begun + 25_000]);
    assert.equal(leading.mayDisturb, true);
  });

  it("leaves no timer behind when the term ends before", () => {
    const time = createVirtualTime();
    const over = new AbortController();
    leadingBy(term(over.signal), 15_000, time.timers);
    over.abort();
    assert.equal(time.pending(), 0);
  });
});
