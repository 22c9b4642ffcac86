import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterLabel } from "./cluster-label.ts";

test("the label of a cluster is its name, as far as a label may hold it", () => {
  assert.equal(clusterLabel("demo"), "demo");
  assert.equal(clusterLabel("a.b-c"), "a.b-c");
  assert.equal(clusterLabel("n".repeat(200)), "n".repeat(63));
  assert.equal(clusterLabel(`${"n".repeat(60)}.-.tail`), "n".repeat(60));
});
