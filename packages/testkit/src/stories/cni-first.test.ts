// A cluster whose configuration says `cni: none`: its Nodes are Ready once an addon has brought the network, and nothing waits in a circle.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isConditionTrue, talosClusterAddonReleaseResource, talosClusterAddonResource } from "@talos-operator/api";
import type { Cni, HelmSpec, TalosClusterAddonRelease } from "@talos-operator/api";
import { isManifestsTask } from "@talos-operator/helm";
import type { HelmTask } from "@talos-operator/helm";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { createSimulatedHelm } from "../world/simulated-helm.ts";
import type { ChartContents, SimulatedHelm } from "../world/simulated-helm.ts";
import { inside } from "./cluster-pods.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

const apps = (plural: string, kind: string): ResourceType => ({ group: "apps", version: "v1", plural, kind, namespaced: true });
const types = { DaemonSet: apps("daemonsets", "DaemonSet"), Deployment: apps("deployments", "Deployment") } as const;
const namespaceType: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** What charts hold: in kube-system a network plugin, everywhere else a Deployment. */
function contentsIn(world: () => Story): ChartContents {
  const objectOf = (task: Parameters<ChartContents["install"]>[0]) => {
    const { name, namespace } = task.release;
    const kind = namespace === "kube-system" ? "DaemonSet" : "Deployment";
    const labels = { app: name };
    const plugin = {
      hostNetwork: true,
      tolerations: [{ operator: "Exists" }],
      volumes: [{ name: "net", hostPath: { path: "/etc/cni/net.d" } }],
    };
    const template = {
      metadata: { labels },
      spec: { ...(kind === "DaemonSet" ? plugin : {}), containers: [{ name: "main", image: "example.com/main:1" }] },
    };
    const spec = { selector: { matchLabels: labels }, template, ...(kind === "Deployment" ? { replicas: 2 } : {}) };
    return { kind, name, namespace, object: { apiVersion: "apps/v1", kind, metadata: { name, namespace }, spec } } as const;
  };
  return {
    async install(task) {
      const { kind, name, namespace, object } = objectOf(task);
      const client = world().workload();
      await client
        .resource(namespaceType)
        .apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { fieldManager: "helm" });
      await client.resource(types[kind]).apply(object, { fieldManager: "helm" });
      return [{ kind, namespace, name }];
    },
    async uninstall(task) {
      const { kind, name, namespace } = objectOf(task);
      await world().workload().resource(types[kind]).delete({ namespace, name });
    },
  };
}

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4"];

/** A cluster `demo` with `cni: none` that is about to be made, and what Helm installs in it. */
function tellFirst(
  story: (world: Story, helm: SimulatedHelm) => Promise<void>,
  controlPlanes: readonly string[] = cps,
  cni: Cni = { name: "none" },
): Promise<void> {
  return tellWithHelm({}, async (world, helm) => {
    const cluster = demoCluster(controlPlanes, workers, { cni });
    await world.client.resource(kinds.cluster).create({ ...cluster, metadata: { ...cluster.metadata, labels: { env: "test" } } });
    await story(world, helm);
  });
}

/** An operator that has nothing to do yet, and a Helm whose charts hold something. */
function tellWithHelm(options: StoryOptions, story: (world: Story, helm: SimulatedHelm) => Promise<void>): Promise<void> {
  let helm: SimulatedHelm | undefined;
  const addons = () => {
    if (helm === undefined) throw new Error("the story has not begun");
    return { runner: helm.runner };
  };
  return tell({ ...options, addons, hasWorkloadControllers: true }, async (world) => {
    helm = createSimulatedHelm(world.time.clock, { contents: contentsIn(() => world) });
    await world.start();
    await story(world, helm);
  });
}

