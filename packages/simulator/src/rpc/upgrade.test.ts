import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { isTalosError, resourceKinds } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { common, machine, storage } from "@talos-operator/talos/protocol";
import { instantTimings } from "../node/timings.ts";
import { talosctlCall } from "../testing/talosctl-call.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";

const address = "10.5.0.1";
const installer = (version: string): string => `ghcr.io/siderolabs/installer:${version}`;

async function worldOf(version = "v1.13.9", platform: "metal" | "container" = "metal"): Promise<TestWorld> {
  const world = await createTestWorld([{ address, talosVersion: version, platform }]);
  await world.apply(address, "controlplane");
  await (await world.client(address, "os:admin")).bootstrap();
  await world.time.advance(2_000);
  return world;
}

async function fails(promise: Promise<unknown>, code: TalosErrorCode, text: RegExp): Promise<void> {
  await assert.rejects(promise, (thrown) => {
    assert.ok(isTalosError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, text);
    return true;
  });
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** What runs, what starts next, and what is in the other slot. */
function slots(world: TestWorld): readonly (string | undefined)[] {
  const { hardware, system } = world.datacenter.machine(address).state;
  return [hardware.talosVersion, system?.next, system?.other];
}

describe("an upgrade in steps", () => {
  test("pulls, writes the other slot, and runs the new Talos after a reboot; a rollback undoes it", async () => {
    const world = await worldOf();
    const admin = await world.client(address, "os:admin");
    const runs = async (): Promise<string> => (await (await world.client(address, "os:reader")).version()).tag;
    const pulled = (await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }))).at(-1);
    assert.ok(pulled?.kind === "done");
    assert.match(pulled.name, /^ghcr\.io\/siderolabs\/installer@sha256:[0-9a-f]{64}$/);
    const words = collect(admin.lifecycleUpgrade({ image: pulled.name }));
    await world.time.advance(1_000);
    assert.match((await words).join("\n"), /installation complete/);
    assert.equal(await runs(), "v1.13.9", "until it reboots");
    await admin.reboot();
    await world.time.advance(2_000);
    assert.equal(await runs(), "v1.14.0");
    assert.equal(world.datacenter.machine(address).state.stage, "running");
    await (await world.client(address, "os:admin")).rollback();
    await world.time.advance(2_000);
    assert.equal(await runs(), "v1.13.9");
  });

  test("from the Image Factory tells its schematic, and a rollback the one of before", async () => {
    const world = await worldOf();
    const id = "ab".repeat(32);
    const image = `factory.talos.dev/metal-installer/${id}:v1.14.0`;
    const told = async (): Promise<readonly string[]> => {
      const reader = await world.client(address, "os:reader");
      return (await reader.resources.list(resourceKinds.extensionStatus)).map(({ spec: { name, version } }) => `${name} ${version}`);
    };
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: image, store: "system" }));
    const words = collect(admin.lifecycleUpgrade({ image }));
    await world.time.advance(1_000);
    await words;
    assert.deepEqual(await told(), [], "until it reboots");
    await admin.reboot();
    await world.time.advance(2_000);
    assert.deepEqual(await told(), [`schematic ${id}`]);
    await (await world.client(address, "os:admin")).rollback();
    await world.time.advance(2_000);
    assert.deepEqual(await told(), []);
    await (await world.client(address, "os:admin")).rollback();
    await world.time.advance(2_000);
    assert.deepEqual(await told(), [`schematic ${id}`]);
    await (await world.client(address, "os:admin")).upgrade({ image: installer("v1.14.1"), preserve: true });
    await world.time.advance(5_000);
    assert.deepEqual(await told(), [], "nothing keeps it");
  });

  test("gives GRUB none of the kernel arguments of the configuration, which the older call does; a UKI brings those of its schematic", async () => {
    const id = "ab".repeat(32);
    for (const [hasGrub, steps, one] of [
      [true, [], ["quiet", "isolcpus=2-3"]],
      [false, ["noapic"], ["noapic"]],
    ] as const) {
      const world = await createTestWorld([{ address, ...(hasGrub ? { hasGrub } : {}) }]);
      world.datacenter.setKernelArguments(id, ["noapic"]);
      await world.apply(address, "controlplane");
      await (await world.client(address, "os:admin")).bootstrap();
      await world.time.advance(2_000);
      const shown = async (): Promise<readonly string[]> => {
        const told = await (await world.client(address, "os:reader")).resources.get(resourceKinds.kernelCmdline);
        return (told?.spec.cmdline ?? "").split(" ").filter((word) => /^(quiet|isolcpus|noapic)/.test(word));
      };
      const booted = async (act: (admin: Awaited<ReturnType<TestWorld["client"]>>) => Promise<unknown>): Promise<readonly string[]> => {
        const done = act(await world.client(address, "os:admin"));
        await world.time.advance(5_000);
        await done;
        return shown();
      };
      const config = world
        .config("controlplane", { install: { disk: "/dev/sda", extraKernelArgs: ["quiet", "isolcpus=2-3"] } })
        .replace("grubUseUKICmdline: true", "grubUseUKICmdline: false");
      assert.deepEqual(
        await booted((admin) => admin.applyConfiguration({ config, mode: "no-reboot" })),
        [],
        "a configuration alone changes nothing",
      );
      const image = `factory.talos.dev/metal-installer/${id}:v1.13.9`;
      assert.deepEqual(await booted((admin) => admin.upgrade({ image, preserve: true })), one);
      await booted((admin) => collect(admin.imagePull({ reference: image, store: "system" })));
      await booted((admin) => collect(admin.lifecycleUpgrade({ image })));
      assert.deepEqual(await booted((admin) => admin.reboot()), steps);
      assert.deepEqual(await booted((admin) => admin.rollback()), one, "each slot has its own");
    }
  });

  test("needs the image in the store, and tells what the installer has against it by exit code", async () => {
    const world = await worldOf("v1.12.11");
    const admin = await world.client(address, "os:admin");
    await fails(collect(admin.lifecycleUpgrade({ image: installer("v1.13.9") })), "UNIMPLEMENTED", /unknown service/);
    const newer = await worldOf("v1.14.0");
    const client = await newer.client(address, "os:admin");
    await fails(collect(client.lifecycleUpgrade({ image: installer("v1.14.1") })), "NODE_FAILED", /not found/);
    await fails(collect(client.imagePull({ reference: installer("v1.2.0"), store: "system" })), "NOT_FOUND", /failed to resolve/);
    await collect(client.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "system" }));
    await fails(collect(client.lifecycleUpgrade({ image: "registry.k8s.io/pause:3.10" })), "INSTALL_FAILED", /exit code 1/);
    assert.equal(newer.datacenter.machine(address).state.system?.other, undefined);
  });

  test("goes on without whoever leaves it, and nobody else's begins meanwhile", async () => {
    const world = await createTestWorld([{ address }], { timings: { ...instantTimings, installMs: 60_000 } });
    await world.apply(address, "controlplane");
    await world.time.advance(70_000);
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
    for await (const _word of admin.lifecycleUpgrade({ image: installer("v1.14.0") })) break;
    await world.time.advance(30_000);
    await fails(collect(admin.lifecycleUpgrade({ image: installer("v1.14.0") })), "FAILED_PRECONDITION", /already in progress/);
    assert.deepEqual(slots(world), ["v1.13.9", "v1.13.9", undefined]);
    await world.time.advance(60_000);
    assert.deepEqual(slots(world), ["v1.13.9", "v1.14.0", "v1.13.9"]);
  });

  test("is cut off where the connection breaks, and leaves no other slot where the power does", async () => {
    const world = await createTestWorld([{ address }], { timings: { ...instantTimings, installMs: 60_000 } });
    await world.apply(address, "controlplane");
    await world.time.advance(70_000);
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
    world.datacenter.inject({ method: "/machine.LifecycleService/Upgrade", times: 1, effect: { kind: "cut-stream", messages: 1 } });
    await fails(collect(admin.lifecycleUpgrade({ image: installer("v1.14.0") })), "UNAVAILABLE", /EOF/);
    await world.time.advance(120_000);
    assert.deepEqual(slots(world), ["v1.13.9", "v1.14.0", "v1.13.9"], "the installer went on");
    const words = collect((await world.client(address, "os:admin")).lifecycleUpgrade({ image: installer("v1.14.0") }));
    words.catch(() => undefined);
    await world.time.advance(30_000);
    world.datacenter.machine(address).powerCycle();
    await assert.rejects(words);
    await world.time.advance(120_000);
    assert.deepEqual(slots(world), ["v1.14.0", "v1.14.0", undefined]);
    await fails((await world.client(address, "os:admin")).rollback(), "NODE_FAILED", /previous UKI not found/);
  });

  test("a second time before the reboot goes over what runs: the way back is gone", async () => {
    const world = await worldOf();
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
    for (let time = 0; time < 2; time += 1) {
      const words = collect(admin.lifecycleUpgrade({ image: installer("v1.14.0") }));
      await world.time.advance(1_000);
      await words;
    }
    assert.deepEqual(slots(world), ["v1.13.9", "v1.14.0", "v1.14.0"]);
  });

  test("whose installer fails after it began to write says so in the stream, and what ran boots again", async () => {
    const world = await worldOf();
    world.datacenter.setReleaseFault("v1.14.0", { installerExitCode: 5 });
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
    const failed = fails(collect(admin.lifecycleUpgrade({ image: installer("v1.14.0") })), "INSTALL_FAILED", /exit code 5/);
    await world.time.advance(1_000);
    await failed;
    assert.deepEqual(slots(world), ["v1.13.9", "v1.13.9", undefined]);
    assert.equal(world.datacenter.machine(address).state.meta["6"], undefined);
  });
});

