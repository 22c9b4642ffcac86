import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TalosMachine } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { configured, controlPlane, facts, NOW } from "../../testing/builders.ts";
import { printRecord } from "../../record/facts-codec.ts";
import { isLeftAlone } from "./left-alone.ts";
import type { MachineFact } from "../../model/record.ts";

const { metadata, kind } = controlPlane();

function machine(uid = metadata.uid ?? "", policy: "reset" | "preserve" = "reset"): TalosMachine {
  const reference = { apiVersion: "talos.alperen.cloud/v1alpha1", kind, name: metadata.name, uid };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name: "demo-10.0.0.1", ownerReferences: [{ ...reference, controller: true }] },
    spec: { endpoint: "10.0.0.1", version: "v1.13.9", deletionPolicy: policy, controlPlaneRef: { ...reference, namespace: "default" } },
  };
}

/** An API with the control plane, or without, and with a record of these machines; asked about its machine unless one is given. */
function asked(one: TalosMachine | undefined, hasControlPlane: boolean, machines?: readonly MachineFact[]): Promise<boolean> {
  const api = createFakeApi();
  const there = hasControlPlane ? api.put("/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes", controlPlane()) : undefined;
  const writer = { identity: "a", fencingToken: "0/1" };
  if (machines !== undefined)
    api.put(
      "/apis/talos-operator.dev/v1alpha1/clusterrecords",
      printRecord({ namespace: "default", name: "demo" }, facts({ machines }), undefined, writer),
    );
  return isLeftAlone(one ?? machine(there?.metadata?.uid), createKubeClient(api.transport()));
}

const holds = configured("10.0.0.1");

describe("a TalosMachine that goes", () => {
  it("is left alone when its owner is gone and nothing is known of its machine", async () => {
    assert.equal(await asked(machine(), false), true);
    assert.equal(await asked(machine(), false, [{ ...holds, releasedAt: NOW }]), true);
  });

  it("is left alone when another object has its owner's name", async () => {
    assert.equal(await asked(machine("33333333-3333-3333-3333-333333333333"), true), true);
  });

  it("is not while its owner is there, or its machine may hold a configuration", async () => {
    assert.equal(await asked(undefined, true), false);
    assert.equal(await asked(machine(), false, [holds]), false);
  });

  it("is left alone when its machine was to be left running", async () => {
    assert.equal(await asked(machine(undefined, "preserve"), false, [holds]), true);
  });

  it("is not when it was made by hand", async () => {
    const { ownerReferences: _none, ...own } = machine().metadata;
    assert.equal(await asked({ ...machine(), metadata: own }, false), false);
  });
});
