import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { printPlan, whatIf } from "@talos-operator/operator";
import { describeMachineConfig } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { leaveBehind } from "./left-behind.ts";
import { apply, assertQuiet, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { configMapType } from "../world/kinds.ts";
import { bundleOf, putConfigs, reference, writtenCluster, writtenConfig, writtenEndpoint } from "./written-configs.ts";

const demo = { namespace: "default", name: "demo" };

/** The same without a single key: what it needs of them the operator fills in. */
function withoutKeys(text: string): string {
  const dropped = /^\s+(?:token|id|secret|secretboxEncryptionSecret): .*\n/gm;
  const blocks = /^( +)(?:ca|aggregatorCA|serviceAccount):\n(?:\1 +.*\n)+/gm;
  return text.replaceAll(dropped, "").replaceAll(blocks, "");
}

const activeOf = (world: Story, address: string): string => world.datacenter.machine(address).state.config.active ?? "";

async function ready(world: Story): Promise<void> {
  await world.start();
  await world.untilReady();
  await world.until("up to date", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate");
}

describe("a whole machine config that a person wrote", () => {
  test("makes the cluster it describes, with the keys in it, its endpoint and its networks", () =>
    tell({}, async (world) => {
      const secrets = await bundleOf(world);
      const networks = { cluster: { network: { podSubnets: ["10.200.0.0/16"] } } };
      await putConfigs(world, {
        "controlplane.yaml": writtenConfig("controlplane", secrets, networks),
        "worker.yaml": writtenConfig("worker", secrets, networks),
      });
      await apply(world, kinds.cluster, writtenCluster(reference("controlplane.yaml"), reference("worker.yaml")));
      await ready(world);
      const record = (await world.get(kinds.record))?.spec;
      assert.equal(record?.["clusterId"], secrets.cluster.id);
      assert.equal(record?.["endpoint"], writtenEndpoint);
      assert.deepEqual(record?.["podCIDR"], ["10.200.0.0/16"]);
      for (const address of ["10.5.0.1", "10.5.0.4"]) {
        const facts = describeMachineConfig(activeOf(world, address));
        assert.equal(facts.osCa?.certificate, secrets.certs.os.certificate);
        assert.match(activeOf(world, address), /vm\.max_map_count: "?262144/);
      }
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));

  test("gets the cluster's own keys where it leaves them out, and patches of the spec on top", () =>
    tell({}, async (world) => {
      const text = withoutKeys(writtenConfig("controlplane", await bundleOf(world)));
      assert.equal(describeMachineConfig(text).osCa, undefined, "the test must take the keys out");
      await putConfigs(world, { "controlplane.yaml": text });
      const made = writtenCluster();
      Object.assign(made.spec?.controlPlane?.metalSpec?.machineSpec ?? {}, {
        configPatches: [{ machine: { nodeLabels: { "example.org/rack": "r1" } } }],
      });
      await apply(world, kinds.cluster, made);
      await ready(world);
      const facts = describeMachineConfig(activeOf(world, "10.5.0.1"));
      assert.equal(facts.nodeLabels["example.org/rack"], "r1");
      assert.equal(facts.clusterId, (await world.get(kinds.record))?.spec?.["clusterId"]);
      assert.match(activeOf(world, "10.5.0.1"), /vm\.max_map_count/);
    }));

  test("that changes is rolled out like any change of settings", () =>
    tell({}, async (world) => {
      const secrets = await bundleOf(world);
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", secrets) });
      await apply(world, kinds.cluster, writtenCluster());
      await ready(world);
      const sent = world.sent.length;
      await putConfigs(world, {
        "controlplane.yaml": writtenConfig("controlplane", secrets, { machine: { nodeLabels: { "example.org/rack": "r2" } } }),
      });
      await world.until("rolled out", async () => activeOf(world, "10.5.0.1").includes("example.org/rack: r2"), 120);
      await world.until("kept", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate", 300);
      assert.deepEqual(world.sent.slice(sent), ["ApplyConfiguration 10.5.0.1", "ApplyConfiguration 10.5.0.1"]);
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));

  test("W33: that is not there stops the cluster with its name, and the cluster goes on when it comes", () =>
    tell({}, async (world) => {
      await apply(world, kinds.cluster, writtenCluster());
      await world.start();
      await assertStoppedBy(world, kinds.controlPlane, {
        reason: "ReferenceNotFound",
        says: /configRef.*ConfigMap demo-config does not exist.*Create it/,
      });
      assert.deepEqual(world.sent, []);
      await putConfigs(world, { other: "" });
      await world.until(
        "the key",
        async () => (await world.condition(kinds.controlPlane, "Ready"))?.message.includes('has no key "controlplane.yaml"') === true,
      );
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", await bundleOf(world)) });
      await world.untilReady();
    }));

  test("is read by the plan of an edit, which says what is wrong with it, and sees what another one changes", () =>
    tell({}, async (world) => {
      const planOf = async (edited: ReturnType<typeof writtenCluster>): Promise<string> => {
        const [found] = await whatIf([edited], { client: world.client, now: world.time.now(), hosts: { allowLoopback: false } });
        assert.ok(found !== undefined);
        return printPlan(found.plan);
      };
      assert.match(await planOf(writtenCluster()), /ReferenceNotFound\): .*configRef.*ConfigMap demo-config does not exist/);
      const secrets = await bundleOf(world);
      const label = { machine: { nodeLabels: { "example.org/rack": "r2" } } };
      await putConfigs(world, {
        "controlplane.yaml": writtenConfig("controlplane", secrets),
        "labelled.yaml": writtenConfig("controlplane", secrets, label),
      });
      assert.match(await planOf(writtenCluster()), /\[installs\] .*demo-10\.5\.0\.1/);
      await apply(world, kinds.cluster, writtenCluster());
      await ready(world);
      assert.match(await planOf(writtenCluster()), /^Nothing would be done\.$/);
      assert.match(await planOf(writtenCluster(reference("labelled.yaml"))), /^1\. \[live\] .*demo-10\.5\.0\.1/m);
    }));

  test("that may be absent and is, leaves the config to the operator", () =>
    tell({}, async (world) => {
      await apply(world, kinds.cluster, {
        ...writtenCluster({ configRef: { name: "demo-config", key: "a", optional: true }, endpoint: writtenEndpoint }),
      });
      await world.start();
      await world.untilReady();
      assert.ok(!activeOf(world, "10.5.0.1").includes("max_map_count"));
    }));

  test("that goes away later changes nothing on machines, and is told", () =>
    tell({}, async (world) => {
      const secrets = await bundleOf(world);
      await putConfigs(world, {
        "controlplane.yaml": writtenConfig("controlplane", secrets),
        "worker.yaml": writtenConfig("worker", secrets),
      });
      await apply(world, kinds.cluster, writtenCluster(reference("controlplane.yaml"), reference("worker.yaml")));
      await ready(world);
      const sent = world.sent.length;
      await world.client.resource(configMapType).delete({ namespace: "default", name: "demo-config" });
      await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "ReferenceNotFound", 120);
      assert.match((await world.condition(kinds.worker, "Ready"))?.message ?? "", /configRef.*demo-config does not exist/);
      await world.time.advance(600_000);
      assert.deepEqual(world.sent.slice(sent), []);
    }));

  test("IN33: with another cluster's keys reaches no machine of this one", () =>
    tell({}, async (world) => {
      const own = await bundleOf(world);
      const other = await bundleOf(world, 41);
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", own), "worker.yaml": writtenConfig("worker", other) });
      await apply(world, kinds.cluster, writtenCluster(reference("controlplane.yaml"), reference("worker.yaml")));
      await world.start();
      await world.until("the control plane", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
      await world.time.advance(120_000);
      assert.deepEqual(
        world.sent.filter((call) => call.endsWith("10.5.0.4")),
        [],
      );
      const told = (await world.condition(kinds.machine, "AddressResolved", "demo-10.5.0.4"))?.message ?? "";
      assert.match(told, /belongs to another cluster: .*machine\.ca\.crt.*Take them out of it/);
    }));

  const wrong = [
    {
      name: "IN34: the config of a worker",
      text: (own: SecretsBundle) => writtenConfig("worker", own),
      reason: "InvalidConfig",
      says: /holds the config of a worker/,
    },
    {
      name: "half of the keys",
      text: (own: SecretsBundle) => writtenConfig("controlplane", own).replaceAll(/^ +token: .*\n/gm, ""),
      reason: "InvalidConfig",
      says: /some of a cluster's keys and not all/,
    },
    { name: "no YAML", text: () => "a: [", reason: "InvalidConfig", says: /demo-config, key controlplane\.yaml is no machine config/ },
    {
      name: "what Talos refuses",
      text: (own: SecretsBundle) =>
        writtenConfig("controlplane", own, { machine: { network: { interfaces: [{ addresses: ["10.0.0.1/24"] }] } } }),
      reason: "InvalidConfig",
      says: /interface/,
    },
    {
      name: "an unknown field",
      text: (own: SecretsBundle) => `${writtenConfig("controlplane", own)}\nsurprise: secret-value\n`,
      reason: "InvalidConfig",
      says: /surprise/,
    },
  ];
  for (const { name, text, reason, says } of wrong)
    test(`that is ${name} stops everything before a machine hears of it`, () =>
      tell({}, async (world) => {
        await putConfigs(world, { "controlplane.yaml": text(await bundleOf(world)) });
        await apply(world, kinds.cluster, writtenCluster());
        await world.start();
        await assertStoppedBy(world, kinds.controlPlane, { reason, says });
        assert.deepEqual(world.sent, []);
        assert.ok(!((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "").includes("secret-value"));
      }));

  test("S7: whose keys another cluster has makes no second cluster", () =>
    tell({}, async (world) => {
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", await bundleOf(world)) });
      await apply(world, kinds.cluster, writtenCluster());
      await ready(world);
      const sent = world.sent.length;
      const second = demoCluster(["10.5.0.2"], [], { endpoint: undefined, ...reference("controlplane.yaml") });
      await apply(world, kinds.cluster, { ...second, metadata: { ...demo, name: "second" } });
      await assertStoppedBy(world, kinds.controlPlane, {
        name: "second",
        reason: "ClusterMismatch",
        says: /holds the keys of the cluster default\/demo/,
      });
      assert.deepEqual(world.sent.slice(sent), []);
    }));

  test("whose keys a running cluster may have waits for every control plane, and says how to take that cluster over", () =>
    tell({}, async (world) => {
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", await bundleOf(world)) });
      world.datacenter.machine("10.5.0.1").setConnected(false);
      await apply(world, kinds.cluster, writtenCluster());
      await world.start();
      await world.time.advance(60_000);
      assert.match(
        (await world.condition(kinds.controlPlane, "Ready"))?.message ?? "",
        /may be those of a cluster that runs.*reconcile-mode: import/,
      );
      assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
      world.datacenter.machine("10.5.0.1").setConnected(true);
      await world.untilReady();
    }));

  test("names the fields of the spec that say nothing beside it", () =>
    tell({}, async (world) => {
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", await bundleOf(world)) });
      const made = writtenCluster({ ...reference("controlplane.yaml"), cni: { name: "none" } });
      Object.assign(made.spec?.controlPlane?.metalSpec?.machineSpec ?? {}, { airGap: true });
      await apply(world, kinds.cluster, made);
      await ready(world);
      const { message } = (await world.condition(kinds.controlPlane, "FieldNotSupported")) ?? { message: "" };
      assert.match(message, /spec\.cni \(configRef says it\).*machineSpec\.airGap \(configRef says it\)/);
      assert.doesNotMatch(message, /clusterDomain|registries/);
    }));

  test("takes a running cluster over by the keys in it, and finds nothing to change", () =>
    tell({}, async (world) => {
      await leaveBehind(world);
      const calls = world.sent.length;
      await putConfigs(world, { "controlplane.yaml": activeOf(world, "10.5.0.1"), "worker.yaml": activeOf(world, "10.5.0.4") });
      const controlPlanes = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
      const made = demoCluster(controlPlanes, ["10.5.0.4"], { endpoint: undefined, ...reference("controlplane.yaml") });
      Object.assign(made.spec?.worker ?? {}, reference("worker.yaml"));
      const annotations = { "talos.alperen.cloud/reconcile-mode": "import" };
      await apply(world, kinds.cluster, { ...made, metadata: { ...demo, annotations } });
      await world.start();
      await world.until("taken over", async () => (await world.condition(kinds.controlPlane, "Imported"))?.reason === "TakenOver", 120);
      await world.untilReady();
      await world.time.advance(120_000);
      assert.equal((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason, "UpToDate");
      assert.deepEqual(world.sent.slice(calls), []);
    }));

  test("B032: is one of a TalosMachine made by hand, too", () =>
    tell({}, async (world) => {
      const secrets = await bundleOf(world);
      await putConfigs(world, {
        "controlplane.yaml": writtenConfig("controlplane", secrets),
        "worker.yaml": writtenConfig("worker", secrets),
      });
      await apply(world, kinds.cluster, writtenCluster());
      await ready(world);
      const worker = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosWorker", metadata: { namespace: "default", name: "pool" } };
      const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", controlPlaneRef: { name: "demo" } };
      await apply(world, kinds.worker, { ...worker, spec: { ...common, metalSpec: { machines: [] } } });
      const machine = {
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosMachine",
        metadata: { namespace: "default", name: "by-hand" },
      };
      const spec = { endpoint: "10.5.0.4", version: "v1.13.9", workerRef: { kind: "TalosWorker", name: "pool" }, installDisk: "/dev/sda" };
      await apply(world, kinds.machine, { ...machine, spec: { ...spec, ...reference("missing.yaml") } });
      await world.until(
        "told",
        async () => (await world.condition(kinds.machine, "AddressResolved", "by-hand"))?.reason === "ReferenceNotFound",
      );
      await world.client
        .resource(kinds.machine)
        .patch({ namespace: "default", name: "by-hand" }, { type: "merge", value: { spec: reference("worker.yaml") } });
      await world.until("joined", async () => (await world.condition(kinds.machine, "Ready", "by-hand"))?.status === "True");
      assert.match(activeOf(world, "10.5.0.4"), /vm\.max_map_count/);
    }));
});