describe("an upgrade in one call", () => {
  test("installs and reboots by itself, and keeps configuration and etcd", async () => {
    const world = await worldOf("v1.12.11");
    const before = world.datacenter.machine(address).state;
    await (await world.client(address, "os:admin")).upgrade({ image: installer("v1.13.9"), preserve: true });
    await world.time.advance(2_000);
    const { state } = world.datacenter.machine(address);
    assert.deepEqual([state.hardware.talosVersion, state.stage, state.etcd.data], ["v1.13.9", "running", before.etcd.data]);
    assert.notEqual(state.bootId, before.bootId);
  });

  test("to a version that the installer refuses is answered, and boots what ran", async () => {
    const world = await worldOf("v1.14.0");
    const { bootId, etcd } = world.datacenter.machine(address).state;
    await (await world.client(address, "os:admin")).upgrade({ image: installer("v1.12.11"), preserve: true });
    await world.time.advance(2_000);
    const { stage, services } = world.datacenter.machine(address).state;
    assert.deepEqual([stage, services["etcd"]?.state, services["apid"]?.state], ["upgrading", "Finished", "Running"]);
    await world.time.advance(20_000);
    const { state } = world.datacenter.machine(address);
    assert.notEqual(state.bootId, bootId);
    assert.deepEqual([state.stage, state.etcd.data, ...slots(world)], ["running", etcd.data, "v1.14.0", "v1.14.0", undefined]);
  });

  test("that is staged installs at the next boot, and boots once more", async () => {
    const world = await worldOf();
    const { bootCount } = world.datacenter.machine(address).state;
    const admin = await world.client(address, "os:admin");
    await admin.upgrade({ image: installer("v1.14.0"), preserve: true, stage: true });
    assert.equal(world.datacenter.machine(address).state.meta["7"], installer("v1.14.0"));
    await world.time.advance(2_000);
    const { state } = world.datacenter.machine(address);
    assert.deepEqual(
      [state.stage, state.bootCount - bootCount, state.meta["7"], state.meta["8"], ...slots(world)],
      ["running", 2, undefined, undefined, "v1.14.0", "v1.14.0", "v1.13.9"],
    );
  });

  test("of a worker asks no etcd", async () => {
    const world = await createTestWorld([{ address }, { address: "10.5.0.2" }, { address: "10.5.0.3" }]);
    for (const one of [address, "10.5.0.2"]) await world.apply(one, "controlplane");
    await (await world.client(address, "os:admin")).bootstrap();
    await world.apply("10.5.0.3", "worker");
    await world.time.advance(5_000);
    await (await world.client("10.5.0.3", "os:admin")).upgrade({ image: installer("v1.14.0"), preserve: false });
    await world.time.advance(5_000);
    assert.equal(world.datacenter.machine("10.5.0.3").state.hardware.talosVersion, "v1.14.0");
  });

  test("asks etcd, unless it is told to preserve or to force", async () => {
    for (const [version, preserve, isRefused] of [
      ["v1.13.9", false, true],
      ["v1.13.9", true, false],
      ["v1.12.11", true, false],
    ] as const) {
      const world = await createTestWorld([
        { address, talosVersion: version },
        { address: "10.5.0.2", talosVersion: version },
      ]);
      for (const one of [address, "10.5.0.2"]) await world.apply(one, "controlplane");
      await (await world.client(address, "os:admin")).bootstrap();
      await world.time.advance(5_000);
      const asked = (await world.client(address, "os:admin")).upgrade({ image: installer("v1.13.9"), preserve });
      if (isRefused) await fails(asked, "NODE_FAILED", /only 2 members/);
      else await asked;
    }
  });

  test("answers when the image is pulled, and pulls what is there once", async () => {
    const world = await createTestWorld([{ address }], { timings: { ...instantTimings, imagePullMs: 20_000, shutdownMs: 5_000 } });
    await world.apply(address, "controlplane");
    await world.time.advance(10_000);
    let isAnswered = false;
    const admin = await world.client(address, "os:admin");
    const asked = admin.upgrade({ image: installer("v1.14.0"), preserve: true }).then(() => (isAnswered = true));
    await world.time.advance(19_000);
    assert.ok(!isAnswered);
    await world.time.advance(2_000);
    await asked;
    await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
  });

  test("fails where the registry lacks the image, and changes nothing where nobody waits for a slow one", async () => {
    const world = await worldOf();
    world.datacenter.setReleaseFault("v1.14.0", { image: "missing" });
    const admin = await world.client(address, "os:admin");
    await fails(admin.upgrade({ image: installer("v1.14.0"), preserve: true }), "NODE_FAILED", /not found/);
    await fails(collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" })), "NOT_FOUND", /not found/);
    world.datacenter.setReleaseFault("v1.14.0", { image: "other-platform" });
    await fails(admin.upgrade({ image: installer("v1.14.0"), preserve: true }), "NODE_FAILED", /no match for platform in manifest/);
    await fails(collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" })), "NOT_FOUND", /no match for platform/);
    world.datacenter.setReleaseFault("v1.14.0", { image: "unbuildable" });
    const asked = fails(
      collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }, { timeoutMs: 3_600_000 })),
      "NODE_FAILED",
      /HEAD request to https:\/\/ghcr\.io\/v2\/siderolabs\/installer\/manifests\/v1\.14\.0: 400 Bad Request/,
    );
    await world.time.advance(20 * 60_000);
    await asked;
    world.datacenter.setReleaseFault("v1.14.0", { image: "stuck" });
    const slow = fails(admin.upgrade({ image: installer("v1.14.0"), preserve: true }, { timeoutMs: 30_000 }), "DEADLINE_EXCEEDED", /./);
    await world.time.advance(60_000);
    await slow;
    assert.equal(world.datacenter.machine(address).state.stage, "running");
    world.datacenter.setReleaseFault("v1.14.0", undefined);
    await admin.upgrade({ image: installer("v1.14.0"), preserve: true });
    await world.time.advance(2_000);
    assert.deepEqual(slots(world), ["v1.14.0", "v1.14.0", "v1.13.9"]);
  });

  test("is refused with an image that is nowhere, without rights, and in a container", async () => {
    const world = await worldOf();
    const admin = await world.client(address, "os:admin");
    await fails(admin.upgrade({ image: "ghcr.io/siderolabs/installer:v9.9.9", preserve: true }), "NODE_FAILED", /not found/);
    const operator = await world.client(address, "os:operator");
    await fails(operator.upgrade({ image: installer("v1.14.0"), preserve: true }), "PERMISSION_DENIED", /not authorized/);
    const container = await worldOf("v1.13.9", "container");
    const other = await container.client(address, "os:admin");
    await fails(other.upgrade({ image: installer("v1.14.0"), preserve: true }), "FAILED_PRECONDITION", /container mode/);
    await fails(other.rollback(), "FAILED_PRECONDITION", /container mode/);
    await fails(admin.rollback(), "NODE_FAILED", /previous UKI not found/);
  });
});

