import assert from "node:assert/strict";
import test from "node:test";
import { isTalosError, resourceKinds } from "@talos-operator/talos/client";
import type { ApplyMode, CallOptions, TalosClient, TalosErrorCode } from "@talos-operator/talos/client";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";

const address = "10.5.0.1";
type Version = "v1.12.11" | "v1.13.9" | "v1.14.0";

/** `ok` or the code of the failure. */
async function outcomeOf(call: Promise<unknown>): Promise<TalosErrorCode | "ok"> {
  try {
    await call;
    return "ok";
  } catch (error) {
    assert.ok(isTalosError(error));
    return error.code;
  }
}

const inMaintenance: readonly { name: string; act: (world: TestWorld) => Promise<unknown>; want: Readonly<Record<Version, string>> }[] = [
  {
    name: "Version",
    act: async (world) => (await world.client(address)).version(),
    want: { "v1.12.11": "UNIMPLEMENTED", "v1.13.9": "ok", "v1.14.0": "ok" },
  },
  {
    name: "ServiceList",
    act: async (world) => (await world.client(address)).serviceList(),
    want: { "v1.12.11": "UNIMPLEMENTED", "v1.13.9": "ok", "v1.14.0": "ok" },
  },
  {
    name: "Disks",
    act: async (world) => (await world.client(address)).disks(),
    want: { "v1.12.11": "ok", "v1.13.9": "ok", "v1.14.0": "ok" },
  },
  {
    name: "Bootstrap",
    act: async (world) => (await world.client(address)).bootstrap(),
    want: { "v1.12.11": "UNIMPLEMENTED", "v1.13.9": "PERMISSION_DENIED", "v1.14.0": "PERMISSION_DENIED" },
  },
  {
    name: "a staged apply",
    act: async (world) => (await world.client(address)).applyConfiguration({ config: world.config("controlplane"), mode: "staged" }),
    want: { "v1.12.11": "UNIMPLEMENTED", "v1.13.9": "ok", "v1.14.0": "ok" },
  },
  {
    name: "an apply to a disk that is not there",
    act: async (world) =>
      (await world.client(address)).applyConfiguration({
        config: world.config("controlplane", { install: { disk: "/dev/nvme9n1" } }),
        mode: "auto",
      }),
    want: { "v1.12.11": "INVALID_ARGUMENT", "v1.13.9": "INVALID_ARGUMENT", "v1.14.0": "INVALID_ARGUMENT" },
  },
];
for (const { name, act, want } of inMaintenance) {
  for (const [version, code] of Object.entries(want)) {
    test(`${name} in maintenance of ${version}: ${code}`, async () => {
      const world = await createTestWorld([{ address, talosVersion: version }]);
      assert.equal(await outcomeOf(act(world)), code);
    });
  }
}

/** A change that Talos up to 1.13 makes only with a reboot. */
const needsReboot = (world: TestWorld): string => world.config("controlplane").replace("diskQuotaSupport: true", "diskQuotaSupport: false");

const whenConfigured: readonly { mode: ApplyMode; want: Readonly<Record<Version, string>> }[] = [
  { mode: "auto", want: { "v1.12.11": "reboot", "v1.13.9": "reboot", "v1.14.0": "no-reboot" } },
  { mode: "no-reboot", want: { "v1.12.11": "INVALID_ARGUMENT", "v1.13.9": "INVALID_ARGUMENT", "v1.14.0": "no-reboot" } },
  { mode: "reboot", want: { "v1.12.11": "reboot", "v1.13.9": "reboot", "v1.14.0": "UNIMPLEMENTED" } },
  { mode: "staged", want: { "v1.12.11": "staged", "v1.13.9": "staged", "v1.14.0": "staged" } },
];
for (const { mode, want } of whenConfigured) {
  for (const [version, result] of Object.entries(want)) {
    test(`apply ${mode} of a change of ${version} that alters features: ${result}`, async () => {
      const world = await createTestWorld([{ address, talosVersion: version }]);
      await world.apply(address, "controlplane");
      await world.time.advance(10);
      const { bootId } = world.datacenter.machine(address).state;
      const admin = await world.client(address, "os:admin");
      const call = admin.applyConfiguration({ config: needsReboot(world), mode });
      const seen = await call.then(
        (applied) => applied.mode,
        (error: unknown) => (isTalosError(error) ? error.code : String(error)),
      );
      assert.equal(seen, result);
      await world.time.advance(10);
      assert.equal(world.datacenter.machine(address).state.bootId === bootId, result !== "reboot");
    });
  }
}

for (const [version, code] of Object.entries({
  "v1.12.11": "FAILED_PRECONDITION",
  "v1.13.9": "UNIMPLEMENTED",
  "v1.14.0": "UNIMPLEMENTED",
})) {
  test(`Bootstrap on a worker of ${version}: ${code}`, async () => {
    const world = await createTestWorld([address, "10.5.0.2"].map((one) => ({ address: one, talosVersion: version })));
    await world.apply(address, "controlplane");
    await world.apply("10.5.0.2", "worker");
    await world.time.advance(10);
    const admin = await world.client("10.5.0.2", "os:admin");
    assert.equal(await outcomeOf(admin.bootstrap()), code);
  });
}

test("calls reach the machine that node names, and only a control plane forwards", async () => {
  const world = await createTestWorld([address, "10.5.0.2", "10.5.0.3"].map((one) => ({ address: one })));
  await world.apply(address, "controlplane");
  await world.apply("10.5.0.2", "worker");
  await world.time.advance(10);
  const viaControlPlane = await world.client(address, "os:reader");
  const hostname = async (client: TalosClient, options?: CallOptions): Promise<string | undefined> =>
    (await client.resources.get(resourceKinds.hostnameStatus, undefined, options))?.spec.hostname;
  const names = [await hostname(viaControlPlane), await hostname(viaControlPlane, { node: "10.5.0.2" })];
  assert.ok(names.every((name) => name !== undefined && name !== ""));
  assert.equal(new Set(names).size, 2);
  assert.equal(await outcomeOf(hostname(await world.client("10.5.0.2", "os:reader"), { node: address })), "PERMISSION_DENIED");
  // The spare is in maintenance: the forwarding apid does not take its certificate for one of its own.
  assert.notEqual(await outcomeOf(hostname(viaControlPlane, { node: "10.5.0.3" })), "ok");
});
