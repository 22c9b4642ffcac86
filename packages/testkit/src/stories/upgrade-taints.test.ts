// While an upgrade is under way, pods that are evicted go to nodes that are done: nobody is evicted twice where there is another place.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { realisticTimings } from "@talos-operator/simulator";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { inside, keepAvailable } from "./cluster-pods.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const key = "talos-operator.dev/upgrade-pending";
const workers = ["10.5.0.4", "10.5.0.5", "10.5.0.6"];
const options: StoryOptions = { timings: realisticTimings, hasWorkloadControllers: true };

interface Node extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string; readonly effect: string; readonly value?: string }[] };
  readonly status?: {
    readonly addresses?: readonly { readonly address: string }[];
    readonly nodeInfo?: { readonly osImage?: string };
  };
}
type Pod = KubeObject & { readonly spec?: { readonly nodeName?: string } };

const nodes = async (world: Story): Promise<readonly Node[]> => (await world.workload().resource<Node>(inside.node).list()).items;
const addressOf = (node: Node | undefined): string => node?.status?.addresses?.[0]?.address ?? "";
/** Addresses of the Nodes with our taint. */
const tainted = async (world: Story): Promise<readonly string[]> =>
  (await nodes(world))
    .filter((node) => node.spec?.taints?.some((taint) => taint.key === key && taint.effect === "PreferNoSchedule") === true)
    .map(addressOf)
    .toSorted();
const patchTaints = async (world: Story, address: string, taints: readonly object[]): Promise<void> => {
  const name = (await nodes(world)).find((node) => addressOf(node) === address)?.metadata?.name ?? "";
  await world
    .workload()
    .resource(inside.node)
    .patch({ name }, { type: "merge", value: { spec: { taints } } });
};

async function ready(world: Story, pool = workers, over: Record<string, unknown> = {}): Promise<void> {
  const cluster = demoCluster(["10.5.0.1"], pool, over);
  const { spec } = cluster;
  await apply(world, kinds.cluster, { ...cluster, spec: { ...spec, worker: { ...spec?.worker, ...over } } });
  await world.start();
  await world.untilReady();
}

const ask = (world: Story, version: string): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane: { version }, worker: { version } } } });

async function upgraded(world: Story, version: string, addresses: readonly string[]): Promise<void> {
  const all = async (): Promise<boolean> =>
    addresses.every((address) => world.datacenter.machine(address).state.hardware.talosVersion === version);
  await world.until(`all run ${version}`, all, 3_600);
  await world.until("settled", async () => (await world.condition(kinds.controlPlane, "Progressing"))?.reason === "Settled", 600);
  await world.time.advance(60_000);
}

/** So many pods that a budget keeps, but for one. */
async function serve(world: Story, replicas: number): Promise<void> {
  const labels = { app: "web" };
  await world
    .workload()
    .resource({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true })
    .create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { namespace: "default", name: "web" },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/web:1" }] } },
      },
    } as KubeObject);
  await keepAvailable(world.workload(), "web", replicas - 1);
  await world.time.advance(5_000);
}

const pods = async (world: Story): Promise<readonly Pod[]> => (await world.workload().resource<Pod>(inside.pod).list()).items;
const uidsOf = async (world: Story): Promise<ReadonlySet<string>> =>
  new Set((await pods(world)).map(({ metadata }) => metadata?.uid ?? ""));

/** Lets the upgrade go on and notes each pod that is made on a Node, with the Talos that the Node shows then. */
async function watched(world: Story, version: string, isOver: () => Promise<boolean>): Promise<readonly boolean[]> {
  const known = new Set(await uidsOf(world));
  const onDone: boolean[] = [];
  await world.until(
    "the end",
    async () => {
      const all = await nodes(world);
      for (const { metadata, spec } of await pods(world)) {
        const uid = metadata?.uid ?? "";
        const node = all.find((one) => one.metadata?.name === spec?.nodeName);
        if (known.has(uid) || node === undefined) continue;
        known.add(uid);
        onDone.push(node.status?.nodeInfo?.osImage?.includes(version) === true);
      }
      return isOver();
    },
    3_600,
  );
  return onDone;
}