describe("a release that does not do", () => {
  async function upgraded(boot: "fails" | "never-healthy"): Promise<TestWorld> {
    const world = await worldOf("v1.13.8");
    world.datacenter.setReleaseFault("v1.13.9", { boot, machines: [address] });
    await (await world.client(address, "os:admin")).upgrade({ image: installer("v1.13.9"), preserve: true });
    await world.time.advance(5_000);
    return world;
  }

  test("falls back by itself where its boot fails, once and for good", async () => {
    const world = await upgraded("fails");
    const machine = world.datacenter.machine(address);
    assert.deepEqual([machine.state.api.kind, machine.state.meta["6"]], ["down", undefined]);
    const { bootId } = machine.state;
    await world.time.advance(20_000);
    assert.notEqual(machine.state.bootId, bootId);
    assert.deepEqual([machine.state.stage, ...slots(world)], ["running", "v1.13.8", "v1.13.8", "v1.13.9"]);
    assert.ok(machine.state.etcd.data !== undefined);
  });

  test("boots for ever where nothing is left to fall back to", async () => {
    const world = await upgraded("never-healthy");
    const machine = world.datacenter.machine(address);
    await (await world.client(address, "os:admin")).metaDelete(6);
    world.datacenter.setReleaseFault("v1.13.9", { boot: "fails" });
    await (await world.client(address, "os:admin")).reboot();
    await world.time.advance(2_000);
    const { bootCount } = machine.state;
    await world.time.advance(60_000);
    assert.ok(machine.state.bootCount > bootCount + 3);
    assert.equal(machine.state.system?.next, "v1.13.9");
    world.datacenter.setReleaseFault("v1.13.9", undefined);
    await world.time.advance(20_000);
    assert.equal(machine.state.stage, "running");
  });

  test("answers and never gets healthy, until somebody rolls it back", async () => {
    const world = await upgraded("never-healthy");
    const machine = world.datacenter.machine(address);
    await world.time.advance(600_000);
    assert.deepEqual(
      [machine.state.stage, machine.state.services["kubelet"]?.state, machine.state.services["etcd"]?.isHealthy],
      ["booting", "Waiting", true],
    );
    assert.equal(machine.state.meta["6"], "Talos-v1.13.8.efi", "it was never well, and would fall back");
    assert.equal((await (await world.client(address, "os:reader")).version()).tag, "v1.13.9");
    await (await world.client(address, "os:admin")).rollback();
    await world.time.advance(5_000);
    assert.deepEqual(
      [machine.state.stage, machine.state.meta["6"], ...slots(world)],
      ["running", undefined, "v1.13.8", "v1.13.8", "v1.13.9"],
    );
  });

  test("a version that was well once does not fall back any more", async () => {
    const world = await worldOf();
    await (await world.client(address, "os:admin")).upgrade({ image: installer("v1.14.0"), preserve: true });
    await world.time.advance(5_000);
    const machine = world.datacenter.machine(address);
    assert.deepEqual([machine.state.stage, machine.state.meta["6"]], ["running", undefined]);
    world.datacenter.setReleaseFault("v1.14.0", { boot: "fails" });
    machine.powerCycle();
    await world.time.advance(30_000);
    assert.deepEqual([machine.state.api.kind, machine.state.system?.next], ["down", "v1.14.0"]);
  });
});

