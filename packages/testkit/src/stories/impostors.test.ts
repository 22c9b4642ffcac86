import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { apply, assertOnlyWorkersTrouble, assertQuiet, assertStoppedBy, configureForeign } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const worker = "10.5.0.4";
/** A machine that no document names. */
const stranger = "10.5.0.6";

async function begin(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(cps, [worker]));
  await world.start();
}

async function ready(world: Story): Promise<void> {
  await begin(world);
  await world.untilReady();
  await world.time.advance(5_000);
}

/** The records of a machine do not change while it is stopped: nothing is lost, nothing is learned from an impostor. */
async function recordOf(world: Story): Promise<unknown> {
  return (await world.get(kinds.record))?.spec;
}

describe("what answers in the place of a configured machine", () => {
  for (const { role, address, says } of [
    { role: "control plane", address: "10.5.0.2", says: kinds.controlPlane },
    { role: "worker", address: worker, says: kinds.worker },
  ]) {
    test(`IN57: presents a foreign certificate as ${role}: never a weaker connection, nothing sent, and well again when it is gone`, () =>
      tell({}, async (world) => {
        await ready(world);
        await configureForeign(world, stranger);
        const record = await recordOf(world);
        const sent = world.sent.length;
        world.reroute(address, stranger);
        world.datacenter.machine(address).powerOff();
        const wanted = { reason: "IdentityMismatch", says: /10\.5\.0\.\d.*certificate.*Nothing is sent to it/, name: `demo-${address}` };
        await world.until(
          "stopped",
          async () => (await world.condition(kinds.machine, "Ready", wanted.name))?.reason === wanted.reason,
          120,
        );
        await assertStoppedBy(world, says, { ...wanted, name: "demo" });
        if (says === kinds.worker) await assertOnlyWorkersTrouble(world, wanted.reason);
        assert.equal(world.sent.length, sent);
        assert.deepEqual(await recordOf(world), record);
        world.reroute(address, undefined);
        world.datacenter.machine(address).powerOn();
        await world.untilReady();
        assert.equal(world.sent.length, sent);
      }));

    test(`IN61: waits in maintenance mode as ${role}: nothing sent without a person's word, and well again when it is gone`, () =>
      tell({}, async (world) => {
        await ready(world);
        const record = await recordOf(world);
        const sent = world.sent.length;
        world.reroute(address, stranger);
        await assertStoppedBy(world, says, {
          reason: "MaintenanceUnexpected",
          says: /10\.5\.0\.\d.*approve-reprovision: [0-9a-f-]{36}/,
        });
        if (says === kinds.worker) await assertOnlyWorkersTrouble(world, "MaintenanceUnexpected");
        assert.equal(world.sent.length, sent);
        assert.deepEqual(await recordOf(world), record);
        world.reroute(address, undefined);
        await world.untilReady();
        assert.equal(world.sent.length, sent);
      }));
  }

  test("belonged to another cluster from the start: named with the remedy, and not touched", () =>
    tell({}, async (world) => {
      await world.time.advance(1_000);
      await configureForeign(world, "10.5.0.3");
      await begin(world);
      await assertStoppedBy(world, kinds.controlPlane, { reason: "ForeignCluster", says: /10\.5\.0\.3.*Reset it into maintenance mode/ });
      assert.ok(!world.sent.some((call) => call.startsWith("Bootstrap")));
      assert.equal(world.sent.filter((call) => call.endsWith("10.5.0.3")).length, 1, "only what made it foreign");
    }));
});

describe("the key that was written down", () => {
  /** Between the look that pinned the key and the connection that sends, another machine takes the address. */
  function swapsAtSend(address: string, swap: () => void): (real: TalosDialer) => TalosDialer {
    return (real) => ({
      dial(target, credentials) {
        if (target.address === address && credentials.kind === "maintenance" && credentials.expectedSpki !== undefined) swap();
        return real.dial(target, credentials);
      },
      reaches: (target, timeoutMs) => real.reaches(target, timeoutMs),
      hold: (target, options) => real.hold(target, options),
    });
  }

  test("IN56: is demanded at the send: a machine that took the address meanwhile gets no byte of the configuration", () => {
    let isSwapped = false;
    let world: Story | undefined;
    const swap = (): void => {
      isSwapped = true;
      world?.reroute("10.5.0.2", stranger);
    };
    return tell({ dialer: swapsAtSend("10.5.0.2", swap) }, async (told) => {
      world = told;
      await begin(told);
      await assertStoppedBy(told, kinds.controlPlane, {
        reason: "MaintenanceUnexpected",
        says: /10\.5\.0\.2.*another key.*Nothing is sent/,
      });
      assert.ok(isSwapped);
      assert.deepEqual(
        told.sent.filter((call) => call.includes("10.5.0.2") || call.includes(stranger)),
        [],
      );
      assert.ok(!told.sent.some((call) => call.startsWith("Bootstrap")));
    });
  });

  test("IN54: of one machine at two addresses is noticed: neither entry is taken for a second machine", () =>
    tell({}, async (world) => {
      world.reroute("10.5.0.3", "10.5.0.2");
      await begin(world);
      await world.until("MachineInUse", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "MachineInUse");
      assert.match((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /10\.5\.0\.[23].*Remove one of the two entries/);
      await world.time.advance(60_000);
      await assertQuiet(world);
      assert.equal(world.datacenter.etcdClusters().length, 1);
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "False");
      const { readyMachines, wantedMachines } = ((await world.get(kinds.controlPlane))?.status ?? {}) as Record<string, number>;
      assert.deepEqual([readyMachines, wantedMachines], [2, 3], "one machine is counted once");
    }));
});

test("a control plane that never answers is waited for by name, and the others go on without it", () =>
  tell({}, async (world) => {
    world.datacenter.machine("10.5.0.3").setConnected(false);
    await begin(world);
    // It was never configured, so it cannot hold etcd data of this cluster.
    await assertStoppedBy(world, kinds.controlPlane, {
      reason: "WaitingForMachines",
      says: /demo-10\.5\.0\.3 \((unreachable|no answer in time)\)/,
    });
    assert.deepEqual([...world.sent].toSorted(), [
      "ApplyConfiguration 10.5.0.1",
      "ApplyConfiguration 10.5.0.2",
      "ApplyConfiguration 10.5.0.4",
      "Bootstrap 10.5.0.1",
    ]);
    world.datacenter.machine("10.5.0.3").setConnected(true);
    await world.untilReady();
  }));

test("a control plane that was configured and falls silent before etcd is bootstrapped forbids the bootstrap", () =>
  tell({}, async (world) => {
    const silence = world.datacenter.inject({ machine: "10.5.0.3", method: "ServiceList", effect: { kind: "silent" } });
    await begin(world);
    await world.until("applied", async () => world.effects.includes("ApplyConfiguration 10.5.0.3"));
    world.datacenter.machine("10.5.0.3").setConnected(false);
    silence.remove();
    await world.time.advance(11 * 60_000);
    assert.equal((await world.condition(kinds.controlPlane, "Bootstrapped"))?.reason, "ControlPlaneUnreachable");
    await assertQuiet(world);
    assert.ok(!world.sent.some((call) => call.startsWith("Bootstrap")));
    world.datacenter.machine("10.5.0.3").setConnected(true);
    await world.untilReady();
    assert.equal(world.sent.filter((call) => call.startsWith("Bootstrap")).length, 1);
  }));
