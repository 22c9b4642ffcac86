import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { annotations, type ObjectMeta, type TalosControlPlane } from "@talos-operator/api";
import { configured, controlPlane, facts, inMaintenance, NOW, running, silent, worker } from "../../testing/builders.ts";
import { printRecord } from "../taloscontrolplane/record/facts-codec.ts";
import { heldMachines } from "./held-machines.ts";
import type { Look } from "../../model/look.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";

const name = "demo-workers-10.0.1.1";
const one = configured("10.0.1.1", "worker", "demo-workers");

/** An API with this control plane and a record of these machines. */
function world(
  machines: readonly MachineFact[],
  hasControlPlane = true,
  more: Partial<ClusterFacts> = {},
): ReturnType<typeof createFakeApi> {
  const api = createFakeApi();
  if (hasControlPlane) api.put("/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes", controlPlane());
  const record = printRecord({ namespace: "default", name: "demo" }, facts({ machines, ...more }), undefined, {
    identity: "a",
    fencingToken: "0/1",
  });
  api.put("/apis/talos-operator.dev/v1alpha1/clusterrecords", record);
  return api;
}

/** An API with a control plane that was bootstrapped and has lost its record. */
function withoutRecord(metadata: Partial<ObjectMeta> = {}): ReturnType<typeof createFakeApi> {
  const api = createFakeApi();
  const founded: TalosControlPlane = { ...controlPlane(1, {}, metadata), status: { state: "Bootstrapped" } };
  api.put("/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes", founded);
  return api;
}

const held = (
  api: ReturnType<typeof createFakeApi>,
  listed: readonly string[] = [],
  policy?: "preserve",
  look?: Look,
): Promise<unknown> => {
  const pool = worker(1);
  const asked = policy === undefined ? pool : { ...pool, spec: { ...pool.spec, deletionPolicy: policy } };
  return heldMachines(asked as typeof pool, listed, createKubeClient(api.transport()), () => look);
};

describe("machines of a pool that no TalosMachine stands for", () => {
  it("are held while the record says that they may be configured", async () => {
    assert.deepEqual(await held(world([one]), [name]), [name]);
  });

  it("are held though the pool lists them no more", async () => {
    assert.deepEqual(await held(world([one])), [name]);
  });

  it("are not when they were released, never configured, of another pool, or control planes", async () => {
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

  it("are held while the record of a bootstrapped cluster is away, until they wait in maintenance mode or are given up", async () => {
    assert.deepEqual(await held(withoutRecord(), [name]), [name]);
    assert.deepEqual(await held(withoutRecord(), [name], undefined, silent), [name]);
    assert.deepEqual(await held(withoutRecord(), [name], undefined, inMaintenance("10.0.1.1")), []);
    assert.deepEqual(await held(withoutRecord({ annotations: { [annotations.abandonMachine]: name } }), [name]), []);
    // The name of one machine may be the beginning of another's.
    assert.deepEqual(await held(withoutRecord({ annotations: { [annotations.abandonMachine]: name } }), [`${name}2`]), [`${name}2`]);
    assert.deepEqual(await held(withoutRecord(), [name], "preserve"), []);
  });

  it("are held by a record that was made anew and does not know them, until they had time to show themselves", async () => {
    const anew = world([], true, { bundle: { ...facts().bundle, wasFound: true } });
    assert.deepEqual(await held(anew, [name]), [name]);
    assert.deepEqual(await held(anew, [name], undefined, running()), [name]);
    assert.deepEqual(await held(anew, [name], undefined, silent), [name]);
    assert.deepEqual(await held(anew, [name], undefined, { kind: "silent", at: NOW, since: NOW - 11 * 60_000, detail: "off" }), []);
    assert.deepEqual(await held(anew, [name], undefined, inMaintenance("10.0.1.1")), []);
    assert.deepEqual(await held(world([]), [name], undefined, running()), []);
    const given = { ...controlPlane(), metadata: { ...controlPlane().metadata, annotations: { [annotations.abandonMachine]: name } } };
    anew.put("/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes", given);
    assert.deepEqual(await held(anew, [name, `${name}2`], undefined, silent), [`${name}2`]);
  });
});