async function addon(world: Story, name: string, options: HelmSpec["options"] = {}, dependsOn: readonly string[] = []): Promise<void> {
  const namespace = name === "cni" ? "kube-system" : name;
  const helmSpec: HelmSpec = { chartName: name, repoURL: "https://charts.example.org", releaseName: name, namespace, options };
  await apply(world, talosClusterAddonResource, {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosClusterAddon",
    metadata: { namespace: "default", name },
    spec: { clusterSelector: { matchLabels: { env: "test" } }, helmSpec, ...(dependsOn.length === 0 ? {} : { dependsOn }) },
  });
}

const releaseOf = async (world: Story, name: string): Promise<string | undefined> =>
  (
    await world.client
      .resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource)
      .tryGet({ namespace: "default", name: `demo-${name}-addonrelease` })
  )?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
const untilRelease = (world: Story, name: string, reason: string, seconds = 300): Promise<void> =>
  world.until(`${name} says ${reason}`, async () => (await releaseOf(world, name)) === reason, seconds);

interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
  };
}
const nodes = async (world: Story): Promise<readonly Node[]> => (await world.workload().resource<Node>(inside.node).list()).items;
const readiness = (node: Node) => node.status?.conditions?.find(({ type }) => type === "Ready");

type Pod = KubeObject & { readonly status?: { readonly phase?: string } };
const pods = async (world: Story): Promise<readonly string[]> =>
  (await world.workload().resource<Pod>(inside.pod).list()).items
    .map(({ metadata, status }) => `${metadata?.namespace ?? ""} ${status?.phase ?? ""}`)
    .toSorted();
const untilNodes = (world: Story, count: number): Promise<void> =>
  world.until(
    `${count} Nodes`,
    async () => {
      try {
        return (await nodes(world)).length === count;
      } catch {
        return false;
      }
    },
    600,
  );
const readyIn = async (world: Story): Promise<boolean> => isConditionTrue((await world.get(kinds.cluster))?.status?.conditions, "Ready");

function helmTasks(helm: SimulatedHelm): readonly HelmTask[] {
  return helm.begun.flatMap(({ task }) => (isManifestsTask(task) ? [] : [task]));
}

