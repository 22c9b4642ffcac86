import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import type { ClusterRecord } from "@talos-operator/api";
import type { ReleaseFault } from "@talos-operator/simulator";
import { demoCluster, kinds, tell } from "./story.ts";
import { all, ask, cps, failed, killed, once, pending, ready as readyOf, settled, withoutLeadership, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const one = "1".repeat(64);
const two = "2".repeat(64);
const factory = (schematic: string): string => `factory.talos.dev/metal-installer/${schematic}`;

/** @param image of every machine; absent = the installer of Talos itself */
function ready(world: Story, image?: string, over: object = {}): Promise<number> {
  const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" as const, ...over };
  const cluster = demoCluster(cps, workers);
  const { controlPlane, worker } = cluster.spec ?? {};
  const machineSpec = image === undefined ? {} : { image };
  return readyOf(world, {
    ...cluster,
    spec: {
      controlPlane: { ...controlPlane, ...common, metalSpec: { ...controlPlane?.metalSpec, machineSpec } },
      worker: { ...worker, ...common, metalSpec: { ...worker?.metalSpec, machineSpec } },
    },
  });
}

const runs = (world: Story, addresses = all): readonly string[] => [
  ...new Set(
    addresses.map((address) => {
      const { hardware, schematic = "none" } = world.datacenter.machine(address).state;
      return `${hardware.talosVersion} ${schematic.slice(0, 4)}`;
    }),
  ),
];
const record = async (world: Story): Promise<ClusterRecord | undefined> =>
  (await world.get(kinds.record)) as unknown as ClusterRecord | undefined;
async function upgraded(world: Story, build: string, seconds = 3_600): Promise<void> {
  await world.until(`all run ${build}`, async () => runs(world).join("; ") === build, seconds);
  await settled(world);
}

describe("another image of the Talos that runs", () => {
  test("goes to one machine after the other as another version does, once, and nothing is sent for what runs", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, factory(one));
      assert.deepEqual(runs(world), ["v1.13.9 1111"]);
      await ask(world, { image: factory(two) });
      await world.until("told", async () => (await pending(world))?.reason === "Upgrading", 120);
      assert.match((await pending(world))?.message ?? "", /^Upgrading Talos v1\.13\.9 to another image: 0 of 4 done, demo-10\.5\.0\.2 /);
      await upgraded(world, "v1.13.9 2222");
      const order = ["10.5.0.2", "10.5.0.3", "10.5.0.1", ...workers];
      assert.deepEqual(
        withoutLeadership(world.sent.slice(sent)),
        order.flatMap((address) => once(address)),
      );
      await world.time.advance(1_200_000);
      assert.equal(world.sent.length, sent + 3 * all.length + 1);
      assert.equal(await pending(world), undefined);
      const { spec } = (await record(world)) ?? {};
      assert.deepEqual([spec?.operations, spec?.quarantine, spec?.openControlPlaneIntent], [undefined, undefined, undefined]);
    }));

  test("comes with another version in one go, and through a minor between with the last hop", () =>
    tell({ timings: demoTimings, machines: all.map((address) => ({ address, talosVersion: "v1.12.11" })) }, async (world) => {
      await ready(world, factory(one), { version: "v1.12.11", kubeVersion: "v1.35.4" });
      const between = new Set<string>();
      await ask(world, { version: "v1.14.0", image: factory(two) });
      await world.until(
        "all run both",
        async () => {
          for (const build of runs(world)) between.add(build);
          return runs(world).join("; ") === "v1.14.0 2222";
        },
        7_200,
      );
      await settled(world);
      assert.deepEqual([...between].toSorted(), ["v1.12.11 1111", "v1.13.9 1111", "v1.14.0 2222"]);
    }));

  test("of the same schematic from another registry, or of Talos itself by another name, is no other image", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, factory(one));
      await ask(world, { image: `registry.example.org/factory/installer/${one}` });
      await world.time.advance(300_000);
      assert.equal(world.sent.length, sent);
      assert.equal(await pending(world), undefined);
    }));

  for (const [everyMs, times] of [
    [3_000, 15],
    [17_000, 5],
  ] as const)
    test(`is installed once on each machine by an operator that dies every ${everyMs / 1000} s`, () =>
      tell({ timings: demoTimings }, async (world) => {
        const sent = await ready(world, factory(one));
        await ask(world, { image: factory(two) });
        await killed(world, everyMs, times);
        await upgraded(world, "v1.13.9 2222", 4 * 3_600);
        const calls = world.sent.slice(sent);
        for (const address of all) {
          const own = calls.filter((call) => call === `Upgrade ${address}` || call === `Reboot ${address}`);
          assert.deepEqual(own, [`Upgrade ${address}`, `Reboot ${address}`], calls.join(", "));
        }
      }));

  test("taken back between installation and boot is never booted", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, factory(one));
      await ask(world, { image: factory(two) });
      await world.until("installing", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
      await world.kill();
      await world.time.advance(30_000);
      await ask(world, { image: factory(one) });
      await world.start();
      await settled(world);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Rollback 10.5.0.2"]);
      assert.deepEqual(runs(world), ["v1.13.9 1111"]);
    }));

  for (const image of [null, "ghcr.io/siderolabs/installer"])
    test(`that is not named any more (${image}) leaves machines with the one that they run, which is said with the way off it`, () =>
      tell({ timings: demoTimings }, async (world) => {
        const sent = await ready(world, factory(one));
        await ask(world, { image });
        await world.until(
          "told",
          async () => {
            const { message = "" } = (await world.condition(kinds.controlPlane, "ConfigUpToDate")) ?? {};
            return /machines stay with the schematic that they run: 1{64} \(.*to leave it, name that of the schematic 3765/.test(message);
          },
          300,
        );
        await world.time.advance(600_000);
        assert.equal(world.sent.length, sent);
        assert.equal(await pending(world), undefined);
        // A version is another matter: extensions would be gone with it.
        await ask(world, "v1.13.10");
        await world.until(
          "told",
          async () => /what the schematic 1{64} brings.*3765.*holds nothing/.test((await pending(world))?.message ?? ""),
          300,
        );
        await ask(world, { image: factory("376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba") });
        await upgraded(world, "v1.13.10 3765");
        assert.doesNotMatch((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.message ?? "", /stay with the schematic/);
      }));

  test("whose name shows no schematic is not sent alone", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, { image: "registry.example.org/own/installer" });
      await world.until("told", async () => (await pending(world))?.reason === "ImageDiffers", 120);
      assert.match((await pending(world))?.message ?? "", /comes with the next version, or alone where its name shows its schematic/);
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
    }));

  test("whose name shows no schematic comes with a version, and nothing is said of it after that, also by who knows nothing but the record", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, { image: "registry.example.org/own/installer", version: "v1.13.10" });
      await world.until("all run it", async () => runs(world).every((build) => build.startsWith("v1.13.10")), 3_600);
      await settled(world);
      assert.equal(await pending(world), undefined);
      await world.kill();
      await world.start();
      await world.time.advance(300_000);
      assert.equal(await pending(world), undefined);
      assert.equal((await world.condition(kinds.controlPlane, "Stalled"))?.status ?? "False", "False");
      // Another one is another one.
      await ask(world, { image: "registry.example.org/other/installer" });
      await world.until("told", async () => (await pending(world))?.reason === "ImageDiffers", 120);
    }));
});

