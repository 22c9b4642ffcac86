import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Steady } from "./steady.ts";

describe("an answer that stays the same", () => {
  const cases = [
    { what: "is asked once", asks: [["a", 0], ["a", 19_999]], expected: [1, 1] },
    { what: "is asked again after 20 s", asks: [["a", 0], ["a", 20_000]], expected: [1, 2] },
    { what: "is asked again when the clock was set back", asks: [["a", 3_600_000], ["a", 0]], expected: [1, 2] },
    { what: "is asked again when another key answers", asks: [["a", 0], ["b", 1], ["a", 2]], expected: [1, 2, 3] },
    { what: "is not kept for a machine whose key is unknown", asks: [[undefined, 0], [undefined, 1]], expected: [1, 2] },
  ] as const; // prettier-ignore
  for (const { what, asks, expected } of cases) {
    it(what, async () => {
      const steady = new Steady<number>();
      let asked = 0;
      const answers: number[] = [];
      for (const [spki, at] of asks) {
        answers.push(
          await steady.take(
            spki,
            () => at,
            () => Promise.resolve((asked += 1)),
          ),
        );
      }
      assert.deepEqual(answers, expected);
    });
  }

  it("counts as long as the asker says", async () => {
    const steady = new Steady<number>();
    const take = (at: number, freshMs?: number): Promise<number> =>
      steady.take(
        "a",
        () => at,
        () => Promise.resolve(at),
        freshMs,
      );
    assert.deepEqual(
      [await take(0), await take(179_999, 180_000), await take(180_000, 180_000), await take(199_999), await take(200_000)],
      [0, 0, 180_000, 180_000, 200_000],
    );
  });

  it("is asked again after a failure and after it was forgotten", async () => {
    const steady = new Steady<string>();
    const now = (): number => 0;
    await assert.rejects(steady.take("a", now, () => Promise.reject(new Error("no"))));
    assert.equal(await steady.take("a", now, () => Promise.resolve("first")), "first");
    steady.forget();
    assert.equal(await steady.take("a", now, () => Promise.resolve("second")), "second");
  });
});
