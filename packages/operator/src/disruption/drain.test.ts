import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, NOW, observed, preparing, running, worker } from "../testing/builders.ts";
import type { World } from "../testing/builders.ts";
import { drainsState, readyToDisturb } from "./drain.ts";
import type { DrainAnswer } from "./drain.ts";
import type { Look } from "../model/look.ts";
import type { DrainState, SeenDrain } from "../model/workload.ts";
import type { IntentFact } from "../model/record.ts";

const address = "10.0.1.1";
const name = `demo-workers-${address}`;
const MINUTE = 60_000;

const drain = (state: DrainState | undefined, over: Partial<SeenDrain> = {}): SeenDrain => ({
  startedAt: NOW,
  askedAt: NOW,
  ranMs: 0,
  unreachableMs: 0,
  state,
  ...over,
});
const blocked: DrainState = {
  kind: "evicting",
  podsLeft: 2,
  blocked: [{ pod: "shop/web-1", budget: "shop/web" }],
  leaving: ["shop/db-0"],
};
const reset: IntentFact = {
  what: "Reset",
  machine: name,
  address,
  uuid: `uuid-${address}`,
  role: "worker",
  at: NOW,
  deadline: NOW + 1,
  why: "",
};
/** Of a record that was made anew. */
const found = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
const silentSince = (since: number): Look => ({ kind: "silent", at: NOW, since, detail: "unreachable" });

/** The control plane was drained and is ready again. */
const cordonedFirst = (over: World = {}): World => ({
  looks: { [address]: running(), "10.0.0.1": running() },
  nodes: { at: NOW, nodes: [], isAsking: false, isStale: true, cordoned: new Map([["demo-10.0.0.1", "node-0"]]) },
  ...over,
});

interface Case {
  readonly title: string;
  readonly drain?: SeenDrain;
  readonly look?: Look;
  readonly over?: World;
  readonly known?: Partial<ReturnType<typeof facts>>;
  readonly onControlPlane?: Readonly<Record<string, string>>;
  readonly onWorker?: Readonly<Record<string, string>>;
  readonly expect: "ready" | "act" | "wait";
  readonly says?: RegExp;
}

function answer(one: Case): DrainAnswer {
  const seen = observed({
    controlPlane: controlPlane(1, {}, one.onControlPlane === undefined ? {} : { annotations: one.onControlPlane }),
    workers: [worker(1, one.onWorker === undefined ? {} : { annotations: one.onWorker })],
    looks: { [address]: one.look ?? running() },
    facts: facts({
      bootstrapDone: founded,
      machines: [configured("10.0.0.1"), configured(address, "worker", "demo-workers")],
      ...one.known,
    }),
    drains: new Map(one.drain === undefined ? [] : [[name, one.drain]]),
    ...one.over,
  });
  return readyToDisturb(assess(seen), name);
}

