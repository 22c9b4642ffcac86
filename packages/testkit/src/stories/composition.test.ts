import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createMetricsRegistry } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { createMemoryFiles } from "@talos-operator/operator/testing";
import type { KubeTransport } from "@talos-operator/ports";
import { conditionOf, flatCluster, nestedCluster, seriesOf, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds } from "./story.ts";
import type { Conditioned } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const create = (world: CompositionStory, cluster: KubeObject): Promise<KubeObject> =>
  world.client.resource(kinds.kubernetesCluster).create(cluster);

async function ready(world: CompositionStory, cluster: KubeObject): Promise<void> {
  await create(world, cluster);
  await world.start();
  await world.untilComposed(600);
}

const unpacked = (data: Readonly<Record<string, string>> = {}): string =>
  Object.values(data)
    .map((value) => Buffer.from(value, "base64").toString("utf8"))
    .join("\n");

/** What the configuration of the first control plane of `nestedCluster` says: of its own words, versions read whole, and where it says nothing the defaults. */
const configured = [
  "clusterName: c-0001",
  "endpoint: https://10.5.0.100:6443",
  "\n    certSANs:\n        - 10.5.0.1\n        - 10.5.0.100\n",
  "\n        certSANs:\n            - 10.5.0.1\n            - 10.5.0.100\n",
  "kubelet:v1.33.6",
  "kube-apiserver:v1.33.6",
  "installer:v1.13.9",
  "dnsDomain: cluster.local\n        podSubnets:\n            - 10.244.0.0/16\n        serviceSubnets:\n            - 10.96.0.0/12\n",
  "disk: /dev/sda",
  "wipe: false",
];

/** Addresses that were wiped, in order. */
const resets = (world: CompositionStory): readonly string[] => world.effects.flatMap((effect) => /^Reset (.*)$/.exec(effect)?.[1] ?? []);

async function condition(world: CompositionStory, type: string, name?: string, namespace?: string) {
  return conditionOf(await world.cluster(name, namespace), type);
}

const machineOf = (world: CompositionStory, name: string) =>
  world.client.resource<Conditioned & KubeObject>(kinds.vitistackMachine).get({ namespace: "default", name });

/** The file of a Machine says what was applied, and the Machine is the cluster's own. */
async function assertAsWritten(world: CompositionStory, name: string): Promise<void> {
  const [file] = parseKubernetesYaml(world.files.texts.get(`demo/${name}.yaml`) ?? "") as readonly (Conditioned & KubeObject)[];
  const { metadata, spec } = await machineOf(world, name);
  assert.deepEqual(file?.spec, spec);
  for (const part of ["name", "namespace", "labels", "ownerReferences"] as const)
    assert.deepEqual(file?.metadata?.[part], metadata?.[part], `${name}: ${part}`);
  const [owner, ...others] = metadata?.ownerReferences ?? [];
  assert.deepEqual([owner?.uid, owner?.controller, others], [(await world.cluster())?.metadata?.uid, true, []]);
}

