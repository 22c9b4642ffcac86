import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { Datacenter, SimulatedMachine } from "@talos-operator/simulator";
import type { Desired } from "./scenario.ts";
import { createStage } from "./stage.ts";
import { holderOf, isDead, listForAWhile } from "./unknown-member.ts";

const forgotten = { address: "10.5.0.1", state: { power: "on", etcd: { data: { memberId: "ab12" } } } } as unknown as SimulatedMachine;
const desired: Desired = {
  controlPlanes: ["10.5.0.2", "10.5.0.3", "10.5.0.4"],
  workers: [],
  machineSpec: {},
  mode: undefined,
  hasWrittenConfigs: false,
};

function staged() {
  const stage = createStage(desired, "reset", false);
  stage.everControlPlanes.add(forgotten.address);
  return stage;
}

test("a machine that nobody remembers is listed in the place of one that waits until the record knows it, and what is wanted stays what it was", async () => {
  const time = createVirtualTime();
  const stage = staged();
  const applied: (readonly string[])[] = [];
  let known: readonly { readonly address: string }[] = [];
  const client = {
    resource: () => ({ tryGet: async () => ({ spec: { knownControlPlanes: known } }) }),
  } as unknown as KubeClient;
  const datacenter = { machines: () => [forgotten] } as unknown as Datacenter;
  const apply = async ({ controlPlanes }: Desired): Promise<void> => void applied.push(controlPlanes);
  const done = listForAWhile({ client, datacenter, timers: time.timers, stage, apply, trace: () => undefined }, forgotten, "10.5.0.4");
  await time.advance(60_000);
  const listed = ["10.5.0.2", "10.5.0.3", "10.5.0.1"];
  assert.deepEqual(applied, [listed]);
  known = [{ address: "10.5.0.1" }];
  await time.advance(10_000);
  await done;
  assert.deepEqual(applied, [listed, desired.controlPlanes]);
  assert.equal(stage.desired, desired);
});

test("only a machine that was of the cluster, and that stands where it stood, is taken for the holder of a member", () => {
  const datacenter = { machines: () => [forgotten] } as unknown as Datacenter;
  assert.equal(holderOf({ datacenter, stage: staged() }, "ab12"), forgotten);
  assert.equal(holderOf({ datacenter, stage: staged() }, "cd34"), undefined);
  assert.equal(holderOf({ datacenter, stage: createStage(desired, "reset", false) }, "ab12"), undefined);
  const moved = staged();
  moved.routes.set(forgotten.address, "10.5.0.2");
  assert.equal(holderOf({ datacenter, stage: moved }, "ab12"), undefined);
});

test("a member is dead when its machine is, or holds its data no more", () => {
  const off = { ...forgotten, state: { ...forgotten.state, power: "off" } } as unknown as SimulatedMachine;
  const among = (...machines: readonly SimulatedMachine[]): Datacenter => ({ machines: () => machines }) as unknown as Datacenter;
  assert.equal(isDead(among(forgotten), "ab12"), false);
  assert.equal(isDead(among(off), "ab12"), true);
  assert.equal(isDead(among(forgotten), "cd34"), true);
});
