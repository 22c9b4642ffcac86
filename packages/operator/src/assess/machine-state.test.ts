import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "./assess.ts";
import { isReadyNode, unmetOf } from "./machine-state.ts";
import { configured, controlPlane, facts, founded, observed, running, worker } from "../testing/builders.ts";

test("machines that report one Node are no ready nodes, and down for the budget of their pool", () => {
  const shared = (other: string) => running(undefined, { nodeName: "worker-x", sharesNode: [other] });
  const seen = observed({
    controlPlane: controlPlane(1),
    workers: [worker(2)],
    looks: { "10.0.1.1": shared("demo-workers-10.0.1.2"), "10.0.1.2": shared("demo-workers-10.0.1.1") },
    facts: facts({
      bootstrapDone: founded,
      machines: ["10.0.1.1", "10.0.1.2"].map((address) => configured(address, "worker", "demo-workers")),
    }),
  });
  const { machines, pools } = assess(seen);
  assert.deepEqual(
    machines.filter(({ declared }) => declared.role === "worker").map((machine) => [isReadyNode(machine), unmetOf(machine, undefined)]),
    [
      [false, "Node worker-x is also reported by demo-workers-10.0.1.2"],
      [false, "Node worker-x is also reported by demo-workers-10.0.1.1"],
    ],
  );
  assert.equal(pools.get("demo-workers")?.down.size, 2);
});

test("a machine that says that it is well is a ready node", () =>
  assert.deepEqual(
    [running(), running(undefined, { ready: false }), running(undefined, { stage: "booting" })].map((look) => {
      const [machine] = observed({ controlPlane: controlPlane(1), looks: { "10.0.0.1": look } }).machines;
      return machine !== undefined && isReadyNode(machine);
    }),
    [true, false, false],
  ));
