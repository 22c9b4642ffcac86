import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import type { TalosCallFailure } from "@talos-operator/ports";
import { withCalls } from "../world/with-calls.ts";
import { demoCluster, kinds, tell } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

const refused: readonly { readonly name: string; readonly cluster: TalosCluster; readonly reason: string; readonly says: RegExp }[] = [
  {
    name: "an even number of control planes",
    cluster: demoCluster(cps.slice(0, 2)),
    reason: "UnsupportedReplicas",
    says: /spec\.controlPlane\.metalSpec\.machines.*1 or 3/,
  },
  {
    name: "IN54: two machines with one address",
    cluster: demoCluster(["10.5.0.1", "10.5.0.1", "10.5.0.2"]),
    reason: "DuplicateAddress",
    says: /machines\[0\]\.address/,
  },
  {
    name: "IN54: one address in both pools",
    cluster: demoCluster(["10.5.0.1"], ["10.5.0.1"]),
    reason: "DuplicateAddress",
    says: /spec\.worker\.metalSpec\.machines\[0\]\.address/,
  },
  {
    name: "IN46: a machine inside the pod network",
    cluster: demoCluster(["10.244.0.1"]),
    reason: "AddressInClusterRange",
    says: /10\.244\.0\.0\/16.*podCIDR/,
  },
  {
    name: "a machine inside the service network",
    cluster: demoCluster(["10.96.0.7"]),
    reason: "AddressInClusterRange",
    says: /serviceCIDR/,
  },
  { name: "a loopback address", cluster: demoCluster(["127.0.0.1"]), reason: "InvalidAddress", says: /127\.0\.0\.1/ },
  {
    name: "a plain http endpoint",
    cluster: demoCluster(["10.5.0.1"], [], { endpoint: "http://10.5.0.100:6443" }),
    reason: "InvalidEndpoint",
    says: /spec\.controlPlane\.endpoint.*https/,
  },
  {
    name: "an unknown Talos version",
    cluster: demoCluster(["10.5.0.1"], [], { version: "v99.0.0" }),
    reason: "VersionUnsupported",
    says: /spec\.controlPlane\.version.*v99/,
  },
  {
    name: "a Kubernetes version that does not go with it",
    cluster: demoCluster(["10.5.0.1"], [], { kubeVersion: "v1.20.0" }),
    reason: "VersionUnsupported",
    says: /kubeVersion.*too old/,
  },
  {
    name: "a whole config in a ConfigMap that is not there",
    cluster: demoCluster(["10.5.0.1"], [], { configRef: { name: "a", key: "b" } }),
    reason: "ControlPlaneNotReady",
    says: /configRef: ConfigMap a does not exist/,
  },
  {
    name: "IN33: a patch that replaces the cluster's keys",
    cluster: demoCluster([], [], {
      metalSpec: { machines: [{ address: "10.5.0.1", configPatches: [{ cluster: { token: "aaaaaa.bbbbbbbbbbbbbbbb" } }] }] },
    }),
    reason: "InvalidConfig",
    says: /cluster\.token/,
  },
  {
    name: "a patch with a field that does not exist",
    cluster: demoCluster([], [], { metalSpec: { machines: [{ address: "10.5.0.1", configPatches: [{ machine: { nonsense: 1 } }] }] } }),
    reason: "InvalidConfig",
    says: /machines\[0\].*nonsense/,
  },
];

for (const { name, cluster, reason, says } of refused) {
  test(`refused with field and remedy, nothing sent: ${name}`, () =>
    tell({}, async (world) => {
      await world.client.resource(kinds.cluster).create(cluster);
      await world.start();
      await world.until("a word about it", async () => (await world.condition(kinds.cluster, "Ready")) !== undefined, 10);
      await world.time.advance(30_000);
      const ready = await world.condition(kinds.cluster, "Ready");
      assert.equal(ready?.reason, reason, ready?.message);
      assert.match(ready?.message ?? "", says);
      assert.deepEqual(world.effects, []);
      assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    }));
}

test("a control plane that is refused hears it itself, and goes on when it is corrected", () =>
  tell({}, async (world) => {
    const { spec } = demoCluster(cps.slice(0, 2));
    const controlPlanes = world.client.resource(kinds.controlPlane);
    await controlPlanes.create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { namespace: "default", name: "demo" },
      spec: spec?.controlPlane,
    } as object);
    await world.start();
    await world.until("refused", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "UnsupportedReplicas");
    assert.deepEqual(world.effects, []);
    const machines = { metalSpec: { machines: [{ address: "10.5.0.1" }], machineSpec: { installDisk: "/dev/sda" } } };
    await controlPlanes.patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: machines } });
    await world.until("Ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True");
  }));

test("a worker without its control plane waits and says so", () =>
  tell({}, async (world) => {
    const { spec } = demoCluster(cps, ["10.5.0.4"]);
    await world.client.resource(kinds.worker).create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosWorker",
      metadata: { namespace: "default", name: "demo" },
      spec: { ...spec?.worker, controlPlaneRef: { name: "absent" } },
    } as object);
    await world.start();
    await world.until("a word", async () => (await world.condition(kinds.worker, "Ready"))?.reason === "ControlPlaneNotFound");
    assert.deepEqual(world.effects, []);
  }));

test("an address that never answers is waited for, with its name and what to do", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.9.9.9"]));
    await world.start();
    await world.until(
      "waiting",
      async () => (await world.condition(kinds.cluster, "Ready"))?.message.includes("no answer in time") === true,
    );
    assert.match((await world.condition(kinds.cluster, "Ready"))?.message ?? "", /demo-10\.9\.9\.9 \(no answer in time\).*Boot/);
    assert.deepEqual(world.effects, []);
  }));

test("an address that answers and is not Talos is named, and nothing is sent to it", () => {
  const notTls = Object.assign(new Error("not TLS"), { name: "TalosCallFailure", code: 14, tls: "not-tls" }) as TalosCallFailure;
  return tell(
    {
      dialer: (real) =>
        withCalls(real, ({ address }) =>
          address === "10.5.0.1" ? { unary: () => Promise.reject(notTls), peerSpki: () => undefined } : {},
        ),
    },
    async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
      await world.start();
      await world.until("NotTalos", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "NotTalos");
      assert.deepEqual(world.effects, []);
    },
  );
});
