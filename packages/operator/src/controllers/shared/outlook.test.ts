import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withOutlook } from "./outlook.ts";

describe("the outlook of what is waited for", () => {
  it("says what releases it and when it is looked at again", () =>
    assert.equal(
      withOutlook("EtcdUnhealthy", "Not a serving member of etcd: demo-1 (unreachable).", 2_000),
      "Not a serving member of etcd: demo-1 (unreachable). Released by: Bring back the control planes the message names, unless they are joining: look at their power, network and disk. One that stays dead is replaced by listing another machine. Next look: at once when something changes, else within 10 s.",
    ));

  it("does not say twice what the message says, and does not send people to the place where they are", () => {
    assert.doesNotMatch(withOutlook("Paused", "It is paused. Remove the annotation.", 0), /Released by/);
    assert.doesNotMatch(withOutlook("Deleting", "demo-1 is being wiped.", 0), /Released by/);
  });

  for (const [ms, said] of [
    [0, "10 s"],
    [9_999, "10 s"],
    [15_000, "20 s"],
    [30_000, "30 s"],
    [61_000, "2 min"],
  ] as const)
    it(`tells ${ms} ms as ${said}`, () => assert.match(withOutlook("Unobserved", "x.", ms), new RegExp(`within ${said}\\.$`)));
});
