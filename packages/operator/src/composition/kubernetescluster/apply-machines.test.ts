import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { VitistackMachine } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createMachineApplier } from "./apply-machines.ts";
import { CompositionError } from "./errors.ts";

const owner = { apiVersion: "vitistack.io/v1alpha1", kind: "KubernetesCluster", name: "demo", uid: "1", controller: true };
const wanted: VitistackMachine = {
  apiVersion: "vitistack.io/v1alpha1",
  kind: "Machine",
  metadata: { namespace: "default", name: "demo-cp-0", ownerReferences: [owner] },
  spec: { provider: "p" },
};

const isThere = async (): Promise<boolean> => true;

/** An API server that stores what `stored` makes of an apply. */
function applierOn(stored: (machine: VitistackMachine) => VitistackMachine, there?: VitistackMachine) {
  let applies = 0;
  const machines = {
    tryGet: async () => there,
    apply: async (machine: VitistackMachine) => {
      applies += 1;
      return stored({ ...machine, metadata: { ...machine.metadata, uid: "m" } });
    },
  };
  return { applier: createMachineApplier({ resource: () => machines } as unknown as KubeClient), applies: () => applies };
}

const withOwners = (machine: VitistackMachine, ownerReferences: VitistackMachine["metadata"]["ownerReferences"]): VitistackMachine => ({
  ...machine,
  metadata: { ...machine.metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
});

describe("a Machine that is applied", () => {
  for (const [what, owners] of [
    ["without its owner", []],
    ["with somebody else's", [{ ...owner, uid: "2" }]],
  ] as const)
    it(`and comes back ${what} is an OwnerReferenceError, and is applied again (A053)`, async () => {
      const { applier, applies } = applierOn((machine) => withOwners(machine, owners));
      for (let pass = 1; pass <= 2; pass += 1) {
        await assert.rejects(
          applier.apply(wanted, undefined, isThere),
          (thrown) => thrown instanceof CompositionError && thrown.kind === "OwnerReferenceError",
        );
        assert.equal(applies(), pass);
      }
    });

  it("and is being deleted though no list told of it is an error: no pool gets it back", async () => {
    const there = { ...wanted, metadata: { ...wanted.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const { applier, applies } = applierOn((machine) => machine, there);
    await assert.rejects(applier.apply(wanted, undefined, isThere), /is being deleted, and the list of Machines did not show it/);
    assert.equal(await applier.apply(wanted, there, isThere), undefined);
    assert.equal(applies(), 0);
  });

  for (const [when, answers] of [
    ["when it is about to be made", [false, true]],
    ["by the moment of the write", [true, false]],
  ] as const)
    it(`is not made for a cluster that does not stay or is paused ${when}`, async () => {
      const { applier, applies } = applierOn((machine) => machine);
      const left = [...answers];
      assert.equal(await applier.apply(wanted, undefined, async () => left.shift() ?? true), undefined);
      assert.equal(applies(), 0);
    });

  it("and was made by somebody else a moment ago is not taken over", async () => {
    const there = withOwners(wanted, [{ ...owner, name: "other", uid: "2" }]);
    const { applier, applies } = applierOn((machine) => machine, there);
    await assert.rejects(applier.apply(wanted, undefined, isThere), /Machine demo-cp-0 exists and is KubernetesCluster other's/);
    assert.equal(applies(), 0);
  });

  it("is not applied again once it is there", async () => {
    const { applier, applies } = applierOn((machine) => machine);
    const stored = await applier.apply(wanted, undefined, isThere);
    assert.equal(await applier.apply(wanted, stored, isThere), undefined);
    assert.equal(applies(), 1);
  });
});
