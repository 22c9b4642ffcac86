import assert from "node:assert/strict";
import test from "node:test";
import { isTalosError } from "@talos-operator/talos/client";
import { realisticTimings } from "../node/timings.ts";
import type { Machine } from "../node/machine.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";

const address = "10.5.0.1";
const timings = { ...realisticTimings, bootMs: 1_000, installMs: 1_000, shutdownMs: 500, kubeletMs: 1_000 };

/** One control plane whose etcd prepares; its image is there after `forMs`. */
async function preparing(talosVersion = "v1.13.9", forMs = 20_000): Promise<TestWorld> {
  const world = await createTestWorld([{ address, talosVersion }], { timings });
  await world.time.advance(10_000);
  const applied = world.apply(address, "controlplane");
  await world.time.advance(1_000);
  await applied;
  while (etcd(world).service !== "Preparing") await world.time.advance(100);
  await world.time.advance(forMs);
  return world;
}

function etcd(world: TestWorld): {
  readonly service: string | undefined;
  readonly message: string;
  readonly data: Machine["etcd"]["data"];
} {
  const { state } = world.datacenter.machine(address);
  return {
    service: state.services["etcd"]?.state,
    message: state.services["etcd"]?.events.at(-1)?.message ?? "",
    data: state.etcd.data,
  };
}

/** Names in the data directory, as `List` tells them. */
async function dataOf(world: TestWorld): Promise<readonly string[]> {
  const client = await world.client(address, "os:reader");
  const names: string[] = [];
  const reading = (async () => {
    for await (const { relativeName } of client.list({ root: "/var/lib/etcd" })) names.push(relativeName);
  })();
  await world.time.advance(100);
  await reading;
  return names;
}

/** Calls Bootstrap and goes away after a while. */
async function abandoned(world: TestWorld, afterMs: number): Promise<void> {
  const caller = new AbortController();
  const client = await world.client(address, "os:admin");
  const call = client.bootstrap({ signal: caller.signal }).catch((error: unknown) => error);
  await world.time.advance(afterMs);
  caller.abort();
  await call;
}

async function bootstrapped(world: TestWorld): Promise<unknown> {
  const client = await world.client(address, "os:admin");
  const call = client.bootstrap().catch((error: unknown) => error);
  await world.time.advance(2_000);
  return call;
}

const { callMs, etcdStopMs } = timings;
const steps = [
  { step: "etcd has been told to stop", afterMs: callMs / 2 },
  { step: "etcd stops", afterMs: etcdStopMs / 2 },
  { step: "etcd has stopped", afterMs: callMs / 2 + etcdStopMs + callMs / 2 },
];
for (const forMs of [1_000, 20_000])
  for (const { step, afterMs } of steps)
    test(`a Bootstrap whose caller goes when ${step} leaves etcd stopped without data, ${forMs === 1_000 ? "its image half pulled" : "its image there"}`, async () => {
      const world = await preparing("v1.13.9", forMs);
      await abandoned(world, afterMs);
      await world.time.advance(3_600_000);
      assert.deepEqual(etcd(world), { service: "Finished", message: "Service finished successfully", data: undefined });
      assert.deepEqual(await dataOf(world), ["."]);
      assert.equal(world.datacenter.etcdClusters().length, 0);
      assert.equal(await bootstrapped(world), undefined);
      await world.time.advance(60_000);
      assert.equal(etcd(world).service, "Running");
      assert.deepEqual(await dataOf(world), [".", "member"]);
      assert.equal(world.datacenter.etcdClusters().length, 1);
    });

test("a power cycle has the etcd prepare again that an abandoned Bootstrap stopped", async () => {
  const world = await preparing();
  await abandoned(world, etcdStopMs / 2);
  world.datacenter.machine(address).powerCycle();
  await world.time.advance(60_000);
  assert.equal(etcd(world).service, "Preparing");
});

test("before 1.13.6 an abandoned Bootstrap leaves etcd failed", async () => {
  for (const [version, state] of [
    ["v1.12.9", "Failed"],
    ["v1.13.5", "Failed"],
    ["v1.13.6", "Finished"],
    ["v1.14.0", "Finished"],
  ] as const) {
    const world = await preparing(version);
    await abandoned(world, etcdStopMs / 2);
    await world.time.advance(60_000);
    assert.equal(etcd(world).service, state, version);
  }
});

test("once it is answered a Bootstrap does without its caller: the image is pulled, etcd begins", async () => {
  const world = await preparing("v1.13.9", 1_000);
  await abandoned(world, etcdStopMs + 2 * callMs);
  assert.equal(etcd(world).service, "Preparing");
  await world.time.advance(60_000);
  assert.equal(etcd(world).service, "Running");
});

test("a second Bootstrap that is abandoned undoes a first one that was answered and has begun nothing yet", async () => {
  const world = await preparing("v1.13.9", 1_000);
  const first = await world.client(address, "os:admin");
  const call = first.bootstrap();
  await world.time.advance(1_000);
  await call;
  await abandoned(world, etcdStopMs / 2);
  await world.time.advance(60_000);
  assert.equal(etcd(world).service, "Finished");
  assert.equal(world.datacenter.etcdClusters().length, 0);
});

test("two Bootstraps at once both succeed, and begin one etcd; a late one is refused", async () => {
  const world = await preparing();
  const client = await world.client(address, "os:admin");
  const both = Promise.all([client.bootstrap(), client.bootstrap()]);
  await world.time.advance(2_000);
  await both;
  await world.time.advance(60_000);
  assert.equal(world.datacenter.etcdClusters().length, 1);
  const late = await bootstrapped(world);
  assert.ok(isTalosError(late, "ALREADY_EXISTS"));
});

test("the image of etcd is told once it is pulled", async () => {
  const world = await preparing("v1.13.9", 1_000);
  const images = async (): Promise<readonly string[]> => {
    const client = await world.client(address, "os:reader");
    const asked = client.imageList("system");
    await world.time.advance(100);
    return (await asked).map(({ name }) => name).filter((name) => name.includes("etcd:"));
  };
  assert.deepEqual(await images(), []);
  await world.time.advance(10_000);
  assert.deepEqual(await images(), ["registry.k8s.io/etcd:v3.6.12"]);
});

test("without discovery a control plane joins an etcd at the endpoint, and no other", async () => {
  for (const [host, discovery, joins] of [
    ["10.5.0.1", false, true],
    ["10.5.0.2", false, false],
    ["10.5.0.100", false, true],
    ["10.5.0.2", true, true],
  ] as const) {
    const machines = ["10.5.0.1", "10.5.0.2"].map((one) => ({ address: one }));
    const world = await createTestWorld(machines);
    const patched = { endpoint: `https://${host}:6443`, discovery };
    for (const one of machines) await world.apply(one.address, "controlplane", patched);
    await world.time.advance(10);
    await (await world.client("10.5.0.1", "os:admin")).bootstrap();
    await world.time.advance(1_000);
    const members = world.datacenter.etcdClusters()[0]?.members.length;
    assert.equal(members, joins ? 2 : 1, `${host} ${discovery ? "with" : "without"} discovery`);
  }
});