const cases: readonly Case[] = [
  { title: "asks for a drain first", expect: "act", says: /cordoned and drained/ },
  { title: "is ready where no client of the cluster's API is wired in", over: { drains: undefined as never }, expect: "ready" },
  { title: "is ready before there is a Kubernetes", known: { bootstrapDone: undefined }, expect: "ready" },
  {
    title: "waits where the record was made anew and a control plane that was configured does not show whether etcd was bootstrapped",
    known: { bootstrapDone: undefined, bundle: found },
    look: running(),
    over: { looks: { [address]: running(), "10.0.0.1": silentSince(NOW - MINUTE) } },
    expect: "wait",
    says: /once demo-10\.0\.0\.1 .* shows whether it bootstrapped etcd/,
  },
  {
    title: "is ready where the record was made anew and every control plane waits for etcd",
    known: { bootstrapDone: undefined, bundle: found },
    over: { looks: { [address]: running(), "10.0.0.1": running(preparing) } },
    expect: "ready",
  },
  { title: "is ready while the intent stands", known: { intents: [reset] }, expect: "ready" },
  { title: "drains although another machine's intent stands", known: { intents: [{ ...reset, machine: "other" }] }, expect: "act" },
  { title: "drains nothing while the whole cluster goes", over: { isParentGoing: true }, expect: "ready" },
  {
    title: "does not begin what disturbs while an earlier leader's effects may run",
    over: { mayDisturb: false },
    expect: "wait",
    says: /earlier leader/,
  },
  {
    title: "waits until a machine that is back is schedulable again",
    over: cordonedFirst(),
    expect: "wait",
    says: /Node of demo-10\.0\.0\.1 is schedulable/,
  },
  {
    title: "does not wait for a cordoned machine that is not ready",
    over: cordonedFirst({ looks: { [address]: running() } }),
    expect: "act",
  },
  {
    title: "does not wait for a Node that could not be written",
    over: cordonedFirst({ sent: new Map([["Uncordon/demo-10.0.0.1", { at: NOW, outcome: "unknown", detail: "" }]]) }),
    expect: "act",
  },
  { title: "waits while the drain has just begun", drain: drain(undefined), expect: "wait" },
  {
    title: "names pod, budget and the way out of a drain that is held up",
    drain: drain(blocked),
    expect: "wait",
    says: /shop\/web-1 \(PodDisruptionBudget shop\/web\).*proceed-without-drain: uuid-10\.0\.1\.1/,
  },
  {
    title: "says that several budgets cover a pod",
    drain: drain({ ...blocked, blocked: [{ pod: "shop/web-1", budget: undefined }] }),
    expect: "wait",
    says: /several PodDisruptionBudgets/,
  },
  {
    title: "names pods that are on their way out",
    drain: drain({ ...blocked, blocked: [] }),
    expect: "wait",
    says: /2 pods left on it.*shop\/db-0/,
  },
  {
    title: "names volumes that are still attached, and the way out",
    drain: drain({ kind: "detaching", volumesLeft: 7, volumes: ["pv-1", "pv-2"] }, { ranMs: 99 * MINUTE }),
    expect: "wait",
    says: /its Node still has 7 volumes attached: pv-1, pv-2\..*proceed-without-drain: uuid-10\.0\.1\.1/,
  },
  {
    title: "goes on past volumes after the timeout where the policy says so",
    drain: drain({ kind: "detaching", volumesLeft: 1, volumes: ["pv-1"] }, { ranMs: 10 * MINUTE }),
    onControlPlane: { [annotations.drainPolicy]: "Proceed" },
    expect: "ready",
  },
  { title: "asks again so that the drain is not given up", drain: drain(blocked, { askedAt: NOW - 21_000 }), expect: "act" },
  { title: "waits for a budget however long it takes", drain: drain(blocked, { ranMs: 100 * 3_600_000 }), expect: "wait" },
  {
    title: "goes on after the timeout where the policy says so",
    drain: drain(blocked, { ranMs: 10 * MINUTE }),
    onControlPlane: { [annotations.drainPolicy]: "Proceed" },
    expect: "ready",
  },
  {
    title: "does not go on before the timeout",
    drain: drain(blocked, { ranMs: 10 * MINUTE - 1 }),
    onControlPlane: { [annotations.drainPolicy]: "proceed" },
    expect: "wait",
    says: /disturbed all the same 10 min after/,
  },
  {
    title: "takes the timeout of the pool before that of the control plane",
    drain: drain(blocked, { ranMs: 10 * MINUTE }),
    onControlPlane: { [annotations.drainPolicy]: "Proceed" },
    onWorker: { [annotations.drainTimeout]: "1h30m" },
    expect: "wait",
    says: /90 min/,
  },
  {
    title: "waits where the pool says so, whatever the control plane says",
    drain: drain(blocked, { ranMs: 60 * MINUTE }),
    onControlPlane: { [annotations.drainPolicy]: "Skip" },
    onWorker: { [annotations.drainPolicy]: "Wait" },
    expect: "wait",
  },
  { title: "skips where the pool says so", onWorker: { [annotations.drainPolicy]: "Skip" }, expect: "ready" },
  {
    title: "takes an unknown policy for none and says so",
    drain: drain(blocked, { ranMs: 99 * MINUTE }),
    onWorker: { [annotations.drainPolicy]: "Force" },
    expect: "wait",
    says: /none of Wait, Proceed, Skip/,
  },
  {
    title: "takes a timeout that is none for the default and says so",
    drain: drain(blocked, { ranMs: 10 * MINUTE }),
    onWorker: { [annotations.drainPolicy]: "Proceed", [annotations.drainTimeout]: "0s" },
    expect: "ready",
  },
  {
    title: "goes on by a person's word for this machine",
    drain: drain(blocked),
    onControlPlane: { [annotations.proceedWithoutDrain]: `uuid-${address}` },
    expect: "ready",
  },
  {
    title: "takes a word for another machine for none",
    drain: drain(blocked),
    onControlPlane: { [annotations.proceedWithoutDrain]: "uuid-10.0.0.1" },
    expect: "wait",
  },
  { title: "is ready when it is drained", drain: drain({ kind: "drained", at: NOW - MINUTE }), expect: "ready" },
  { title: "drains again what was drained long ago", drain: drain({ kind: "drained", at: NOW - 6 * MINUTE }), expect: "act" },
  { title: "is ready when there is no Node", drain: drain({ kind: "no-node" }), expect: "ready" },
  {
    title: "waits for an API that does not answer",
    drain: drain({ kind: "unreachable", detail: "NO_ANSWER" }, { ranMs: 50 * MINUTE, unreachableMs: 9 * MINUTE }),
    expect: "wait",
    says: /does not answer.*10 min/,
  },
  {
    title: "goes on when the API has not answered for the timeout",
    drain: drain({ kind: "unreachable", detail: "NO_ANSWER" }, { ranMs: 50 * MINUTE, unreachableMs: 10 * MINUTE }),
    expect: "ready",
  },
  {
    title: "waits for a person where the API refuses",
    drain: drain({ kind: "refused", detail: "it is another machine's Node" }, { ranMs: 99 * MINUTE }),
    expect: "wait",
    says: /another machine's Node.*proceed-without-drain/,
  },
  { title: "drains nothing on a machine that has been silent for a minute", look: silentSince(NOW - MINUTE), expect: "ready" },
  { title: "does not take a short silence for death", look: silentSince(NOW - MINUTE + 1), expect: "act" },
  { title: "does not take a clock that was set back for death", look: silentSince(NOW + MINUTE), expect: "act" },
  {
    title: "drains nothing on a machine that was wiped",
    look: {
      kind: "maintenance",
      at: NOW,
      since: NOW,
      spki: "",
      version: undefined,
      platform: undefined,
      uuid: undefined,
      macs: [],
      disks: undefined,
    },
    expect: "ready",
  },
];

