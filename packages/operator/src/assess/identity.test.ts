import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configured, facts } from "../testing/builders.ts";
import { isOtherMachine, wordFor } from "./identity.ts";

describe("the word for one machine", () => {
  const machines = [
    configured("10.0.0.1", "controlplane", "demo", { uuid: "own" }),
    configured("10.0.0.2", "controlplane", "demo", { uuid: "cloned" }),
    configured("10.0.0.3", "controlplane", "demo", { uuid: "cloned" }),
    configured("10.0.0.4", "controlplane", "demo", { uuid: "" }),
    configured("10.0.0.5", "controlplane", "demo", { uuid: "03000200-0400-0500-0006-000700080009" }),
  ];
  const cases = [
    ["its UUID", "demo-10.0.0.1", "own"],
    ["its name, when cloned machines share the UUID", "demo-10.0.0.2", "demo-10.0.0.2"],
    ["its name, when it has no UUID", "demo-10.0.0.4", "demo-10.0.0.4"],
    ["its name, when the vendor ships the UUID by the thousand", "demo-10.0.0.5", "demo-10.0.0.5"],
  ] as const;
  for (const [what, name, want] of cases) it(`is ${what}`, () => assert.equal(wordFor(facts({ machines }), name, undefined), want));

  it("is the UUID that it shows now", () => assert.equal(wordFor(facts({ machines }), "demo-10.0.0.1", "new"), "new"));
  it("is its UUID again when the machine that shared it was released", () => {
    const released = machines.map((machine) => (machine.name === "demo-10.0.0.3" ? { ...machine, releasedAt: 1 } : machine));
    assert.equal(wordFor(facts({ machines: released }), "demo-10.0.0.2", undefined), "cloned");
  });
});

describe("another machine", () => {
  it("shows another UUID than was written down", () => assert.equal(isOtherMachine("a", "b"), true));
  it("shows one that only begins alike, as those of one vendor do", () =>
    assert.equal(isOtherMachine("4c4c4544-0042-4b10-8033-b9c04f4e3533", "4c4c4544-0042-4b10-8033-b9c04f4e3534"), true));
  it("is not known where none was written down, or none is shown", () => {
    assert.equal(isOtherMachine("", "b"), false);
    assert.equal(isOtherMachine("a", undefined), false);
  });
});
