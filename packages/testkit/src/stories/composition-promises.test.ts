import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMetricsRegistry } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createMemoryLog } from "@talos-operator/kube-runtime/testing";
import { createMemoryFiles } from "@talos-operator/operator/testing";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { conditionOf, flatCluster, nestedCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds } from "./story.ts";

type AppliedObject = Parameters<ReturnType<CompositionStory["client"]["resource"]>["apply"]>[0];

const clusters = (world: CompositionStory) => world.client.resource(kinds.kubernetesCluster);

/** Which step of the promised flow a write of the operator is; the brain's own writes are none. */
function stepOf({ method, path, query, body }: KubeRequest): string | undefined {
  const [, plural = "", , subresource] = /\/namespaces\/default\/(\w+)\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
  if (method === "DELETE" && /^(machines|taloscontrolplanes|talosworkers)$/.test(plural)) return `delete ${plural}`;
  if (plural === "kubernetesclusters") return subresource === "status" ? "status" : "finalizer";
  if (method !== "PATCH" || query?.["fieldManager"] !== "talos-operator/kubernetescluster" || subresource !== undefined) return undefined;
  const owners = (body as KubeObject | undefined)?.metadata?.ownerReferences;
  if (plural === "machines") return owners?.[0]?.controller === true ? "machines with their owner" : "machines without owner";
  return plural.startsWith("talos") ? "pools" : undefined;
}

describe("the flow of a KubernetesCluster", () => {
  test("is finalizer, files, Machines with their owner, pools, status; and the other way round when it goes (A045, A059, A091)", () => {
    const steps: string[] = [];
    const kube = (real: KubeTransport): KubeTransport => ({
      ...real,
      send(request, options) {
        const step = request.method === "GET" ? undefined : stepOf(request);
        if (step !== undefined) steps.push(step);
        return real.send(request, options);
      },
    });
    const memory = createMemoryFiles();
    const files = {
      ...memory,
      write: (...file: Parameters<typeof memory.write>) => (steps.push("files"), memory.write(...file)),
      remove: (...file: Parameters<typeof memory.remove>) => (steps.push("remove files"), memory.remove(...file)),
    };
    return tellComposition({ kube, files }, async (world) => {
      await clusters(world).create(flatCluster(1, { a: 1 }));
      await world.start();
      await world.untilComposed(600);
      assert.deepEqual([...new Set(steps)], ["finalizer", "files", "machines with their owner", "pools", "status"]);
      steps.length = 0;
      await clusters(world).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.cluster()) === undefined, 900);
      const order = [...new Set(steps)].filter((step) => step !== "status");
      assert.deepEqual(order, ["delete talosworkers", "delete taloscontrolplanes", "delete machines", "remove files", "finalizer"]);
    });
  });

  test("begins within a second, is counted under its name, and comes round as often as RECONCILE_INTERVAL says (A001, A040, A062)", () => {
    const metrics = createMetricsRegistry();
    return tellComposition({ metrics, operator: { resyncMs: 10_000 } }, async (world) => {
      await world.start();
      await world.time.advance(60_000);
      await clusters(world).create(flatCluster(1));
      await world.time.advance(1_000);
      assert.deepEqual((await world.cluster())?.metadata?.finalizers, ["cluster.vitistack.io/finalizer"]);
      assert.ok((await world.machineNames()).length === 1);
      assert.match(metrics.text(), /^talos_operator_reconciliation_duration_seconds_count\{controller="KubernetesCluster"\} [1-9]/m);
      await world.untilComposed(600);
      await world.time.advance(60_000);
      // A file that somebody changed is put right when the cluster comes round.
      const text = world.files.texts.get("demo/demo-cp-0.yaml") ?? "";
      world.files.put("demo/demo-cp-0.yaml", "changed");
      await world.time.advance(21_000);
      assert.equal(world.files.texts.get("demo/demo-cp-0.yaml"), text);
    });
  });

  test("is not disturbed by a second apply of the same manifest, whichever shape it has (A123)", () =>
    tellComposition({ operator: { maxConcurrentReconciles: 2 } }, async (world) => {
      const manifests = [flatCluster(1, { a: 1 }, { clusterEndpoint: "https://10.5.0.101:6443" }), nestedCluster({}, "nested")];
      const names = ["demo", "nested"];
      const apply = () =>
        Promise.all(manifests.map((one) => clusters(world).apply(one as AppliedObject, { fieldManager: "kubectl", force: true })));
      const objects = () => Promise.all(names.map((name) => world.cluster(name)));
      await apply();
      await world.start();
      for (const name of names) await world.untilComposed(600, name);
      await world.time.advance(120_000);
      const before = await objects();
      await apply();
      await assertQuiet(world, 1);
      assert.deepEqual(await objects(), before);
    }));
});

