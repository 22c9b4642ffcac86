import assert from "node:assert/strict";
import test from "node:test";
import { createTestWorld } from "../testing/world.ts";

const six = [1, 2, 3, 4, 5, 6].map((n) => ({ address: `10.5.0.${n}` }));

test("three control planes and three workers become one cluster with one etcd", async () => {
  const world = await createTestWorld(six);
  for (const n of [1, 2, 3]) await world.apply(`10.5.0.${n}`, "controlplane");
  for (const n of [4, 5, 6]) await world.apply(`10.5.0.${n}`, "worker");
  await world.time.advance(10);
  assert.deepEqual(
    world.datacenter.machines().map((machine) => machine.state.stage),
    ["booting", "booting", "booting", "running", "running", "running"],
  );
  const admin = await world.client("10.5.0.1", "os:admin");
  await admin.bootstrap();
  await world.time.advance(100);
  const members = await admin.etcdMemberList();
  assert.equal(members.length, 3);
  assert.deepEqual(
    members.map((member) => member.isLearner),
    [false, false, false],
  );
  assert.deepEqual([...new Set(world.datacenter.machines().map((machine) => machine.state.stage))], ["running"]);
  assert.deepEqual([...new Set(world.datacenter.machines().map((machine) => machine.state.kubernetes.isNodeReady))], [true]);
  assert.equal(world.datacenter.etcdClusters().length, 1);
});
