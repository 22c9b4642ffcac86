import assert from "node:assert/strict";
import type { Condition } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { kinds } from "./story.ts";
import type { Story } from "./story.ts";

/** A pool tells its state, then the cluster above it tells the pool's: each status is put off by some seconds. */
const STATUSES_FOLLOW_MS = 20_000;

/** Machines that did the same are gathered for an event, and how often the same was told is written a minute later. */
const EVENTS_FOLLOW_MS = 65_000;

/** Nothing happens for a while: no write but the lease and, at first, statuses and events that follow; no mutating call (Li2). */
export async function assertQuiet(world: Story, minutes = 10): Promise<void> {
  const before = { writes: world.writes.length, sent: world.sent.length };
  await world.time.advance(STATUSES_FOLLOW_MS);
  const isEvent = (write: string): boolean => /\/events(\/[^/]+)?$/.test(write);
  const others = world.writes.slice(before.writes).filter((write) => !/^PATCH .*\/status$/.test(write) && !isEvent(write));
  assert.deepEqual(others, [], "writes besides statuses and events");
  before.writes = world.writes.length;
  await world.time.advance(EVENTS_FOLLOW_MS - STATUSES_FOLLOW_MS);
  assert.deepEqual(
    world.writes.slice(before.writes).filter((write) => !isEvent(write)),
    [],
    "writes besides events",
  );
  before.writes = world.writes.length;
  await world.time.advance(minutes * 60_000 - EVENTS_FOLLOW_MS);
  assert.deepEqual(world.writes.slice(before.writes), [], `writes in ${minutes} idle minutes`);
  assert.deepEqual(world.sent.slice(before.sent), [], `mutating calls in ${minutes} idle minutes`);
}

/** Lets the condition settle, then demands its reason and words, and that nothing happens any more. */
export async function assertStoppedBy(
  world: Story,
  type: ResourceType,
  wanted: { readonly reason: string; readonly says: RegExp; readonly name?: string },
): Promise<void> {
  await world.until(wanted.reason, async () => (await world.condition(type, "Ready", wanted.name))?.reason === wanted.reason, 120);
  await world.time.advance(60_000);
  const ready = await world.condition(type, "Ready", wanted.name);
  assert.equal(ready?.reason, wanted.reason, ready?.message);
  assert.match(ready.message, wanted.says);
  await assertQuiet(world);
}

/** The worker's pool and the cluster above it are not Ready for the reason and say so in the same words; the control plane, which serves as before, is Ready. */
export async function assertOnlyWorkersTrouble(world: Story, reason: string): Promise<void> {
  const ready = async (type: ResourceType): Promise<Condition | undefined> => world.condition(type, "Ready");
  const [pool, cluster, controlPlane] = await Promise.all([kinds.worker, kinds.cluster, kinds.controlPlane].map(ready));
  assert.deepEqual([pool?.status, pool?.reason], ["False", reason], pool?.message);
  assert.deepEqual([cluster?.status, cluster?.reason], ["False", "WorkersNotReady"], cluster?.message);
  assert.ok(cluster?.message?.includes(pool?.message ?? "?"), `${cluster?.message} / ${pool?.message}`);
  assert.deepEqual([controlPlane?.status, controlPlane?.reason], ["True", "AllReady"], controlPlane?.message);
}

/** Makes any object, without asking what type it has: stories apply what a person could write. */
export async function apply(world: Story, type: ResourceType, object: unknown): Promise<void> {
  await world.client.resource(type).create(object as KubeObject);
}

/** Configures a machine that waits in maintenance mode for a cluster that this operator knows nothing of. */
export async function configureForeign(world: Story, address: string): Promise<void> {
  const { clock } = world.time;
  const secrets = await generateSecretsBundle({ contract: "1.13", clock, random: createSeededRandom(77), keys: world.keys });
  const config = generateMachineConfig({
    role: "controlplane",
    clusterName: "foreign",
    endpoint: "https://10.9.0.1:6443",
    contract: "1.13",
    kubernetesVersion: "v1.36.3",
    secrets,
    install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
  });
  const client = createTalosClient(world.datacenter.dialer().dial({ address }, { kind: "maintenance" }));
  try {
    await client.applyConfiguration({ config, mode: "auto" }, { timeoutMs: 10_000 });
  } finally {
    client.close();
  }
  await world.time.advance(1_000);
}
