import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionFor, talosMachineResource } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { VirtualTime } from "@talos-operator/kube-runtime/testing";
import { silentTelling } from "../../testing/silent-telling.ts";
import { createStatusWriter } from "./status-writer.ts";
import type { StatusWriter, WantedStatus } from "./status-writer.ts";

const EVERY_MS = 2_000;

const pending: WantedStatus = { fields: { state: "Pending" }, conditions: [conditionFor("Ready", "WaitingForMachines", "It waits.", 1)] };
const ready: WantedStatus = { fields: { state: "Available" }, conditions: [conditionFor("Ready", "AllReady", "It is ready.", 1)] };

function machine(index: number, status?: TalosMachine["status"]): TalosMachine {
  const metadata = { namespace: "default", name: `m-${index}`, uid: `u-${index}`, resourceVersion: "1" };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata,
    spec: { endpoint: "10.0.0.1", version: "v1.13.9" },
    ...(status === undefined ? {} : { status }),
  };
}

/** A writer that has just written about so many objects. */
async function writerAfter(count: number): Promise<{ readonly time: VirtualTime; readonly writer: StatusWriter<TalosMachine> }> {
  const time = createVirtualTime();
  const client = createKubeClient({
    send: (request) =>
      Promise.resolve({ status: 200, headers: {}, body: { ...(request.body as object), metadata: { resourceVersion: "2" } } }),
    watch: () => Promise.reject(new Error("not asked for")),
    close: () => undefined,
  });
  const writer = createStatusWriter<TalosMachine>(client, talosMachineResource, time.clock, "test", silentTelling);
  for (let index = 0; index < count; index += 1) await writer.write(machine(index), ready, EVERY_MS);
  return { time, writer };
}

test("the first words about an object are written after a second, or what came of them meanwhile at once", async () => {
  const { time, writer } = await writerAfter(10);
  assert.equal(await writer.write(machine(1_000), pending, EVERY_MS), 1_000);
  assert.equal(await writer.write(machine(1_001), pending, EVERY_MS), 1_000);
  await time.advance(500);
  assert.equal(await writer.write(machine(1_000), ready, EVERY_MS), undefined, "that it is ready is never put off");
  await time.advance(500);
  assert.equal(await writer.write(machine(1_001), pending, EVERY_MS), undefined);
});

test("what a new process has to say of an object that was told about before is written at once", async () => {
  const { writer } = await writerAfter(10);
  const was = {
    state: "Installing" as const,
    conditions: [{ ...conditionFor("Ready", "NodesNotReady", "It boots.", 1), lastTransitionTime: "2026-01-01T00:00:00Z" }],
  };
  assert.equal(await writer.write(machine(1_000, was), pending, EVERY_MS), undefined);
});

test("while hundreds of objects change the first words about one wait, and what comes of it is written in their place", async () => {
  const { time, writer } = await writerAfter(100);
  const waitMs = await writer.write(machine(1_000), pending, EVERY_MS);
  assert.equal(waitMs, 4_000);
  await time.advance(1_500);
  assert.equal(await writer.write(machine(1_000), pending, EVERY_MS), 2_500);
  assert.equal(await writer.write(machine(1_000), ready, EVERY_MS), undefined, "that it is ready is never put off");
  assert.equal(await writer.write(machine(1_001), pending, EVERY_MS), 4_040);
  await time.advance(4_040);
  assert.equal(await writer.write(machine(1_001), pending, EVERY_MS), undefined);
});

test("that a machine is not ready any more is never put off by a new process", async () => {
  const { writer } = await writerAfter(100);
  const was = {
    state: "Available" as const,
    conditions: [{ ...conditionFor("Ready", "AllReady", "It is ready.", 1), lastTransitionTime: "2026-01-01T00:00:00Z" }],
  };
  assert.equal(await writer.write(machine(1_000, was), pending, EVERY_MS), undefined);
});