describe("the data of etcd", () => {
  const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
  async function cluster(): Promise<TestWorld> {
    const world = await createTestWorld(cps.map((one) => ({ address: one })));
    for (const one of cps) await world.apply(one, "controlplane");
    await (await world.client(address, "os:admin")).bootstrap();
    await world.time.advance(30_000);
    return world;
  }
  const storage = async (world: TestWorld): Promise<string> =>
    (await (await world.client(address, "os:reader")).etcdStatus()).storageVersion;
  async function go(world: TestWorld, one: string, version: string): Promise<void> {
    await (await world.client(one, "os:admin")).upgrade({ image: installer(version), preserve: true });
    await world.time.advance(30_000);
  }

  test("stay those of the oldest member, and going back is possible until all have gone on", async () => {
    const world = await cluster();
    assert.equal(await storage(world), "3.6.0");
    await go(world, "10.5.0.1", "v1.14.0");
    await go(world, "10.5.0.2", "v1.14.0");
    assert.equal(await storage(world), "3.6.0");
    await (await world.client("10.5.0.2", "os:admin")).rollback();
    await world.time.advance(30_000);
    assert.equal(world.datacenter.machine("10.5.0.2").state.services["etcd"]?.isHealthy, true);
    await go(world, "10.5.0.2", "v1.14.0");
    await go(world, "10.5.0.3", "v1.14.0");
    assert.equal(await storage(world), "3.7.0");
  });

  test("stay those of the older etcd beside a member that never started with the newer one", async () => {
    const world = await cluster();
    world.datacenter.setReleaseFault("v1.14.0", { boot: "etcd-fails", machines: ["10.5.0.3"] });
    for (const one of cps) await go(world, one, "v1.14.0");
    await world.time.advance(600_000);
    assert.equal(await storage(world), "3.6.0");
    await (await world.client("10.5.0.3", "os:admin")).rollback();
    await world.time.advance(30_000);
    assert.equal(world.datacenter.machine("10.5.0.3").state.services["etcd"]?.isHealthy, true);
  });

  test("are not read by an older etcd once all have gone on", async () => {
    const world = await cluster();
    for (const one of cps) await go(world, one, "v1.14.0");
    await (await world.client("10.5.0.3", "os:admin")).rollback();
    await world.time.advance(60_000);
    const { services, stage, etcd } = world.datacenter.machine("10.5.0.3").state;
    assert.deepEqual([services["etcd"]?.state, stage, etcd.data !== undefined], ["Waiting", "booting", true]);
    assert.equal(world.datacenter.machine("10.5.0.1").state.services["etcd"]?.isHealthy, true, "two of three go on");
    await go(world, "10.5.0.3", "v1.14.0");
    assert.equal(world.datacenter.machine("10.5.0.3").state.services["etcd"]?.isHealthy, true);
  });
});

