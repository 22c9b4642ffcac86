// A machine that goes away or boots by itself, in a cluster that is as it should be and is looked at seldom.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";
import { asPerson } from "./as-person.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const worker = "demo-10.5.0.5";

async function settled(world: Story): Promise<void> {
  await world.start();
  await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
  await world.untilReady();
  await world.time.advance(180_000);
}

const ready = async (world: Story, name: string): Promise<string | undefined> =>
  (await world.condition(kinds.machine, "Ready", name))?.status;

describe("a machine that loses power", () => {
  for (const { which, name, address } of [
    { which: "worker", name: worker, address: "10.5.0.5" },
    { which: "control plane", name: "demo-10.5.0.2", address: "10.5.0.2" },
    { which: "control plane that the others are looked at through", name: "demo-10.5.0.1", address: "10.5.0.1" },
  ])
    test(`is reported within 15 s, a ${which}`, () =>
      tell({}, async (world) => {
        await settled(world);
        for (const laterMs of [0, 1_700, 3_100, 23_000]) {
          await world.time.advance(laterMs);
          assert.equal(await ready(world, name), "True");
          const since = world.time.now();
          world.datacenter.machine(address).powerOff();
          await world.until("the machine is reported", async () => (await ready(world, name)) === "False", 15);
          const machine = await world.condition(kinds.machine, "Ready", name);
          assert.equal(machine?.reason, "MachineUnreachable");
          await world.until("so is its cluster", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False", 2);
          assert.ok(world.time.now() - since <= 15_000, `${world.time.now() - since} ms`);
          world.datacenter.machine(address).powerOn();
          await world.untilReady(120);
          await world.time.advance(180_000);
        }
      }));
});

test("a machine that does not come back from its installation is said to be unreachable by its own object, its pool and its cluster", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.4"]));
    await world.start();
    await world.untilReady();
    const lost = world.datacenter.machine("10.5.0.5");
    const stop = world.datacenter.onMachine((machine) => {
      if (machine.address === lost.address && machine.state.stage === "installing") lost.powerOff();
    });
    const metalSpec = { machines: [{ address: "10.5.0.4" }, { address: lost.address }] };
    const value = { spec: { worker: { metalSpec } } };
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.until("it installs", async () => (await world.condition(kinds.machine, "Ready", worker))?.reason === "Configuring");
    // Ten minutes, the pause between two looks at what is silent, and the pauses between statuses.
    await world.time.advance(12 * 60_000);
    stop();
    assert.equal((await world.condition(kinds.machine, "Ready", worker))?.reason, "MachineUnreachable");
    for (const type of [kinds.worker, kinds.cluster]) {
      const { message = "" } = (await world.condition(type, "Ready")) ?? {};
      assert.match(message, /demo-10\.5\.0\.5: No answer from 10\.5\.0\.5:50000/, type.kind);
    }
  }));

const versionOf = async (world: Story, name: string): Promise<unknown> => {
  const status: Readonly<Record<string, unknown>> | undefined = (await world.get(kinds.machine, name))?.status;
  return status?.["observedVersion"];
};

/** A connection that never tells that anything happened. */
function untilReleased(signal: AbortSignal): Promise<"released"> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("released"), { once: true }));
}

/** Boots into another Talos, as `talosctl upgrade` does it. */
async function upgrade(world: Story, address: string): Promise<void> {
  const image = "ghcr.io/siderolabs/installer:v1.13.8";
  await asPerson(world, address, (client) => client.upgrade({ image, preserve: true }, { timeoutMs: 60_000 }));
  await world.until("it is back", async () => world.datacenter.machine(address).state.stage === "running", 300);
}

for (const [address, name] of [
  ["10.5.0.5", worker],
  ["10.5.0.3", "demo-10.5.0.3"],
] as const)
  test(`what boots into another Talos between two looks says so within a minute: ${address}`, () =>
    // Nobody finds the machine away.
    tell({ dialer: (real) => ({ ...real, hold: (_target, { signal }) => untilReleased(signal) }) }, async (world) => {
      await settled(world);
      assert.equal(await versionOf(world, name), "v1.13.9");
      await upgrade(world, address);
      await world.until("its version is known", async () => (await versionOf(world, name)) === "v1.13.8", 60);
    }));

