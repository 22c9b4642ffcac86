import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createKubeClient, silentTracer } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import type { FakeApi } from "@talos-operator/kube-runtime/testing";
import { configured, facts, observed } from "../testing/builders.ts";
import { without } from "../testing/checks-of.ts";
import type { CheckOf } from "../testing/checks-of.ts";
import { executeAll } from "./execute.ts";
import type { Action, ActionOf } from "../model/effect.ts";
import type { ClusterFacts, IntentFact, OperationFact } from "../model/record.ts";
import { CORDON_MARK, UPGRADE_TAINT } from "../workload/seen-node.ts";
import type { Effects } from "./ports.ts";

const one = configured("10.0.1.1", "worker", "demo-workers");
const gone = configured("10.0.1.2", "worker", "demo-workers", { releasedAt: 1 });
const intent: IntentFact = {
  what: "Reboot",
  machine: one.name,
  address: one.address,
  uuid: one.uuid,
  role: "worker",
  at: 1,
  deadline: 2,
  why: "",
};
const known = facts({ machines: [one, gone] });

/** Effects on a workload cluster with the Node `a`, and the record as it is read at the last moment. */
function within(
  live: ClusterFacts,
  node: { readonly uuid: string; readonly address?: string; readonly isReady?: boolean; readonly taints?: readonly object[] },
): { readonly effects: Effects; readonly api: FakeApi; readonly demand: () => Promise<unknown>; readonly hasAsked: () => boolean } {
  const api = createFakeApi();
  api.put("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", annotations: { [CORDON_MARK]: "demo" } },
    spec: { unschedulable: true, ...(node.taints === undefined ? {} : { taints: node.taints }) },
    status: {
      nodeInfo: { systemUUID: node.uuid },
      ...(node.address === undefined ? {} : { addresses: [{ type: "InternalIP", address: node.address }] }),
      conditions: [{ type: "Ready", status: node.isReady === true ? "True" : "False" }],
    },
  } as KubeObject);
  let asked: { readonly demand: () => Promise<unknown> } | undefined;
  const workload = {
    ask: (_request: unknown, ports: { readonly demand: () => Promise<unknown> }) => (asked = ports),
    use: async (_user: unknown, _place: unknown, work: (client: KubeClient, timeoutMs: number) => Promise<unknown>) =>
      work(createKubeClient(api.transport()), 1_000),
    evictItself: async (_node: string, _place: unknown, demand: () => Promise<number>) => {
      await demand();
      api.put("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "evicted" } });
    },
    released: () => undefined,
    staleNodes: () => undefined,
    tainted: () => undefined,
  };
  const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
  const effects = {
    session: { workload, noteSent: () => undefined, credentials: () => undefined, connections: () => undefined },
    span: silentTracer,
    carriedOut: () => undefined,
    guard: {
      gather: () => () => undefined,
      check: async (holds: (read: ClusterFacts) => boolean) => {
        if (!holds(live)) throw new Error("the record does not hold it");
        return 1_000;
      },
    },
    demandUnpaused: () => Promise.resolve(),
    demandKept: () => Promise.resolve(),
    seen: observed({ facts: known }),
    log,
    signal: new AbortController().signal,
    facts: () => known,
    event: () => undefined,
  } as unknown as Effects;
  return { effects, api, demand: async () => asked?.demand(), hasAsked: () => asked !== undefined };
}

const nodes = (api: FakeApi): readonly KubeObject[] => api.objects("/api/v1/nodes");
const open = facts({ machines: [one, gone], intents: [intent] });
const run: OperationFact = { id: "upgrade-talos-1", kind: "UpgradeTalos", phase: "", startedAt: 1, since: 1, inputs: {} };
const upgrading = facts({ machines: [one, gone], operations: [run] });
const another = facts({ machines: [{ ...one, uuid: "another" }, gone] });

describe("draining", () => {
  const action = { kind: "CordonAndDrain", machine: one.name, address: one.address, ifUuid: one.uuid } as const;
  test("goes on while the record holds the machine", async () => {
    const { effects, demand } = within(known, { uuid: one.uuid });
    await executeAll([action], effects);
    assert.equal(await demand(), 1_000);
  });
  for (const [what, live] of [
    ["an effect on the machine is open", open],
    ["another machine has its name", another],
  ] as const)
    test(`ends when ${what}`, async () => {
      const { effects, demand } = within(live, { uuid: one.uuid });
      await executeAll([action], effects);
      await assert.rejects(demand());
    });
});

describe("taking a cordon off", () => {
  const action = { kind: "Uncordon", machine: one.name, node: "a", address: one.address, ifUuid: one.uuid } as const;
  test("is done once nothing is about to happen", async () => {
    const { effects, api } = within(known, { uuid: one.uuid });
    await executeAll([action], effects);
    assert.equal((nodes(api)[0] as { readonly spec?: { readonly unschedulable?: boolean } }).spec?.unschedulable, undefined);
  });
  test("is not done while an effect on the machine is open", async () => {
    const { effects, api } = within(open, { uuid: one.uuid });
    await assert.rejects(executeAll([action], effects));
    assert.equal((nodes(api)[0] as { readonly spec?: { readonly unschedulable?: boolean } }).spec?.unschedulable, true);
  });
});

