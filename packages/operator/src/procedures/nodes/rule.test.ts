import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, inMaintenance, NOW, observed, running, silent, worker } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { tendNodes } from "./rule.ts";
import type { SeenNode, SeenNodes } from "../../model/workload.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";

const address = "10.0.1.1";
const name = `demo-workers-${address}`;
const gone = configured("10.0.1.9", "worker", "demo-workers", { releasedAt: NOW - 40_000 });

const node = (over: Partial<SeenNode> = {}): SeenNode => ({
  name: "node-1",
  uuid: `uuid-${address}`,
  addresses: [address],
  isReady: true,
  isCordonedByUs: false,
  ...over,
});
const listed = (nodes: readonly SeenNode[], over: Partial<SeenNodes> = {}): SeenNodes => ({
  at: NOW,
  nodes,
  isAsking: false,
  isStale: false,
  cordoned: new Map(),
  ...over,
});
const never: SeenNodes = { at: Number.NEGATIVE_INFINITY, nodes: undefined, isAsking: false, isStale: true, cordoned: new Map() };
const ours = node({ isCordonedByUs: true });
const left = node({ name: "node-9", uuid: gone.uuid, addresses: [gone.address], isReady: false });
/** The Node that the machine had before it got another name. */
const before = node({ isReady: false });
/** Joined by hand. */
const theirs = node({ name: "theirs", uuid: "theirs", addresses: ["10.9.9.9"] });
const renamed = (nodeName: string): World => ({ looks: { [address]: running(undefined, { nodeName }) } });
const reboot: IntentFact = { what: "Reboot", machine: name, address, uuid: "", role: "worker", at: NOW, deadline: NOW + 1, why: "" };

const target = { machine: "demo-10.0.0.1", address: "10.0.0.1", uuid: "", deadline: NOW };

interface Case {
  readonly title: string;
  readonly nodes?: SeenNodes;
  readonly machines?: readonly MachineFact[];
  readonly known?: Partial<ClusterFacts>;
  readonly over?: World;
  /** Kinds of the actions; `undefined` = nothing to say. */
  readonly expect: readonly Action["kind"][] | undefined;
}

