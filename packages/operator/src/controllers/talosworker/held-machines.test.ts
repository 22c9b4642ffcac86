import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { configured, controlPlane, facts, NOW, worker } from "../../testing/builders.ts";
import type { MachineFact } from "../taloscontrolplane/record/facts.ts";
import { printRecord } from "../taloscontrolplane/record/facts-codec.ts";
import { heldMachines } from "./held-machines.ts";

const name = "demo-workers-10.0.1.1";
const one = configured("10.0.1.1", "worker", "demo-workers");

/** An API with this control plane and a record of these machines. */
function world(machines: readonly MachineFact[], hasControlPlane = true): ReturnType<typeof createFakeApi> {
  const api = createFakeApi();
  if (hasControlPlane) api.put("/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes", controlPlane());
  const record = printRecord({ namespace: "default", name: "demo" }, facts({ machines }), undefined, {
    identity: "a",
    fencingToken: "0/1",
  });
  api.put("/apis/talos-operator.dev/v1alpha1/clusterrecords", record);
  return api;
}

const held = (api: ReturnType<typeof createFakeApi>, listed: readonly string[] = [], policy?: "preserve"): Promise<unknown> => {
  const pool = worker(1);
  const asked = policy === undefined ? pool : { ...pool, spec: { ...pool.spec, deletionPolicy: policy } };
  return heldMachines(asked as typeof pool, listed, createKubeClient(api.transport()));
};

describe("machines of a pool that no TalosMachine stands for", () => {
  it("are held while the record says that they may be configured", async () => {
    assert.deepEqual(await held(world([one]), [name]), [name]);
  });

  it("are held though the pool lists them no more", async () => {
    assert.deepEqual(await held(world([one])), [name]);
  });

  it("are not when they were let go, never configured, of another pool, or control planes", async () => {
    const others = [
      { ...one, releasedAt: NOW },
      configured("10.0.1.2", "worker", "demo-workers", { configuredAt: undefined }),
      configured("10.0.1.3", "worker", "demo-more"),
      configured("10.0.0.1"),
    ];
    assert.deepEqual(await held(world(others), [name, "demo-workers-10.0.1.2"]), []);
  });

  it("are not when they are to be left running, or nobody could wipe them", async () => {
    assert.deepEqual(await held(world([one]), [name], "preserve"), []);
    assert.deepEqual(await held(world([one], false), [name]), []);
    assert.deepEqual(await held(createFakeApi(), [name]), []);
  });
});