describe("the taint of nodes that are still to be upgraded", () => {
  for (const [from, version, kubeVersion] of [
    ["v1.13.9", "v1.13.10", "v1.36.3"],
    ["v1.12.10", "v1.12.11", "v1.35.4"],
  ] as const)
    test(`from ${from}: it stands before the first pod is evicted, goes with each machine, and evicted pods go to nodes that are done`, () =>
      tell(options, async (world) => {
        await ready(world, workers, { version: from, kubeVersion });
        await serve(world, 6);
        const before = world.workloadWrites.length;
        await ask(world, version);
        let most: readonly string[] = [];
        const rounds: string[] = [];
        let atFirstEviction: readonly string[] | undefined;
        const isOver = async (): Promise<boolean> => {
          const now = await tainted(world);
          if (now.length > most.length) most = now;
          if (world.workloadWrites.slice(before).some((write) => write.endsWith("/eviction"))) atFirstEviction ??= now;
          if (rounds.at(-1) !== now.join(" ")) rounds.push(now.join(" "));
          return workers.every((address) => world.datacenter.machine(address).state.hardware.talosVersion === version) && now.length === 0;
        };
        const onDone = await watched(world, version, isOver);
        await upgraded(world, version, ["10.5.0.1", ...workers]);
        assert.deepEqual(most, workers, "a control plane that takes no pods needs none");
        assert.deepEqual(
          rounds.filter((round) => round !== ""),
          ["10.5.0.4 10.5.0.5 10.5.0.6", "10.5.0.5 10.5.0.6", "10.5.0.6"],
        );
        // Two pods of the first machine had nowhere else to go; all others move once, to a node that is done.
        assert.deepEqual(onDone.slice(0, 2), [false, false]);
        assert.ok(onDone.length > 4 && onDone.slice(2).every(Boolean), onDone.join(" "));
        assert.deepEqual(await tainted(world), []);
        const writes = world.workloadWrites.slice(before);
        assert.deepEqual(atFirstEviction, workers);
        const patches = writes.filter((write) => write.startsWith("PATCH /api/v1/nodes/"));
        assert.equal(patches.length, 4 * workers.length + 2, "cordoned and not, tainted and not: nothing is written twice");
      }));

  test("nothing is written while nothing is upgraded, and nothing after it", () =>
    tell(options, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await upgraded(world, "v1.13.10", ["10.5.0.1", ...workers]);
      await world.time.advance(120_000);
      const before = world.workloadWrites.length;
      await world.time.advance(3_600_000);
      assert.equal(world.workloadWrites.length, before);
    }));

  test("it is taken off everywhere when the version fails, and when Git takes it back", () =>
    tell(options, async (world) => {
      await ready(world);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      await ask(world, "v1.13.10");
      await world.until("tainted", async () => (await tainted(world)).length === 3, 600);
      await world.until(
        "stopped",
        async () => (await world.condition(kinds.controlPlane, "UpgradePending"))?.reason === "VersionFailed",
        3_600,
      );
      await world.until("free", async () => (await tainted(world)).length === 0, 120);
      await ask(world, "v1.13.11");
      await world.until("tainted again", async () => (await tainted(world)).length === 3, 600);
      await ask(world, "v1.13.9");
      await world.until("free again", async () => (await tainted(world)).length === 0, 1_800);
    }));

  for (const everyMs of [2_000, 7_000, 31_000])
    test(`an operator that dies every ${everyMs / 1000} s leaves none behind`, () =>
      tell(options, async (world) => {
        await ready(world);
        await ask(world, "v1.13.10");
        for (let count = 0; count < 40; count += 1) {
          await world.time.advance(everyMs);
          await world.kill();
          await world.start();
        }
        await upgraded(world, "v1.13.10", ["10.5.0.1", ...workers]);
        assert.deepEqual(await tainted(world), []);
      }));

  test("taints of people stay as they are, and one that a person takes off is not put on again", () =>
    tell(options, async (world) => {
      await ready(world);
      const theirs = { key: "team", value: "blue", effect: "PreferNoSchedule" };
      const alike = { key, effect: "NoExecute", value: "mine" };
      await patchTaints(world, "10.5.0.5", [theirs]);
      await patchTaints(world, "10.5.0.6", [alike]);
      await ask(world, "v1.13.10");
      await world.until("tainted", async () => (await tainted(world)).length > 0, 600);
      assert.deepEqual(await tainted(world), ["10.5.0.4", "10.5.0.5"], "what keeps pods away by itself needs none");
      await patchTaints(world, "10.5.0.4", []);
      await world.time.advance(30_000);
      assert.deepEqual(await tainted(world), ["10.5.0.5"]);
      await upgraded(world, "v1.13.10", ["10.5.0.1", ...workers]);
      const left = new Map((await nodes(world)).map((node) => [addressOf(node), node.spec?.taints ?? []]));
      assert.deepEqual([left.get("10.5.0.4"), left.get("10.5.0.5"), left.get("10.5.0.6")], [[], [theirs], [alike]]);
    }));

  test("a cluster with one node that takes pods gets none", () =>
    tell(options, async (world) => {
      await ready(world, ["10.5.0.4"]);
      await ask(world, "v1.13.10");
      let most = 0;
      await world.until(
        "all run it",
        async () => {
          most = Math.max(most, (await tainted(world)).length);
          return ["10.5.0.1", "10.5.0.4"].every((address) => world.datacenter.machine(address).state.hardware.talosVersion === "v1.13.10");
        },
        3_600,
      );
      assert.equal(most, 0);
    }));

  test("a cluster that is let go with its machines running keeps none", () =>
    tell(options, async (world) => {
      await ready(world, workers, { deletionPolicy: "preserve" });
      await ask(world, "v1.13.10");
      await world.until("tainted", async () => (await tainted(world)).length === 3, 600);
      await world.client.resource(kinds.cluster).delete(demo);
      await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 1_800);
      assert.deepEqual(await tainted(world), []);
    }));

  test("while the cluster is paused they stay as they are, and go on with it", () =>
    tell(options, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await world.until("tainted", async () => (await tainted(world)).length === 3, 600);
      await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", "disable");
      await world.time.advance(60_000);
      const [before, stand] = [world.workloadWrites.length, await tainted(world)];
      await world.time.advance(3_600_000);
      assert.equal(world.workloadWrites.length, before);
      assert.deepEqual(await tainted(world), stand);
      await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", undefined);
      await upgraded(world, "v1.13.10", ["10.5.0.1", ...workers]);
      assert.deepEqual(await tainted(world), []);
    }));
});
