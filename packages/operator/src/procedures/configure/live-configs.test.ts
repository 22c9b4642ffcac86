import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { ConfigRefusal } from "../../config/refusal.ts";
import { EffectError } from "../../errors.ts";
import { Turnstile } from "../../looking/turnstile.ts";
import { LiveConfigs } from "./live-configs.ts";
import type { ConfigReader, ConfigWish } from "./live-configs.ts";
import type { ConfigQuestion } from "./read-config.ts";
import type { KnownConfig } from "../../model/config.ts";

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
const wish = (over: Partial<ConfigWish> = {}): ConfigWish => ({
  machine: "m",
  question: questionOf(over.machine ?? "m"),
  key: "k",
  everyMs: 6 * HOUR,
  isUrgent: true,
  ...over,
});

/** Readings that are asked for once a second, as passes would; each takes a moment. */
function world(
  read: (count: number, question: ConfigQuestion) => Promise<KnownConfig> = async () => known,
  { time = createVirtualTime(), turnstile = new Turnstile(8) } = {},
) {
  const configs = new LiveConfigs({ clock: time.clock, random: createSeededRandom(1), turnstile });
  const state = { opened: 0, reads: 0, wakes: 0, most: 0, now: 0 };
  const reader: ConfigReader = {
    async read(question) {
      state.reads += 1;
      state.now += 1;
      state.most = Math.max(state.most, state.now);
      try {
        await time.timers.sleep(10);
        return await read(state.reads, question);
      } finally {
        state.now -= 1;
      }
    },
  };
  const ask = (...wishes: readonly ConfigWish[]): void =>
    configs.ask(
      wishes,
      async () => {
        state.opened += 1;
        return reader;
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
    assert.deepEqual([state.reads, state.wakes], [1, 2]);
    await passes((6 * HOUR) / 1_000 - 60, undefined, 30_000);
    assert.equal(state.reads, 1);
    await passes((3 * HOUR) / 1_000 + 120, undefined, 30_000);
    assert.equal(state.reads, 2);
    assert.equal(state.wakes, 2, "nothing new was read");
  });
  test("who was told that a reading goes on hears of its end, also when nothing new was read", async () => {
    const { state, ask, configs, time } = world();
    const often = wish({ everyMs: 2_000 });
    ask(often);
    await time.advance(1_000);
    const before = state.wakes;
    await time.advance(4_000);
    ask(often);
    assert.equal(configs.wakeAfterReading(), true);
    await time.advance(1_000);
    assert.deepEqual([state.reads, state.wakes], [2, before + 1]);
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
    assert.equal(state.wakes, 2);
  });
  test("in words when what is wanted cannot be made", async () => {
    const { passes, configs } = world(() => Promise.reject(new ConfigRefusal("a patch changes cluster.id")));
    await passes(2);
    assert.deepEqual(configs.seen().get("m"), { kind: "unknown", detail: "a patch changes cluster.id" });
  });
  test("not after the cluster was released, and an answer that comes then is dropped", async () => {
    const { state, ask, configs, time } = world();
    ask(wish());
    configs.close();
    await time.advance(1_000);
    ask(wish());
    await time.advance(1_000);
    assert.deepEqual([state.reads, state.wakes, configs.seen().size], [1, 0, 0]);
  });
  test("together for all machines of a cluster: what they need is opened once, and four are read at once", async () => {
    const { state, passes } = world();
    await passes(
      3,
      Array.from({ length: 20 }, (_, index) => wish({ machine: `m${index}` })),
    );
    assert.deepEqual([state.opened, state.reads, state.most], [1, 20, 4]);
  });
  test("along with the others when it comes due while they wait for their turn or are read", async () => {
    const time = createVirtualTime();
    const turnstile = new Turnstile(1);
    const { state, ask, configs } = world(undefined, { time, turnstile });
    void turnstile.pass(() => time.timers.sleep(1_000));
    ask(wish());
    await time.advance(500);
    ask(wish(), wish({ machine: "n" }));
    assert.deepEqual([state.opened, configs.wakeAfterReading()], [0, true]);
    await time.advance(505);
    ask(wish(), wish({ machine: "n" }), wish({ machine: "o" }));
    await time.advance(100);
    assert.deepEqual([state.opened, state.reads, configs.wakeAfterReading()], [1, 3, false]);
  });
  test("with the newest question when that changed while it waited", async () => {
    const asked: string[] = [];
    const time = createVirtualTime();
    const turnstile = new Turnstile(1);
    void turnstile.pass(() => time.timers.sleep(100));
    const { ask } = world(
      async (_, question) => {
        asked.push(question.settings);
        return known;
      },
      { time, turnstile },
    );
    ask(wish());
    ask(wish({ key: "other", question: questionOf("m", "newer") }));
    await time.advance(1_000);
    assert.deepEqual(asked, ["newer"]);
  });
  test("of one cluster at a time for each place that the process has", async () => {
    const time = createVirtualTime();
    const turnstile = new Turnstile(1);
    const [one, other] = [world(undefined, { time, turnstile }), world(undefined, { time, turnstile })];
    one.ask(wish());
    other.ask(wish());
    await time.advance(5);
    assert.deepEqual([one.state.now, other.state.now], [1, 0]);
    await time.advance(20);
    assert.deepEqual([one.state.reads, other.state.reads], [1, 1]);
  });
  test("and when what they need cannot be had, each says so", async () => {
    const { configs, time } = world();
    configs.ask(
      [wish()],
      () => Promise.reject(new EffectError("KEYS_UNUSABLE", "the bundle is gone")),
      () => undefined,
    );
    await time.advance(10);
    assert.deepEqual(configs.seen().get("m"), { kind: "unknown", detail: "the bundle is gone" });
  });
});

function questionOf(machine: string, settings = "s"): ConfigQuestion {
  return { machine, settings } as ConfigQuestion;
}
