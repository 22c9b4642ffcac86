import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent, worker } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { awaitsNodesOfRun, upgradeTaints } from "./upgrade-taints.ts";
import type { Look } from "../../model/look.ts";
import type { SeenNode, SeenNodes } from "../../model/workload.ts";
import type { ClusterFacts, IntentFact, OperationFact } from "../../model/record.ts";

const asked = "v1.13.10";
const wk = (n: number): string => `demo-workers-10.0.1.${n}`;
const run: OperationFact = {
  id: "upgrade-talos-1",
  kind: "UpgradeTalos",
  phase: "worker v1.13.10",
  startedAt: NOW - 60_000,
  since: NOW - 60_000,
  inputs: {},
};
const installing: IntentFact = {
  what: "Reboot",
  machine: wk(1),
  address: "10.0.1.1",
  uuid: "",
  role: "worker",
  at: NOW,
  deadline: NOW + 1,
  why: "",
  talosVersion: asked,
  talosBefore: "v1.13.9",
};

interface Case {
  readonly title: string;
  /** Versions of the three workers; default that of before. */
  readonly versions?: readonly string[];
  /** Which of their Nodes bear the taint, by number. */
  readonly tainted?: readonly number[];
  readonly node?: Readonly<Record<number, Partial<SeenNode>>>;
  readonly listed?: Partial<SeenNodes>;
  /** A Node that a machine left behind. */
  readonly former?: Partial<SeenNode>;
  readonly known?: Partial<ClusterFacts>;
  readonly over?: World;
  readonly looks?: Readonly<Record<string, Look>>;
  readonly ask?: string;
  readonly expect: { readonly on?: readonly number[]; readonly off?: readonly number[] };
}

function decided(one: Case) {
  const { versions = [], tainted = [], node = {}, listed = {}, known = {}, over = {}, looks = {}, ask = asked, former } = one;
  const nodes = [1, 2, 3].map((n): SeenNode => ({
    name: `node-${n}`,
    uuid: `uuid-10.0.1.${n}`,
    addresses: [`10.0.1.${n}`],
    isReady: true,
    isSchedulable: true,
    isCordonedByUs: false,
    ...(tainted.includes(n) ? { hasUpgradeTaint: true } : {}),
    ...node[n],
  }));
  const cp: SeenNode = {
    ...nodes[0]!,
    name: "cp",
    uuid: "uuid-10.0.0.1",
    addresses: ["10.0.0.1"],
    isSchedulable: false,
    hasUpgradeTaint: false,
  };
  const versionOf = (n: number): string => versions[n - 1] ?? "v1.13.9";
  const own: Record<string, Look> = {
    "10.0.0.1": { ...running(member(0, 1)), version: ask },
    ...Object.fromEntries([1, 2, 3].map((n) => [`10.0.1.${n}`, { ...running(), version: versionOf(n) }])),
  };
  const pool = worker(3);
  return assess(
    observed({
      controlPlane: controlPlane(1, { version: ask }),
      workers: [{ ...pool, spec: { ...pool.spec, version: ask } } as typeof pool],
      looks: { ...own, ...looks },
      watchedSince: NOW - 3_600_000,
      drains: new Map(),
      nodes: {
        at: NOW - 1_000,
        nodes: [cp, ...nodes, ...(former === undefined ? [] : [{ ...nodes[0]!, name: "former", isSchedulable: false, ...former }])],
        isAsking: false,
        isStale: false,
        cordoned: new Map(),
        ...listed,
      },
      ...over,
      facts: facts({
        bootstrapDone: founded,
        kubernetesVersion: "v1.36.3",
        machines: [configured("10.0.0.1"), ...[1, 2, 3].map((n) => configured(`10.0.1.${n}`, "worker", "demo-workers"))],
        operations: [run],
        ...known,
      }),
    }),
  );
}

const failed = (word: string, at: number): World => ({ sent: new Map([[word, { at, outcome: "unknown", detail: "" }]]) });

