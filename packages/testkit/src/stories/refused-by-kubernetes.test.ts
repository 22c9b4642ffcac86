import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import { load } from "js-yaml";
import { apply } from "./quiet.ts";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

/** What people reported, as they wrote it. */
function input(name: string): TalosCluster {
  return load(readFileSync(new URL(`../../testdata/reports/${name}.yaml`, import.meta.url), "utf8")) as TalosCluster;
}

const addresses = ["127.1.0.21", "127.1.0.22", "127.1.0.23"];

const onLoopback = (story: (world: Story) => Promise<void>): Promise<void> =>
  tell({ machines: addresses.map((address) => ({ address })), operator: { allowLoopbackMachines: true } }, story);

const ready = (world: Story, kind: keyof typeof kinds, name = "home"): ReturnType<Story["condition"]> =>
  world.condition(kinds[kind], "Ready", name);

const sentTo = (world: Story, address: string): readonly string[] => world.sent.filter((call) => call === `ApplyConfiguration ${address}`);

async function planOf(world: Story, cluster: TalosCluster): Promise<string> {
  const [found] = await whatIf([cluster], { client: world.client, now: world.time.now(), hosts: { allowLoopback: true } });
  assert.ok(found !== undefined);
  return printPlan(found.plan);
}

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
      await apply(world, kinds.cluster, { ...cluster, spec: { ...cluster.spec, worker: { ...cluster.spec?.worker, ...worker } } } as TalosCluster);
      await world.start();
      await world.until("ready", async () => (await ready(world, "cluster"))?.status === "True", 600);
      const before = world.sent.length;
      const value = { spec: { worker: { metalSpec: { machineSpec: { configPatches } } } } };
      await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "home" }, { type: "merge", value });
      await world.until("said", async () => (await ready(world, "worker"))?.reason === "NameConflict", 60);
      await world.time.advance(120_000);
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
        // As kubectl reads it.
        if (patch["auto"] === "off") patch["auto"] = false;
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
