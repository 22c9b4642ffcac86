import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conditionFor, findCondition, isConditionTrue, removeCondition, rfc3339, setCondition } from "../index.ts";
import type { Condition } from "../index.ts";

const waiting = conditionFor("Ready", "WaitingForMachines", "cp-1 does not answer", 3);
const noon = Date.UTC(2026, 0, 2, 12, 0, 0, 999);

describe("setCondition", () => {
  const before = setCondition(undefined, waiting, noon);

  it("adds a condition with the time of its transition in whole seconds", () => {
    assert.deepEqual(before, [
      {
        type: "Ready",
        status: "False",
        reason: "WaitingForMachines",
        message: "cp-1 does not answer",
        observedGeneration: 3,
        lastTransitionTime: "2026-01-02T12:00:00Z",
      },
    ]);
  });

  it("returns the very same list when nothing differs, so that nothing is written", () => {
    assert.equal(setCondition(before, waiting, noon + 60_000), before);
  });

  it("keeps the time when only reason, message or generation change", () => {
    for (const next of [
      conditionFor("Ready", "NodesNotReady", "cp-1 does not answer", 3),
      conditionFor("Ready", "WaitingForMachines", "cp-2 does not answer", 3),
      conditionFor("Ready", "WaitingForMachines", "cp-1 does not answer", 4),
    ]) {
      const [after] = setCondition(before, next, noon + 60_000);
      assert.deepEqual(after, { ...next, lastTransitionTime: "2026-01-02T12:00:00Z" });
    }
  });

  it("moves the time when the status changes", () => {
    const [after] = setCondition(before, conditionFor("Ready", "AllReady", "3 of 3"), noon + 60_000);
    assert.equal(after?.lastTransitionTime, "2026-01-02T12:01:00Z");
    assert.equal(after?.observedGeneration, undefined);
  });

  it("keeps the order of the others", () => {
    const three = ["EtcdHealthy", "Ready", "Custom"].map((type): Condition => ({
      type,
      status: "True",
      reason: "A",
      message: "",
      lastTransitionTime: "t",
    }));
    assert.deepEqual(
      setCondition(three, waiting, noon).map(({ type }) => type),
      ["EtcdHealthy", "Ready", "Custom"],
    );
  });
});

describe("conditions", () => {
  const list = setCondition(undefined, conditionFor("Bootstrapped", "Bootstrapped", "by cp-1"), noon);

  it("are found by type", () => {
    assert.equal(findCondition(list, "Bootstrapped")?.message, "by cp-1");
    assert.equal(findCondition(undefined, "Ready"), undefined);
    assert.equal(isConditionTrue(list, "Bootstrapped"), true);
    assert.equal(isConditionTrue(list, "Ready"), false);
  });

  it("are removed by type, and an absent one leaves the very same list", () => {
    assert.deepEqual(removeCondition(list, "Bootstrapped"), []);
    assert.equal(removeCondition(list, "Ready"), list);
  });

  it("carry RFC 3339 times", () => assert.equal(rfc3339(0), "1970-01-01T00:00:00Z"));
});

describe("conditionFor", () => {
  it("takes the status from the reason", () => {
    assert.equal(conditionFor("EtcdHealthy", "NoAnswer", "").status, "Unknown");
    assert.equal(conditionFor("Paused", "ReconcileModeDisable", "").status, "True");
  });

  it("cuts a message to what the schema allows", () => {
    const { message } = conditionFor("Ready", "NodesNotReady", "x".repeat(40_000));
    assert.equal(message.length, 32_768);
    assert.ok(message.endsWith("x..."));
  });

  it("refuses a reason that its type does not have", () => {
    assert.throws(() => conditionFor("Paused", "AllReady" as never, ""), /Paused has no reason AllReady/);
  });
});
