import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const address = "10.5.0.4";

/** A TalosMachine as a person writes it, with a pool that lists no machine. */
function machine(over: Record<string, unknown> = {}): object {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name: "by-hand" },
    spec: {
      endpoint: address,
      version: "v1.13.9",
      workerRef: { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosWorker", name: "demo" },
      machineSpec: {},
      installDisk: "/dev/sda",
      ...over,
    },
  };
}

async function founded(world: Story): Promise<void> {
  const { spec, ...rest } = demoCluster(["10.5.0.1"], [address]);
  await apply(world, kinds.cluster, { ...rest, spec: { ...spec, worker: { ...spec?.worker, metalSpec: { machines: [] } } } });
  await world.start();
  await world.until("founded", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
}

describe("a TalosMachine that a person made", () => {
  test("B032: joins the cluster that its reference names, and is wiped and released when it is deleted", () =>
    tell({}, async (world) => {
      await founded(world);
      await apply(world, kinds.machine, machine({ type: "worker", hostname: "by-hand-1", ips: [address] }));
      await world.until("joined", async () => (await world.condition(kinds.machine, "Ready", "by-hand"))?.status === "True");
      assert.deepEqual((await world.get(kinds.machine, "by-hand"))?.metadata?.finalizers, ["talosmachine.talos.alperen.cloud/finalizer"]);
      assert.ok(world.effects.includes(`ApplyConfiguration ${address}`));
      await world.client.resource(kinds.machine).delete({ namespace: "default", name: "by-hand" });
      await world.until("gone", async () => (await world.get(kinds.machine, "by-hand")) === undefined);
      assert.ok(world.effects.includes(`Reset ${address}`));
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
    }));

  test("does not join as a control plane while that makes an even number, and says so; two of them join", () =>
    tell({}, async (world) => {
      await founded(world);
      const reference = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosControlPlane", name: "demo" };
      const controlPlane = (name: string, endpoint: string): object => ({
        ...machine({ endpoint, workerRef: undefined, controlPlaneRef: reference }),
        metadata: { namespace: "default", name },
      });
      await apply(world, kinds.machine, controlPlane("second", "10.5.0.2"));
      await world.time.advance(120_000);
      assert.ok(!world.effects.includes("ApplyConfiguration 10.5.0.2"));
      assert.match(
        (await world.condition(kinds.controlPlane, "Ready"))?.message ?? "",
        /second joins once the control planes are an odd number/,
      );
      await apply(world, kinds.machine, controlPlane("third", "10.5.0.3"));
      await world.until(
        "three voters",
        async () => world.datacenter.etcdClusters()[0]?.members.filter(({ isLearner }) => !isLearner).length === 3,
        600,
      );
    }));

  test("B029: has the host name that it was given", () =>
    tell({}, async (world) => {
      await founded(world);
      await apply(world, kinds.machine, machine({ hostname: "rack-7-unit-3" }));
      await world.until("joined", async () => (await world.condition(kinds.machine, "Ready", "by-hand"))?.status === "True");
      const { state } = world.datacenter.machine(address);
      assert.match(JSON.stringify(state.config), /rack-7-unit-3/);
    }));

  const contradictions: readonly {
    readonly name: string;
    readonly over: Record<string, unknown>;
    readonly reason?: string;
    readonly says: RegExp;
  }[] = [
    { name: "B028: a type that its reference denies", over: { type: "controlplane" }, says: /spec\.type is controlplane.*Make them agree/ },
    {
      name: "IN6: a reference into another namespace",
      over: { workerRef: { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosWorker", name: "demo", namespace: "other" } },
      says: /spec\.workerRef\.namespace is "other", and a machine joins a cluster of its own namespace\. Make the object there/,
    },
    { name: "B030: ips without the endpoint", over: { ips: ["10.5.0.9"] }, says: /the endpoint "10\.5\.0\.4" is not among spec\.ips/ },
    { name: "B030: something that is no IP address", over: { ips: [address, "node-1"] }, says: /spec\.ips holds "node-1"/ },
    {
      name: "B031: two install disks",
      over: { machineSpec: { installDisk: "/dev/vda" } },
      says: /spec\.installDisk is \/dev\/sda and spec\.machineSpec\.installDisk \/dev\/vda.*Make them equal/,
    },
    {
      name: "IN44: an endpoint that is the operator's own host",
      over: { endpoint: "127.0.0.1" },
      reason: "InvalidAddress",
      says: /own host/,
    },
    {
      name: "IN46: an endpoint in the network of services",
      over: { endpoint: "10.96.0.9" },
      reason: "AddressInClusterRange",
      says: /10\.96\.0\.0\/12/,
    },
    {
      name: "IN39: a version that is none",
      over: { version: "latest" },
      reason: "VersionUnsupported",
      says: /TalosMachine\/by-hand spec\.version/,
    },
    {
      name: "IN33: a patch that changes the cluster's keys",
      over: { machineSpec: { configPatches: [{ cluster: { secret: "other" } }] } },
      says: /TalosMachine\/by-hand spec\.machineSpec.*cluster\.secret/,
    },
  ];
  for (const { name, over, reason = "InvalidConfig", says } of contradictions)
    test(`with ${name} is answered and kept, and nothing is sent to it`, () =>
      tell({}, async (world) => {
        await founded(world);
        await apply(world, kinds.machine, machine(over));
        await world.until("said", async () => (await world.condition(kinds.machine, "Ready", "by-hand"))?.reason === reason, 60);
        assert.match((await world.condition(kinds.machine, "Ready", "by-hand"))?.message ?? "", says);
        await world.time.advance(60_000);
        assert.ok((await world.get(kinds.machine, "by-hand")) !== undefined, "the person's object was deleted");
        assert.deepEqual(
          world.sent.filter((call) => !call.endsWith("10.5.0.1")),
          [],
        );
      }));
});
