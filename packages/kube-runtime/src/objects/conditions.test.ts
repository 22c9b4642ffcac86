import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conditionOf, hasCondition, type ObjectCondition, withCondition, withoutCondition } from "./conditions.ts";

const clock = { now: () => Date.parse("2026-01-01T12:00:00.999Z") };
const earlier = "2025-01-01T00:00:00Z";
const ready = (more: Partial<ObjectCondition> = {}): ObjectCondition => ({
  type: "Ready",
  status: "True",
  reason: "AllWell",
  message: "All is well",
  observedGeneration: 1,
  lastTransitionTime: earlier,
  ...more,
});
const other = ready({ type: "Other" });

describe("conditions", () => {
  const cases: readonly {
    readonly name: string;
    readonly before: readonly ObjectCondition[] | undefined;
    readonly wanted: ObjectCondition;
    readonly want: readonly ObjectCondition[];
  }[] = [
    {
      name: "adds one at the end, with the time in whole seconds",
      before: [other],
      wanted: ready(),
      want: [other, ready({ lastTransitionTime: "2026-01-01T12:00:00Z" })],
    },
    { name: "begins with none", before: undefined, wanted: ready(), want: [ready({ lastTransitionTime: "2026-01-01T12:00:00Z" })] },
    {
      name: "keeps the time when only the words change",
      before: [ready(), other],
      wanted: ready({ message: "Still well", observedGeneration: 2 }),
      want: [ready({ message: "Still well", observedGeneration: 2 }), other],
    },
    {
      name: "moves the time when the status changes",
      before: [ready()],
      wanted: ready({ status: "False", reason: "Broken" }),
      want: [ready({ status: "False", reason: "Broken", lastTransitionTime: "2026-01-01T12:00:00Z" })],
    },
  ];
  for (const { name, before, wanted, want } of cases) {
    it(name, () => {
      const { lastTransitionTime: _, ...input } = wanted;
      assert.deepEqual(withCondition(before, input, clock), want);
    });
  }

  it("gives the same array when there is nothing to change", () => {
    const before = [other, ready()];
    const { lastTransitionTime: _, ...same } = ready();
    assert.equal(withCondition(before, same, clock), before);
    assert.equal(withoutCondition(before, "Absent"), before);
    assert.deepEqual(withoutCondition(before, "Ready"), [other]);
  });

  it("does not take a condition of an older generation for true", () => {
    assert.deepEqual(
      [
        hasCondition([ready()], "Ready"),
        hasCondition([ready()], "Ready", 1),
        hasCondition([ready()], "Ready", 2),
        hasCondition([], "Ready"),
      ],
      [true, true, false, false],
    );
    assert.equal(hasCondition([ready({ status: "Unknown" })], "Ready"), false);
    assert.equal(conditionOf([ready()], "Ready")?.reason, "AllWell");
  });
});
