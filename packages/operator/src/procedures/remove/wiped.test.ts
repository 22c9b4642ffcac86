import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, inMaintenance, observed, worker } from "../../testing/builders.ts";
import { isWiped } from "./removal.ts";

const fact = configured("10.0.1.1", "worker", "demo-workers");
const clone = configured("10.0.1.2", "worker", "demo-workers", { uuid: fact.uuid });

for (const [what, machines, over, isProof] of [
  ["the machine itself", [fact], { spki: "new" }, true],
  ["the machine itself with another network card", [fact], { macs: ["new"] }, true],
  ["another machine", [fact], { uuid: "another" }, false],
  ["a clone", [fact, clone], { macs: ["mac-of-a-third"] }, false],
  ["the machine itself, which has clones", [fact, clone], { spki: "new" }, true],
] as const)
  test(`${what} in maintenance mode ${isProof ? "proves" : "does not prove"} that the machine was wiped`, () => {
    const look = inMaintenance("10.0.1.1", over);
    const machine = observed({ workers: [worker(1)], looks: { "10.0.1.1": look } }).machines.find(
      ({ declared }) => declared.name === fact.name,
    );
    assert.ok(machine !== undefined);
    assert.equal(isWiped(facts({ machines }), { machine, fact }), isProof);
  });