describe("a KubernetesCluster", () => {
  test("becomes Machines, files and a running cluster, and then nothing is written any more (A001, A002, A025-A036, A045-A047, A054-A057, A060, A061, A064)", () => {
    const metrics = createMetricsRegistry();
    return tellComposition({ metrics }, async (world) => {
      const template = { provider: "proxmox", cpu: { cores: 4 }, tags: { team: "b" } };
      await ready(world, flatCluster(3, { workers: 2 }, { controlPlane: { replicas: 3, machineTemplate: { spec: template } } }));
      const names = ["demo-cp-0", "demo-cp-1", "demo-cp-2", "demo-workers-0", "demo-workers-1"];
      assert.deepEqual(await world.machineNames(), names);
      const { status } = (await world.cluster()) ?? {};
      assert.deepEqual([status?.phase, status?.controlPlaneReady, status?.workersReady, status?.machineCount], ["Running", true, 2, 5]);
      assert.deepEqual(
        ["TopologyValid", "FilesGenerated", "MachinesCreated"].map((type) => status?.conditions.find((one) => one.type === type)?.reason),
        ["ValidationSucceeded", "GenerationSucceeded", "CreationSucceeded"],
      );
      assert.deepEqual([...world.files.texts.keys()], ["demo/.owner", ...names.map((name) => `demo/${name}.yaml`)]);
      for (const name of names) await assertAsWritten(world, name);
      const controlPlane = await machineOf(world, "demo-cp-0");
      assert.deepEqual({ ...controlPlane.spec, talosConfig: undefined }, { ...template, talosConfig: undefined });
      const firstMachine = world.writes.findIndex((write) =>
        write.startsWith("PATCH /apis/vitistack.io/v1alpha1/namespaces/default/machines/"),
      );
      assert.ok(firstMachine > 0);
      const worker = await world.client.resource(kinds.vitistackMachine).get({ namespace: "default", name: "demo-workers-0" });
      assert.deepEqual(worker.metadata?.labels, {
        "cluster.vitistack.io/cluster-name": "demo",
        "cluster.vitistack.io/role": "worker",
        "cluster.vitistack.io/worker-group": "workers",
        "vitistack.io/clusterid": "demo",
        "vitistack.io/node-role": "worker",
      });
      const second = await world.client.resource(kinds.vitistackMachine).get({ namespace: "default", name: "demo-cp-1" });
      assert.deepEqual(second.metadata?.labels, {
        "cluster.vitistack.io/cluster-name": "demo",
        "cluster.vitistack.io/role": "controlplane",
        "vitistack.io/clusterid": "demo",
        "vitistack.io/node-role": "control-plane",
      });
      assert.equal(worker.metadata?.annotations?.["vitistack.io/os-installed"], "true");
      const nodes = await world.workload().resource({ group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false }).list();
      assert.deepEqual(nodes.items.map(({ metadata }) => metadata?.name ?? "").toSorted(), names);
      const secrets = ["demo-kubeconfig", "demo-talosconfig"].map((name) => world.get(kinds.secret, name));
      const [kubeconfig, talosconfig] = (await Promise.all(secrets)) as readonly { readonly data?: Readonly<Record<string, string>> }[];
      assert.match(unpacked(kubeconfig?.data), /^ +server: https:\/\/10\.5\.0\.100:6443$/m);
      assert.match(unpacked(talosconfig?.data), /^context: demo$/m);
      const settled = await world.cluster();
      assert.equal(settled?.status?.observedGeneration, settled?.metadata?.generation);
      const conditions = settled?.status?.conditions ?? [];
      assert.equal(new Set(conditions.map(({ type }) => type)).size, conditions.length);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
      assert.equal((await world.cluster())?.status?.lastUpdated, settled?.status?.lastUpdated);
      assert.deepEqual(seriesOf(metrics, "clusters_total").at(-1), '{phase="Running"} 1');
      assert.deepEqual(seriesOf(metrics, "machines_generated"), [
        '{cluster="demo",role="controlplane"} 3',
        '{cluster="demo",role="worker"} 2',
      ]);
      // Five manifests, and who they belong to.
      assert.deepEqual(seriesOf(metrics, "file_operations_total"), ['{operation="create",status="success"} 6']);
    });
  });

  test("grows from one control plane to three and shrinks to one again, the highest indexes leave, and never without quorum (A102-A104)", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(1, { a: 1 }));
      const guard = watchQuorum(world);
      const powered = (): readonly string[] =>
        world.datacenter
          .machines()
          .filter(({ state }) => state.power === "off")
          .map(({ address }) => address);
      for (const [size, names] of [
        [3, ["demo-a-0", "demo-cp-0", "demo-cp-1", "demo-cp-2"]],
        [1, ["demo-a-0", "demo-cp-0"]],
      ] as const) {
        await world.scale("controlPlane", size);
        await world.until(
          `${size}`,
          async () => (await world.machineNames()).join() === names.join() && (await condition(world, "Ready"))?.status === "True",
          1_800,
        );
        const { metadata, status } = (await world.cluster()) ?? {};
        assert.ok((metadata?.generation ?? 0) > 1);
        assert.equal(status?.observedGeneration, metadata?.generation);
        assert.deepEqual(
          status?.conditions.filter(({ observedGeneration }) => observedGeneration !== metadata?.generation),
          [],
        );
        assert.deepEqual(
          [...world.files.texts.keys()]
            .filter((path) => path.endsWith(".yaml"))
            .map((path) => path.slice(5, -5))
            .toSorted(),
          names,
        );
      }
      guard.end();
      assert.deepEqual(resets(world).toSorted(), ["10.5.0.3", "10.5.0.4"]);
      assert.deepEqual(powered(), ["10.5.0.3", "10.5.0.4"]);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
    }));

  test("lets workers go by number, and a group with all of its machines, each wiped before its Machine goes", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(1, { a: 2, b: 1 }));
      await world.scale("a", 1);
      await world.until("a-1 is gone", async () => !(await world.machineNames()).some((name) => name.startsWith("demo-a-1")), 900);
      await world.client
        .resource(kinds.kubernetesCluster)
        .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { workers: [{ name: "a", replicas: 1 }] } } });
      await world.until("b is gone", async () => (await world.machineNames()).join() === "demo-a-0,demo-cp-0", 900);
      assert.equal(await world.get(kinds.worker, "demo-b"), undefined);
      assert.equal(resets(world).length, 2);
      await world.untilComposed();
    }));

  test("goes without a trace: pools, machines wiped and powered off, files, Secrets, the finalizer last (A004, A049, A059, A064, A106)", () => {
    const metrics = createMetricsRegistry();
    return tellComposition({ metrics }, async (world) => {
      await ready(world, flatCluster(3, { workers: 1 }));
      await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.cluster()) === undefined, 1_800);
      await world.time.advance(60_000);
      for (const kind of [kinds.vitistackMachine, kinds.controlPlane, kinds.worker, kinds.machine, kinds.record, kinds.secret])
        assert.deepEqual(
          (await world.client.resource(kind).list()).items.map(({ metadata }) => metadata?.name),
          [],
          kind.kind,
        );
      assert.deepEqual([[...world.files.texts], await world.files.list("demo")], [[], undefined]);
      assert.equal(resets(world).length, 4);
      assert.equal(world.datacenter.machines().filter(({ state }) => state.power === "off").length, 4);
      await assertQuiet(world, 3);
      assert.deepEqual(seriesOf(metrics, "file_operations_total"), [
        '{operation="create",status="success"} 5',
        '{operation="delete",status="success"} 5',
      ]);
      assert.ok(seriesOf(metrics, "clusters_total").every((series) => series.endsWith(" 0")));
    });
  });

  test("of the shape with data and topology runs too, with a zone in any letters, and its name is that of the object (A008-A011, A022, A093-A095, A098, A099, A108)", () =>
    tellComposition({}, async (world) => {
      await ready(world, nestedCluster());
      assert.deepEqual(await world.machineNames(), ["demo-cp-0", "demo-workers-0"]);
      const config = world.datacenter.machine("10.5.0.1").state.config.persisted ?? "";
      for (const part of configured) assert.ok(config.includes(part), part);
      const { items } = await world.client.resource(kinds.vitistackMachine).list();
      assert.deepEqual(
        items.map(({ metadata: { labels = {}, ownerReferences = [] } = {} }) => [
          labels["cluster.vitistack.io/cluster-name"],
          labels["cluster.vitistack.io/role"],
          labels["vitistack.io/clusterid"],
          Object.values(labels).some((value) => value.includes("ø")),
          ownerReferences.map(({ kind, name, controller }) => [kind, name, controller]),
        ]),
        ["controlplane", "worker"].map((role) => ["demo", role, "c-0001", false, [["KubernetesCluster", "demo", true]]]),
      );
      assert.deepEqual(await world.files.list("demo"), [".owner", "demo-cp-0.yaml", "demo-workers-0.yaml"]);
      const { status } = (await world.cluster()) ?? {};
      assert.deepEqual([status?.phase, status?.workers], ["Ready", 1]);
      assert.deepEqual(
        status?.state.versions.map(({ version }) => version),
        ["v1.13.9", "v1.33.6"],
      );
      const read = (await world.get(kinds.controlPlane))?.metadata?.annotations?.["talos-operator.dev/read-versions"] ?? "";
      assert.deepEqual(JSON.parse(read), { talos: { "": "v1.13.9" }, kubernetes: { "1.33": "v1.33.6" } });
      assert.match((await condition(world, "TopologyValid"))?.message ?? "", /spec\.topology\.version 1\.33 is read as v1\.33\.6/);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
    }));

  test("with another provider is left alone: no finalizer, no status, no Machine (A097)", () =>
    tellComposition({}, async (world) => {
      await create(world, nestedCluster({ provider: "aks" }));
      await world.start();
      await world.time.advance(60_000);
      const cluster = await world.cluster();
      assert.deepEqual([cluster?.metadata?.finalizers, cluster?.status, await world.machineNames()], [undefined, undefined, []]);
      // Nor is a Machine touched that its own operator made for it.
      const machines = world.client.resource<Conditioned>(kinds.vitistackMachine);
      const { apiVersion, kind, metadata } = cluster ?? {};
      const owner = { apiVersion, kind, name: metadata?.name, uid: metadata?.uid, controller: true };
      const key = { namespace: "default", name: "theirs" };
      const theirs = {
        apiVersion: "vitistack.io/v1alpha1",
        kind: "Machine",
        metadata: { ...key, ownerReferences: [owner] },
        spec: { name: "theirs", provider: "proxmox", machineClass: "huge" },
      };
      await machines.create(theirs as unknown as Conditioned);
      await machines.patchStatus(key, { type: "merge", value: { status: { phase: "Running", publicIPAddresses: ["10.5.0.1"] } } });
      await world.time.advance(60_000);
      assert.equal((await machines.get(key)).metadata?.annotations, undefined);
    }));

  test("shows its files and makes nothing while it is paused after them (A107)", () =>
    tellComposition({}, async (world) => {
      const paused = flatCluster(1);
      await create(world, { ...paused, metadata: { ...paused.metadata, annotations: { "talos-operator.dev/pause-after-files": "true" } } });
      await world.start();
      await world.until("said", async () => (await condition(world, "MachinesCreated"))?.reason === "WaitingForPerson");
      await world.time.advance(60_000);
      assert.deepEqual([...world.files.texts.keys()], ["demo/.owner", "demo/demo-cp-0.yaml"]);
      assert.deepEqual(await world.machineNames(), []);
      await assertQuiet(world, 3);
      await world.client
        .resource(kinds.kubernetesCluster)
        .patch(
          { namespace: "default", name: "demo" },
          { type: "merge", value: { metadata: { annotations: { "talos-operator.dev/pause-after-files": null } } } },
        );
      await world.untilComposed(600);
    }));
});

