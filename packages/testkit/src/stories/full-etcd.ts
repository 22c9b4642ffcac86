import assert from "node:assert/strict";
import type { EtcdDatabase } from "@talos-operator/simulator";
import { kinds } from "./story.ts";
import type { Story } from "./story.ts";

/** The database of the only etcd. */
export function databaseOf(world: Story): EtcdDatabase {
  const [etcd] = world.datacenter.etcdClusters();
  const database = world.datacenter.etcdDatabase(etcd?.key ?? "");
  assert.ok(database !== undefined);
  return database;
}

/** Whether it is told that etcd is full, be it that the operator goes on by itself or that a person is needed. */
export async function isFull(world: Story): Promise<boolean> {
  return (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.reason.startsWith("NoSpace") === true;
}

/** Until no alarm of etcd stands, and the cluster is Ready. */
export async function healed(world: Story): Promise<void> {
  const database = databaseOf(world);
  await world.until("the alarm is gone", async () => database.alarms().length === 0, 1_800);
  await world.untilReady();
}

/** Calls that were sent to machines, as `Reboot 10.5.0.1`. */
export const sentTo = (world: Story, call: string): readonly string[] => world.sent.filter((one) => one.startsWith(call));