for (const one of cases)
  test(`a drain ${one.title}`.replace("a drain is ready", "a machine is ready"), () => {
    const seen = answer(one);
    assert.equal(seen.kind, one.expect);
    if (one.says !== undefined) assert.match(seen.kind === "ready" ? "" : seen.message, one.says);
  });

test("the action names the machine that was written down, at its address", () => {
  const seen = answer({ title: "", expect: "act" });
  assert.deepEqual(seen.kind === "act" && seen.actions, [{ kind: "CordonAndDrain", machine: name, address, ifUuid: `uuid-${address}` }]);
});

test("the condition carries the gravest of several drains and tells all of them", () => {
  const state = (drains: ReadonlyMap<string, SeenDrain>): ReturnType<typeof drainsState> =>
    drainsState(assess(observed({ workers: [worker(2)], facts: facts({ bootstrapDone: founded }), drains })));
  assert.equal(state(new Map()), undefined);
  const both = state(
    new Map([
      [name, drain({ kind: "drained", at: NOW })],
      ["demo-workers-10.0.1.2", drain(blocked)],
    ]),
  );
  assert.equal(both?.reason, "BudgetBlocks");
  assert.match(both?.message ?? "", /10\.0\.1\.1 is cordoned and drained\..*10\.0\.1\.2 is held up/);
});

test("the condition says that volumes are awaited, and of a drain that ended without knowing of them that it did", () => {
  const told = (state: DrainState): ReturnType<typeof drainsState> =>
    drainsState(
      assess(observed({ workers: [worker(1)], facts: facts({ bootstrapDone: founded }), drains: new Map([[name, drain(state)]]) })),
    );
  assert.equal(told({ kind: "detaching", volumesLeft: 1, volumes: ["pv-1"] })?.reason, "VolumesAttached");
  const blind = told({ kind: "drained", at: NOW, volumesUnknown: "the API answers FORBIDDEN" });
  assert.equal(blind?.reason, "Drained");
  assert.match(blind?.message ?? "", /whether volumes are still attached to it is not known: the API answers FORBIDDEN\./);
});

test("the condition says of a machine that died while it was drained that it does not answer, and nothing once it counts as dead", () => {
  const unreachable = drain({ kind: "unreachable", detail: "the machine does not report the name of its Node" });
  const after = (ms: number): ReturnType<typeof drainsState> =>
    drainsState(
      assess(
        observed({
          workers: [worker(1)],
          facts: facts({ bootstrapDone: founded }),
          looks: { [address]: silentSince(NOW - ms) },
          drains: new Map([[name, unreachable]]),
        }),
      ),
    );
  assert.match(after(1_000)?.message ?? "", /cannot be drained, for it does not answer/);
  assert.equal(after(MINUTE), undefined);
});
