import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { drainPromises } from "@talos-operator/kube-runtime/testing";
import { createLooks } from "./looks.ts";
import type { SeenHealth } from "./health.ts";

const ready: SeenHealth = { kind: "seen", ready: 1, total: 1, waiting: [], lookAgainMs: 900_000 };
const lost: SeenHealth = { kind: "unreachable", message: "m", ready: undefined, lookAgainMs: 5_000 };

function scene() {
  let now = 0;
  const done: string[] = [];
  const going: ((health: SeenHealth) => void)[] = [];
  const looks = createLooks<string>({ now: () => now }, (name) => void done.push(name));
  const look = (): Promise<SeenHealth> => new Promise((resolve) => going.push(resolve));
  return {
    done,
    going,
    looks,
    of: (uid: string, place = "a", inputs = "1") => looks.healthOf({ uid, inputs, place, wake: uid }, look),
    later: (ms: number) => void (now += ms),
    end: async (health: SeenHealth) => {
      going.shift()?.(health);
      await drainPromises();
    },
  };
}

describe("looks at what releases run", () => {
  test("hold up no pass: it hears that somebody looks, and is woken with what was seen", async () => {
    const { of, end, done, later } = scene();
    assert.equal(of("u-1").kind, "looking");
    await end(ready);
    assert.deepEqual(done, ["u-1"]);
    later(300_000);
    assert.deepEqual(of("u-1"), { ...ready, lookAgainMs: 600_000 });
  });

  test("are one at a time in a cluster, so one that does not answer is not asked by all, and eight at once in all of them", async () => {
    const { of, going, end } = scene();
    for (const place of "abcdefghij") for (const n of [1, 2, 3]) of(`${place}-${n}`, place);
    assert.equal(going.length, 8);
    await end(ready);
    assert.equal(going.length, 8);
  });

  test("leave what is known while somebody looks again, and begin once", async () => {
    const { of, end, going, later } = scene();
    of("u-1");
    await end(ready);
    later(900_000);
    assert.deepEqual([of("u-1").kind, of("u-1").kind], ["seen", "seen"]);
    assert.equal(going.length, 1);
  });

  test("go to a cluster that does not answer more and more rarely, up to once a minute", async () => {
    const { of, end, later } = scene();
    const waits: number[] = [];
    for (let turn = 0; turn < 7; turn++) {
      of("u-1");
      await end(lost);
      const { lookAgainMs } = of("u-1");
      waits.push(lookAgainMs / 1_000);
      later(lookAgainMs);
    }
    assert.deepEqual(waits, [5, 10, 20, 40, 60, 60, 60]);
  });

  test("tell nothing of what was begun before it was forgotten, or of other inputs", async () => {
    const { of, end, looks } = scene();
    of("u-1");
    looks.forget("u-1");
    await end(ready);
    assert.equal(of("u-1").kind, "looking");
    await end(ready);
    assert.equal(of("u-1").kind, "seen");
    assert.equal(of("u-1", "a", "2").kind, "looking");
  });
});
