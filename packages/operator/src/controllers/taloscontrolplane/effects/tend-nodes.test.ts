import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import type { FakeApi } from "@talos-operator/kube-runtime/testing";
import { configured, facts, observed } from "../../../testing/builders.ts";
import { cordonAndDrain, deleteNode, uncordonNode } from "./tend-nodes.ts";
import type { ClusterFacts, IntentFact } from "../../../model/record.ts";
import { CORDON_MARK } from "../../../workload/seen-node.ts";
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
  node: { readonly uuid: string; readonly isReady?: boolean },
): { readonly effects: Effects; readonly api: FakeApi; readonly demand: () => Promise<unknown> } {
  const api = createFakeApi();
  api.put("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", annotations: { [CORDON_MARK]: "demo" } },
    spec: { unschedulable: true },
    status: { nodeInfo: { systemUUID: node.uuid }, conditions: [{ type: "Ready", status: node.isReady === true ? "True" : "False" }] },
  } as KubeObject);
  let asked: { readonly demand: () => Promise<unknown> } | undefined;
  const workload = {
    ask: (_request: unknown, ports: { readonly demand: () => Promise<unknown> }) => (asked = ports),
    use: async (_user: unknown, _place: unknown, work: (client: KubeClient, timeoutMs: number) => Promise<unknown>) =>
      work(createKubeClient(api.transport()), 1_000),
    released: () => undefined,
    staleNodes: () => undefined,
  };
  const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
  const effects = {
    session: { workload, noteSent: () => undefined, credentials: () => undefined, connections: () => undefined },
    guard: {
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
  return { effects, api, demand: async () => asked?.demand() };
}

const nodes = (api: FakeApi): readonly KubeObject[] => api.objects("/api/v1/nodes");
const open = facts({ machines: [one, gone], intents: [intent] });
const another = facts({ machines: [{ ...one, uuid: "another" }, gone] });

describe("draining", () => {
  const action = { kind: "CordonAndDrain", machine: one.name, address: one.address, ifUuid: one.uuid } as const;
  test("goes on while the record holds the machine", async () => {
    const { effects, demand } = within(known, { uuid: one.uuid });
    cordonAndDrain(action, effects);
    assert.equal(await demand(), 1_000);
  });
  for (const [what, live] of [
    ["an effect on the machine is open", open],
    ["another machine has its name", another],
  ] as const)
    test(`ends when ${what}`, async () => {
      const { effects, demand } = within(live, { uuid: one.uuid });
      cordonAndDrain(action, effects);
      await assert.rejects(demand());
    });
});

describe("taking a cordon off", () => {
  const action = { kind: "Uncordon", machine: one.name, node: "a", address: one.address, ifUuid: one.uuid } as const;
  test("is done once nothing is about to happen", async () => {
    const { effects, api } = within(known, { uuid: one.uuid });
    await uncordonNode(action, effects);
    assert.equal((nodes(api)[0] as { readonly spec?: { readonly unschedulable?: boolean } }).spec?.unschedulable, undefined);
  });
  test("is not done while an effect on the machine is open", async () => {
    const { effects, api } = within(open, { uuid: one.uuid });
    await assert.rejects(uncordonNode(action, effects));
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
      await deleteNode(action, effects);
      assert.equal(nodes(api).length, isDeleted ? 0 : 1);
    });
});
