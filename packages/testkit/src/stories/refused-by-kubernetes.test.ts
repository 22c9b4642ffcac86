import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { printPlan, whatIf } from "@talos-operator/operator";
import type { MachineSpec } from "@talos-operator/simulator";
import { apply } from "./quiet.ts";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

/** What people reported, as they wrote it. */
function input(name: string): TalosCluster {
  const [document] = parseKubernetesYaml(readFileSync(new URL(`../../testdata/reports/${name}.yaml`, import.meta.url), "utf8"));
  return document as TalosCluster;
}

const addresses = ["127.1.0.21", "127.1.0.22", "127.1.0.23"];

const onLoopback = (story: (world: Story) => Promise<void>, more: Partial<MachineSpec> = {}): Promise<void> =>
  tell({ machines: addresses.map((address) => ({ address, ...more })), operator: { allowLoopbackMachines: true } }, story);

const ready = (world: Story, kind: keyof typeof kinds, name = "home"): ReturnType<Story["condition"]> =>
  world.condition(kinds[kind], "Ready", name);

const sentTo = (world: Story, address: string): readonly string[] => world.sent.filter((call) => call === `ApplyConfiguration ${address}`);

async function planOf(world: Story, cluster: TalosCluster): Promise<string> {
  const [found] = await whatIf([cluster], { client: world.client, now: world.time.now(), hosts: { allowLoopback: true } });
  assert.ok(found !== undefined);
  return printPlan(found.plan);
}

const held = [
  {
    name: "podsecurity-exemption-twice",
    code: "POD_SECURITY_EXEMPTION_TWICE",
    address: "127.1.0.21",
    path: "cluster.apiServer.admissionControl[0].configuration.exemptions.namespaces[1]",
  },
  {
    name: "restricted-node-labels",
    code: "NODE_LABEL_RESTRICTED",
    address: "127.1.0.22",
    path: 'machine.nodeLabels["node-role.kubernetes.io/worker"]',
  },
] as const;

describe("a configuration that Kubernetes refuses", () => {
  for (const { name, code, address, path } of held)
    test(`${name} is not sent, and said with its field, in the plan too`, () =>
      onLoopback(async (world) => {
        const cluster = input(name);
        const plan = await planOf(world, cluster);
        assert.ok(plan.includes(path) && plan.includes(code), plan);
        await apply(world, kinds.cluster, cluster);
        await world.start();
        await world.until("said", async () => (await ready(world, "machine", `home-${address}`))?.reason === "InvalidConfig", 120);
        const { message = "" } = (await ready(world, "machine", `home-${address}`)) ?? {};
        assert.ok(message.includes(path) && message.includes(code), message);
        await world.time.advance(60_000);
        assert.deepEqual(sentTo(world, address), []);
        assert.equal((await ready(world, "cluster"))?.status, "False");
      }));

  test("services of a family that the machine has no address of, and the plan says what nobody reported", () =>
    onLoopback(async (world) => {
      const cluster = input("first-service-network-of-another-family");
      assert.match(
        await planOf(world, cluster),
        /Not in this plan: The addresses are not reported: home-127\.1\.0\.21\. SERVICE_FAMILY_ABSENT holds back .*no IPv6 address/,
      );
      await apply(world, kinds.cluster, cluster);
      await world.start();
      await world.until("said", async () => (await ready(world, "controlPlane"))?.reason === "InvalidConfig", 60);
      const { message = "" } = (await ready(world, "controlPlane")) ?? {};
      assert.match(message, /SERVICE_FAMILY_ABSENT.*no IPv6 address.*put an IPv4 network first/);
      assert.deepEqual(world.sent, []);
    }));

  test("services of a family that the machine has besides the address it is dialled at", () =>
    onLoopback(
      async (world) => {
        await apply(world, kinds.cluster, input("first-service-network-of-another-family"));
        await world.start();
        await world.until("ready", async () => (await ready(world, "cluster"))?.status === "True", 600);
      },
      { moreAddresses: ["2001:db8::21"] },
    ));

  test("is sent when a person accepts it, and the simulated Kubernetes refuses it", () =>
    onLoopback(async (world) => {
      await apply(world, kinds.cluster, input("podsecurity-exemption-twice"));
      await world.start();
      await world.until("said", async () => (await ready(world, "controlPlane"))?.reason === "InvalidConfig", 60);
      const value = { metadata: { annotations: { "talos-operator.dev/accept-hazard": "POD_SECURITY_EXEMPTION_TWICE" } } };
      await world.client.resource(kinds.controlPlane).patch({ namespace: "default", name: "home" }, { type: "merge", value });
      await world.until("sent", () => Promise.resolve(sentTo(world, "127.1.0.21").length > 0), 120);
      await world.time.advance(600_000);
      assert.notEqual((await ready(world, "cluster"))?.status, "True");
    }));
});

