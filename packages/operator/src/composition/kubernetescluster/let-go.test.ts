import assert from "node:assert/strict";
import { test } from "node:test";
import type { VitistackMachine } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { ReconcileContext } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { compositionFinalizers } from "./keys.ts";
import { release } from "./let-go.ts";
import type { LetGoPorts } from "./let-go.ts";

const collection = "/apis/vitistack.io/v1alpha1/machines";
const held = { namespace: "default", name: "demo-cp-0", finalizers: [compositionFinalizers.machineInUse] };

/** What holds the stored Machine after `released` was let go. */
async function heldAfter(released: (uid: string) => string): Promise<readonly string[] | undefined> {
  const api = createFakeApi();
  const object = { apiVersion: "vitistack.io/v1alpha1", kind: "Machine", metadata: held };
  const stored = api.put(collection, object);
  const metadata = { ...held, uid: released(stored.metadata?.uid ?? ""), deletionTimestamp: "2026-01-01T00:00:00Z" };
  const context = { wrote: () => undefined } as unknown as ReconcileContext;
  const ports = { client: createKubeClient(api.transport()) } as LetGoPorts;
  await release({ ...object, metadata } as VitistackMachine, "1", ports, context);
  return api.objects(collection)[0]?.metadata?.finalizers;
}

test("a Machine that is released is not held any more", async () => {
  assert.deepEqual(await heldAfter((uid) => uid), []);
});

test("a Machine that took the name of one that is released stays held", async () => {
  assert.deepEqual(await heldAfter(() => "of before"), [compositionFinalizers.machineInUse]);
});