/** Machines whose connections can be cut without a word to the machine; how many are held; who was looked at and when. */
function cuttable(lost: { answers: number }) {
  const looks: number[] = [];
  const held = new Map<string, () => void>();
  let now = (): number => 0;
  let holds = 0;
  let calls = 0;
  const dialer = (real: TalosDialer): TalosDialer => ({
    ...withUnary(real, ({ channel }) => (method, request, options) => {
      calls += 1;
      if (options.node === "10.5.0.5") looks.push(now());
      return channel.unary(method, request, options);
    }),
    hold: (target, options) => {
      holds += 1;
      const cut = new Promise<"closed">((resolve) => held.set(target.address, () => resolve("closed")));
      return Promise.race([cut, real.hold(target, options)]);
    },
    reaches: (target, timeoutMs) => {
      if (target.address !== "10.5.0.5" || lost.answers === 0) return real.reaches(target, timeoutMs);
      lost.answers -= 1;
      return Promise.resolve(false);
    },
  });
  return {
    dialer,
    looks,
    cut: (address: string) => held.get(address)?.(),
    counted: () => ({ holds, calls }),
    by: (world: Story) => void (now = () => world.time.now()),
  };
}

test("a machine that ended its connection is looked at at once", () => {
  const { dialer, looks, cut, by } = cuttable({ answers: 0 });
  return tell({ dialer }, async (world) => {
    by(world);
    await settled(world);
    await world.until("it was just looked at", () => Promise.resolve((looks.at(-1) ?? 0) > world.time.now() - 1_000), 120);
    const since = world.time.now();
    cut("10.5.0.5");
    await world.until("it is looked at", () => Promise.resolve((looks.at(-1) ?? 0) > since), 2);
  });
});

for (const answers of [0, 1, 2, 8])
  test(`a connection that ends, and ${answers} more in a row that are not taken, report nothing while the machine answers`, () => {
    const lost = { answers: 0 };
    const { dialer, cut } = cuttable(lost);
    return tell({ dialer }, async (world) => {
      await settled(world);
      const writes = world.writes.length;
      lost.answers = answers;
      cut("10.5.0.5");
      await world.time.advance(120_000);
      assert.equal(lost.answers, 0);
      assert.deepEqual(world.writes.slice(writes), []);
    });
  });

test("a network that is lost for five seconds reports nothing", () =>
  tell({}, async (world) => {
    await settled(world);
    const writes = world.writes.length;
    for (let times = 0; times < 10; times += 1) {
      world.datacenter.machine("10.5.0.4").setConnected(false);
      await world.time.advance(5_000);
      world.datacenter.machine("10.5.0.4").setConnected(true);
      await world.time.advance(31_300);
    }
    assert.deepEqual(world.writes.slice(writes), []);
  }));

test("settled machines cost no more calls than with looks every 30 to 60 s, and a connection every two minutes", () => {
  const { dialer, counted } = cuttable({ answers: 0 });
  return tell({ dialer }, async (world) => {
    await settled(world);
    const before = counted();
    await world.time.advance(3_600_000);
    const minutes = 60 * (cps.length + workers.length);
    const [calls, holds] = [(counted().calls - before.calls) / minutes, (counted().holds - before.holds) / minutes];
    assert.ok(calls < 2.9, `${calls} calls of a machine in a minute`);
    assert.ok(holds > 0.4 && holds < 0.6, `${holds} connections of a machine in a minute`);
  });
});

test("a machine that does not answer says since when, and another process says the same", () =>
  tell({}, async (world) => {
    await settled(world);
    const off = world.time.now();
    world.datacenter.machine("10.5.0.5").powerOff();
    const told = async (): Promise<string> => (await world.condition(kinds.machine, "Reachable", worker))?.message ?? "";
    await world.until("it is told", async () => (await told()).startsWith("No answer since "), 15);
    const sinceMs = async (): Promise<number> => Date.parse(/since (\S+):/.exec(await told())?.[1] ?? "");
    const before = await sinceMs();
    assert.ok(before >= off - 1_000 && before <= off + 15_000, await told());
    await world.time.advance(600_000);
    assert.equal(await sinceMs(), before);
    await world.start();
    await world.time.advance(60_000);
    assert.ok((await sinceMs()) - before < 10_000, await told());
  }));
