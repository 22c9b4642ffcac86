import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { worker } from "../testing/builders.ts";
import { unlistedWorkers } from "./unlisted-workers.ts";
import type { DeclaredMachine } from "../model/machine.ts";

const group = "/apis/talos.alperen.cloud/v1alpha1";
const name = "demo-workers-10.0.1.1";

function former(pool: string): DeclaredMachine {
  return {
    name,
    role: "worker",
    address: "10.0.1.1",
    owner: { kind: "TalosWorker", name: pool },
    field: "record",
    version: "v1.13.9",
    machineSpec: {},
  };
}

describe("a worker whose pool no list tells of", () => {
  it("has one that is there", async () => {
    const api = createFakeApi();
    api.put(`${group}/talosworkers`, worker(1));
    assert.deepEqual(await unlistedWorkers([former("demo-workers")], [], "default", createKubeClient(api.transport())), [name]);
  });

  it("has one when its TalosMachine is there, whoever the pool was", async () => {
    const api = createFakeApi();
    api.put(`${group}/talosmachines`, {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosMachine",
      metadata: { namespace: "default", name },
    });
    assert.deepEqual(await unlistedWorkers([former("")], [], "default", createKubeClient(api.transport())), [name]);
  });

  it("has none when neither is there", async () => {
    const client = createKubeClient(createFakeApi().transport());
    assert.deepEqual(await unlistedWorkers([former("demo-workers"), former("")], [], "default", client), []);
  });

  it("may have one while the Kubernetes API cannot say", async () => {
    const client = createKubeClient({
      call: () => Promise.reject(new Error("cut")),
    } as unknown as Parameters<typeof createKubeClient>[0]);
    assert.deepEqual(await unlistedWorkers([former("demo-workers")], [], "default", client), [name]);
  });

  it("is not asked about while its pool is listed", async () => {
    const api = createFakeApi();
    api.put(`${group}/talosworkers`, worker(1));
    assert.deepEqual(await unlistedWorkers([former("demo-workers")], [worker(1)], "default", createKubeClient(api.transport())), []);
  });
});