describe("an image that does not work", () => {
  const broken = (world: Story, fault: ReleaseFault): void => world.datacenter.setReleaseFault("v1.13.9", { ...fault, schematic: two });

  for (const [what, fault, calls] of [
    ["boots and never gets well is rolled back once", { boot: "never-healthy" }, [...once("10.5.0.2"), "Rollback 10.5.0.2"]],
    ["falls back by itself gets no further call", { boot: "fails" }, once("10.5.0.2")],
    ["is not installed stops the run", { installerExitCode: 3 }, ["Pull 10.5.0.2", "Upgrade 10.5.0.2"]],
  ] as const)
    test(`one that ${what}; the image is in quarantine, and not the version that runs`, () =>
      tell({ timings: demoTimings }, async (world) => {
        const sent = await ready(world, factory(one));
        broken(world, fault);
        await ask(world, { image: factory(two) });
        await failed(world);
        await world.time.advance(1_800_000);
        assert.deepEqual(world.sent.slice(sent), calls);
        assert.deepEqual(runs(world), ["v1.13.9 1111"]);
        assert.deepEqual(
          (await record(world))?.spec.quarantine?.map(({ version, schematic, machine }) => [version, schematic, machine]),
          [["v1.13.9", two, "demo-10.5.0.2"]],
        );
        assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
        assert.match((await pending(world))?.message ?? "", /Talos v1\.13\.9 of the schematic 222222222222 failed on demo-10\.5\.0\.2/);
      }));

  test("one that failed holds up no other image of the version, and goes its way once a person says so", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, factory(one));
      broken(world, { boot: "fails" });
      await ask(world, { image: factory(two) });
      await failed(world);
      await ask(world, { image: factory("3".repeat(64)) });
      await upgraded(world, "v1.13.9 3333");
      await ask(world, { image: factory(two) });
      await failed(world);
      world.datacenter.setReleaseFault("v1.13.9", undefined);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/lift-quarantine", "v1.13.9");
      await upgraded(world, "v1.13.9 2222");
    }));

  test("a version that failed is in quarantine in every image", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, factory(one));
      world.datacenter.setReleaseFault("v1.13.10", { boot: "fails" });
      await ask(world, { version: "v1.13.10", image: factory(two) });
      await failed(world);
      await ask(world, { image: factory(one) });
      await world.time.advance(600_000);
      assert.equal((await pending(world))?.reason, "VersionFailed");
      assert.deepEqual(world.sent.slice(sent), once("10.5.0.2"));
    }));
});

