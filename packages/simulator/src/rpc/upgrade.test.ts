import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { isTalosError } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { instantTimings } from "../node/timings.ts";
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

describe("an upgrade in steps", () => {
  test("pulls, writes the other slot, and runs the new Talos after a reboot; a rollback undoes it", async () => {
    const world = await worldOf();
    const admin = await world.client(address, "os:admin");
    const runs = async (): Promise<string> => (await (await world.client(address, "os:reader")).version()).tag;
    const pulled = await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
    assert.deepEqual(pulled.at(-1), { kind: "done", name: installer("v1.14.0") });
    const words = collect(admin.lifecycleUpgrade({ image: installer("v1.14.0") }));
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

  test("is stopped by whoever leaves it", async () => {
    const world = await createTestWorld([{ address }], { timings: { ...instantTimings, installMs: 60_000 } });
    await world.apply(address, "controlplane");
    await world.time.advance(70_000);
    const admin = await world.client(address, "os:admin");
    await collect(admin.imagePull({ reference: installer("v1.14.0"), store: "system" }));
    for await (const _word of admin.lifecycleUpgrade({ image: installer("v1.14.0") })) break;
    await world.time.advance(120_000);
    assert.equal(world.datacenter.machine(address).state.system?.next, "v1.13.9");
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

  test("to a version that the installer refuses is answered, and changes nothing", async () => {
    const world = await worldOf("v1.14.0");
    const before = world.datacenter.machine(address).state.bootId;
    await (await world.client(address, "os:admin")).upgrade({ image: installer("v1.12.11"), preserve: true });
    await world.time.advance(2_000);
    assert.equal(world.datacenter.machine(address).state.bootId, before);
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
    await fails(admin.rollback(), "NODE_FAILED", /previous installation/);
  });
});

test("images are listed, removed, and gone with EPHEMERAL", async () => {
  const world = await worldOf();
  const admin = await world.client(address, "os:admin");
  await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }));
  assert.deepEqual(
    (await admin.imageList("cri")).map(({ name }) => name),
    ["registry.k8s.io/pause:3.10"],
  );
  assert.match((await admin.imageList("system")).map(({ name }) => name).join(), /kubelet:v/);
  await admin.imageRemove({ reference: "registry.k8s.io/pause:3.10", store: "cri" });
  await fails(admin.imageRemove({ reference: "registry.k8s.io/pause:3.10", store: "cri" }), "NOT_FOUND", /not found/);
  await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }));
  await admin.reset({ graceful: false, reboot: true, systemPartitions: ["EPHEMERAL"] });
  await world.time.advance(2_000);
  assert.deepEqual(await (await world.client(address, "os:admin")).imageList("cri"), []);
});

test("up to Talos 1.12 images are pulled and listed by the machine service", async () => {
  const world = await worldOf("v1.12.11");
  const admin = await world.client(address, "os:admin");
  await collect(admin.imagePull({ reference: "registry.k8s.io/pause:3.10", store: "cri" }));
  assert.deepEqual(
    (await admin.imageList("cri")).map(({ name }) => name),
    ["registry.k8s.io/pause:3.10"],
  );
});

test("a machine tells its processes, containers, links and files", async () => {
  const world = await worldOf();
  const admin = await world.client(address, "os:admin");
  await world.time.advance(10_000);
  assert.deepEqual(
    (await admin.containers("system")).map(({ id }) => id),
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
  const usage = await collect(admin.diskUsage({ paths: ["/etc"] }));
  assert.ok(usage.length === 1 && (usage[0]?.sizeBytes ?? 0) > 0);
  const archive = gunzipSync(Buffer.concat(await collect(admin.copy("/etc"))));
  assert.equal(archive.length % 512, 0);
  assert.match(archive.toString("latin1"), /os-release\0/);
  await fails(collect(admin.copy("/nowhere")), "NODE_FAILED", /no such file/);
});

test("etcd is looked after, and disks are wiped that Talos is not on", async () => {
  const world = await worldOf();
  const admin = await world.client(address, "os:admin");
  await admin.etcdDefragment();
  assert.deepEqual([await admin.etcdAlarmList(), await admin.etcdAlarmDisarm()], [[], []]);
  await fails(admin.blockDeviceWipe([{ device: "sda" }]), "FAILED_PRECONDITION", /in use/);
  await fails(admin.blockDeviceWipe([{ device: "sdz" }]), "NOT_FOUND", /not found/);
  const reader = await world.client(address, "os:reader");
  await fails(reader.blockDeviceWipe([{ device: "sda" }]), "PERMISSION_DENIED", /not authorized/);
});
