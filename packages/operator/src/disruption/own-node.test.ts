import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, observed, running, silent } from "../testing/builders.ts";
import { isPodTaken } from "./other-node.ts";
import { ownMachine } from "./own-node.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Look } from "../model/look.ts";
import type { OwnNode, SeenNode } from "../model/workload.ts";

const name = (n: number): string => `demo-10.0.0.${n}`;
const uuid = "00112233-4455-6677-8899-aabbccddeeff";

/** Three control planes that were cloned: one UUID, and Nodes that tell it. */
function clones(
  own: OwnNode | undefined,
  over: { readonly looks?: Record<string, Look>; readonly nodes?: readonly Partial<SeenNode>[] } = {},
): Assessment {
  const numbers = [1, 2, 3];
  const nodes = numbers.map((n, index): SeenNode => ({
    name: `node-${n}`,
    uuid,
    addresses: [`10.0.0.${n}`],
    isReady: true,
    isSchedulable: true,
    isCordonedByUs: false,
    ...over.nodes?.[index],
  }));
  return assess(
    observed({
      controlPlane: controlPlane(3),
      facts: facts({ bootstrapDone: founded, machines: numbers.map((n) => configured(`10.0.0.${n}`, "controlplane", "demo", { uuid })) }),
      looks: {
        ...Object.fromEntries(numbers.map((n) => [`10.0.0.${n}`, running(member(n - 1, 3), { nodeName: `node-${n}` })])),
        ...over.looks,
      },
      nodes: { at: 0, nodes, isAsking: false, isStale: false, cordoned: new Map(), ...(own === undefined ? {} : { own }) },
    }),
  );
}

test("an operator that runs in no pod runs elsewhere, and one that is not told yet does not know", () => {
  assert.equal(ownMachine(clones(undefined)).kind, "elsewhere");
  assert.equal(ownMachine(clones({ kind: "unknown" })).kind, "unknown");
});

test("of cloned machines the one is its own that names the Node, or whose address the Node has", () => {
  const here = { kind: "here", name: "node-2" } as const;
  const own = { kind: "here", machine: name(2), node: "node-2" };
  assert.deepEqual(ownMachine(clones(here)), own);
  assert.deepEqual(ownMachine(clones(here, { looks: { "10.0.0.2": silent } })), own);
  assert.equal(ownMachine(clones({ kind: "here", name: "another" })).kind, "elsewhere");
});

test("of cloned machines the one that names the Node is its own, also where another one's Node is not listed", () => {
  const another = { uuid: "another", addresses: ["10.0.0.9"] };
  const assessed = clones({ kind: "here", name: "node-2" }, { nodes: [another, {}, another] });
  assert.deepEqual(ownMachine(assessed), { kind: "here", machine: name(2), node: "node-2" });
});

test("pods are taken by another machine that is ready, and whose own Node takes pods", () => {
  const closed = { isSchedulable: false };
  assert.equal(isPodTaken(clones(undefined), name(1)), true);
  assert.equal(isPodTaken(clones(undefined, { nodes: [{}, closed, closed] }), name(1)), false);
  assert.equal(isPodTaken(clones(undefined, { nodes: [closed, {}, closed] }), name(1)), true);
  const down = { "10.0.0.2": silent, "10.0.0.3": running(member(2, 3), { ready: false, nodeName: "node-3" }) };
  assert.equal(isPodTaken(clones(undefined, { looks: down }), name(1)), false);
});

test("of a machine that was installed anew the Node counts that it names itself, and not the one that it left behind", () => {
  const open = { name: "node-2" };
  const closed = { name: "node-2", isSchedulable: false };
  const former = { name: "former", addresses: ["10.0.0.2"], isReady: false };
  const looks = { "10.0.0.3": silent };
  assert.equal(isPodTaken(clones(undefined, { looks, nodes: [{}, open, former] }), name(1)), true);
  assert.equal(isPodTaken(clones(undefined, { looks, nodes: [{}, closed, former] }), name(1)), false);
});
