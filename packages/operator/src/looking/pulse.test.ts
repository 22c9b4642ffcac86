import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { Pulse } from "./pulse.ts";

/** A pulse whose touches are answered as `answers` says, then always. */
function beating(answers: boolean[]): { readonly pulse: Pulse; readonly told: string[]; readonly advance: (ms: number) => Promise<void> } {
  const time = createVirtualTime();
  const told: string[] = [];
  const pulse = new Pulse({
    touch: () => {
      told.push("touch");
      return Promise.resolve(answers.shift() ?? true);
    },
    onLost: () => told.push("lost"),
    onBack: () => told.push("back"),
    timers: time.timers,
    random: createSeededRandom(1),
  });
  return { pulse, told, advance: (ms) => time.advance(ms) };
}

test("a machine is touched every five to six seconds, from whenever it was begun", async () => {
  const { pulse, told, advance } = beating([]);
  await advance(60_000);
  assert.deepEqual(told, []);
  pulse.begin();
  pulse.begin();
  await advance(60_000);
  assert.ok(told.length >= 10 && told.length <= 12, String(told.length));
  pulse.stop();
  told.length = 0;
  await advance(60_000);
  assert.deepEqual(told, []);
});

for (const { answers, wants } of [
  { answers: [false], wants: ["touch", "touch", "back"] },
  { answers: [false, false], wants: ["touch", "touch", "lost"] },
  { answers: [false, false, false], wants: ["touch", "touch", "lost", "touch", "touch", "back"] },
])
  test(`${answers.length} failed touch(es) in a row: ${wants.join(", ")}`, async () => {
    const { pulse, told, advance } = beating([...answers]);
    pulse.begin();
    await advance(13_000);
    assert.deepEqual(told.slice(0, wants.length), wants);
    assert.deepEqual(
      told.slice(wants.length).filter((word) => word !== "touch"),
      [],
    );
    pulse.stop();
  });

test("one that was stopped while a touch was under way tells nothing of it, and beats once when it is begun anew", async () => {
  const time = createVirtualTime();
  let answer: (isReached: boolean) => void = () => undefined;
  let touches = 0;
  const told: string[] = [];
  const pulse = new Pulse({
    touch: () => {
      touches += 1;
      return new Promise((resolve) => void (answer = resolve));
    },
    onLost: () => told.push("lost"),
    onBack: () => told.push("back"),
    timers: time.timers,
    random: createSeededRandom(1),
  });
  pulse.begin();
  await time.advance(6_000);
  assert.equal(touches, 1);
  const before = answer;
  pulse.stop();
  pulse.begin();
  before(false);
  await time.advance(6_000);
  assert.equal(touches, 2);
  await time.advance(60_000);
  assert.deepEqual([touches, told], [2, []]);
  pulse.stop();
});
