import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { apply, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

/** Somebody else's kind: what a provider of virtual machines might serve. */
const hostType = { group: "hosts.example.dev", version: "v1", plural: "hosts", kind: "Host", namespaced: true } as const;

const hostCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "hosts.hosts.example.dev" },
  spec: {
    group: hostType.group,
    names: { kind: "Host", plural: "hosts", singular: "host", listKind: "HostList" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const crdType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

interface Host extends KubeObject {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

const fieldPath = '.status.addresses[?(@.type=="InternalIP")].address';

/** Names of TalosMachines by the hosts they are found by. */
const machineOf = (host: string): string => `demo-${host}`;

function reference(name: string, over: Record<string, unknown> = {}): object {
  return { machineRef: { apiVersion: "hosts.example.dev/v1", kind: "Host", name, fieldPath, ...over } };
}

function cluster(controlPlanes: readonly object[], workers: readonly object[] = []): object {
  const { spec, ...rest } = demoCluster(["10.5.0.1"], workers.length === 0 ? [] : ["10.5.0.4"]);
  const machineSpec = { installDisk: "/dev/sda" };
  return {
    ...rest,
    spec: {
      controlPlane: { ...spec?.controlPlane, metalSpec: { machines: controlPlanes, machineSpec } },
      ...(spec?.worker === undefined ? {} : { worker: { ...spec.worker, metalSpec: { machines: workers, machineSpec } } }),
    },
  };
}

async function install(world: Story): Promise<void> {
  await world.client.resource(crdType).create(hostCrd as KubeObject);
}

async function host(world: Story, name: string, ...addresses: readonly string[]): Promise<void> {
  const object = {
    apiVersion: "hosts.example.dev/v1",
    kind: "Host",
    metadata: { namespace: "default", name },
    status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
  };
  const hosts = world.client.resource<Host>(hostType);
  const existing = await hosts.tryGet({ namespace: "default", name });
  if (existing === undefined) await hosts.create(object);
  else await hosts.update({ ...object, metadata: { ...object.metadata, resourceVersion: existing.metadata?.resourceVersion ?? "" } });
}

const addressReason = async (world: Story, name: string): Promise<string | undefined> =>
  (await world.condition(kinds.machine, "AddressResolved", machineOf(name)))?.reason;

const recorded = async (world: Story, name: string): Promise<string | undefined> => {
  const record = (await world.get(kinds.record)) as Conditioned & {
    readonly spec?: { readonly machines?: readonly { readonly name: string; readonly address: string }[] };
  };
  return record.spec?.machines?.find((machine) => machine.name === machineOf(name))?.address;
};

describe("machines that are found by reference", () => {
  test("become a cluster, named after the objects and not after their addresses", () =>
    tell({}, async (world) => {
      await install(world);
      for (const [name, address] of [
        ["cp-a", "10.5.0.1"],
        ["cp-b", "10.5.0.2"],
        ["cp-c", "10.5.0.3"],
        ["worker-a", "10.5.0.4"],
      ] as const)
        await host(world, name, address);
      await apply(
        world,
        kinds.cluster,
        cluster(
          ["cp-a", "cp-b", "cp-c"].map((name) => reference(name)),
          [reference("worker-a")],
        ),
      );
      await world.start();
      await world.untilReady();
      const machine = await world.get(kinds.machine, "demo-cp-b");
      assert.equal(machine?.spec?.["endpoint"], "10.5.0.2");
      assert.equal((await world.condition(kinds.controlPlane, "AddressResolved"))?.reason, "Resolved");
      assert.equal(await addressReason(world, "worker-a"), "Resolved");
    }));

  test("one that has no address yet is waited for by name, the others go on, and it joins within moments of getting one", () =>
    tell({}, async (world) => {
      await install(world);
      await host(world, "cp-a", "10.5.0.1");
      await host(world, "worker-a");
      await apply(world, kinds.cluster, cluster([reference("cp-a")], [reference("worker-a")]));
      await world.start();
      await world.until("founded", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
      await world.until("said", async () => (await addressReason(world, "worker-a")) === "AddressMissing");
      assert.ok(!world.sent.some((call) => call.endsWith("10.5.0.4")));
      await host(world, "worker-a", "10.5.0.4");
      await world.untilReady(60);
      assert.equal((await world.get(kinds.machine, "demo-worker-a"))?.spec?.["endpoint"], "10.5.0.4");
    }));
});
