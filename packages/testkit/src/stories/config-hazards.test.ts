import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const workers = ["10.5.0.2", "10.5.0.3"];
const accept = "talos-operator.dev/accept-hazard";
/** Shuts everybody out of the Talos API, at once. */
const closed = { apiVersion: "v1alpha1", kind: "NetworkDefaultActionConfig", ingress: "block" };
/** In force after a boot only. */
const needsBoot = { machine: { env: { NO_PROXY: "example.org" } } };
const label = (value: string): object => ({ machine: { nodeLabels: { "example.org/rack": value } } });

const conditionOf = (world: Story, kind: typeof kinds.worker): ReturnType<Story["condition"]> => world.condition(kind, "ConfigUpToDate");
const bootsOf = (world: Story): readonly number[] => workers.map((address) => world.datacenter.machine(address).state.bootCount);
const answers = (world: Story): readonly boolean[] =>
  workers.map((address) => !(world.datacenter.machine(address).state.config.active ?? "").includes("NetworkDefaultAction"));

async function edited(world: Story, ...configPatches: object[]): Promise<void> {
  const value = { spec: { worker: { metalSpec: { machineSpec: { configPatches } } } } };
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
}

async function settled(world: Story, made = demoCluster(["10.5.0.1"], workers)): Promise<void> {
  await apply(world, kinds.cluster, made);
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await conditionOf(world, kinds.controlPlane))?.status === "True");
  await world.time.advance(5_000);
}

const untilHeld = (world: Story): Promise<void> =>
  world.until("held back", async () => (await conditionOf(world, kinds.worker))?.reason === "HazardFound", 60);

describe("a change that shuts everybody out of running machines", () => {
  test("is sent to none of them, beside what needs a boot either, and says how it is released", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await edited(world, closed, needsBoot);
      await untilHeld(world);
      await world.time.advance(600_000);
      assert.deepEqual(world.sent.slice(sent), []);
      const { message = "" } = (await conditionOf(world, kinds.worker)) ?? {};
      assert.match(
        message,
        /^TALOS_API_BLOCKED holds back the settings of demo-10\.5\.0\.2, demo-10\.5\.0\.3\. NetworkDefaultActionConfig ingress: /,
      );
      assert.match(message, /annotate TalosWorker demo with talos-operator\.dev\/accept-hazard: TALOS_API_BLOCKED\.$/);
      assert.ok(message.length <= 340, `${message.length} characters`);
      assert.equal((await world.condition(kinds.cluster, "Stalled"))?.status, "True");
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
      await assertQuiet(world);
      await edited(world, needsBoot);
      await world.until("changed", async () => (await conditionOf(world, kinds.controlPlane))?.reason === "UpToDate", 900);
    }));

  test("that a person accepted is tried before the boot that would keep it, and taken back", () =>
    tell({}, async (world) => {
      await settled(world);
      const [sent, boots] = [world.sent.length, bootsOf(world)];
      await edited(world, closed, needsBoot);
      await untilHeld(world);
      await world.annotate(kinds.worker, accept, "TALOS_API_BLOCKED");
      await world.until("stopped", async () => (await conditionOf(world, kinds.worker))?.reason === "RolloutStopped", 600);
      await world.time.advance(600_000);
      assert.deepEqual(world.sent.slice(sent), ["ApplyConfiguration 10.5.0.2"]);
      assert.deepEqual(bootsOf(world), boots);
      assert.deepEqual(answers(world), [true, true]);
      assert.equal((await world.get(kinds.worker))?.metadata?.annotations?.[accept], undefined);
    }));

  test("that is edited after it was accepted is asked for anew", () =>
    tell({}, async (world) => {
      await settled(world);
      await edited(world, closed, needsBoot);
      await untilHeld(world);
      await world.annotate(kinds.worker, accept, "TALOS_API_BLOCKED");
      await world.until("stopped", async () => (await conditionOf(world, kinds.worker))?.reason === "RolloutStopped", 600);
      const sent = world.sent.length;
      await edited(world, closed, needsBoot, label("r1"));
      await untilHeld(world);
      await world.time.advance(300_000);
      assert.deepEqual(world.sent.slice(sent), []);
    }));

  test("stays held back by a word that names another hazard, which is answered", () =>
    tell({}, async (world) => {
      await settled(world);
      await edited(world, closed);
      await untilHeld(world);
      const sent = world.sent.length;
      await world.annotate(kinds.worker, accept, "CLUSTER_SUBNETS_OVERLAP");
      await world.until("answered", async () => (await world.get(kinds.worker))?.metadata?.annotations?.[accept] === undefined, 60);
      await world.time.advance(60_000);
      assert.deepEqual(world.sent.slice(sent), []);
    }));
});

describe("a change that takes away what leads to a running machine", () => {
  const fixed = {
    machine: {
      network: {
        interfaces: [{ interface: "eth0", addresses: ["10.5.0.2/24"], routes: [{ network: "0.0.0.0/0", gateway: "10.5.0.254" }] }],
      },
    },
  };

  test("is not sent, beside what needs a boot either; with address and route in it the edit is", () =>
    tell({}, async (world) => {
      const made = demoCluster(["10.5.0.1"], ["10.5.0.2"]);
      Object.assign(made.spec?.worker?.metalSpec?.machineSpec ?? {}, { configPatches: [fixed] });
      await settled(world, made);
      const [sent, boots] = [world.sent.length, world.datacenter.machine("10.5.0.2").state.bootCount];
      await edited(world, needsBoot);
      await untilHeld(world);
      await world.time.advance(600_000);
      assert.deepEqual(world.sent.slice(sent), []);
      assert.match(
        (await conditionOf(world, kinds.worker))?.message ?? "",
        /^ADDRESS_REMOVED, ROUTE_REMOVED hold back the settings of demo-10\.5\.0\.2\. machine\.network\.interfaces\[0\]\.addresses\[0\]: the address 10\.5\.0\.2 goes away, /,
      );
      await edited(world, fixed, needsBoot);
      await world.until("booted", async () => world.datacenter.machine("10.5.0.2").state.bootCount > boots, 900);
    }));
});

test("what needs no boot is tried and kept before the boot that the rest needs", () =>
  tell({}, async (world) => {
    await settled(world);
    const [sent, boots] = [world.sent.length, bootsOf(world)];
    await edited(world, label("r1"), needsBoot);
    await world.time.advance(1_000);
    await world.until("changed", async () => (await conditionOf(world, kinds.controlPlane))?.reason === "UpToDate", 900);
    const each = (address: string): readonly string[] => [...Array<string>(3).fill(`ApplyConfiguration ${address}`), `Reboot ${address}`];
    assert.deepEqual(world.sent.slice(sent), workers.flatMap(each));
    assert.deepEqual(
      bootsOf(world),
      boots.map((count) => count + 1),
    );
    for (const address of workers)
      assert.match(world.datacenter.machine(address).state.config.active ?? "", /NO_PROXY[^]*rack: r1|rack: r1[^]*NO_PROXY/);
    await world.time.advance(60_000);
    await assertQuiet(world);
  }));