describe("one host name for a pool", () => {
  test("is sent to none of its machines, and the plan says so", () =>
    onLoopback(async (world) => {
      const cluster = input("one-host-name-for-a-pool");
      const words = "the host name worker-x would be that of 127.1.0.22 and 127.1.0.23. Give each its own in machines[].configPatches";
      assert.ok((await planOf(world, cluster)).includes(`spec.worker.metalSpec.machineSpec.configPatches[0]: ${words}`));
      await apply(world, kinds.cluster, cluster);
      await world.start();
      await world.until("said", async () => (await ready(world, "worker"))?.reason === "NameConflict", 60);
      assert.ok((await ready(world, "worker"))?.message?.includes(words));
      await world.time.advance(60_000);
      assert.deepEqual([...sentTo(world, "127.1.0.22"), ...sentTo(world, "127.1.0.23")], []);
      assert.notEqual((await ready(world, "cluster"))?.status, "True");
    }));

  test("is sent to no machine that runs", () =>
    onLoopback(async (world) => {
      const cluster = input("one-host-name-for-a-pool");
      const { configPatches, ...machineSpec } = cluster.spec?.worker?.metalSpec?.machineSpec ?? {};
      const worker = { metalSpec: { ...cluster.spec?.worker?.metalSpec, machineSpec } };
      await apply(world, kinds.cluster, {
        ...cluster,
        spec: { ...cluster.spec, worker: { ...cluster.spec?.worker, ...worker } },
      });
      await world.start();
      await world.until("ready", async () => (await ready(world, "cluster"))?.status === "True", 600);
      const before = world.sent.length;
      const value = { spec: { worker: { metalSpec: { machineSpec: { configPatches } } } } };
      await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "home" }, { type: "merge", value });
      await world.until("said", async () => (await world.condition(kinds.worker, "EditRefused", "home")) !== undefined, 60);
      await world.time.advance(120_000);
      assert.equal((await ready(world, "cluster"))?.status, "True");
      assert.deepEqual(world.sent.slice(before), []);
    }));
});

describe("a host name in a HostnameConfig patch", () => {
  for (const [name, words] of [
    ["hostname-document-patch", 'Write auto: "off" beside hostname: the generated config has auto: stable'],
    ["auto-off-without-quotes", 'Write auto: "off" in quotes: the Kubernetes API turned a bare off into false'],
  ] as const)
    test(`${name}: the message says what to write, and with that the cluster is ready`, () =>
      onLoopback(async (world) => {
        const cluster = input(name);
        const patch = cluster.spec?.controlPlane?.metalSpec?.machineSpec?.configPatches?.[0] as Record<string, unknown>;
        assert.notEqual(patch["auto"], "off");
        await apply(world, kinds.cluster, cluster);
        await world.start();
        await world.until("said", async () => (await ready(world, "cluster"))?.reason === "InvalidConfig", 60);
        const { message = "" } = (await ready(world, "cluster")) ?? {};
        assert.ok(message.includes(words), message);
        assert.ok(message.length <= 300, `${message.length} characters: ${message}`);
        assert.deepEqual(world.sent, []);
        const value = { spec: { controlPlane: { metalSpec: { machineSpec: { configPatches: [{ ...patch, auto: "off" }] } } } } };
        await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "home" }, { type: "merge", value });
        await world.until("ready", async () => (await ready(world, "cluster"))?.status === "True", 600);
      }));
});