test("images are listed, removed, and gone with EPHEMERAL", async () => {
  const world = await worldOf();
  const admin = await world.client(address, "os:admin");
  await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }));
  const names = (await admin.imageList("cri")).map(({ name }) => name);
  assert.match(names.join(" "), /^registry\.k8s\.io\/pause:3\.10 registry\.k8s\.io\/pause@(sha256:[0-9a-f]{64}) \1$/);
  assert.match((await admin.imageList("system")).map(({ name }) => name).join(), /kubelet:v/);
  const { method } = machine.ImageService;
  const removed = {
    containerd: { driver: common.ContainerDriver.CRI, namespace: common.ContainerdNamespace.NS_CRI },
    imageRef: "registry.k8s.io/pause:3.10",
  };
  const channel = await world.channel(address, "os:admin");
  await talosctlCall(channel, method.remove, removed);
  await fails(talosctlCall(channel, method.remove, removed), "NOT_FOUND", /not found/);
  await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }));
  await admin.reset({ graceful: false, reboot: true, systemPartitions: ["EPHEMERAL"] });
  await world.time.advance(2_000);
  assert.deepEqual(await (await world.client(address, "os:admin")).imageList("cri"), []);
});

test("a pull takes its time, and ends with whoever leaves it", async () => {
  const world = await createTestWorld([{ address }], { timings: { ...instantTimings, imagePullMs: 20_000 } });
  await world.apply(address, "controlplane");
  await world.time.advance(10_000);
  const admin = await world.client(address, "os:admin");
  const reference = "registry.k8s.io/pause:3.10";
  const pulled = async (): Promise<boolean> => (await admin.imageList("cri")).some(({ name }) => name === reference);
  for await (const _layer of admin.imagePull({ reference, store: "cri" })) break;
  await world.time.advance(60_000);
  assert.ok(!(await pulled()));
  const words = collect(admin.imagePull({ reference, store: "cri" }));
  await world.time.advance(19_000);
  assert.ok(!(await pulled()));
  await world.time.advance(2_000);
  const done = (await words).at(-1);
  assert.match(done?.kind === "done" ? done.name : "", /^registry\.k8s\.io\/pause@sha256:/);
  assert.ok(await pulled());
  const byDigest = done?.kind === "done" ? done.name : "";
  assert.deepEqual((await collect(admin.imagePull({ reference: `${reference}@${byDigest.split("@")[1]}`, store: "cri" }))).at(-1), done);
});

