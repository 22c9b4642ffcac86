import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import { leavesFirst } from "./leaves-first.ts";
import type { World } from "../../testing/builders.ts";
import type { OwnNode, SeenNode } from "../../model/workload.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

const SECOND = 1_000;
const here: OwnNode = { kind: "here", name: "node-2" };
const asked = (at: number): Pick<World, "sent"> => ({
  sent: new Map([["EvictOperator/demo-10.0.0.2", { at, outcome: "answered", detail: "" }]]),
});
/** Written down an hour ago, by who led before. */
const old = NOW - 3_600 * SECOND;

interface Given {
  readonly own?: OwnNode;
  /** When the intent was written down; default a moment ago. */
  readonly at?: number;
  readonly over?: Omit<World, "facts">;
  /** The others' Nodes take no pods. */
  readonly isClosed?: boolean;
}

/** What is sent; `undefined` = nothing is in the way of the boot. */
function sent({ own = here, at = NOW - SECOND, over = {}, isClosed = false }: Given): readonly string[] | undefined {
  const numbers = [1, 2, 3];
  const intent: UpgradeIntent = {
    what: "Reboot",
    role: "controlplane",
    machine: "demo-10.0.0.2",
    address: "10.0.0.2",
    uuid: "",
    at,
    deadline: NOW + 600 * SECOND,
    why: "",
    talosVersion: "v1.13.10",
    talosBefore: "v1.13.9",
  };
  const nodes = numbers.map((n): SeenNode => ({
    name: `node-${n}`,
    uuid: `uuid-10.0.0.${n}`,
    addresses: [`10.0.0.${n}`],
    isReady: true,
    isSchedulable: n === 2 || !isClosed,
    isCordonedByUs: false,
  }));
  const assessed = assess(
    observed({
      controlPlane: controlPlane(3),
      facts: facts({ bootstrapDone: founded, machines: numbers.map((n) => configured(`10.0.0.${n}`)), intents: [intent] }),
      looks: Object.fromEntries(numbers.map((n) => [`10.0.0.${n}`, running(member(n - 1, 3), { nodeName: `node-${n}` })])),
      nodes: { at: NOW - 10 * SECOND, nodes, isAsking: false, isStale: false, cordoned: new Map(), own },
      watchedSince: NOW - 7_200 * SECOND,
      ...over,
    }),
  );
  return leavesFirst(assessed, intent)?.map(({ kind }) => kind);
}

const cases: readonly (readonly [string, Given, readonly string[] | undefined])[] = [
  ["moves away", {}, ["EvictOperator"]],
  ["runs elsewhere", { own: { kind: "elsewhere" } }, undefined],
  ["runs on another machine of the cluster", { own: { kind: "here", name: "node-3" } }, undefined],
  ["has nowhere to go", { isClosed: true }, undefined],
  ["does not know yet where it runs", { own: { kind: "unknown" } }, ["LookAtNodes"]],
  ["does not know for a minute where it runs", { own: { kind: "unknown" }, at: NOW - 60 * SECOND }, undefined],
  [
    "took over a moment ago, and does not know where it runs",
    { own: { kind: "unknown" }, at: old, over: { watchedSince: NOW - SECOND } },
    ["LookAtNodes"],
  ],
  ["was to move a moment ago", { over: asked(NOW - SECOND) }, []],
  [
    "took over a moment ago, and was to move",
    { at: old, over: { watchedSince: NOW - 50 * SECOND, ...asked(NOW - 30 * SECOND) } },
    ["EvictOperator"],
  ],
  ["did not move in a minute", { at: NOW - 80 * SECOND, over: asked(NOW - 20 * SECOND) }, undefined],
  ["was asked for the last time just before the minute was over", { at: NOW - 61 * SECOND, over: asked(NOW - 5 * SECOND) }, []],
];
for (const [what, given, want] of cases)
  test(`before the boot of a machine, the operator ${what}`, () => assert.deepEqual(sent(given), want));