const cases: readonly Case[] = [
  { title: "lists the Nodes once", nodes: never, expect: ["LookAtNodes"] },
  {
    title: "lists none of a cluster that this leader founded and has disturbed nothing of",
    nodes: never,
    known: { bootstrapIntent: { ...target, at: NOW } },
    over: { watchedSince: NOW },
    expect: undefined,
  },
  {
    title: "lists them once it released a machine",
    nodes: never,
    machines: [gone],
    known: { bootstrapIntent: { ...target, at: NOW } },
    over: { watchedSince: NOW },
    expect: ["LookAtNodes"],
  },
  {
    title: "lists them once it cordoned one",
    nodes: { ...never, cordoned: new Map([["demo-10.0.0.9", "node-9"]]) },
    known: { bootstrapIntent: { ...target, at: NOW } },
    over: { watchedSince: NOW },
    expect: ["LookAtNodes"],
  },
  { title: "does not ask twice at a time", nodes: { ...never, isAsking: true }, expect: undefined },
  { title: "asks again after a while when nobody answered", nodes: { ...never, at: NOW - 30_000 }, expect: ["LookAtNodes"] },
  { title: "asks no more while nothing is left to do", nodes: listed([node()], { at: NOW - 86_400_000 }), expect: undefined },
  {
    title: "looks again when something was written",
    nodes: listed([node()], { at: NOW - 10_000, isStale: true }),
    expect: ["LookAtNodes"],
  },
  {
    title: "looks when a machine was released since",
    nodes: listed([node()], { at: gone.releasedAt ?? 0 }),
    machines: [gone],
    expect: ["LookAtNodes"],
  },
  { title: "takes our cordon off a machine that is ready", nodes: listed([ours]), expect: ["Uncordon"] },
  {
    title: "takes off at once what this process cordoned itself",
    nodes: { ...never, at: NOW, cordoned: new Map([[name, "node-1"]]) },
    over: { watchedSince: NOW },
    expect: ["Uncordon"],
  },
  { title: "leaves a cordon alone that is not ours", nodes: listed([node()]), expect: undefined },
  { title: "keeps the cordon while an intent stands", nodes: listed([ours]), known: { intents: [reboot] }, expect: undefined },
  {
    title: "keeps the cordon while the machine is not ready",
    nodes: listed([ours]),
    over: { looks: { [address]: silent } },
    expect: undefined,
  },
  { title: "keeps the cordon while the kubelet is not ready", nodes: listed([{ ...ours, isReady: false }]), expect: undefined },
  {
    title: "keeps the cordon while a drain is wanted",
    nodes: listed([ours]),
    over: { drains: new Map([[name, { startedAt: NOW, askedAt: NOW, ranMs: 0, unreachableMs: 0, state: undefined }]]) },
    expect: undefined,
  },
  {
    title: "leaves what a new leader found to whoever may want it",
    nodes: listed([ours]),
    over: { watchedSince: NOW - 59_000 },
    expect: undefined,
  },
  {
    title: "does nothing in the cluster while an earlier leader's effects may run",
    nodes: listed([ours]),
    over: { mayDisturb: false },
    expect: undefined,
  },
  {
    title: "tries again only after a while",
    nodes: listed([ours]),
    over: { sent: new Map([[`Uncordon/${name}`, { at: NOW - 29_000, outcome: "unknown", detail: "" }]]) },
    expect: undefined,
  },
  {
    title: "looks again soon while the machine is ready and its Node is told as not ready yet",
    nodes: listed([{ ...ours, isReady: false }], { at: NOW - 30_000 }),
    expect: ["LookAtNodes"],
  },
  {
    title: "does not look again soon while the machine is not ready either",
    nodes: listed([{ ...ours, isReady: false }], { at: NOW - 30_000 }),
    over: { looks: { [address]: silent } },
    expect: undefined,
  },
  {
    title: "looks again now and then while a cordon of ours waits",
    nodes: listed([{ ...ours, isReady: false }], { at: NOW - 30 * 60_000 }),
    over: { looks: { [address]: silent } },
    expect: ["LookAtNodes"],
  },
  { title: "deletes the Node of a machine that was released", nodes: listed([left]), machines: [gone], expect: ["DeleteNode"] },
  {
    title: "deletes it while an earlier leader's effects may run",
    nodes: listed([left, ours]),
    machines: [gone],
    over: { mayDisturb: false },
    expect: ["DeleteNode"],
  },
  {
    title: "keeps the Node of such a machine while its kubelet lives",
    nodes: listed([{ ...left, isReady: true }]),
    machines: [gone],
    expect: undefined,
  },
  {
    title: "keeps the Node of such a machine that is listed again and does not answer yet",
    nodes: listed([left]),
    machines: [gone],
    over: { workers: [worker(9)], looks: { [address]: running(), [gone.address]: silent } },
    expect: undefined,
  },
  {
    title: "deletes it when that machine shows that it was wiped",
    nodes: listed([left]),
    machines: [gone],
    over: { workers: [worker(9)], looks: { [address]: running(), [gone.address]: inMaintenance(gone.address) } },
    expect: ["DeleteNode"],
  },
  {
    title: "keeps the Node of a machine that was taken in again under another name",
    nodes: listed([left]),
    machines: [gone, { ...gone, name: "again", address: "10.0.1.8", releasedAt: undefined }],
    expect: undefined,
  },
  {
    title: "keeps a Node that another machine took the address of",
    nodes: listed([{ ...left, uuid: "another" }]),
    machines: [gone],
    expect: undefined,
  },
  {
    title: "keeps Nodes that were never written down",
    nodes: listed([node({ uuid: "theirs", addresses: ["10.9.9.9"], isReady: false })]),
    machines: [gone],
    expect: undefined,
  },
  {
    title: "deletes the Node that a machine had before it got another name",
    nodes: listed([before, node({ name: "node-b" })]),
    over: renamed("node-b"),
    expect: ["DeleteNode"],
  },
  {
    title: "keeps it while a kubelet reports it ready",
    nodes: listed([{ ...before, isReady: true }, node({ name: "node-b" })]),
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "keeps it while the machine is no ready node under its new name",
    nodes: listed([before, node({ name: "node-b", isReady: false })]),
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "keeps it while something is tried on the machine: the name may be taken back",
    nodes: listed([before, node({ name: "node-b" })]),
    known: { intents: [reboot] },
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "keeps it when another machine reports it",
    nodes: listed([before, node({ name: "node-b" }), theirs]),
    over: {
      ...renamed("node-b"),
      workers: [worker(2)],
      looks: { [address]: running(undefined, { nodeName: "node-b" }), "10.0.1.2": running(undefined, { nodeName: "node-1" }) },
    },
    expect: undefined,
  },
  {
    title: "keeps it when another machine that is silent had it",
    nodes: listed([before, node({ name: "node-b" }), theirs]),
    over: {
      ...renamed("node-b"),
      workers: [worker(2)],
      looks: { [address]: running(undefined, { nodeName: "node-b" }), "10.0.1.2": silent },
      machineObjects: [
        {
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosMachine",
          metadata: { name: "demo-workers-10.0.1.2" },
          status: { nodeName: "node-1" },
        },
      ],
    },
    expect: undefined,
  },
  {
    title: "keeps one of its UUID at another address: it may be a clone's",
    nodes: listed([{ ...before, addresses: ["10.0.1.77"] }, node({ name: "node-b" })]),
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "keeps one at its address without a UUID",
    nodes: listed([{ ...before, uuid: "" }, node({ name: "node-b" })]),
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "keeps one that two machines of the record fit",
    nodes: listed([before, node({ name: "node-b" })]),
    machines: [{ ...configured("10.0.1.2", "worker", "demo-workers"), uuid: `uuid-${address}` }],
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "looks again soon while the Node of an earlier name still counts as ready",
    nodes: listed([{ ...before, isReady: true }, node({ name: "node-b" })], { at: NOW - 10_000 }),
    over: renamed("node-b"),
    expect: ["LookAtNodes"],
  },
  {
    title: "lists the Nodes of a cluster that this leader founded when a machine got another name",
    nodes: { ...never, at: NOW - 30_000 },
    known: { bootstrapIntent: { ...target, at: NOW } },
    over: { watchedSince: NOW, looks: { [address]: running(undefined, { nodeName: "node-b", nodeNameBefore: "node-1" }) } },
    expect: ["LookAtNodes"],
  },
  {
    title: "lists them again when the Node of the new name is not among them",
    nodes: listed([node()], { at: NOW - 10_000 }),
    over: { looks: { [address]: running(undefined, { nodeName: "node-b", nodeNameBefore: "node-1" }) } },
    expect: ["LookAtNodes"],
  },
  {
    title: "leaves the cordon on the Node that the machine left: no other drain waits for it",
    nodes: listed([{ ...before, isReady: true, isCordonedByUs: true }, node({ name: "node-b" })], {
      cordoned: new Map([[name, "node-1"]]),
    }),
    over: renamed("node-b"),
    expect: undefined,
  },
  {
    title: "takes the cordon off the Node of now, whatever else fits",
    nodes: listed([{ ...before, isReady: true }, node({ name: "node-b", isCordonedByUs: true })]),
    over: renamed("node-b"),
    expect: ["Uncordon"],
  },
  {
    title: "leaves everything as it is while the cluster goes",
    nodes: listed([left, ours]),
    machines: [gone],
    over: { controlPlane: controlPlane(1, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    expect: undefined,
  },
  { title: "does nothing before there is a Kubernetes", nodes: never, known: { bootstrapDone: undefined }, expect: undefined },
  { title: "does nothing without a client of the cluster's API", expect: undefined },
];

for (const one of cases)
  test(`tending Nodes: ${one.title}`, () => {
    const seen = observed({
      controlPlane: controlPlane(1),
      workers: [worker(1)],
      looks: { [address]: running() },
      watchedSince: NOW - 3_600_000,
      facts: facts({
        bootstrapDone: founded,
        machines: [configured("10.0.0.1"), configured(address, "worker", "demo-workers"), ...(one.machines ?? [])],
        ...one.known,
      }),
      drains: new Map(),
      ...(one.nodes === undefined ? {} : { nodes: one.nodes }),
      ...one.over,
    });
    assert.deepEqual(
      tendNodes.decide(assess(seen))?.actions.map(({ kind }) => kind),
      one.expect,
    );
  });