test("a pull is told at once that the registry lacks the image, and names a layer of what is not there yet alone", async () => {
  const world = await createTestWorld([{ address }]);
  await world.apply(address, "controlplane");
  await world.time.advance(10_000);
  world.datacenter.setReleaseFault("v1.14.0", { image: "missing" });
  const admin = await world.client(address, "os:admin");
  await fails(admin.upgrade({ image: installer("v1.14.0"), preserve: true }), "NODE_FAILED", /not found/);
  const missing = /error pulling image: 1 error\(s\) occurred:\s+failed to pull image .*installer:v1\.14\.0: not found\b/s;
  await fails(collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" })), "NOT_FOUND", missing);
  const kinds = async (): Promise<readonly string[]> =>
    (await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }))).map(({ kind }) => kind);
  assert.deepEqual([await kinds(), await kinds()], [["layer", "layer", "done"], ["done"]]);
});

describe("a machine that was configured and not told to install", () => {
  async function install(world: TestWorld, image: string, disk: string): Promise<string> {
    const containerd = { driver: common.ContainerDriver.CRI, namespace: common.ContainerdNamespace.NS_SYSTEM };
    const request = { containerd, source: { imageName: image }, destination: { disk } };
    const replies = await talosctlCall(await world.channel(address, "os:admin"), machine.LifecycleService.method.install, request);
    return replies.map(({ progress }) => progress?.response.value).join("\n");
  }

  async function live(): Promise<TestWorld> {
    const world = await createTestWorld([{ address, talosVersion: "v1.14.0" }]);
    const documents = world.config("controlplane").split("---\n");
    const config = documents.filter((text) => !text.includes("kind: UnattendedInstallConfig")).join("---\n");
    assert.notEqual(config, documents.join("---\n"));
    const client = await world.client(address);
    await client.applyConfiguration({ config, mode: "auto" });
    await world.time.advance(2_000);
    return world;
  }

  test("is installed by call, and boots what was installed", async () => {
    const world = await live();
    const admin = await world.client(address, "os:admin");
    await fails(collect(admin.lifecycleUpgrade({ image: installer("v1.14.1") })), "FAILED_PRECONDITION", /not installed/);
    await fails(admin.upgrade({ image: installer("v1.14.1"), preserve: true }), "FAILED_PRECONDITION", /not installed/);
    await collect(admin.imagePull({ reference: installer("v1.14.1"), store: "system" }));
    await fails(install(world, installer("v1.14.1"), ""), "INVALID_ARGUMENT", /disk is required/);
    await fails(install(world, installer("v1.14.1"), "/dev/sdz"), "INVALID_ARGUMENT", /invalid disk/);
    await fails(install(world, installer("v1.14.2"), "/dev/sda"), "NODE_FAILED", /not found/);
    const words = install(world, installer("v1.14.1"), "/dev/sda");
    await world.time.advance(1_000);
    assert.match(await words, /installation complete[\s\S]*\n0$/);
    assert.deepEqual(slots(world), ["v1.14.0", "v1.14.1", undefined]);
    await admin.reboot();
    await world.time.advance(2_000);
    assert.deepEqual(slots(world), ["v1.14.1", "v1.14.1", undefined]);
    await fails(install(world, installer("v1.14.1"), "/dev/sda"), "ALREADY_EXISTS", /already installed/);
  });

  test("says by exit code that its installer failed, and is not installed", async () => {
    const world = await live();
    world.datacenter.setReleaseFault("v1.14.1", { installerExitCode: 7 });
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: installer("v1.14.1"), store: "system" }));
    const words = install(world, installer("v1.14.1"), "/dev/sda");
    await world.time.advance(1_000);
    assert.match(await words, /\n7$/);
    assert.equal(world.datacenter.machine(address).state.isInstalled, false);
  });
});