describe("examples of KubernetesClusters", () => {
  test("run side by side as they are written, and end Ready (A046, A083, A084, A109)", () =>
    tellComposition(
      {
        machines: Array.from({ length: 17 }, (_, index) => ({ address: `10.5.0.${index + 1}` })),
        operator: { maxConcurrentReconciles: 3 },
      },
      async (world) => {
        const files = ["simple-kubernetescluster", "kubernetescluster", "kubernetescluster-groups"];
        const objects = files.flatMap(
          (file) =>
            parseKubernetesYaml(
              readFileSync(new URL(`../../../../examples/${file}.yaml`, import.meta.url), "utf8"),
            ) as readonly KubeObject[],
        );
        // As kubectl does with one that names no namespace.
        for (const object of objects) await create(world, { ...object, metadata: { namespace: "default", ...object.metadata } });
        await world.start();
        for (const { metadata } of objects) await world.untilComposed(900, metadata?.name);
        const machines = await world.client
          .resource(kinds.vitistackMachine)
          .list({ labelSelector: "cluster.vitistack.io/cluster-name=simple-cluster" });
        assert.deepEqual(
          machines.items.map(({ metadata }) => metadata?.name),
          ["simple-cluster-cp-0", "simple-cluster-worker-pool-1-0", "simple-cluster-worker-pool-1-1"],
        );
        assert.deepEqual(await world.files.list("simple-cluster"), [
          ".owner",
          "simple-cluster-cp-0.yaml",
          "simple-cluster-worker-pool-1-0.yaml",
          "simple-cluster-worker-pool-1-1.yaml",
        ]);
        assert.equal((await world.machineNames()).length, 17);
        const groups = { compute: 2, cp: 3, general: 3, storage: 1 };
        assert.deepEqual(await world.files.list("production"), [
          ".owner",
          ...Object.entries(groups).flatMap(([group, size]) => Array.from({ length: size }, (_, i) => `production-${group}-${i}.yaml`)),
        ]);
      },
    ));
});

