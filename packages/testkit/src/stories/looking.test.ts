// How a cluster that is as it should be is looked at.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { withCalls, withUnary } from "../world/with-calls.ts";
import { demoCluster, kinds, tell } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

/** Notes which channels are open, and over which each machine was asked. */
function noted(real: TalosDialer, open: string[], asked: string[]): TalosDialer {
  return withCalls(real, ({ address, channel }) => {
    let isUsed = false;
    const note = (node: string | undefined): void => {
      if (!isUsed) open.push(address);
      isUsed = true;
      asked.push(`${address}>${node ?? address}`);
    };
    return {
      unary: (method, request, options) => {
        note(options.node);
        return channel.unary(method, request, options);
      },
      serverStream: (method, request, options) => {
        note(options.node);
        return channel.serverStream(method, request, options);
      },
      close: () => {
        if (isUsed) open.splice(open.indexOf(address), 1);
        isUsed = false;
        channel.close();
      },
    };
  });
}

test("a settled cluster is looked at over one connection, and a machine that does not show what it should is dialled", async () => {
  const open: string[] = [];
  const asked: string[] = [];
  await tell({ dialer: (real) => noted(real, open, asked) }, async (world) => {
    await world.start();
    await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
    await world.untilReady();
    await world.time.advance(180_000);
    asked.length = 0;
    await world.time.advance(120_000);
    assert.deepEqual(open, ["10.5.0.1"], "one connection");
    assert.deepEqual(new Set(asked), new Set([...cps, ...workers].map((address) => `10.5.0.1>${address}`)));

    world.datacenter.machine("10.5.0.5").powerOff();
    await world.until("the worker is dialled", () => Promise.resolve(asked.includes("10.5.0.5>10.5.0.5")), 120);
    world.datacenter.machine("10.5.0.5").powerOn();
    await world.untilReady(120);

    // While something is wrong with the cluster nothing is forwarded.
    await world.time.advance(180_000);
    world.datacenter.machine("10.5.0.1").powerOff();
    await world.until("the cluster is not ready", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False", 120);
    await world.time.advance(30_000);
    asked.length = 0;
    await world.time.advance(30_000);
    assert.ok(asked.length > 0 && asked.every((call) => /^(.*)>\1$/.test(call)), asked.join());

    world.datacenter.machine("10.5.0.1").powerOn();
    await world.untilReady(120);
    await world.time.advance(180_000);
    assert.deepEqual(open, ["10.5.0.1"], "one connection again");
  });
});

test("channels are closed when the cluster is settled, not one by one at the next looks", async () => {
  const open: string[] = [];
  let atFirstForwarded: readonly string[] | undefined;
  const dialer = (real: TalosDialer): TalosDialer =>
    withUnary(noted(real, open, []), ({ channel }) => (method, request, options) => {
      if (options.node !== undefined) atFirstForwarded ??= [...open];
      return channel.unary(method, request, options);
    });
  await tell({ dialer }, async (world) => {
    await world.start();
    await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
    await world.until("a look is forwarded", () => Promise.resolve(atFirstForwarded !== undefined), 120);
    assert.deepEqual(atFirstForwarded, []);
  });
});

test("what does not change is told once by a machine that comes back with the same key", async () => {
  const hardware: string[] = [];
  const dialer = (real: TalosDialer): TalosDialer =>
    withUnary(real, ({ address, channel }) => (method, request, options) => {
      if (options.node === undefined && JSON.stringify(request).includes("SystemInformation")) hardware.push(address);
      return channel.unary(method, request, options);
    });
  await tell({ dialer }, async (world) => {
    await world.start();
    await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
    await world.untilReady();
    await world.time.advance(180_000);
    const [, , , , last = ""] = [...cps, ...workers];
    hardware.length = 0;
    world.datacenter.machine(last).setConnected(false);
    await world.until("it is missed", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False", 120);
    world.datacenter.machine(last).setConnected(true);
    await world.untilReady(120);
    assert.deepEqual(
      hardware.filter((address) => address === last),
      [last],
    );
  });
});

/** Notes what the machine at an address is asked through another one: the kind of resource, or the call. */
function forwardedTo(address: string, asked: string[]): (real: TalosDialer) => TalosDialer {
  return (real) =>
    withUnary(real, ({ channel }) => (method, request, options) => {
      const type = /"type":"(\w+)/.exec(JSON.stringify(request))?.[1];
      if (options.node === address) asked.push(type ?? method.path.slice(method.path.lastIndexOf("/") + 1));
      return channel.unary(method, request, options);
    });
}

test("a settled control plane is asked for its own member alone, and for all members from time to time", async () => {
  const asked: string[] = [];
  await tell({ dialer: forwardedTo("10.5.0.2", asked) }, async (world) => {
    await world.start();
    await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
    await world.untilReady();
    // Two looks at least, the first of which asked for everything.
    await world.time.advance(121_000);
    asked.length = 0;
    await world.time.advance(61_000);
    assert.ok(asked.includes("EtcdStatus") && !asked.includes("EtcdMemberList"), asked.join());
    await world.time.advance(180_000);
    assert.ok(asked.includes("EtcdMemberList") && asked.includes("ServiceList"), "at least every four minutes");
  });
});

for (const lost of ["EtcdMemberList", "EtcdStatus"])
  test(`a single ${lost} that fails once the cluster is ready takes its readiness from no object`, async () => {
    let left = 0;
    let failed = 0;
    const isLost = (path: string): boolean => path.endsWith(`/${lost}`) && left > 0;
    const dialer = (real: TalosDialer): TalosDialer =>
      withUnary(real, ({ channel }) => (method, request, options) => {
        if (!isLost(method.path)) return channel.unary(method, request, options);
        left -= 1;
        failed += 1;
        return Promise.reject(Object.assign(new Error("context deadline exceeded"), { name: "TalosCallFailure" as const, code: 4 }));
      });
    await tell({ dialer }, async (world) => {
      await world.start();
      await world.client.resource(kinds.cluster).create(demoCluster(cps));
      await world.untilReady();
      const since = async (): Promise<string | undefined> => (await world.condition(kinds.controlPlane, "Ready"))?.lastTransitionTime;
      const readySince = await since();
      left = 1;
      await world.time.advance(300_000);
      assert.equal(failed, 1);
      assert.equal(await since(), readySince, "Ready changed");
      assert.equal((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status, "True");

      // A member that goes on failing is told.
      left = Number.POSITIVE_INFINITY;
      await world.until("it is told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "False", 300);
      left = 0;
      await world.untilReady(120);
    });
  });