describe("what happens to a machine of a cluster that is Ready", () => {
  const ready = async (world: CompositionStory) => conditionOf(await world.cluster(), "Ready");

  test("is said within 5 s when its provider tells (A101)", () =>
    tellComposition({}, async (world) => {
      await clusters(world).create(flatCluster(1, { a: 1 }));
      await world.start();
      await world.untilComposed(600);
      await world.time.advance(120_000);
      const closed = world.provider.close();
      await world.time.advance(1_000);
      await closed;
      const status = { phase: "Failed", failureMessage: "the disk is broken" };
      const key = { namespace: "default", name: "demo-a-0" };
      await world.client.resource(kinds.vitistackMachine).patchStatus(key, { type: "merge", value: { status } });
      await world.time.advance(5_000);
      assert.match((await ready(world))?.message ?? "", /demo-a-0 \(Failed: the disk is broken\)/);
      await assertQuiet(world, 3);
    }));

  test("is said after the next look when its power goes without a word, 75 s at most", () =>
    tellComposition({}, async (world) => {
      await clusters(world).create(flatCluster(1, { a: 1 }));
      await world.start();
      await world.untilComposed(600);
      await world.time.advance(120_000);
      world.datacenter.machine(world.provider.given.get("default/demo-a-0") ?? "").powerOff();
      await world.time.advance(75_000);
      assert.deepEqual([(await ready(world))?.status, (await world.cluster())?.status?.workersReady], ["False", 0]);
    }));
});

describe("what is not ours", () => {
  test("is counted, and a line of level debug names its provider: a cluster of somebody else (A097)", () => {
    const [metrics, log] = [createMetricsRegistry(), createMemoryLog()];
    return tellComposition({ metrics, log }, async (world) => {
      await clusters(world).create(nestedCluster({ provider: "aks" }));
      await world.start();
      await world.time.advance(1_000);
      assert.match(metrics.text(), /^talos_operator_clusters_of_others 1$/m);
      const lines = log.lines.filter(({ message }) => message === "Left to its provider");
      assert.deepEqual(
        lines.map(({ level, fields }) => [level, fields["provider"], fields["cluster"]]),
        [["debug", "aks", "demo"]],
      );
    });
  });

  test("is warned of once, not at each pass: a Machine of that name that is there already (A068)", () => {
    const log = createMemoryLog();
    return tellComposition({ log }, async (world) => {
      await world.client
        .resource(kinds.vitistackMachine)
        .create({ metadata: { namespace: "default", name: "demo-cp-0" }, spec: { provider: "x" } } as KubeObject);
      await clusters(world).create(flatCluster(1));
      await world.start();
      await world.time.advance(10 * 60_000);
      const lines = log.lines.filter(({ level, message }) => level === "warn" && message.includes("demo-cp-0"));
      assert.deepEqual(
        lines.map(({ fields }) => [fields["controller"], fields["cluster"], fields["reason"]]),
        [["KubernetesCluster", "demo", "NameConflict"]],
      );
    });
  });
});

test("a process that was stopped within a pass writes no file of a cluster that is gone when it goes on (A106)", () => {
  let goOn: () => void = () => undefined;
  let stopped: Promise<void> | undefined;
  const kube = (real: KubeTransport): KubeTransport => ({
    ...real,
    async send(request, options) {
      if (stopped === undefined && request.path.includes("/networknamespaces")) stopped = new Promise((resolve) => (goOn = resolve));
      await stopped;
      return real.send(request, options);
    },
  });
  return tellComposition({ kube, operator: { leaderElection: {} } }, async (world) => {
    const { spec, ...rest } = nestedCluster({ networkNamespaceName: "net" }) as KubeObject & { readonly spec: Record<string, unknown> };
    const { clusterEndpoint: _given, ...asked } = spec;
    await clusters(world).create({ ...rest, spec: asked } as KubeObject);
    await world.start();
    await world.until("it is stopped", async () => stopped !== undefined);
    await world.time.advance(60_000);
    // Another process leads by now, and finishes with the cluster.
    await clusters(world).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { metadata: { finalizers: null } } });
    await clusters(world).delete({ namespace: "default", name: "demo" });
    goOn();
    await world.time.advance(10_000);
    assert.deepEqual([await world.cluster(), [...world.files.texts]], [undefined, []]);
  });
});

test("a change that comes while the clock was just set forward, and the lease seems over, is acted on all the same", () => {
  let aheadMs = 0;
  return tellComposition(
    { operatorClock: (real) => ({ now: () => real.now() + aheadMs }), operator: { leaderElection: {} } },
    async (world) => {
      await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1));
      await world.start();
      await world.untilComposed(600);
      aheadMs = 6 * 3_600_000;
      await world.client
        .resource(kinds.kubernetesCluster)
        .patch(
          { namespace: "default", name: "demo" },
          { type: "merge", value: { spec: { workers: [{ name: "late", replicas: 1, machineTemplate: { spec: {} } }] } } },
        );
      await world.until("its Machine is made", async () => (await world.machineNames()).includes("demo-late-0"), 30);
    },
  );
});