const cases: readonly Case[] = [
  { title: "all that take pods, before the first is done", expect: { on: [1, 2, 3] } },
  {
    title: "the Node that a machine names itself which was installed anew, and not the one that it left behind",
    looks: { "10.0.1.1": { ...running(), version: "v1.13.9", nodeName: "node-1" } },
    listed: {},
    former: { addresses: ["10.0.1.1"], uuid: "uuid-10.0.1.1", isReady: false },
    expect: { on: [1, 2, 3] },
  },
  { title: "none while no run is open", known: { operations: [] }, expect: {} },
  { title: "none before the Nodes were listed in this run", listed: { at: NOW - 61_000 }, expect: {} },
  { title: "none without a list", listed: { nodes: undefined }, expect: {} },
  { title: "those that lack it", tainted: [1, 3], expect: { on: [2] } },
  { title: "nothing where all have it", tainted: [1, 2, 3], expect: {} },
  { title: "off one that is done", versions: [asked], tainted: [1, 2, 3], expect: { off: [1] } },
  { title: "nothing for those that are done", versions: [asked, asked], tainted: [3], expect: {} },
  {
    title: "stays on one whose step is not over",
    versions: [asked],
    tainted: [1, 2, 3],
    known: { intents: [installing] },
    expect: {},
  },
  { title: "stays on one that boots", tainted: [1, 2, 3], looks: { "10.0.1.1": silent }, expect: {} },
  { title: "off all when the run is over", tainted: [1, 2, 3], known: { operations: [] }, expect: { off: [1, 2, 3] } },
  {
    title: "off one that does not answer when the run is over",
    tainted: [1],
    known: { operations: [] },
    looks: { "10.0.1.1": silent },
    expect: { off: [1] },
  },
  {
    title: "off all of a cluster that goes",
    tainted: [1, 2, 3],
    over: { controlPlane: controlPlane(1, { version: asked }, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    expect: { off: [1, 2, 3] },
  },
  { title: "off when the spec is set back", ask: "v1.13.9", tainted: [2], expect: { off: [2] } },
  {
    title: "off a Node of nobody",
    tainted: [2, 3],
    node: { 1: { uuid: "x", addresses: [], hasUpgradeTaint: true } },
    expect: { off: [1] },
  },
  {
    title: "off a machine that was let go",
    tainted: [1, 2, 3],
    known: {
      machines: [
        configured("10.0.0.1"),
        configured("10.0.1.1", "worker", "demo-workers", { releasedAt: NOW }),
        ...[2, 3].map((n) => configured(`10.0.1.${n}`, "worker", "demo-workers")),
      ],
    },
    expect: { off: [1] },
  },
  { title: "none on what keeps pods away by itself", node: { 2: { isSchedulable: false } }, expect: { on: [1, 3] } },
  { title: "none where pods have nowhere else to go", node: { 2: { isSchedulable: false }, 3: { isSchedulable: false } }, expect: {} },
  { title: "not again where somebody took it off", listed: { tainted: new Set(["node-2"]) }, expect: { on: [1, 3] } },
  { title: "neither on nor off a machine that is paused", tainted: [2], over: { held: new Set([wk(1), wk(2)]) }, expect: { on: [3] } },
  {
    title: "not off a paused one after the run",
    tainted: [1, 2],
    known: { operations: [] },
    over: { held: new Set([wk(2)]) },
    expect: { off: [1] },
  },
  { title: "not again at once when that failed", over: failed("TaintNodes", NOW - 29_000), expect: {} },
  { title: "again after a while", over: failed("TaintNodes", NOW - 30_000), expect: { on: [1, 2, 3] } },
  {
    title: "not off again at once when that failed",
    versions: [asked],
    tainted: [1, 2, 3],
    over: failed("UntaintNodes", NOW - 29_000),
    expect: {},
  },
  {
    title: "of several hops those with most before them",
    versions: ["v1.13.9", "v1.12.11", "v1.12.11"],
    ask: "v1.14.0",
    tainted: [1],
    expect: { on: [2, 3], off: [1] },
  },
];

describe("the taint of upgrades", () => {
  for (const one of cases)
    test(one.title, () => {
      const actions = upgradeTaints(decided(one));
      const numbers = (kind: "TaintNodes" | "UntaintNodes"): readonly number[] =>
        actions.flatMap((action) => (action.kind === kind ? action.nodes.map(({ node }) => Number(node.slice(-1))) : []));
      assert.deepEqual({ on: numbers("TaintNodes"), off: numbers("UntaintNodes") }, { on: [], off: [], ...one.expect });
    });

  test("names the machine that the record knows", () => {
    const [action] = upgradeTaints(decided({ title: "", tainted: [2, 3], expect: {} }));
    assert.deepEqual(action, {
      kind: "TaintNodes",
      nodes: [{ node: "node-1", machine: wk(1), address: "10.0.1.1", ifUuid: "uuid-10.0.1.1" }],
    });
  });

  for (const [title, startedAt, at, expected] of [
    ["since the run began none were listed", NOW - 10, NOW - 11, true],
    ["they were listed since", NOW - 10, NOW - 10, false],
    ["a clock that was ahead wrote down when it began", NOW + 10_000, NOW - 11, false],
  ] as const)
    test(`the Nodes are${expected ? "" : " not"} awaited: ${title}`, () => {
      const assessed = decided({ title: "", listed: { at }, known: { operations: [{ ...run, startedAt }] }, expect: {} });
      assert.equal(awaitsNodesOfRun(assessed), expected);
    });
});
