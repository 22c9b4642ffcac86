import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { ConfigRefusal } from "../../config/refusal.ts";
import { EffectError } from "../../errors.ts";
import { Turnstile } from "../../looking/turnstile.ts";
import { LiveConfigs } from "./live-configs.ts";
import type { ConfigWish } from "./live-configs.ts";
import type { KnownConfig } from "./seen-config.ts";

const HOUR = 3_600_000;
const known: KnownConfig = {
  kind: "known",
  at: 0,
  settings: "s",
  bootId: "b",
  version: "v1.13.9",
  activeHash: "a",
  changes: [],
  onDisk: "wanted",
};
const wish = (over: Partial<ConfigWish> = {}): ConfigWish => ({ machine: "m", key: "k", everyMs: 6 * HOUR, isUrgent: true, ...over });

/** Readings that are asked for once a second, as passes would; each takes a moment. */
function world(read: (count: number) => Promise<KnownConfig> = async () => known, places = 8) {
  const time = createVirtualTime();
  const configs = new LiveConfigs({ clock: time.clock, random: createSeededRandom(1), turnstile: new Turnstile(places) });
  const state = { reads: 0, wakes: 0, most: 0, now: 0 };
  const ask = (...wishes: readonly ConfigWish[]): void =>
    configs.ask(
      wishes,
      async () => {
        state.reads += 1;
        state.now += 1;
        state.most = Math.max(state.most, state.now);
        try {
          await time.timers.sleep(10);
          return await read(state.reads);
        } finally {
          state.now -= 1;
        }
      },
      () => void (state.wakes += 1),
    );
  const passes = async (seconds: number, wishes: readonly ConfigWish[] = [wish()], stepMs = 1_000): Promise<void> => {
    for (let passed = 0; passed < seconds * 1_000; passed += stepMs) {
      ask(...wishes);
      await time.advance(stepMs);
    }
  };
  return { time, configs, state, ask, passes };
}

describe("when a configuration is read", () => {
  test("at once when something waits for it, and then every six to nine hours", async () => {
    const { state, passes } = world();
    await passes(2);
    assert.deepEqual([state.reads, state.wakes], [1, 1]);
    await passes((6 * HOUR) / 1_000 - 60, undefined, 30_000);
    assert.equal(state.reads, 1);
    await passes((3 * HOUR) / 1_000 + 120, undefined, 30_000);
    assert.equal(state.reads, 2);
    assert.equal(state.wakes, 1, "nothing new was read");
  });
  test("within a minute when nothing waits for it", async () => {
    const { state, passes, configs } = world();
    await passes(60, [wish({ isUrgent: false })]);
    assert.equal(state.reads, 1);
    assert.equal(configs.seen().get("m")?.kind, "known");
  });
  test("anew for another question, and until then nothing is known", async () => {
    const { state, passes, configs, ask } = world();
    await passes(2);
    ask(wish({ key: "other" }));
    assert.equal(configs.seen().get("m")?.kind, "unknown");
    await passes(2, [wish({ key: "other" })]);
    assert.equal(state.reads, 2);
  });
  test("anew after something was sent", async () => {
    const { state, passes, configs } = world();
    await passes(2);
    configs.forget("m");
    assert.equal(configs.seen().size, 0);
    await passes(2);
    assert.equal(state.reads, 2);
  });
  test("every few seconds while an effect is under way", async () => {
    const { state, passes } = world();
    await passes(30, [wish({ everyMs: 2_000 })]);
    assert.ok(state.reads >= 8 && state.reads <= 16, String(state.reads));
  });
  test("after a failure with a longer pause each time", async () => {
    const { state, passes, configs } = world(() => Promise.reject(new EffectError("PRECONDITION_GONE", "another machine answers")));
    await passes(600);
    assert.ok(state.reads >= 6 && state.reads <= 14, String(state.reads));
    assert.deepEqual(configs.seen().get("m"), { kind: "unknown", detail: "another machine answers" });
    assert.equal(state.wakes, 1);
  });
  test("in words when what is wanted cannot be made", async () => {
    const { passes, configs } = world(() => Promise.reject(new ConfigRefusal("a patch changes cluster.id")));
    await passes(2);
    assert.deepEqual(configs.seen().get("m"), { kind: "unknown", detail: "a patch changes cluster.id" });
  });
  test("not after the cluster was let go, and an answer that comes then is dropped", async () => {
    const { state, ask, configs, time } = world();
    ask(wish());
    configs.close();
    await time.advance(1_000);
    ask(wish());
    await time.advance(1_000);
    assert.deepEqual([state.reads, state.wakes, configs.seen().size], [1, 0, 0]);
  });
  test("for no more machines at once than the process has places for", async () => {
    const { state, passes } = world(undefined, 2);
    await passes(
      3,
      Array.from({ length: 20 }, (_, index) => wish({ machine: `m${index}` })),
    );
    assert.deepEqual([state.reads, state.most], [20, 2]);
  });
});
