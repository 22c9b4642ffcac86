// A machine that gets another host name registers another Node, and two machines of one host name share one.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import { patchMachineConfig } from "@talos-operator/talos";
import { demoTimings } from "@talos-operator/simulator";
import { asPerson } from "./as-person.ts";
import { inside, keepAvailable, podNames, runPod } from "./cluster-pods.ts";
import type { NodeObject } from "./cluster-pods.ts";
import { apply, assertOnlyWorkersTrouble } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

const [first, second, third] = ["127.1.0.21", "127.1.0.22", "127.1.0.23"] as const;
const renamed = "demo-127.1.0.23";

const options: StoryOptions = {
  machines: [first, second, third].map((address) => ({ address })),
  timings: demoTimings,
  operator: { allowLoopbackMachines: true },
};

const named = (hostname: string): object => ({ apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname });

/** @param patches of the last worker */
function cluster(patches: readonly object[] = [], version = "v1.13.9"): TalosCluster {
  const common = { version, kubeVersion: "v1.35.0", mode: "metal" };
  const machine = patches.length === 0 ? { address: third } : { address: third, configPatches: patches };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { name: "demo", namespace: "default" },
    spec: {
      controlPlane: { ...common, metalSpec: { machines: [{ address: first }], machineSpec: { installDisk: "/dev/sda" } } },
      worker: { ...common, metalSpec: { machines: [{ address: second }, machine] } },
    },
  } as TalosCluster;
}

async function settled(world: Story): Promise<void> {
  await apply(world, kinds.cluster, cluster());
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
  await world.time.advance(5_000);
}

const nodes = async (world: Story): Promise<readonly NodeObject[]> =>
  (await world.workload().resource<NodeObject>(inside.node).list()).items;
const names = async (world: Story): Promise<readonly string[]> => (await nodes(world)).map(({ metadata }) => metadata?.name ?? "");
const isReady = ({ status }: NodeObject): boolean =>
  status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") === true;
const nodeName = async (world: Story, machine = renamed): Promise<unknown> =>
  ((await world.get(kinds.machine, machine))?.status as { readonly nodeName?: string } | undefined)?.nodeName;
const unique = (world: Story): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "NodesUnique");

