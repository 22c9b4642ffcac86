import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { baseOf, rotated, within } from "./choose.mjs";

describe("the commit that the gate compares with", () => {
  const ancestors = Array.from({ length: 30 }, (_, index) => `commit ${index + 1}`);

  it("is the newest ancestor on which it passed, however old", () => {
    assert.equal(baseOf(ancestors, new Set(["commit 25", "commit 28", "of another branch"])), "commit 25");
  });

  it("is twenty commits back where it has not passed yet, or the oldest commit that is there", () => {
    assert.equal(baseOf(ancestors, new Set()), "commit 20");
    assert.equal(baseOf(ancestors.slice(0, 3), new Set([""])), "commit 3");
  });

  it("is an empty tree where nothing tells what is new: a clone of one commit does not pass for lack of history", () => {
    assert.equal(baseOf([], new Set(["commit 1"])), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
  });
});

describe("a rotation", () => {
  it("begins with each in turn, and always has all", () => {
    const list = ["a", "b", "c"];
    assert.deepEqual(
      [0, 1, 2, 3].map((turn) => rotated(list, turn).join("")),
      ["abc", "bca", "cab", "abc"],
    );
    assert.deepEqual(rotated([], 5), []);
  });
});

describe("a choice within a limit", () => {
  const costs = { a: 5, b: 4, c: 3, d: 2 };
  const choose = (limit) => within(limit, ["a", "b", "c", "d"], (file) => costs[file]);

  it("takes from the front, passes over what does not fit, and reaches the limit at most", () => {
    assert.deepEqual(choose(14), { taken: ["a", "b", "c", "d"], spent: 14 });
    assert.deepEqual(choose(9), { taken: ["a", "b"], spent: 9 });
    assert.deepEqual(choose(8), { taken: ["a", "c"], spent: 8 });
    assert.deepEqual(choose(4), { taken: ["b"], spent: 4 });
    assert.deepEqual(choose(1), { taken: [], spent: 0 });
  });
});
