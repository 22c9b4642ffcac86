import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { companionCrds, crds } from "@talos-operator/api";
import type { ControlPlaneVirtualSharedIP } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KubeTransport } from "@talos-operator/ports";
import { conditionOf, flatCluster, nestedCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { createOldLists } from "./old-lists.ts";
import type { OldLists } from "./old-lists.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds } from "./story.ts";

/** Ours, and those of whoever runs networks. */
const served = [...crds, ...companionCrds];

/** A cluster of three control planes whose endpoint is the network's to choose. */
function clusterOn(network: string | undefined, controlPlanes = 3, over: Record<string, unknown> = {}): KubeObject {
  const cluster = nestedCluster(network === undefined ? {} : { networkNamespaceName: network }) as KubeObject & {
    readonly spec: Record<string, unknown>;
  };
  const { clusterEndpoint: _given, ...spec } = cluster.spec;
  const topology = { ...(spec["topology"] as object), controlplane: { replicas: controlPlanes, version: "1.33" }, workers: [] };
  return { ...cluster, spec: { ...spec, topology, ...over } } as KubeObject;
}

/** What an operator of networks does: a network is ready, and each shared address that is asked for gets one. */
async function network(world: CompositionStory, name: string, isReady = true): Promise<void> {
  const networks = world.client.resource(kinds.networkNamespace);
  const spec = { datacenterIdentifier: "south", supervisorIdentifier: "super" };
  await networks.create({
    apiVersion: "vitistack.io/v1alpha1",
    kind: "NetworkNamespace",
    metadata: { namespace: "default", name },
    spec,
  } as KubeObject);
  await networkSays(world, name, isReady);
}

async function networkSays(world: CompositionStory, name: string, isReady: boolean): Promise<void> {
  const [status, reason] = isReady ? ["True", "Ready"] : ["False", "Pending"];
  const conditions = [{ type: "Ready", status, reason, message: "as it is", lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const key = { namespace: "default", name };
  await world.client.resource(kinds.networkNamespace).patchStatus(key, { type: "merge", value: { status: { conditions } } });
}

async function address(world: CompositionStory): Promise<ControlPlaneVirtualSharedIP | undefined> {
  return world.client.resource<ControlPlaneVirtualSharedIP>(kinds.sharedAddress).tryGet({ namespace: "default", name: "c-0001" });
}

const give = (world: CompositionStory, loadBalancerIps: readonly string[]) =>
  world.client
    .resource(kinds.sharedAddress)
    .patchStatus({ namespace: "default", name: "c-0001" }, { type: "merge", value: { status: { loadBalancerIps } } });

/** The cluster is paused, and an operator that starts hears of it as it was before. */
async function pausedBehind(world: CompositionStory, lists: OldLists): Promise<void> {
  const clusters = world.client.resource(kinds.kubernetesCluster);
  lists.keep(kinds.kubernetesCluster.plural, (await clusters.list()).items);
  const annotations = { "talos.alperen.cloud/reconcile-mode": "disable" };
  await clusters.patch({ namespace: "default", name: "demo" }, { type: "merge", value: { metadata: { annotations } } });
}

const ready = async (world: CompositionStory) => conditionOf(await world.cluster(), "Ready");

const waiting = (world: CompositionStory, words: RegExp) =>
  world.until(String(words), async () => {
    const { reason, message = "" } = (await ready(world)) ?? {};
    return reason === "WaitingForEndpoint" && words.test(message);
  });

/** Notes every list of members that is written. */
function noting(lists: (readonly string[])[]): (real: KubeTransport) => KubeTransport {
  return (real) => ({
    ...real,
    send: (request, options) => {
      const { spec } = (request.body ?? {}) as { readonly spec?: { readonly poolMembers?: readonly string[] } };
      if (request.path.includes("/controlplanevirtualsharedips/") && spec?.poolMembers !== undefined) lists.push(spec.poolMembers);
      return real.send(request, options);
    },
  });
}

describe("endpoint mode networkconfiguration", () => {
  test("asks the network for an address, waits for it before any machine is configured, and keeps who is behind it in step (V17, V18)", () => {
    const lists: (readonly string[])[] = [];
    return tellComposition({ crds: served, kube: noting(lists) }, async (world) => {
      const clusters = world.client.resource(kinds.kubernetesCluster);
      await clusters.create(clusterOn("net"));
      await world.start();
      await waiting(world, /NetworkNamespace net does not exist/);
      await network(world, "net", false);
      await waiting(world, /NetworkNamespace net is not ready \(as it is\)/);
      assert.equal(await address(world), undefined);
      await networkSays(world, "net", true);
      await waiting(world, /ControlPlaneVirtualSharedIP c-0001 has none yet/);
      await world.until("all are behind it", async () => (await address(world))?.spec?.poolMembers?.length === 3);
      const { poolMembers, ...spec } = (await address(world))?.spec ?? {};
      assert.deepEqual(poolMembers?.toSorted(), ["10.5.0.1", "10.5.0.2", "10.5.0.3"]);
      assert.deepEqual(spec, {
        clusterIdentifier: "c-0001",
        datacenterIdentifier: "south",
        environment: "dev",
        method: "first-alive",
        networkNamespaceIdentifier: "net",
        provider: "talos",
        supervisorIdentifier: "super",
      });
      await world.time.advance(120_000);
      assert.deepEqual([world.sent, await world.get(kinds.controlPlane)], [[], undefined]);
      await give(world, ["10.5.0.100", "10.5.0.101"]);
      await world.untilComposed(900);
      const pool = await world.get(kinds.controlPlane);
      assert.equal(pool?.spec?.["endpoint"], "https://10.5.0.100:6443");
      assert.deepEqual((await world.cluster())?.status?.state.endpoints, [{ name: "kubernetes", address: "https://10.5.0.100:6443" }]);
      for (const [index, list] of lists.entries()) assert.deepEqual(list.slice(0, lists[index - 1]?.length ?? 0), lists[index - 1] ?? []);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);

      // What the network says later changes no machine.
      await give(world, ["10.5.0.200"]);
      // Somebody deletes a control plane: another comes, and the address of the one that goes is never told again.
      lists.length = 0;
      const gone = await world.client.resource(kinds.vitistackMachine).get({ namespace: "default", name: "demo-cp-0" });
      const leaving = gone.metadata?.annotations?.["cluster.vitistack.io/node-address"] ?? "";
      await world.client.resource(kinds.vitistackMachine).delete({ namespace: "default", name: "demo-cp-0" });
      await world.until("replaced", async () => (await world.machineNames()).join() === "demo-cp-1,demo-cp-2,demo-cp-3", 1_800);
      await world.untilComposed(900);
      assert.ok(lists.length > 0);
      assert.ok(
        lists.every((list) => !list.includes(leaving)),
        JSON.stringify(lists),
      );
      assert.equal((await address(world))?.spec?.poolMembers?.length, 3);
      assert.equal((await world.get(kinds.controlPlane))?.spec?.["endpoint"], "https://10.5.0.100:6443");

      await clusters.delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.cluster()) === undefined, 1_800);
      await world.time.advance(60_000);
      assert.equal(await address(world), undefined);
    });
  });

  test("asks for no address of a cluster that is paused, also where an operator's lists are behind", () => {
    const lists = createOldLists();
    return tellComposition({ crds: served, kube: (real) => lists.kube(real) }, async (world) => {
      await world.client.resource(kinds.kubernetesCluster).create(clusterOn("net", 1));
      await world.start();
      await waiting(world, /NetworkNamespace net does not exist/);
      // The control plane has its address by now.
      await world.time.advance(60_000);
      await world.kill();
      await network(world, "net");
      await pausedBehind(world, lists);
      await world.start();
      await world.time.advance(60_000);
      assert.equal(await address(world), undefined);
    });
  });

  test("leaves who is behind the address of a paused cluster as a person changed it, also where an operator's lists are behind", () => {
    const lists = createOldLists();
    return tellComposition({ crds: served, kube: (real) => lists.kube(real) }, async (world) => {
      await network(world, "net");
      await world.client.resource(kinds.kubernetesCluster).create(clusterOn("net", 1));
      await world.start();
      await world.until("asked for", async () => (await address(world))?.spec?.poolMembers?.length === 1);
      await give(world, ["10.5.0.100"]);
      await world.untilComposed(900);
      await world.kill();
      await pausedBehind(world, lists);
      const key = { namespace: "default", name: "c-0001" };
      await world.client.resource(kinds.sharedAddress).patch(key, { type: "merge", value: { spec: { poolMembers: ["10.5.0.99"] } } });
      await world.start();
      await world.time.advance(60_000);
      assert.deepEqual((await address(world))?.spec?.poolMembers, ["10.5.0.99"]);
    });
  });

  test("takes the only network of the namespace, asks which of several, and the first control plane's address where there is none", () =>
    tellComposition({ crds: served }, async (world) => {
      const clusters = world.client.resource(kinds.kubernetesCluster);
      await network(world, "net-a");
      await network(world, "net-b");
      await clusters.create(clusterOn(undefined, 1));
      await world.start();
      await waiting(world, /several NetworkNamespaces/);
      await world.client.resource(kinds.networkNamespace).delete({ namespace: "default", name: "net-b" });
      await world.until("asked", async () => (await address(world))?.spec?.networkNamespaceIdentifier === "net-a");
      await world.client.resource(kinds.networkNamespace).delete({ namespace: "default", name: "net-a" });
      await world.untilComposed(900);
      assert.equal((await world.get(kinds.controlPlane))?.spec?.["endpoint"], undefined);
    }));

  test("waits for a network that is named where the API server has no such kind", () =>
    tellComposition({}, async (world) => {
      await world.client.resource(kinds.kubernetesCluster).create(clusterOn("net", 1));
      await world.start();
      await waiting(world, /knows no NetworkNamespaces/);
      assert.equal(await world.get(kinds.controlPlane), undefined);
      const value = { spec: { endpointMode: "none" } };
      await world.client.resource(kinds.kubernetesCluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
      await world.untilComposed(900);
    }));

  test("never touches an address that is somebody else's, and takes over one that the earlier operator made for the same id", () =>
    tellComposition({ crds: served }, async (world) => {
      await network(world, "net");
      const spec = {
        datacenterIdentifier: "south",
        supervisorIdentifier: "super",
        environment: "dev",
        networkNamespaceIdentifier: "net",
        provider: "talos",
      };
      const make = (clusterIdentifier: string) =>
        world.client.resource(kinds.sharedAddress).create({
          apiVersion: "vitistack.io/v1alpha1",
          kind: "ControlPlaneVirtualSharedIP",
          metadata: { namespace: "default", name: "c-0001" },
          spec: { ...spec, clusterIdentifier, poolMembers: ["10.5.0.9"] },
        } as KubeObject);
      await make("other");
      await world.client.resource(kinds.kubernetesCluster).create(clusterOn("net", 1));
      await world.start();
      await waiting(world, /exists and is another cluster's/);
      assert.deepEqual((await address(world))?.spec?.poolMembers, ["10.5.0.9"]);
      await world.client.resource(kinds.sharedAddress).delete({ namespace: "default", name: "c-0001" });
      await make("c-0001");
      await give(world, ["10.5.0.100"]);
      await world.untilComposed(900);
      assert.deepEqual((await address(world))?.spec?.poolMembers, ["10.5.0.1"]);
    }));
});

describe("endpoint mode talosvip", () => {
  test("has the control planes hold the endpoint's address themselves, and workers do not", () =>
    tellComposition({}, async (world) => {
      const clusters = world.client.resource(kinds.kubernetesCluster);
      const holders = (): readonly string[] =>
        world.datacenter
          .machines()
          .filter(({ state }) => /kind: Layer2VIPConfig\nname: 10\.5\.0\.100\nlink: net0\n/.test(state.config.persisted ?? ""))
          .map(({ address }) => address);
      await clusters.create(flatCluster(1, { a: 1 }, { endpointMode: "talosvip" }));
      await world.start();
      await world.untilComposed(900);
      const [first] = holders();
      assert.deepEqual(holders(), [world.provider.given.get("default/demo-cp-0")]);
      const { config, bootCount } = world.datacenter.machine(first ?? "").state;
      assert.match(config.persisted ?? "", /kind: LinkAliasConfig\nname: net0\nselector:\n +match: "true"\n/);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
      // Whoever keeps the address elsewhere takes the word away: it leaves the machines without a boot, and the endpoint stays.
      const value = { spec: { endpointMode: null } };
      await clusters.patch({ namespace: "default", name: "demo" }, { type: "merge", value });
      await world.until("nobody holds it", async () => holders().length === 0, 1_800);
      assert.equal(world.datacenter.machine(first ?? "").state.bootCount, bootCount);
      assert.equal((await world.get(kinds.controlPlane))?.spec?.["endpoint"], "https://10.5.0.100:6443");
    }));

  test("is refused where the control planes of an older cluster hold the address", () =>
    tellComposition({}, async (world) => {
      const clusters = world.client.resource(kinds.kubernetesCluster);
      // It counts from the moment that it is asked for, whatever was made of it.
      const older = flatCluster(1, {}, { endpointMode: "talosvip" }, "older");
      await clusters.create({ ...older, metadata: { ...older.metadata, annotations: { "talos-operator.dev/pause-after-files": "true" } } });
      await world.start();
      await world.time.advance(2_000);
      await clusters.create(flatCluster(1, {}, { endpointMode: "talosvip" }));
      await world.until("refused", async () => (await ready(world))?.reason === "DuplicateAddress");
      assert.match((await ready(world))?.message ?? "", /default\/older, which is older, hold 10\.5\.0\.100/);
      assert.deepEqual(await world.machineNames(), []);
      await clusters.delete({ namespace: "default", name: "older" });
      await world.until("its turn", async () => (await ready(world))?.reason !== "DuplicateAddress", 900);
    }));

  test("makes nothing without an address to hold, and says what to write", () =>
    tellComposition({ operator: { clusterDefaults: { endpointMode: "talosvip" } } }, async (world) => {
      await world.client.resource(kinds.kubernetesCluster).create(clusterOn(undefined, 1));
      await world.start();
      await world.until("said", async () => /spec\.clusterEndpoint: .*talosvip/.test((await ready(world))?.message ?? ""));
      assert.deepEqual([await world.machineNames(), world.sent], [[], []]);
    }));
});