async function edit(world: Story, { spec }: TalosCluster): Promise<void> {
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

async function byHand(world: Story, address: string, patch: object): Promise<void> {
  const config = patchMachineConfig(world.datacenter.machine(address).state.config.active ?? "", [JSON.stringify(patch)]);
  await asPerson(world, address, (client) => client.applyConfiguration({ config, mode: "no-reboot" }, { timeoutMs: 10_000 }));
}

describe("a running machine gets another host name", () => {
  test("its Node is drained before, the new name is reported, and the former Node goes", () =>
    tell(options, async (world) => {
      await settled(world);
      const before = String(await nodeName(world));
      const [found] = await whatIf([cluster([named("worker-a")])], {
        client: world.client,
        now: world.time.now(),
        hosts: { allowLoopback: true },
      });
      const plan = printPlan(found?.plan ?? assert.fail());
      assert.match(
        plan,
        new RegExp(`Cordon and drain[^]*Node ${before} becomes worker-a[^]*Delete the Nodes of earlier names: ${before} of ${renamed}`),
      );

      await runPod(world, third, "web", { labels: { app: "web" } });
      await keepAvailable(world.workload(), "web", 1);
      const sent = world.sent.length;
      await edit(world, cluster([named("worker-a")]));
      await world.until("held up", async () => (await world.condition(kinds.controlPlane, "Draining"))?.reason === "BudgetBlocks");
      await world.time.advance(120_000);
      assert.deepEqual([world.sent.slice(sent), await podNames(world)], [[], ["web"]], "nothing is sent before it is drained");
      await world.workload().resource(inside.budget).delete({ namespace: "default", name: "web-budget" });

      await world.until("sent", () => Promise.resolve(world.sent.length > sent));
      assert.deepEqual(await podNames(world), []);
      await world.until("new name", async () => (await nodeName(world)) === "worker-a", 20);
      await world.until("former Node gone", async () => !(await names(world)).includes(before), 300);
      await world.untilReady();
      assert.equal((await nodes(world)).length, 3);
      assert.ok((await nodes(world)).every((node) => isReady(node) && node.spec?.unschedulable !== true));
      assert.equal(await unique(world), undefined);

      // Upgrades drain the Node of now.
      await runPod(world, third, "after");
      await edit(world, cluster([named("worker-a")], "v1.13.10"));
      await world.until("upgraded", async () => world.datacenter.machine(third).state.hardware.talosVersion === "v1.13.10", 1_800);
      assert.deepEqual(await podNames(world), []);
      await world.untilReady(900);
      assert.equal((await nodes(world)).length, 3);
    }));

  test("by a person: the new name is reported soon, and the former Node goes once no kubelet reports for it", () =>
    tell(options, async (world) => {
      await settled(world);
      const before = String(await nodeName(world));
      await runPod(world, third, "web");
      await byHand(world, third, named("worker-a"));
      await world.until("registered", async () => (await names(world)).includes("worker-a"), 30);
      const former = (await nodes(world)).find(({ metadata }) => metadata?.name === before);
      assert.ok(former !== undefined && isReady(former), "its kubelet is missed only after a while");
      await world.until("new name", async () => (await nodeName(world)) === "worker-a", 70);
      await world.until("former Node gone", async () => !(await names(world)).includes(before), 120);
      assert.equal((await nodes(world)).length, 3);
    }));

  test("a control plane, and a worker of a pool that may lose one: one after the other, each drained before", () =>
    tell({ timings: demoTimings }, async (world) => {
      const at = (n: number): string => `10.5.0.${n}`;
      const asked = (name?: string): TalosCluster => {
        const found = demoCluster([1, 2, 3].map(at), [4, 5].map(at));
        const patched = (n: number): object => ({
          address: at(n),
          ...(name === undefined ? {} : { configPatches: [named(`${name}-${n}`)] }),
        });
        const { controlPlane, worker } = found.spec ?? {};
        const machines = (numbers: readonly number[]): object => ({
          metalSpec: { machines: numbers.map(patched), machineSpec: { installDisk: "/dev/sda" } },
        });
        return {
          ...found,
          spec: { controlPlane: { ...controlPlane, ...machines([1, 2, 3]) }, worker: { ...worker, ...machines([4, 5]) } },
        } as TalosCluster;
      };
      await apply(world, kinds.cluster, asked());
      await world.start();
      await world.untilReady();
      await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
      await world.time.advance(5_000);
      for (const n of [1, 2, 3, 4, 5]) await runPod(world, at(n), `web-${n}`);
      const sent = world.sent.length;
      await edit(world, asked("node"));
      const seen = new Set<string>();
      await world.until(
        "renamed",
        async () => {
          const pods = await podNames(world);
          for (const call of world.sent.slice(sent)) seen.add(`${call} ${pods.includes(`web-${call.slice(-1)}`)}`);
          const found = await names(world);
          return found.length === 5 && found.every((name) => name.startsWith("node-"));
        },
        1_800,
      );
      assert.deepEqual(
        [...seen],
        [1, 2, 3, 4, 5].map((n) => `ApplyConfiguration ${at(n)} false`),
      );
      await world.untilReady();
    }));

  test("by the settings in META: it is drained before, too", () =>
    tell({ timings: demoTimings }, async (world) => {
      const asked = (meta?: object): TalosCluster => {
        const found = demoCluster(["10.5.0.1"], ["10.5.0.4"]);
        const { metalSpec = {} } = found.spec?.worker ?? {};
        const machineSpec = { installDisk: "/dev/sda", ...(meta === undefined ? {} : { meta }) };
        return {
          ...found,
          spec: { ...found.spec, worker: { ...found.spec?.worker, metalSpec: { ...metalSpec, machineSpec } } },
        } as TalosCluster;
      };
      await apply(world, kinds.cluster, asked());
      await world.start();
      await world.untilReady();
      await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
      await world.time.advance(5_000);
      await runPod(world, "10.5.0.4", "web");
      const before = String(await nodeName(world, "demo-10.5.0.4"));
      await edit(world, asked({ hostname: "worker-a" }));
      await world.until("registered", async () => (await names(world)).includes("worker-a"), 900);
      assert.deepEqual(await podNames(world), []);
      await world.until("former Node gone", async () => !(await names(world)).includes(before), 300);
      await world.untilReady();
    }));

  test("before the operator knew: a new leader deletes the Node that stayed", () =>
    tell(options, async (world) => {
      await settled(world);
      const before = String(await nodeName(world));
      await world.stop();
      await byHand(world, third, named("worker-a"));
      await world.time.advance(120_000);
      assert.ok((await names(world)).includes(before));
      await world.start();
      await world.until("former Node gone", async () => !(await names(world)).includes(before), 120);
    }));

  test("a Node that stayed and may be another machine's is named until somebody deletes it", () =>
    tell(options, async (world) => {
      await settled(world);
      const [own] = (await nodes(world)).filter(({ status }) => status?.addresses?.some(({ address }) => address === third));
      const { uid: _uid, resourceVersion: _version, ...metadata } = own?.metadata ?? {};
      const resource = world.workload().resource<NodeObject>(inside.node);
      // As a clone that somebody joined by hand has: its UUID, at another address, and away.
      const status = { ...own?.status, addresses: [{ type: "InternalIP", address: "127.1.0.99" }], conditions: [] };
      await resource.create({ ...own, metadata: { ...metadata, name: "clone" }, status });
      await byHand(world, third, named("worker-a"));
      await world.until("named", async () => (await unique(world))?.reason === "NodeLeft", 300);
      assert.match((await unique(world))?.message ?? "", new RegExp(`clone \\(${renamed} has worker-a\\)`));
      await world.time.advance(600_000);
      assert.ok((await names(world)).includes("clone"), "it is not deleted");
      await resource.delete({ name: "clone" });
      await world.until("unsaid", async () => (await unique(world)) === undefined, 600);
    }));
});

describe("two machines have one host name", () => {
  test("none of them is ready by the one Node, a condition names them, and names of their own cure it", () =>
    tell(options, async (world) => {
      await settled(world);
      const before = String(await nodeName(world));
      await byHand(world, second, named("worker-x"));
      await byHand(world, third, named("worker-x"));
      await world.until("named", async () => (await unique(world))?.reason === "NodeShared", 120);
      const says = (await unique(world))?.message ?? "";
      assert.match(
        says,
        /^Several machines report one Node, and none of them counts as ready\. worker-x: demo-127\.1\.0\.22, demo-127\.1\.0\.23\./,
      );
      const pool = async (): Promise<readonly unknown[]> => {
        const status = (await world.get(kinds.worker))?.status as { readonly readyMachines?: number } | undefined;
        return [(await world.condition(kinds.worker, "Ready"))?.reason, status?.readyMachines];
      };
      await world.until("pool", async () => (await pool()).join(" ") === "NodeShared 0", 30);
      const aboveReason = async (): Promise<unknown> => (await world.condition(kinds.cluster, "Ready"))?.reason;
      await world.until("cluster", async () => (await aboveReason()) === "WorkersNotReady", 30);
      await assertOnlyWorkersTrouble(world, "NodeShared");
      for (const machine of ["demo-127.1.0.22", renamed])
        assert.equal((await world.condition(kinds.machine, "Ready", machine))?.reason, "NodeShared", machine);
      await byHand(world, third, named(before));
      await world.untilReady(180);
      assert.equal(await unique(world), undefined);
      assert.deepEqual(await pool(), ["AllReady", 2]);
    }));
});