describe("the network comes as an addon", () => {
  test("Nodes are not Ready, the addon is installed nevertheless, and then they are", () =>
    tellFirst(async (world, helm) => {
      await untilNodes(world, 4);
      await world.time.advance(120_000);
      for (const node of await nodes(world)) {
        const { status, reason, message } = readiness(node) ?? {};
        assert.deepEqual([status, reason], ["False", "KubeletNotReady"]);
        assert.match(message ?? "", /reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized$/);
        assert.ok(node.spec?.taints?.some(({ key, effect }) => key === "node.kubernetes.io/not-ready" && effect === "NoSchedule"));
      }
      for (const kind of [kinds.controlPlane, kinds.cluster]) {
        const told = await world.condition(kind, "Ready");
        assert.equal(told?.status, "False");
        assert.match(told.message, /No CNI: with cni none .* TalosClusterAddon/);
      }
      assert.equal((await world.condition(kinds.controlPlane, "NodesReady"))?.reason, "NoNetworkPlugin");
      assert.equal((await world.condition(kinds.controlPlane, "Progressing"))?.reason, "WaitingForNodes");
      assert.equal(
        await world.condition(kinds.controlPlane, "Stalled"),
        undefined,
        "who applies cluster and addon together waits for both",
      );
      assert.equal(helm.begun.length, 0);
      await addon(world, "cni");
      await untilRelease(world, "cni", "Installed");
      await world.untilReady();
      for (const node of await nodes(world)) {
        assert.equal(readiness(node)?.status, "True");
        assert.ok(!node.spec?.taints?.some(({ key }) => key === "node.kubernetes.io/not-ready"));
      }
      assert.equal(helm.begun.length, 1);
    }));

  test("the cluster grows, changes and shrinks while no Node is Ready", () =>
    tellFirst(
      async (world) => {
        await untilNodes(world, 2);
        const patch = (spec: unknown): Promise<unknown> =>
          world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
        const settled = async (): Promise<void> =>
          world.until(
            "the settings are in force",
            async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True",
            1_800,
          );
        await patch(demoCluster(cps, ["10.5.0.4", "10.5.0.5"], { cni: { name: "none" } }).spec);
        await untilNodes(world, 5);
        assert.equal(world.datacenter.etcdClusters()[0]?.members.length, 3);
        await settled();
        const boots = world.datacenter.machine("10.5.0.1").state.bootCount;
        const modules = { machine: { kernel: { modules: [{ name: "br_netfilter" }] } } };
        // In force after a boot only.
        const quota = { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } };
        const changed = (...configPatches: object[]) => ({ metalSpec: { machineSpec: { configPatches } } });
        await patch({ controlPlane: changed(modules, quota), worker: changed(modules) });
        await world.time.advance(10_000);
        await settled();
        for (const { state } of world.datacenter.machines().slice(0, 5)) assert.match(state.config.persisted ?? "", /br_netfilter/);
        assert.ok(world.datacenter.machine("10.5.0.1").state.bootCount > boots);
        await world.until("no Node is cordoned", async () => (await nodes(world)).every(({ spec }) => spec?.unschedulable !== true), 180);
        await patch(demoCluster(cps, ["10.5.0.4"], { cni: { name: "none" } }).spec);
        await untilNodes(world, 4);
        assert.deepEqual([...new Set((await nodes(world)).map((node) => readiness(node)?.status))], ["False"]);
        await addon(world, "cni");
        await world.untilReady();
      },
      ["10.5.0.1"],
    ));

  test("other addons are installed in any order, wait for nobody's pods in Helm, and are Ready when theirs are", () =>
    tellFirst(async (world, helm) => {
      const waits = { wait: true, waitForJobs: true, atomic: true, timeout: "1h" };
      await untilNodes(world, 4);
      for (const name of ["web", "shop"]) await addon(world, name, waits);
      await addon(world, "late", {}, ["cni"]);
      for (const name of ["web", "shop"]) await untilRelease(world, name, "WorkloadsNotReady");
      await untilRelease(world, "late", "WaitingForDependency");
      await world.time.advance(60_000);
      assert.deepEqual(await pods(world), ["shop Pending", "shop Pending", "web Pending", "web Pending"]);
      assert.equal(await readyIn(world), false);
      await addon(world, "cni", waits);
      for (const name of ["cni", "web", "shop", "late"]) await untilRelease(world, name, "Installed");
      await world.untilReady();
      assert.deepEqual(
        helmTasks(helm).map(({ release, options }) => [release.name, options.wait, options.atomic, options.waitForJobs, options.timeoutMs]),
        [
          ["web", undefined, undefined, undefined, 3_600_000],
          ["shop", undefined, undefined, undefined, 3_600_000],
          ["cni", undefined, undefined, undefined, 3_600_000],
          ["late", undefined, undefined, undefined, 300_000],
        ],
      );
      assert.deepEqual([...new Set(await pods(world))], ["kube-system Running", "late Running", "shop Running", "web Running"]);
      await addon(world, "last", waits);
      await untilRelease(world, "last", "Installed");
      assert.deepEqual(
        [helmTasks(helm).at(-1)?.options.wait, helmTasks(helm).at(-1)?.options.atomic],
        [true, true],
        "by then Helm may wait",
      );
    }));

  test("an addon that is there before the cluster is installed as soon as it is bootstrapped", () =>
    tellFirst(async (world, helm) => {
      await addon(world, "cni");
      await world.untilReady(900);
      await untilRelease(world, "cni", "Installed");
      assert.equal(helm.history("https://10.5.0.100:6443", "kube-system/cni").filter(({ status }) => status === "deployed").length, 1);
    }));

  test("a pod on its own network does not run on a Node without one, whatever it tolerates", () =>
    tellFirst(async (world) => {
      await untilNodes(world, 4);
      const labels = { app: "agent" };
      const template = {
        metadata: { labels },
        spec: { tolerations: [{ operator: "Exists" }], containers: [{ name: "main", image: "example.com/agent:1" }] },
      };
      const daemon = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { namespace: "default", name: "agent" } };
      const spec = { selector: { matchLabels: labels }, template };
      const object: KubeObject & { readonly spec: unknown } = { ...daemon, spec };
      await world.workload().resource(types.DaemonSet).create(object);
      await world.time.advance(60_000);
      assert.deepEqual(await pods(world), ["default Pending", "default Pending", "default Pending", "default Pending"]);
      await addon(world, "cni");
      await world.untilReady();
      await world.time.advance(10_000);
      assert.deepEqual([...new Set(await pods(world))], ["default Running", "kube-system Running"]);
    }));

  test("what the plugin wrote stays when it is removed: no Node flaps, not even at a boot; a machine that joins waits for the next one", () =>
    tellFirst(async (world) => {
      await addon(world, "cni");
      await world.untilReady(900);
      const since = async (): Promise<readonly unknown[]> => (await nodes(world)).map((node) => JSON.stringify(node.status?.conditions));
      const before = await since();
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "cni" });
      await world.until("uninstalled", async () => !(await pods(world)).some((pod) => pod.startsWith("kube-system")), 120);
      await world.time.advance(10 * 60_000);
      assert.deepEqual(await since(), before);
      assert.ok(await readyIn(world));
      world.datacenter.machine("10.5.0.4").powerCycle();
      await world.time.advance(120_000);
      assert.ok(await readyIn(world));
      const grown = demoCluster(cps, ["10.5.0.4", "10.5.0.5"], { cni: { name: "none" } });
      await world.client
        .resource(kinds.cluster)
        .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: grown.spec } });
      await untilNodes(world, 5);
      await world.time.advance(120_000);
      assert.deepEqual((await nodes(world)).map((node) => readiness(node)?.status ?? "").toSorted(), [
        "False",
        "True",
        "True",
        "True",
        "True",
      ]);
      assert.equal((await world.condition(kinds.controlPlane, "NodesReady"))?.reason, "AllNodesReady", "of its own nodes");
      assert.doesNotMatch((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /No CNI/, "the others have one");
      await addon(world, "cni");
      await world.untilReady();
    }));

  test("with a plugin that Talos brings Nodes are Ready by themselves, and Helm waits for pods as it is told", () =>
    tellFirst(
      async (world, helm) => {
        await world.untilReady(900);
        assert.equal(helm.begun.length, 0);
        await addon(world, "web", { wait: true });
        await untilRelease(world, "web", "Installed");
        assert.equal(helmTasks(helm)[0]?.options.wait, true);
      },
      cps,
      { name: "flannel" },
    ));

  test("examples/own-network/cluster.yaml as it stands", () =>
    tellWithHelm(
      { machines: ["127.1.0.7", "127.1.0.8"].map((address) => ({ address })), operator: { allowLoopbackMachines: true } },
      async (world, helm) => {
        const file = new URL("../../../../examples/own-network/cluster.yaml", import.meta.url);
        const [cluster, network] = parseKubernetesYaml(readFileSync(file, "utf8"));
        const name = "own-network";
        const ready = async (): Promise<boolean> => isConditionTrue((await world.get(kinds.cluster, name))?.status?.conditions, "Ready");
        await apply(world, kinds.cluster, cluster);
        await untilNodes(world, 2);
        await world.time.advance(30_000);
        assert.equal(await ready(), false);
        await apply(world, kinds.secret, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { namespace: "default", name: "talos-demo-charts" },
          data: { "ca.crt": Buffer.from("-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n").toString("base64") },
        });
        await apply(world, talosClusterAddonResource, network);
        await world.until("Ready", ready, 120);
        assert.deepEqual(
          helm.begun.map(({ secrets }) => secrets.values),
          [["podCIDR: 10.244.0.0/16\n"]],
        );
      },
    ));
});
