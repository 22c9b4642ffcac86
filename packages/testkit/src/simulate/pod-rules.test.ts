import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Datacenter } from "@talos-operator/simulator";
import { createPodRules } from "./pod-rules.ts";
import { createStage } from "./stage.ts";

const MINUTE = 60_000;
const address = "10.5.0.2";

/** What is reported when a node with a pod on it is wiped after the operator asked the cluster's API, minute by minute. */
async function reported(...answers: readonly boolean[]): Promise<readonly string[]> {
  const lists: Readonly<Record<string, readonly object[]>> = {
    nodes: [{ metadata: { name: "node" }, status: { addresses: [{ address }] } }],
    pods: [{ metadata: { name: "web" }, spec: { nodeName: "node" } }],
  };
  const client = {
    resource: ({ plural }: { readonly plural: string }) => ({ list: async () => ({ items: lists[plural] ?? [] }) }),
  } as unknown as KubeClient;
  const datacenter = { machine: () => ({ state: { kubernetes: { isNodeReady: true } } }) } as unknown as Datacenter;
  const desired = { controlPlanes: [], workers: [address], machineSpec: {}, mode: undefined, hasWrittenConfigs: false };
  const found: string[] = [];
  let now = 0;
  const rules = createPodRules(
    () => client,
    datacenter,
    createStage(desired, "reset", false),
    () => now,
    (invariant) => void found.push(invariant),
  );
  for (const isAnswered of answers) {
    rules.asked(isAnswered);
    now += MINUTE;
  }
  await rules.beforeSend("T9", address, {});
  return found;
}

test("WL1 is broken by pods on a node that is wiped, unless nobody who could move them answered for ten minutes", async () => {
  const silent = Array.from({ length: 10 }, () => false);
  assert.deepEqual(await reported(), ["WL1"]);
  assert.deepEqual(await reported(...silent.slice(1)), ["WL1"]);
  assert.deepEqual(await reported(...silent, true, false), ["WL1"]);
  assert.deepEqual(await reported(...silent), []);
});
