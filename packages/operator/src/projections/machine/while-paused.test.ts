import assert from "node:assert/strict";
import { test } from "node:test";
import { againWhilePaused } from "./while-paused.ts";

test("a machine of a cluster that is to be taken over is looked at again: that its record was read is no event", () => {
  assert.deepEqual(againWhilePaused(["import"]), { requeueAfterMs: 10_000 });
  assert.deepEqual(againWhilePaused(["import", "import"]), { requeueAfterMs: 10_000 });
});

test("a machine that a person paused waits for the end of the pause", () => {
  for (const modes of [["disable"], ["dryrun"], ["import", "disable"]] as const) assert.equal(againWhilePaused(modes), undefined);
});
