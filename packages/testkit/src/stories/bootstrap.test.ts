import assert from "node:assert/strict";
import { test } from "node:test";
import { realisticTimings } from "@talos-operator/simulator";
import type { KubeTransport, TalosDialer } from "@talos-operator/ports";
import { patchMachineConfig } from "@talos-operator/talos";
import { asAdmin } from "../simulate/as-admin.ts";
import { withUnary } from "../world/with-calls.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const [target = ""] = cps;

/** Machines at their own pace, which boot fast. */
const timings = {
  ...realisticTimings,
  callMs: 20,
  bootMs: 2_000,
  installMs: 2_000,
  shutdownMs: 500,
  kubeletMs: 2_000,
  staticPodsMs: 2_000,
};

const isBootstrap = (path: string): boolean => path.endsWith("/Bootstrap");

function etcdOf(world: Story, address = target): string | undefined {
  return world.datacenter.machine(address).state.services["etcd"]?.state;
}

function foundings(world: Story): number {
  return world.datacenter.etcdClusters().length;
}

async function make(world: Story): Promise<void> {
  await world.client.resource(kinds.cluster).create(demoCluster(cps));
  await world.start();
}

/** Lets `afterMs` pass since the first Bootstrap arrived at its machine. */
async function untilAsked(world: Story, afterMs: number): Promise<void> {
  const isAsked = (): boolean => world.sent.some((call) => call.startsWith("Bootstrap"));
  for (let step = 0; step < 30_000 && !isAsked(); step += 1) await world.time.advance(10);
  assert.ok(isAsked(), "nobody was asked");
  await world.time.advance(afterMs);
}

/** Moments of a Bootstrap under its call, counted from its arrival. */
const moments = [
  ["etcd is told to stop", 0],
  ["etcd stops", timings.etcdStopMs / 2],
  ["etcd has stopped", timings.etcdStopMs + timings.callMs / 2],
] as const;

for (const etcdPullMs of [6_000, 60_000, 0])
  for (const [moment, afterMs] of moments)
    test(`an operator that is killed when ${moment} leaves a cluster that the next one makes ready (image after ${etcdPullMs} ms)`, () =>
      tell({ timings: { ...timings, etcdPullMs } }, async (world) => {
        await make(world);
        await untilAsked(world, afterMs);
        await world.kill();
        await world.time.advance(60_000);
        assert.equal(etcdOf(world), "Finished", "the call died in the middle");
        await world.start();
        await world.untilReady(600);
        assert.equal(foundings(world), 1);
        assert.deepEqual(
          world.sent.filter((call) => call.startsWith("Bootstrap")).map((call) => call.split(" ")[1]),
          [target, target],
        );
      }));

test("a connection that breaks in the middle of a Bootstrap costs one more Bootstrap", () => {
  let isCut = false;
  const dialer = (real: TalosDialer): TalosDialer =>
    withUnary(real, ({ channel }) => (method, request, options) => {
      if (!isBootstrap(method.path) || isCut) return channel.unary(method, request, options);
      isCut = true;
      const cut = new AbortController();
      world?.time.timers.schedule(timings.etcdStopMs / 2, () => cut.abort());
      return channel.unary(method, request, { ...options, signal: cut.signal });
    });
  let world: Story | undefined;
  return tell({ timings, dialer }, async (told) => {
    world = told;
    await make(told);
    await told.untilReady(600);
    assert.equal(foundings(told), 1);
  });
});

/** A Bootstrap that takes three seconds, and an operator with a lease. */
const slow = { ...timings, etcdStopMs: 3_000 };
const leases = { leaderElection: { namespace: "default" } };

test("an operator that is told to stop lets end what it sent, and gives the lease back only then", () => {
  const seen: string[] = [];
  const kube = (real: KubeTransport): KubeTransport => ({
    ...real,
    send(request, options) {
      const holder = (request.body as { readonly spec?: { readonly holderIdentity?: string } } | undefined)?.spec?.holderIdentity;
      if (request.method === "PUT" && request.path.includes("/leases/") && holder === "") seen.push("lease released");
      return real.send(request, options);
    },
  });
  const dialer = (real: TalosDialer): TalosDialer =>
    withUnary(real, ({ channel }) => async (method, request, options) => {
      if (!isBootstrap(method.path)) return channel.unary(method, request, options);
      try {
        return await channel.unary(method, request, options);
      } finally {
        seen.push("bootstrap ended");
      }
    });
  return tell({ timings: slow, operator: leases, kube, dialer }, async (world) => {
    await make(world);
    await untilAsked(world, slow.etcdStopMs / 2);
    await world.stop();
    assert.deepEqual(seen, ["bootstrap ended", "lease released"]);
    assert.deepEqual(
      world.effects.filter((call) => call.startsWith("Bootstrap")),
      [`Bootstrap ${target}`],
    );
    await world.time.advance(60_000);
    assert.equal(etcdOf(world), "Running");
    await world.start();
    await world.untilReady(600);
    assert.equal(world.sent.filter((call) => call.startsWith("Bootstrap")).length, 1);
  });
});

