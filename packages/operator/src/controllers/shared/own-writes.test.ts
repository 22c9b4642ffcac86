import assert from "node:assert/strict";
import { test } from "node:test";
import { talosMachineResource } from "@talos-operator/api";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { notingWrites } from "./own-writes.ts";

const path = "/apis/talos.alperen.cloud/v1alpha1/namespaces/default/talosmachines";
const stored = (resourceVersion: string): object => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosMachine",
  metadata: { name: "demo", resourceVersion },
});

/** What is noted of a request that takes a second and is answered so. */
async function noted(request: KubeRequest, status: number, body: unknown): Promise<unknown> {
  let now = 1_000;
  const transport: KubeTransport = {
    send() {
      now += 1_000;
      return Promise.resolve({ status, headers: {}, body });
    },
    watch: () => Promise.reject(new Error("not asked for")),
    close: () => undefined,
  };
  const { kube, writes } = notingWrites(transport, { now: () => now });
  await kube.send(request);
  return writes.last(talosMachineResource);
}

const fresh = { sentAt: 1_000, resourceVersion: "8" };
const patch = (resourceVersion?: string): KubeRequest => ({
  method: "PATCH",
  path: `${path}/demo`,
  body: { metadata: { finalizers: ["one"], ...(resourceVersion === undefined ? {} : { resourceVersion }) } },
});

for (const { name, request, status = 200, want } of [
  { name: "what was created is as new as its request", request: { method: "POST", path, body: {} } as const, status: 201, want: fresh },
  { name: "so is what an apply created", request: { method: "PATCH", path: `${path}/demo`, body: {} } as const, status: 201, want: fresh },
  { name: "so is what was patched in one version and has another one since", request: patch("7"), want: fresh },
  { name: "a patch that changed nothing proves nothing", request: patch("8"), want: undefined },
  { name: "nor does one that names no version: what it is answered with may be old", request: patch(), want: undefined },
  { name: "nor does what is refused", request: { method: "POST", path, body: {} } as const, status: 409, want: undefined },
  { name: "nor does what is read", request: { method: "GET", path: `${path}/demo` } as const, want: undefined },
])
  test(name, async () => assert.deepEqual(await noted(request, status, stored("8")), want));