describe("failures of a pass", () => {
  test("in the spec are said and wait for another spec; files come before Machines when it is right (A045, A050)", () => {
    const memory = createMemoryFiles();
    const made: number[] = [];
    const metrics = createMetricsRegistry();
    let world: CompositionStory | undefined;
    const machineWrites = (): number => world?.writes.filter((write) => write.includes("/machines/")).length ?? 0;
    const files = {
      ...memory,
      write: (folder: string, file: string, text: string) => (made.push(machineWrites()), memory.write(folder, file, text)),
    };
    return tellComposition({ files, metrics }, async (story) => {
      world = story;
      await create(world, flatCluster(1, {}, { kubernetesVersion: "v1.99.0" }));
      await world.start();
      await world.until("said", async () => (await condition(story, "TopologyValid"))?.reason === "ValidationFailed");
      assert.match((await condition(world, "Ready"))?.message ?? "", /spec\.kubernetesVersion: .*1\.99/);
      await world.time.advance(10_000);
      await assertQuiet(world, 3);
      const errors = (): readonly string[] => seriesOf(metrics, "reconciliation_errors_total");
      const refused = '{controller="KubernetesCluster",error_type="ValidationError"}';
      const [told = ""] = errors();
      assert.match(told, new RegExp(`^${refused} [12]$`));
      await world.time.advance(600_000);
      assert.deepEqual(errors(), [told], "a refused spec is not looked at again");
      await world.client
        .resource(kinds.kubernetesCluster)
        .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { kubernetesVersion: "v1.36.3" } } });
      await world.untilComposed();
      assert.deepEqual(made, [0, 0]);
    });
  });

  test("to make Machines come again after 1, 2, 4, 8 seconds and so on up to five minutes (A051, A058)", () => {
    const metrics = createMetricsRegistry();
    const tries: number[] = [];
    let now = (): number => 0;
    let isDown = true;
    const refusal = { kind: "Status", status: "Failure", code: 422, reason: "Invalid", message: "no room" };
    const kube = (real: KubeTransport): KubeTransport => ({
      ...real,
      send(request, options) {
        if (!isDown || request.method !== "PATCH" || !request.path.includes("/machines/")) return real.send(request, options);
        tries.push(now());
        return Promise.resolve({ status: 422, headers: {}, body: refusal });
      },
    });
    return tellComposition({ kube, metrics }, async (world) => {
      now = () => world.time.now();
      await create(world, flatCluster(1));
      await world.start();
      await world.time.advance(40 * 60_000);
      const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
      const longest = gaps.map((_, index) => Math.min(300_000, 1_000 * 2 ** index));
      gaps.forEach((gap, index) => assert.ok(gap <= (longest[index] ?? 0) + 5 && gap >= (longest[index] ?? 0) / 2, `${index}: ${gap}`));
      assert.ok(gaps.length > 10);
      assert.match((await condition(world, "MachinesCreated"))?.message ?? "", /demo-cp-0.*no room/);
      const { items } = await world.client.resource(kinds.event).list();
      assert.ok(items.some((event) => (event as { readonly reason?: string }).reason === "MachineCreationError"));
      assert.deepEqual(seriesOf(metrics, "reconciliation_errors_total"), [
        `{controller="KubernetesCluster",error_type="MachineCreationError"} ${tries.length}`,
      ]);
      assert.deepEqual(seriesOf(metrics, "machines_generated"), []);
      isDown = false;
      await world.untilComposed(600);
      assert.deepEqual(seriesOf(metrics, "machines_generated"), ['{cluster="demo",role="controlplane"} 1']);
    });
  });
});