test("without a lease a stop lets end what was sent as well", () =>
  tell({ timings: slow }, async (world) => {
    await make(world);
    await untilAsked(world, slow.etcdStopMs / 2);
    await world.stop();
    await world.time.advance(60_000);
    assert.equal(etcdOf(world), "Running");
  }));

test("the target is asked once etcd's image is there, and after 15 s all the same", async () => {
  for (const [etcdPullMs, leastMs, mostMs] of [
    [0, 0, 5_000],
    [6_000, 5_000, 9_000],
    [120_000, 14_000, 19_000],
  ] as const)
    await tell({ timings: { ...timings, etcdPullMs } }, async (world) => {
      await make(world);
      const isPreparing = (): boolean => cps.every((address) => etcdOf(world, address) === "Preparing");
      for (let step = 0; step < 6_000 && !isPreparing(); step += 1) await world.time.advance(50);
      const since = world.time.now();
      await untilAsked(world, 0);
      const waitedMs = world.time.now() - since;
      assert.ok(waitedMs >= leastMs && waitedMs <= mostMs, `${etcdPullMs} ms of pulling: asked after ${waitedMs} ms`);
    });
});

/** A cluster whose endpoint is its first control plane, which is off. */
async function makeWithoutDiscovery(world: Story): Promise<void> {
  world.datacenter.machine(target).powerOff();
  const pool = { machines: cps.map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda", airGap: true } };
  await world.client.resource(kinds.cluster).create(demoCluster(cps, [], { endpoint: `https://${target}:6443`, metalSpec: pool }));
  await world.start();
  await world.time.advance(300_000);
}

test("without discovery nobody is bootstrapped while the machine at the endpoint is silent, and it when it comes", () =>
  tell({}, async (world) => {
    await makeWithoutDiscovery(world);
    assert.deepEqual(
      world.sent.filter((call) => call.startsWith("Bootstrap")),
      [],
    );
    const ready = await world.condition(kinds.controlPlane, "Ready");
    assert.match(ready?.message ?? "", /demo-10\.5\.0\.1 .*only it is bootstrapped\. Start demo-10\.5\.0\.1, or switch discovery on/);
    world.datacenter.machine(target).powerOn();
    await world.untilReady();
    assert.deepEqual(
      world.effects.filter((call) => call.startsWith("Bootstrap")),
      [`Bootstrap ${target}`],
    );
  }));

/** `talosctl patch machineconfig` by a person. */
async function switchDiscoveryOn(world: Story, address: string): Promise<void> {
  const { active } = world.datacenter.machine(address).state.config;
  const config = patchMachineConfig(active ?? "", ["cluster: { discovery: { enabled: true } }"]);
  await asAdmin({ ...world, now: () => world.time.now() }, "demo-bundle-1", address, async (talos) => {
    await talos.applyConfiguration({ config, mode: "no-reboot" });
  });
}

test("without discovery, when it is switched on in spec and machines, the others are bootstrapped and the machine at the endpoint joins late", () =>
  tell({}, async (world) => {
    await makeWithoutDiscovery(world);
    const operations = [{ op: "replace", path: "/spec/controlPlane/metalSpec/machineSpec/airGap", value: false } as const];
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "json", operations });
    await world.time.advance(60_000);
    assert.deepEqual(
      world.sent.filter((call) => call.startsWith("Bootstrap")),
      [],
      "the machines run without it",
    );
    for (const address of cps.slice(1)) await switchDiscoveryOn(world, address);
    await world.until("bootstrapped", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
    await world.until("two members", async () => world.datacenter.etcdClusters()[0]?.members.length === 2);
    world.datacenter.machine(target).powerOn();
    await world.untilReady();
    assert.equal(foundings(world), 1);
  }));
