import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { Datacenter } from "@talos-operator/simulator";
import { createValueKeys } from "../world/value-keys.ts";
import type { Conditioned } from "./object-view.ts";
import { watchOver } from "./person.ts";
import { createStage } from "./stage.ts";

const MINUTE = 60_000;

/** What a person writes in half an hour to a cluster that goes on saying this; `10.5.0.2` lost its disk. */
async function written(type: string, message: string, reason = ""): Promise<readonly string[]> {
  const object: Conditioned = { status: { conditions: [{ type, status: "False", reason, message }] } };
  const listeners: (() => void)[] = [];
  const found: string[] = [];
  const client = {
    resource: () => ({
      async patch(_key: unknown, { value }: { readonly value: { readonly metadata: { readonly annotations: object } } }) {
        found.push(...Object.entries(value.metadata.annotations).map((entry) => entry.join(": ")));
      },
    }),
  } as unknown as KubeClient;
  const objects = {
    start: async () => undefined,
    onChange: (heard: () => void) => void listeners.push(heard),
    get: (plural: string) => (plural === "taloscontrolplanes" ? object : undefined),
    all: (plural: string) => (plural === "taloscontrolplanes" ? [object] : []),
    isReady: () => false,
    waitsFor: () => "",
  };
  const desired = { controlPlanes: [], workers: [], machineSpec: {}, mode: undefined, hasWrittenConfigs: false };
  const stage = createStage(desired, "reset", false);
  stage.reinstalled.add("10.5.0.2");
  const time = createVirtualTime();
  const datacenter = { machines: () => [], etcdClusters: () => [] } as unknown as Datacenter;
  const keys = createValueKeys(createSeededRandom(1));
  const input = { objects, client, datacenter, keys, now: () => time.now(), timers: time.timers, stage };
  watchOver({ ...input, apply: async () => undefined, trace: () => undefined });
  for (const heard of listeners) heard();
  await time.advance(2 * MINUTE);
  assert.deepEqual(found, [], "nobody answers at once");
  await time.advance(28 * MINUTE);
  return found;
}

const retry = "talos-operator.dev/retry-config";
const approve = "talos-operator.dev/import-approve";
const lost = "first-10.5.0.2 waits in maintenance mode: it would be installed and join.";
const plan = (...lines: readonly string[]): string =>
  [
    "The cluster is verified:",
    ...lines.map((line, index) => `${index + 1}. ${line}`),
    `Annotate the TalosControlPlane with ${approve}: ab12 to take it over as it is.`,
  ].join("\n");

test("a person sends settings once more where a rollout stopped, and does not go on for ever", async () => {
  const message = `It stopped. Correct the settings, or annotate the TalosControlPlane with ${retry}: first-10.5.0.1 to send them once more.`;
  assert.deepEqual(await written("ConfigUpToDate", message), Array<string>(5).fill(`${retry}: first-10.5.0.1`));
  assert.deepEqual(await written("ConfigUpToDate", "Two machines are left."), []);
});

test("a person accepts that an address goes away", async () => {
  const accept = "talos-operator.dev/accept-hazard";
  const message = `A holds back the settings of first-10.5.0.2. META: a; b. To send it anyway, annotate TalosWorker first-workers with ${accept}: A,B.`;
  assert.equal((await written("ConfigUpToDate", message, "HazardFound"))[0], `${accept}: A,B`);
  assert.deepEqual(await written("ConfigUpToDate", message, "RolloutStopped"), []);
});

test("a person approves an import whose only difference is a machine that lost its disk", async () => {
  assert.equal((await written("Imported", plan(lost)))[0], `${approve}: ab12`);
  assert.deepEqual(await written("Imported", plan(lost, "first-10.5.0.3 runs other settings.")), []);
  assert.deepEqual(await written("Imported", plan(lost.replace("0.2", "0.3"))), []);
});