test("in maintenance mode nobody upgrades: from 1.13 for want of rights, before because there is no such call; images are listed", async () => {
  for (const [talosVersion, code] of [
    ["v1.12.11", "UNIMPLEMENTED"],
    ["v1.13.9", "PERMISSION_DENIED"],
  ] as const) {
    const world = await createTestWorld([{ address, talosVersion }]);
    const anyone = await world.client(address);
    await fails(anyone.upgrade({ image: installer("v1.13.9"), preserve: true }), code, /./);
    await fails(collect(anyone.lifecycleUpgrade({ image: installer("v1.13.9") })), code, /./);
    await fails(talosctlCall(await world.channel(address), machine.LifecycleService.method.install, {}), code, /./);
    await fails(collect(anyone.imagePull({ reference: installer("v1.13.9"), store: "system" })), code, /./);
    if (code === "PERMISSION_DENIED") assert.deepEqual(await anyone.imageList("system"), []);
  }
});

test("up to Talos 1.12 images are pulled and listed by the machine service", async () => {
  const world = await worldOf("v1.12.11");
  const admin = await world.client(address, "os:admin");
  await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }));
  assert.equal((await admin.imageList("cri"))[0]?.name, "registry.k8s.io/pause:3.10");
});

test("a machine tells its processes, containers, links and files", async () => {
  const world = await worldOf();
  const admin = await world.client(address, "os:admin");
  await world.time.advance(10_000);
  const channel = await world.channel(address, "os:admin");
  const { method } = machine.MachineService;
  const [containers] = await talosctlCall(channel, method.containers, { namespace: "system" });
  assert.deepEqual(
    containers?.messages[0]?.containers.map(({ id }) => id),
    ["apid", "etcd", "kubelet", "trustd"],
  );
  assert.ok((await admin.processes()).some(({ pid, command }) => pid === 1 && command === "init"));
  assert.ok((await admin.logsContainers()).includes("etcd"));
  assert.deepEqual(
    (await admin.networkDeviceStats()).map(({ name, receivedBytes }) => [name, receivedBytes > 0]),
    [
      ["eth0", true],
      ["lo", false],
    ],
  );
  const usage = await talosctlCall(channel, method.diskUsage, { paths: ["/etc"] });
  assert.ok(usage.length === 1 && Number(usage[0]?.size) > 0);
  const copied = await talosctlCall(channel, method.copy, { rootPath: "/etc" });
  const archive = gunzipSync(Buffer.concat(copied.map(({ bytes }) => bytes)));
  assert.equal(archive.length % 512, 0);
  assert.match(archive.toString("latin1"), /os-release\0/);
  await fails(talosctlCall(channel, method.copy, { rootPath: "/nowhere" }), "NODE_FAILED", /no such file/);
});

test("etcd is looked after, and disks are wiped that Talos is not on", async () => {
  const world = await worldOf();
  const admin = await world.client(address, "os:admin");
  await admin.etcdDefragment();
  assert.deepEqual([await admin.etcdAlarmList(), await admin.etcdAlarmDisarm()], [[], []]);
  const wipe = async (role: string, device: string): Promise<unknown> =>
    talosctlCall(await world.channel(address, role), storage.StorageService.method.blockDeviceWipe, { devices: [{ device }] });
  await fails(wipe("os:admin", "sda"), "FAILED_PRECONDITION", /in use/);
  await fails(wipe("os:admin", "sdz"), "NOT_FOUND", /not found/);
  await fails(wipe("os:reader", "sda"), "PERMISSION_DENIED", /not authorized/);
});