describe("a KubernetesCluster that is paused", () => {
  test("rests with its pools, keeps its word, and goes on when the annotation is gone", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(1, { a: 1 }));
      const annotate = (value: string | null): Promise<unknown> =>
        world.client
          .resource(kinds.kubernetesCluster)
          .patch(
            { namespace: "default", name: "demo" },
            { type: "merge", value: { metadata: { annotations: { "upgrade.vitistack.io/do-not-reconcile": value } } } },
          );
      await annotate("true");
      await world.until("paused", async () => (await condition(world, "Paused"))?.status === "True");
      await world.scale("a", 0);
      await world.time.advance(120_000);
      await assertQuiet(world, 5);
      assert.deepEqual(await world.machineNames(), ["demo-a-0", "demo-cp-0"]);
      assert.equal((await world.cluster())?.status?.phase, "Running");
      assert.equal((await world.condition(kinds.worker, "Paused", "demo-a"))?.status, "True");
      // What its provider tells of a Machine meanwhile is written on it when the pause ends (S31).
      const machines = world.client.resource<Conditioned>(kinds.vitistackMachine);
      const key = { namespace: "default", name: "demo-a-0" };
      const address = async (): Promise<unknown> => (await machines.get(key)).metadata?.annotations?.["cluster.vitistack.io/node-address"];
      const before = await address();
      await machines.patch(key, { type: "merge", value: { metadata: { annotations: { "cluster.vitistack.io/node-address": null } } } });
      await world.time.advance(60_000);
      assert.deepEqual([typeof before, await address()], ["string", undefined]);
      await annotate(null);
      await world.until("written", async () => (await address()) === before, 10);
      await world.until("a-0 is gone", async () => (await world.machineNames()).join() === "demo-cp-0", 600);
      await world.untilComposed();
      assert.equal(await condition(world, "Paused"), undefined);
    }));
});

