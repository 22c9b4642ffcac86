import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import type { ClusterRecord } from "@talos-operator/api";
import { demoCluster, kinds, tell } from "./story.ts";
import { all, ask, cps, edit, failed, once, pending, ready as readyOf, settled, upgraded, withoutLeadership, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const one = "1".repeat(64);
const two = "2".repeat(64);
const factory = (schematic: string): string => `factory.talos.dev/metal-installer/${schematic}`;
const grub = all.map((address) => ({ address, hasGrub: true as const }));

/** `machine.install` as a patch of every machine; GRUB takes its arguments only where the image's are not asked for. */
const patch = (names: readonly string[]): object => ({
  configPatches: [{ machine: { install: { extraKernelArgs: names, grubUseUKICmdline: false } } }],
});

function ready(world: Story, machineSpec: object): Promise<number> {
  const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" as const };
  const cluster = demoCluster(cps, workers);
  const { controlPlane, worker } = cluster.spec ?? {};
  return readyOf(world, {
    ...cluster,
    spec: {
      controlPlane: { ...controlPlane, ...common, metalSpec: { ...controlPlane?.metalSpec, machineSpec } },
      worker: { ...worker, ...common, metalSpec: { ...worker?.metalSpec, machineSpec } },
    },
  });
}

const asks = (world: Story, names: readonly string[]): Promise<unknown> =>
  edit(world, Object.fromEntries(["controlPlane", "worker"].map((pool) => [pool, { metalSpec: { machineSpec: patch(names) } }])));

/** What GRUB was given on each machine, each once. */
const given = (world: Story): readonly string[] => [
  ...new Set(all.map((address) => (world.datacenter.machine(address).state.kernelArguments ?? ["those of the image"]).join(" "))),
];
const calls = (world: Story, sent: number): readonly string[] =>
  withoutLeadership(world.sent.slice(sent)).filter((call) => !/^(ApplyConfiguration|Apply|Keep|Try)/.test(call));
const told = (world: Story, says: RegExp, type = "UpgradePending"): Promise<void> =>
  world.until(`${type} says ${says.source}`, async () => says.test((await world.condition(kinds.controlPlane, type))?.message ?? ""), 600);
const order = ["10.5.0.2", "10.5.0.3", "10.5.0.1", ...workers];

describe("kernel arguments of the settings, with GRUB", () => {
  test("are not lost with another version: the call that gives the installer none is not used", () =>
    tell({ timings: demoTimings, machines: grub }, async (world) => {
      const sent = await ready(world, patch(["quiet", "isolcpus=2-3"]));
      assert.deepEqual(given(world), ["quiet isolcpus=2-3"]);
      await ask(world, "v1.13.10");
      await upgraded(world, "v1.13.10");
      assert.deepEqual(given(world), ["quiet isolcpus=2-3"]);
      assert.deepEqual(
        calls(world, sent),
        order.flatMap((address) => [`Pull ${address}`, `Upgrade ${address}`]),
      );
    }));

  test("act with an installation of what runs, once on each machine, one after the other", () =>
    tell({ timings: demoTimings, machines: grub }, async (world) => {
      const sent = await ready(world, { image: factory(one), ...patch(["quiet"]) });
      await asks(world, ["quiet", "isolcpus=2-3", "-pti"]);
      await told(world, /^Upgrading Talos v1\.13\.9 .*: \d of 4 done/);
      await world.until("all run them", async () => given(world).join() === "quiet isolcpus=2-3 -pti", 3_600);
      await settled(world);
      // Images are pulled while the settings still go from one machine to the next.
      assert.deepEqual(
        calls(world, sent).filter((call) => !call.startsWith("Pull")),
        order.map((address) => `Upgrade ${address}`),
      );
      await world.kill();
      await world.start();
      await world.time.advance(1_200_000);
      assert.equal(calls(world, sent).length, 2 * all.length);
      assert.equal(await pending(world), undefined);
      const { spec } = ((await world.get(kinds.record)) ?? {}) as unknown as ClusterRecord;
      assert.deepEqual([spec?.operations, spec?.quarantine, spec?.openControlPlaneIntent], [undefined, undefined, undefined]);
    }));

  test("that a machine does not show after its boot go to no other one", () =>
    tell({ timings: demoTimings, machines: grub }, async (world) => {
      const sent = await ready(world, { image: factory(one), ...patch(["quiet"]) });
      world.datacenter.setReleaseFault("v1.13.9", { installerExitCode: 3, machines: ["10.5.0.2"] });
      await asks(world, ["quiet", "isolcpus=2-3"]);
      await failed(world);
      await world.time.advance(1_800_000);
      assert.deepEqual(
        calls(world, sent).filter((call) => !call.startsWith("Pull")),
        ["Upgrade 10.5.0.2"],
      );
      assert.match((await pending(world))?.message ?? "", /it does not run the kernel arguments isolcpus after its boot/);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
    }));

  test("are not taken for another image: without one in the spec the image that runs has to be named", () =>
    tell({ timings: demoTimings, machines: grub }, async (world) => {
      const sent = await ready(world, { image: factory(one), ...patch(["quiet"]) });
      await ask(world, { image: null });
      await asks(world, ["quiet", "isolcpus=2-3"]);
      await told(world, /is next: .*it runs the schematic 1{12}.*Name its image/);
      await world.time.advance(600_000);
      assert.deepEqual(calls(world, sent), []);
    }));
});

test("kernel arguments of the settings do nothing where systemd-boot starts the machine: they are left out and named, and the rest of the edit is sent", () =>
  tell({ timings: demoTimings }, async (world) => {
    await ready(world, { image: factory(one), ...patch(["quiet"]) });
    await told(world, /quiet.*starts? from a UKI.*customization\.extraKernelArgs/, "ConfigUpToDate");
    const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };
    const install = { extraKernelArgs: ["quiet", "isolcpus=2-3"], grubUseUKICmdline: false };
    const configOf = (address: string): string => world.datacenter.machine(address).state.config.active ?? "";
    const patches = (configPatches: readonly object[]): object => ({ metalSpec: { machineSpec: { configPatches } } });
    const both = patches([{ machine: { install } }, label]);
    await edit(world, { controlPlane: both, worker: both });
    await world.until("sent", () => Promise.resolve(all.every((address) => configOf(address).includes("example.org/rack"))), 1_200);
    const says =
      /machine\.install\.extraKernelArgs\S* of TalosControlPlane demo is not sent \(.*starts from a UKI.*Other settings are sent\./;
    await told(world, says, "ConfigUpToDate");
    await world.time.advance(600_000);
    assert.ok(all.every((address) => !configOf(address).includes("isolcpus")));
    assert.match((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.message ?? "", says);
    const alone = patches([label]);
    await edit(world, { controlPlane: alone, worker: alone });
    await world.until("taken out", () => Promise.resolve(all.every((address) => !configOf(address).includes("quiet"))), 1_200);
    await world.until("up to date", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True", 600);
  }));

describe("kernel arguments of an image", () => {
  const lossy = async (world: Story): Promise<number> => {
    world.datacenter.setKernelArguments(one, ["net.ifnames=0", "siderolink.api=https://example.org?jointoken=s3cret"]);
    world.datacenter.setKernelArguments(two, ["net.ifnames=1"]);
    return ready(world, { image: factory(one) });
  };
  const allow = (world: Story): Promise<unknown> =>
    world.annotate(kinds.controlPlane, "talos-operator.dev/allow-kernel-argument-loss", "siderolink.api");
  const plain = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

  test("that another one is known to lack are not lost: nothing is sent, and the condition names them without their values", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await lossy(world);
      await ask(world, { image: factory(plain) });
      await told(
        world,
        /lacks the kernel arguments net\.ifnames, siderolink\.api, which run.*allow-kernel-argument-loss: net\.ifnames,siderolink\.api/,
      );
      assert.doesNotMatch((await pending(world))?.message ?? "", /s3cret/);
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/allow-kernel-argument-loss", "net.ifnames, siderolink.api");
      await world.until("moved", async () => world.datacenter.machine("10.5.0.1").state.schematic === plain, 3_600);
      await settled(world);
    }));

  test("that a machine lacks after its boot bring it back once, and nobody else gets the image; a value may change", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await lossy(world);
      await ask(world, { image: factory(two) });
      await failed(world);
      await world.time.advance(1_800_000);
      assert.deepEqual(calls(world, sent), [...once("10.5.0.2"), "Rollback 10.5.0.2"]);
      const message = (await pending(world))?.message ?? "";
      assert.match(message, /it lacks the kernel arguments siderolink\.api, which ran before/);
      assert.doesNotMatch(message, /s3cret/);
      await allow(world);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/lift-quarantine", "v1.13.9");
      await world.until("moved", async () => world.datacenter.machine("10.5.0.1").state.schematic === two, 3_600);
      await settled(world);
    }));
});