describe("deleting a Node", () => {
  const action = { kind: "DeleteNode", machine: gone.name, node: "a" } as const;
  const again = facts({ machines: [one, { ...gone, releasedAt: undefined }] });
  for (const [what, live, node, isDeleted] of [
    ["of a machine that was released", known, { uuid: gone.uuid }, true],
    ["that is ready", known, { uuid: gone.uuid, isReady: true }, false],
    ["of a machine of the cluster", known, { uuid: one.uuid }, false],
    ["of a machine that is part of the cluster again", again, { uuid: gone.uuid }, false],
    ["that a person joined by hand", known, { uuid: "unknown" }, false],
  ] as const)
    test(`one ${what} is ${isDeleted ? "deleted" : "left alone"}`, async () => {
      const { effects, api } = within(live, node);
      await executeAll([action], effects);
      assert.equal(nodes(api).length, isDeleted ? 0 : 1);
    });
});

describe("deleting the Node of an earlier name", () => {
  const action = { kind: "DeleteNode", machine: one.name, node: "a", renamedTo: "b" } as const;
  const own = { uuid: one.uuid, address: one.address, isReady: "True" };
  const clone = facts({ machines: [one, { ...gone, releasedAt: undefined, uuid: one.uuid }] });
  const left = { uuid: one.uuid, address: one.address };
  for (const [what, live, node, now, isDeleted] of [
    ["that its machine left", known, left, own, true],
    ["that is ready", known, { ...left, isReady: true }, own, false],
    ["that another machine has by now", known, { ...left, uuid: "another" }, own, false],
    ["at another address", known, { ...left, address: "10.0.1.77" }, own, false],
    ["that two machines of the record fit", clone, left, own, false],
    ["of a machine that was released meanwhile", facts({ machines: [{ ...one, releasedAt: 1 }] }), left, own, false],
    ["while the new one is not ready", known, left, { ...own, isReady: "False" }, false],
    ["while the new one is another machine's", known, left, { ...own, uuid: "another" }, false],
    ["without a new one", known, left, undefined, false],
  ] as const)
    test(`one ${what} is ${isDeleted ? "deleted" : "left alone"}`, async () => {
      const { effects, api } = within(live, node);
      if (now !== undefined)
        api.put("/api/v1/nodes", {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name: "b" },
          status: {
            nodeInfo: { systemUUID: now.uuid },
            addresses: [{ type: "InternalIP", address: now.address }],
            conditions: [{ type: "Ready", status: now.isReady }],
          },
        } as KubeObject);
      await executeAll([action], effects);
      assert.equal(
        nodes(api).some(({ metadata }) => metadata?.name === "a"),
        !isDeleted,
      );
    });
});

describe("each check of an effect on Nodes", () => {
  const target = { machine: one.name, address: one.address, ifUuid: one.uuid };
  const paused = { demandUnpaused: () => Promise.reject(new Error("paused")) };
  interface Row {
    readonly live?: ClusterFacts;
    readonly over?: object;
  }
  const rows: {
    readonly [K in "CordonAndDrain" | "Uncordon" | "DeleteNode" | "EvictOperator" | "TaintNodes" | "UntaintNodes"]: readonly [
      ActionOf<K>,
      Readonly<Record<CheckOf<K>, Row>>,
    ];
  } = {
    CordonAndDrain: [
      { kind: "CordonAndDrain", ...target },
      { unpaused: { over: paused }, sameMachine: { live: another }, noIntent: { live: open } },
    ],
    Uncordon: [
      { kind: "Uncordon", node: "a", ...target },
      { unpaused: { over: paused }, noIntent: { live: open } },
    ],
    DeleteNode: [{ kind: "DeleteNode", machine: gone.name, node: "a" }, { unpaused: { over: paused } }],
    EvictOperator: [
      { kind: "EvictOperator", machine: one.name, node: "a" },
      { unpaused: { live: open, over: paused }, boots: {} },
    ],
    TaintNodes: [
      { kind: "TaintNodes", nodes: [{ node: "a", ...target }] },
      {
        allUnpaused: { live: upgrading, over: paused },
        runIsOpen: {},
        sameMachines: { live: facts({ machines: [{ ...one, uuid: "another" }, gone], operations: [run] }) },
      },
    ],
    UntaintNodes: [{ kind: "UntaintNodes", nodes: [{ node: "a", machine: one.name }] }, { allUnpaused: { over: paused } }],
  };
  /** Something was asked of the cluster, and what goes on beside the pass was let. */
  const isDone = async (action: Action, { live = known, over = {} }: Row, missing: readonly string[]): Promise<boolean> => {
    const taints = action.kind === "UntaintNodes" ? { taints: [{ key: UPGRADE_TAINT, effect: "PreferNoSchedule" }] } : {};
    const { effects, api, demand, hasAsked } = within(live, { uuid: action.kind === "DeleteNode" ? gone.uuid : one.uuid, ...taints });
    const before = JSON.stringify(nodes(api));
    try {
      await executeAll([action], { ...effects, ...over }, without(action.kind, missing).definitions);
      // What a drain asks again before each handful, the word of people included, is what it was.
      if (over !== paused) await demand();
    } catch {
      return false;
    }
    return hasAsked() || JSON.stringify(nodes(api)) !== before;
  };
  for (const [kind, [action, checks]] of Object.entries(rows))
    for (const [check, row] of Object.entries<Row>(checks))
      test(`${kind} is held back by ${check}, and by nothing else when that is gone`, async () => {
        assert.equal(await isDone(action, row, []), false);
        assert.equal(await isDone(action, row, [check]), true);
      });
});