describe("machines that a provider gives", () => {
  test("late: the cluster says for whom it waits, and goes on when they come", () =>
    tellComposition({}, async (world) => {
      world.provider.hold(true);
      await create(world, flatCluster(1));
      await world.start();
      await world.until("waits", async () => (await condition(world, "Ready"))?.reason === "WaitingForProvider");
      assert.match((await condition(world, "Ready"))?.message ?? "", /demo-cp-0 \(no phase\)/);
      assert.equal((await world.cluster())?.status?.phase, "Provisioning");
      await world.time.advance(60_000);
      await assertQuiet(world, 5);
      await world.time.advance(15 * 60_000);
      assert.equal((await world.cluster())?.status?.phase, "Failed");
      world.provider.hold(false);
      await world.untilComposed(600);
    }));

  test("twice at one address: one of them is configured once, the other never, and it is said which two they are", () =>
    tellComposition({}, async (world) => {
      world.provider.giveNext("demo-a-1", "10.5.0.2");
      world.provider.giveNext("demo-a-0", "10.5.0.2");
      await create(world, flatCluster(1, { a: 2 }));
      await world.start();
      await world.until("said", async () => /same as/.test((await condition(world, "Ready"))?.message ?? ""), 600);
      await world.time.advance(60_000);
      assert.deepEqual(
        world.sent.filter((call) => call.endsWith(" 10.5.0.2")),
        ["ApplyConfiguration 10.5.0.2"],
      );
      await assertQuiet(world, 3);
    }));

  test("and take away behind our back: a replacement joins first, the other is drained and wiped, and its Machine goes then", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(3));
      const guard = watchQuorum(world);
      await world.client.resource(kinds.vitistackMachine).delete({ namespace: "default", name: "demo-cp-1" });
      await world.until("replaced", async () => (await world.machineNames()).join() === "demo-cp-0,demo-cp-2,demo-cp-3", 1_800);
      guard.end();
      await world.untilComposed();
      assert.equal(resets(world).length, 1);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
    }));

  test("keep their place whatever people write on them: labels are put back, and nothing is drained, wiped or made", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(1, { workers: 2 }));
      const machines = world.client.resource<Conditioned & KubeObject>(kinds.vitistackMachine);
      const roleOf = async (name: string) => (await machineOf(world, name)).metadata?.labels?.["cluster.vitistack.io/role"];
      const value = { metadata: { labels: { "cluster.vitistack.io/role": "infra" } } };
      await machines.patch({ namespace: "default", name: "demo-workers-0" }, { type: "merge", value });
      await world.until("put back", async () => (await roleOf("demo-workers-0")) === "worker", 60);
      await world.time.advance(120_000);
      await world.untilComposed();
      assert.deepEqual(await world.machineNames(), ["demo-cp-0", "demo-workers-0", "demo-workers-1"]);
      assert.deepEqual(resets(world), []);
      await assertQuiet(world, 3);
    }));

  test("keep their place when somebody takes their owner off: nothing is drained, wiped or made, and it is said whose they are", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(3, { workers: 1 }));
      const names = ["demo-cp-0", "demo-cp-1", "demo-cp-2", "demo-workers-0"];
      const machines = world.client.resource<Conditioned & KubeObject>(kinds.vitistackMachine);
      const owners = (await machineOf(world, "demo-workers-0")).metadata?.ownerReferences;
      for (const name of ["demo-cp-2", "demo-workers-0"])
        await machines.patch({ namespace: "default", name }, { type: "merge", value: { metadata: { ownerReferences: [] } } });
      await world.until("said", async () => (await condition(world, "Ready"))?.reason === "NameConflict", 60);
      await world.time.advance(300_000);
      assert.deepEqual(await world.machineNames(), names);
      assert.deepEqual(resets(world), []);
      for (const name of ["demo-cp-2", "demo-workers-0"])
        await machines.patch({ namespace: "default", name }, { type: "merge", value: { metadata: { ownerReferences: owners } } });
      await world.untilComposed();
      assert.deepEqual([await world.machineNames(), resets(world)], [names, []]);
      await assertQuiet(world, 3);
    }));

  test("and take away with their power: the member leaves etcd, a replacement joins, and the rest goes when the provider says that it is destroyed", () =>
    tellComposition({}, async (world) => {
      await ready(world, flatCluster(3));
      const address = world.provider.given.get("default/demo-cp-1") ?? "";
      world.datacenter.machine(address).powerOff();
      await world.client.resource(kinds.vitistackMachine).delete({ namespace: "default", name: "demo-cp-1" });
      await world.until(
        "three members",
        async () =>
          world.datacenter.etcdClusters()[0]?.members.length === 3 &&
          !world.datacenter.etcdClusters()[0]?.members.some(({ peerUrl }) => peerUrl.includes(address)),
        1_800,
      );
      await world.time.advance(120_000);
      assert.deepEqual(await world.machineNames(), ["demo-cp-0", "demo-cp-1!", "demo-cp-2", "demo-cp-3"]);
      assert.match((await world.condition(kinds.controlPlane, "Removing"))?.message ?? "", /abandon-machine/);
      // Its provider says that machine and disks are no more.
      const status = { phase: "Terminated" };
      await world.client
        .resource(kinds.vitistackMachine)
        .patchStatus({ namespace: "default", name: "demo-cp-1" }, { type: "merge", value: { status } });
      await world.until("let go", async () => (await world.machineNames()).join() === "demo-cp-0,demo-cp-2,demo-cp-3", 300);
      await world.untilComposed();
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
    }));
});