describe("extensions", () => {
  const lossy = async (world: Story): Promise<number> => {
    world.datacenter.setExtensions(one, ["iscsi-tools", "qemu-guest-agent"]);
    world.datacenter.setExtensions(two, ["qemu-guest-agent"]);
    return ready(world, factory(one));
  };

  test("that the image that is asked for is known to lack are not lost: nothing is sent, and the condition names them", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await lossy(world);
      await ask(world, { image: "factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba" });
      const says =
        /lacks the extensions iscsi-tools, qemu-guest-agent, which run \(demo-10\.5\.0\.1, .*allow-extension-loss: iscsi-tools,qemu-guest-agent/;
      await world.until("told", async () => says.test((await pending(world))?.message ?? ""), 300);
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/allow-extension-loss", "iscsi-tools, qemu-guest-agent");
      await upgraded(world, "v1.13.9 3765");
    }));

  test("that a machine lacks after its boot bring it back to the image of before, once, and nobody else gets it", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await lossy(world);
      await ask(world, { image: factory(two) });
      await failed(world);
      await world.time.advance(1_800_000);
      assert.deepEqual(world.sent.slice(sent), [...once("10.5.0.2"), "Rollback 10.5.0.2"]);
      assert.deepEqual(runs(world), ["v1.13.9 1111"]);
      assert.match(
        (await pending(world))?.message ?? "",
        /it lacks the extensions iscsi-tools, which ran before: name an image that has them/,
      );
      // An image that has them is another one, and goes its way.
      world.datacenter.setExtensions("3".repeat(64), ["iscsi-tools", "qemu-guest-agent", "util-linux-tools"]);
      await ask(world, { image: factory("3".repeat(64)) });
      await upgraded(world, "v1.13.9 3333");
    }));

  test("that a person lets go are let go", () =>
    tell({ timings: demoTimings }, async (world) => {
      await lossy(world);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/allow-extension-loss", "iscsi-tools");
      await ask(world, { image: factory(two) });
      await upgraded(world, "v1.13.9 2222");
    }));

  test("that come to be lacked with another version put that image of it in quarantine, and no other one", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await lossy(world);
      await ask(world, { version: "v1.13.10", image: factory(two) });
      // Nobody showed what is in it: only a boot tells.
      await world.until("stopped", async () => (await pending(world))?.reason === "VersionFailed", 3_600);
      await world.until("back", async () => runs(world).join("") === "v1.13.9 1111", 1_800);
      assert.deepEqual(world.sent.slice(sent), [...once("10.5.0.2"), "Rollback 10.5.0.2"]);
      assert.match(
        (await pending(world))?.message ?? "",
        /^.*Talos v1\.13\.10 of the schematic 2{12} failed on demo-10\.5\.0\.2 .*Ask for another image/,
      );
      await ask(world, { image: factory(one) });
      await upgraded(world, "v1.13.10 1111");
    }));

  test("are not lost with another version, either, whatever the image is called", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await lossy(world);
      await ask(world, { version: "v1.13.10", image: "registry.example.org/own/installer" });
      await failed(world);
      await world.time.advance(600_000);
      assert.deepEqual(world.sent.slice(sent), [...once("10.5.0.2"), "Rollback 10.5.0.2"]);
      assert.deepEqual(runs(world), ["v1.13.9 1111"]);
    }));
});

test("a machine with Secure Boot gets no image that its firmware would not start, and one that is made for it", () =>
  tell({ timings: demoTimings, machines: all.map((address) => ({ address, isSecureBoot: true })) }, async (world) => {
    const secure = (schematic: string): string => `factory.talos.dev/metal-installer-secureboot/${schematic}`;
    const sent = await ready(world, secure(one));
    await ask(world, { image: factory(two) });
    await world.until("told", async () => /name an installer-secureboot/.test((await pending(world))?.message ?? ""), 300);
    await world.time.advance(600_000);
    assert.equal(world.sent.length, sent);
    await ask(world, { image: secure(two) });
    await upgraded(world, "v1.13.9 2222");
  }));
