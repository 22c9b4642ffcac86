import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createChangeTeller } from "./changes.ts";
import { clusterNode, machineNode, many, poolNode, waitingNode } from "./testing/trees.ts";

describe("changes as lines", () => {
  it("tells everything once, then what is different, then what is gone", () => {
    const teller = createChangeTeller();
    const tree = (...machines: Parameters<typeof poolNode>[0]) => [clusterNode([poolNode(machines, { state: "Ready" })])];
    assert.equal(teller.tell(tree(machineNode("w-1"))).length, 3);
    assert.deepEqual(teller.tell(tree(machineNode("w-1"))), []);
    assert.deepEqual(teller.tell(tree(waitingNode("w-1", "Rebooting\nafter install"))), [
      "TalosWorker default/first  Ready  0/1 machines",
      "TalosMachine default/w-1  Installing  waits for: Rebooting after install",
    ]);
    assert.deepEqual(teller.tell(tree()), ["TalosWorker default/first  Ready  0/0 machines", "TalosMachine default/w-1  gone"]);
  });

  it("counts what is alike instead of flooding a log", () => {
    const teller = createChangeTeller();
    teller.tell([clusterNode([poolNode(many(3_000, (name) => machineNode(name)))])]);
    const lines = teller.tell([clusterNode([poolNode(many(3_000, (name) => waitingNode(name, `${name} does not answer.`)))])]);
    assert.ok(lines.length <= 12, lines.join("\n"));
    assert.match(lines.at(-1) ?? "", /^\+ 2,990 more like TalosMachine default\/w-/);
    assert.ok(teller.tell([]).length <= 14);
  });
});