describe("clusters beside each other", () => {
  test("with one clusterId: the younger is refused, and deleting it touches nothing of the older (O13, V7)", () =>
    tellComposition({}, async (world) => {
      await ready(world, nestedCluster());
      await world.time.advance(2_000);
      await create(world, nestedCluster({}, "twin"));
      await world.until("refused", async () => (await condition(world, "Ready", "twin"))?.reason === "DuplicateCluster");
      const sent = world.sent.length;
      await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "twin" });
      await world.until("gone", async () => (await world.cluster("twin")) === undefined);
      await world.time.advance(60_000);
      assert.deepEqual(await world.machineNames(), ["demo-cp-0", "demo-workers-0"]);
      assert.equal(world.sent.length, sent);
      assert.equal((await condition(world, "Ready"))?.status, "True");
    }));

  test("with one name in two namespaces: each has its own Machines, and the younger's files lie under both names", () =>
    tellComposition({}, async (world) => {
      await world.client
        .resource({ group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false })
        .create({ metadata: { name: "other" } });
      await ready(world, flatCluster(1));
      await create(world, flatCluster(1, {}, { clusterEndpoint: "https://10.5.0.101:6443" }, "demo", "other"));
      await world.until("both", async () => (await condition(world, "Ready", "demo", "other"))?.status === "True", 600);
      assert.deepEqual([...world.files.texts.keys()].toSorted(), [
        "demo/.owner",
        "demo/demo-cp-0.yaml",
        "other.demo/.owner",
        "other.demo/demo-cp-0.yaml",
      ]);
      assert.match((await condition(world, "FilesGenerated", "demo", "other"))?.message ?? "", /other\.demo/);
    }));

  test("never take a Machine that somebody else has", () =>
    tellComposition({}, async (world) => {
      const theirs = await world.client
        .resource({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true })
        .create({ metadata: { namespace: "default", name: "theirs" } });
      const owners = {
        controller: [{ apiVersion: "v1", kind: "ConfigMap", name: "theirs", uid: theirs.metadata?.uid ?? "", controller: true }],
        nobody: [],
      };
      for (const [name, ownerReferences] of Object.entries(owners)) {
        const machine = {
          metadata: { namespace: "default", name: `${name}-cp-0`, ownerReferences },
          spec: { provider: "x", memory: 5 },
        } as KubeObject;
        const before = await world.client.resource(kinds.vitistackMachine).create(machine);
        await create(world, flatCluster(1, {}, {}, name));
        await world.start();
        await world.until("refused", async () => (await condition(world, "MachinesCreated", name))?.reason === "CreationFailed");
        assert.equal((await condition(world, "Ready", name))?.reason, "NameConflict");
        await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name });
        await world.until("gone", async () => (await world.cluster(name)) === undefined);
        const after = await world.client.resource(kinds.vitistackMachine).get({ namespace: "default", name: `${name}-cp-0` });
        assert.deepEqual(
          [after.metadata?.ownerReferences, after.metadata?.labels],
          [before.metadata?.ownerReferences, before.metadata?.labels],
        );
        assert.deepEqual((after as Conditioned).spec, (before as Conditioned).spec);
      }
    }));
});

