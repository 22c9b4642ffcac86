import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, NOW, observed, running, worker } from "../testing/builders.ts";
import { nodesUnique } from "./nodes-unique.ts";
import type { SeenNode } from "../model/workload.ts";
import type { World } from "../testing/builders.ts";

const addresses = ["10.0.1.1", "10.0.1.2", "10.0.1.3", "10.0.1.4", "10.0.1.5"];
const machines = addresses.map((address) => configured(address, "worker", "demo-workers"));

function said(over: World): string | undefined {
  const seen = observed({
    controlPlane: controlPlane(1),
    workers: [worker(5)],
    facts: facts({ bootstrapDone: founded, machines: [configured("10.0.0.1"), ...machines] }),
    ...over,
  });
  const [condition] = nodesUnique(assess(seen));
  return condition === undefined ? undefined : `${condition.reason}: ${condition.message}`;
}

const node = (name: string, index: number, over: Partial<SeenNode> = {}): SeenNode => ({
  name,
  uuid: `uuid-${addresses[index]}`,
  addresses: [addresses[index] ?? ""],
  isReady: true,
  isCordonedByUs: false,
  ...over,
});
const listed = (nodes: readonly SeenNode[]): World => ({
  nodes: { at: NOW, nodes, isAsking: false, isStale: false, cordoned: new Map() },
});

test("nothing is said while each machine has a Node", () => assert.equal(said({}), undefined));

test("machines that report one Node are named with it, the first three", () => {
  const look = running(undefined, { nodeName: "worker-x", sharesNode: ["another"] });
  const message = said({ looks: Object.fromEntries(addresses.map((address) => [address, look])) }) ?? "";
  assert.match(message, /^NodeShared: Several machines report one Node, and none of them counts as ready\. worker-x: /);
  assert.match(message, /demo-workers-10\.0\.1\.3 and 2 more\. Give each machine its own host name in machines\[\]\.configPatches\.$/);
  assert.ok(message.length - "NodeShared: ".length <= 300, message);
});

test("a Node that is not ready and that nobody can prove to be a machine's former one is named, and no other", () => {
  const own = running(undefined, { nodeName: "worker-a" });
  const former = node("clone", 0, { addresses: ["10.9.9.9"], isReady: false });
  const over = (nodes: readonly SeenNode[]): World => ({ looks: { "10.0.1.1": own }, ...listed(nodes) });
  const message = said(over([node("worker-a", 0), former])) ?? "";
  assert.match(message, /^NodeLeft: .*clone \(demo-workers-10\.0\.1\.1 has worker-a\)/);
  assert.equal(
    said(over([node("worker-a", 0), { ...former, isReady: true }])),
    undefined,
    "it may be a machine that somebody joined by hand",
  );
  assert.equal(said(over([node("worker-a", 0), { ...former, addresses: ["10.0.1.1"] }])), undefined, "it is deleted");
});
