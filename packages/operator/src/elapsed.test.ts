import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { elapsedMs } from "./elapsed.ts";

describe("elapsed time", () => {
  it("is what the clock says", () => assert.equal(elapsedMs(1_000, 3_500), 2_500));

  it("is endless when the clock was set back, so that nobody waits until it has caught up", () =>
    assert.equal(elapsedMs(3_600_000, 0), Number.POSITIVE_INFINITY));
});