describe("files of a cluster", () => {
  test("that cannot be written are said and counted, and the cluster goes on (A052, A063, A064)", () => {
    const metrics = createMetricsRegistry();
    return tellComposition({ metrics }, async (world) => {
      world.files.failWith("EROFS");
      await ready(world, flatCluster(1));
      assert.match((await condition(world, "FilesGenerated"))?.message ?? "", /EROFS/);
      assert.equal((await condition(world, "FilesGenerated"))?.reason, "GenerationFailed");
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
      assert.match(
        seriesOf(metrics, "reconciliation_errors_total").join(),
        /^{controller="KubernetesCluster",error_type="FileSystemError"} [1-9]/,
      );
      assert.match(seriesOf(metrics, "file_operations_total").join(), /^{operation="create",status="error"} [1-9]\d*$/);
      world.files.failWith(undefined);
      await world.until("written", async () => (await condition(world, "FilesGenerated"))?.reason === "GenerationSucceeded");
    });
  });

  test("whose file system hangs are said to be missing, the cluster is Ready and goes, and they come when it answers", () =>
    tellComposition({}, async (world) => {
      world.files.hang(true);
      await ready(world, flatCluster(1));
      const told = await condition(world, "FilesGenerated");
      assert.deepEqual([told?.reason, /does not answer/.test(told?.message ?? "")], ["GenerationFailed", true]);
      await world.time.advance(300_000);
      assert.equal(world.files.hanging(), 1, "one operation hangs, however often it is tried");
      world.files.hang(false);
      await world.until("written", async () => (await condition(world, "FilesGenerated"))?.reason === "GenerationSucceeded");
    }));
});
