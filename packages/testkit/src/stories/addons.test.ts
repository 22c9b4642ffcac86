// Which clusters an addon is installed on. Nothing is installed here: releases are what is looked at.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  annotations,
  finalizers,
  labels,
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosControlPlaneResource,
} from "@talos-operator/api";
import type { Condition, HelmSpec, TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { HeldWatch } from "./held-watch.ts";
import { apply } from "./quiet.ts";
import { kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

const API = "talos.alperen.cloud/v1alpha1";
const namespaceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const cilium: HelmSpec = { chartName: "cilium", repoURL: "https://helm.cilium.io", releaseName: "cilium", namespace: "kube-system" };
const production = { matchLabels: { env: "production" } };

const tellAddons = (options: StoryOptions, story: (world: Story) => Promise<void>): Promise<void> =>
  tell({ machines: [], addons: () => ({}), ...options }, async (world) => {
    await world.start();
    await story(world);
  });

/** A cluster that nobody works on: only its labels count. */
async function cluster(world: Story, name: string, env: string, namespace = "default"): Promise<void> {
  await apply(world, kinds.controlPlane, {
    apiVersion: API,
    kind: "TalosControlPlane",
    metadata: { namespace, name, labels: { env }, annotations: { [annotations.reconcileMode]: "disable" } },
    spec: { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", metalSpec: { machines: [{ address: "10.5.0.1" }] } },
  });
}

async function addon(world: Story, name = "cni", over: Partial<TalosClusterAddon["spec"]> = {}, metadata: object = {}): Promise<void> {
  await apply(world, talosClusterAddonResource, {
    apiVersion: API,
    kind: "TalosClusterAddon",
    metadata: { namespace: "default", name, ...metadata },
    spec: { clusterSelector: production, helmSpec: { ...cilium, releaseName: name }, ...over },
  });
}

const editAddon = (world: Story, value: Record<string, unknown>, name = "cni"): Promise<unknown> =>
  world.client.resource(talosClusterAddonResource).patch({ namespace: "default", name }, { type: "merge", value });
const relabel = (world: Story, name: string, env: string): Promise<unknown> =>
  world.client
    .resource(talosControlPlaneResource)
    .patch({ namespace: "default", name }, { type: "merge", value: { metadata: { labels: { env } } } });

const all = async (world: Story): Promise<readonly TalosClusterAddonRelease[]> =>
  (await world.client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource).list()).items;
const names = async (world: Story): Promise<readonly string[]> =>
  (await all(world)).map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`).toSorted();
const release = async (world: Story, name: string): Promise<TalosClusterAddonRelease> => {
  const found = (await all(world)).find(({ metadata }) => metadata.name === name);
  assert.ok(found, `no ${name}`);
  return found;
};
const untilNames = (world: Story, ...wanted: readonly string[]): Promise<void> =>
  world.until(`releases ${wanted.join(", ")}`, async () => (await names(world)).join() === wanted.join(), 60);
const untilReason = (world: Story, reason: string, name = "cni"): Promise<void> =>
  world.until(reason, async () => (await world.condition(talosClusterAddonResource, "Ready", name))?.reason === reason, 60);

/** As the controller of releases tells it, which leaves this one alone. */
async function tellInstalled(world: Story, name: string): Promise<void> {
  const { metadata } = await release(world, name);
  const paused = { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } };
  await world.client.resource(talosClusterAddonReleaseResource).patch(metadata, { type: "merge", value: paused });
  await world.time.advance(5_000);
  const ready: Condition = { type: "Ready", status: "True", reason: "Installed", message: "m", lastTransitionTime: "2026-01-01T00:00:00Z" };
  await world.client.resource(talosClusterAddonReleaseResource).patchStatus(metadata, {
    type: "merge",
    value: { status: { conditions: [ready], observedGeneration: metadata.generation } },
  });
}

/** Something of it stays in the cluster until a worker has taken it away. */
async function holdRelease(world: Story, name: string, held: readonly string[]): Promise<void> {
  const { metadata } = await release(world, name);
  await world.client
    .resource(talosClusterAddonReleaseResource)
    .patch(metadata, { type: "merge", value: { metadata: { finalizers: held } } });
}

async function writesWithin(world: Story, seconds: number): Promise<readonly string[]> {
  const before = world.writes.length;
  await world.time.advance(seconds * 1_000);
  return world.writes.slice(before);
}

describe("addons of clusters", () => {
  test("one release for each selected cluster, which follows the addon; ready is told, and then nothing is written", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await cluster(world, "b", "production");
      await cluster(world, "c", "test");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease", "default/b-cni-addonrelease");
      await untilReason(world, "ReleasesNotReady");
      await editAddon(world, { spec: { helmSpec: { version: "1.18.2" } } });
      await world.until("followed", async () => (await all(world)).every(({ spec }) => spec.helmSpec?.version === "1.18.2"), 30);
      for (const name of ["a", "b"]) await tellInstalled(world, `${name}-cni-addonrelease`);
      await untilReason(world, "Reconciled");
      await world.time.advance(60_000);
      const { status } = (await world.get(talosClusterAddonResource, "cni")) as unknown as TalosClusterAddon;
      assert.deepEqual([status?.clusters, status?.ready, status?.failed, status?.notSelected], [2, 2, 0, 0]);
      assert.deepEqual(await writesWithin(world, 600), []);
      await world.start();
      assert.deepEqual(await writesWithin(world, 600), [], "a new process finds everything as it should be");
    }));

  test("a TalosCluster's labels select its control plane", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "test");
      await apply(world, kinds.cluster, {
        apiVersion: API,
        kind: "TalosCluster",
        metadata: { namespace: "default", name: "t", annotations: { [annotations.reconcileMode]: "disable" } },
        spec: { controlPlaneRef: { name: "a" } },
      });
      await addon(world);
      await untilReason(world, "NoClusterSelected");
      await world.client
        .resource(kinds.cluster)
        .patch({ namespace: "default", name: "t" }, { type: "merge", value: { metadata: { labels: { env: "production" } } } });
      await untilNames(world, "default/a-cni-addonrelease");
    }));

  test("W12: two addons with different selectors, edited and restarted, and no release disappears", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await cluster(world, "b", "test");
      await addon(world, "cni", { onDeselect: "uninstall" });
      await addon(world, "csi", { clusterSelector: { matchLabels: { env: "test" } }, onDeselect: "uninstall" });
      await untilNames(world, "default/a-cni-addonrelease", "default/b-csi-addonrelease");
      const before = (await all(world)).map(({ metadata }) => metadata.uid);
      for (const name of ["cni", "csi"]) await editAddon(world, { spec: { helmSpec: { version: "1.0.0" } } }, name);
      await world.start();
      await world.time.advance(60_000);
      assert.deepEqual(
        (await all(world)).map(({ metadata }) => metadata.uid),
        before,
      );
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "csi" });
      await untilNames(world, "default/a-cni-addonrelease");
    }));

  test("a cluster that is not selected any more keeps its release, marked, until it is selected again", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease");
      const isMarked = async (): Promise<boolean> =>
        (await release(world, "a-cni-addonrelease")).metadata.annotations?.[annotations.addonNotSelected] === "true";
      await relabel(world, "a", "test");
      await world.until("marked", isMarked, 30);
      await editAddon(world, { spec: { helmSpec: { version: "9.9.9" } } });
      await world.time.advance(30_000);
      assert.equal((await release(world, "a-cni-addonrelease")).spec.helmSpec?.version, undefined, "it stays as it is");
      await relabel(world, "a", "production");
      await world.until("not marked", async () => !(await isMarked()), 30);
      assert.equal((await release(world, "a-cni-addonrelease")).spec.helmSpec?.version, "9.9.9");
    }));

  test("onDeselect: uninstall takes the release away", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await addon(world, "cni", { onDeselect: "uninstall" });
      await untilNames(world, "default/a-cni-addonrelease");
      await relabel(world, "a", "test");
      await untilNames(world);
    }));

  test("a watch that stands still uninstalls nothing: labels that came back count", () => {
    const held = new HeldWatch("/taloscontrolplanes");
    return tellAddons({ kube: (real) => held.kube(real) }, async (world) => {
      await cluster(world, "a", "production");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease");
      await relabel(world, "a", "test");
      await world.time.advance(10_000);
      held.hold();
      await relabel(world, "a", "production");
      await editAddon(world, { spec: { onDeselect: "uninstall" } });
      await world.time.advance(30_000);
      const left = (await all(world)).map(({ metadata }) => [metadata.name, metadata.deletionTimestamp]);
      held.goOn();
      assert.deepEqual(left, [["a-cni-addonrelease", undefined]]);
      await world.until("not marked", async () => {
        const { annotations: own } = (await release(world, "a-cni-addonrelease")).metadata;
        return own?.[annotations.addonNotSelected] === undefined;
      });
    });
  });

  test("what has become somebody else's since it was looked at is not removed", () => {
    const held = new HeldWatch("/talosclusteraddonreleases");
    return tellAddons({ kube: (real) => held.kube(real) }, async (world) => {
      await cluster(world, "a", "production");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease");
      await world.time.advance(10_000);
      held.hold();
      const { metadata } = await release(world, "a-cni-addonrelease");
      await world.client.resource(talosClusterAddonReleaseResource).patch(metadata, {
        type: "merge",
        value: {
          metadata: {
            ownerReferences: null,
            labels: { [labels.addon]: "default.other" },
            annotations: { [annotations.addonUid]: "u-other" },
          },
        },
      });
      await editAddon(world, { spec: { onDeselect: "uninstall" } });
      await relabel(world, "a", "test");
      await world.time.advance(30_000);
      const left = (await all(world)).map((one) => [one.metadata.name, one.metadata.deletionTimestamp]);
      held.goOn();
      assert.deepEqual(left, [["a-cni-addonrelease", undefined]]);
    });
  });

  test("deleting the addon deletes its releases and waits for them, and for as long as it is paused nothing goes", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease");
      await holdRelease(world, "a-cni-addonrelease", ["example.org/worker"]);
      await editAddon(world, { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } });
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "cni" });
      await world.time.advance(60_000);
      assert.equal((await release(world, "a-cni-addonrelease")).metadata.deletionTimestamp, undefined);
      await editAddon(world, { metadata: { annotations: { [annotations.reconcileMode]: null } } });
      await untilReason(world, "Deleting");
      await world.time.advance(120_000);
      assert.notEqual(await world.get(talosClusterAddonResource, "cni"), undefined, "it waits");
      assert.notEqual((await release(world, "a-cni-addonrelease")).metadata.deletionTimestamp, undefined);
      await holdRelease(world, "a-cni-addonrelease", []);
      await world.until("gone", async () => (await world.get(talosClusterAddonResource, "cni")) === undefined, 60);
      assert.deepEqual(await names(world), []);
    }));

  test("who deletes the addon with --cascade=orphan keeps what it installed", () =>
    tellAddons({}, async (world) => {
      await world.client.resource(namespaceType).create(tenant("default"));
      await cluster(world, "a", "production");
      await cluster(world, "far", "production", "tenant");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease", "tenant/far-cni-addonrelease");
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "cni" }, { propagationPolicy: "Orphan" });
      await world.until("gone", async () => (await world.get(talosClusterAddonResource, "cni")) === undefined, 60);
      for (const { metadata } of await all(world))
        assert.deepEqual(
          [metadata.deletionTimestamp, metadata.labels?.[labels.addon], metadata.ownerReferences ?? []],
          [undefined, undefined, []],
        );
      assert.equal((await all(world)).length, 2);
    }));

  test("a cluster of another namespace counts where that Namespace grants it, and from then on", () =>
    tellAddons({}, async (world) => {
      await world.client.resource(namespaceType).create(tenant());
      await cluster(world, "far", "production", "tenant");
      await addon(world);
      await untilReason(world, "NoClusterSelected");
      await world.client
        .resource(namespaceType)
        .patch({ name: "tenant" }, { type: "merge", value: { metadata: { annotations: { [annotations.addonsFrom]: "default" } } } });
      await untilNames(world, "tenant/far-cni-addonrelease");
      assert.equal(
        (await release(world, "far-cni-addonrelease")).metadata.ownerReferences,
        undefined,
        "W31: no owner of another namespace",
      );
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "cni" });
      await untilNames(world);
      await world.until("gone", async () => (await world.get(talosClusterAddonResource, "cni")) === undefined, 60);
    }));

  test("W31: a cluster of another namespace that cannot be served is in no other one's way", () =>
    tellAddons({}, async (world) => {
      await world.client.resource(namespaceType).create(tenant("*"));
      await cluster(world, "far", "production", "tenant");
      await cluster(world, "near", "production");
      await addon(world, "cni", { helmSpec: { ...cilium, credentials: { key: "password", secret: { name: "s" } } } });
      await untilNames(world, "default/near-cni-addonrelease");
      await untilReason(world, "ReferencesNotShared");
    }));

  test("W31: when a cluster goes, its release goes, too", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await cluster(world, "b", "production");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease", "default/b-cni-addonrelease");
      await world.client.resource(kinds.controlPlane).delete({ namespace: "default", name: "a" });
      await untilNames(world, "default/b-cni-addonrelease");
    }));

  test("W31: an empty selector hits nothing, and keeps what the published operator made", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await cluster(world, "b", "production");
      await addon(world, "cni", { clusterSelector: {} });
      await untilReason(world, "NoClusterSelected");
      const { metadata } = (await world.get(talosClusterAddonResource, "cni")) as unknown as TalosClusterAddon;
      await apply(world, talosClusterAddonReleaseResource, {
        apiVersion: API,
        kind: "TalosClusterAddonRelease",
        metadata: {
          namespace: "default",
          name: "a-cni-addonrelease",
          finalizers: [finalizers.talosClusterAddonRelease],
          ownerReferences: [
            {
              apiVersion: API,
              kind: "TalosClusterAddon",
              name: "cni",
              uid: metadata.uid ?? "",
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: { clusterRef: { name: "a", namespace: "default" }, helmSpec: { ...cilium, releaseName: "cni" } },
      });
      await world.until(
        "adopted",
        async () => (await release(world, "a-cni-addonrelease")).metadata.labels?.[labels.addon] === "default.cni",
        30,
      );
      await world.time.advance(30_000);
      assert.deepEqual(await names(world), ["default/a-cni-addonrelease"]);
      assert.equal((await release(world, "a-cni-addonrelease")).metadata.annotations?.[annotations.addonNotSelected], undefined);
    }));

  test("two addons that ask for one Helm release: the younger is refused, and gets it once the other is gone", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await addon(world, "one", { helmSpec: cilium });
      await untilNames(world, "default/a-one-addonrelease");
      await addon(world, "two", { helmSpec: cilium });
      await untilReason(world, "ReleaseNotOurs", "two");
      await world.until(
        "both hear of it",
        async () => (await world.condition(talosClusterAddonResource, "ReleaseDisputed", "one")) !== undefined,
        30,
      );
      assert.deepEqual(await names(world), ["default/a-one-addonrelease"]);
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "one" });
      await untilNames(world, "default/a-two-addonrelease");
      await world.until(
        "settled",
        async () => (await world.condition(talosClusterAddonResource, "ReleaseDisputed", "two")) === undefined,
        30,
      );
    }));

  test("more clusters than one pass writes for all get their release, and lose it with the addon", () =>
    tellAddons({}, async (world) => {
      for (let index = 0; index < 70; index += 1) await cluster(world, `c${index}`, "production");
      await addon(world);
      await world.until("all have one", async () => (await all(world)).length === 70, 60);
      await world.client.resource(talosClusterAddonResource).delete({ namespace: "default", name: "cni" });
      await world.until("gone", async () => (await world.get(talosClusterAddonResource, "cni")) === undefined, 120);
      assert.deepEqual(await names(world), []);
    }));

  test("a spec that nothing can be installed by reaches no cluster, and what is there stays as it is", () =>
    tellAddons({}, async (world) => {
      await cluster(world, "a", "production");
      await addon(world);
      await untilNames(world, "default/a-cni-addonrelease");
      await untilReason(world, "ReleasesNotReady");
      for (const spec of [{ helmSpec: { repoURL: "http://charts.example.org" } }, { targetNamespace: "other" }]) {
        await editAddon(world, { spec });
        await untilReason(world, "SpecRefused");
        await world.time.advance(10_000);
        const { helmSpec } = (await release(world, "a-cni-addonrelease")).spec;
        assert.deepEqual([helmSpec?.repoURL, helmSpec?.namespace], [cilium.repoURL, cilium.namespace]);
        await editAddon(world, { spec: { helmSpec: { repoURL: cilium.repoURL }, targetNamespace: null } });
        await untilReason(world, "ReleasesNotReady");
      }
    }));

  test("a release that the API server refuses is told, and holds up no other cluster", () => {
    let isRefusing = true;
    const refusing: StoryOptions["kube"] = (real) => ({
      ...real,
      send: async (request, options) => {
        const body = request.body as KubeObject | undefined;
        const isIt = isRefusing && request.method === "POST" && body?.metadata?.name === "a-cni-addonrelease";
        return isIt ? refusal : real.send(request, options);
      },
    });
    return tellAddons({ kube: refusing }, async (world) => {
      await cluster(world, "a", "production");
      await cluster(world, "b", "production");
      await addon(world);
      await untilNames(world, "default/b-cni-addonrelease");
      await untilReason(world, "CreateOrUpdateReleaseFailed");
      isRefusing = false;
      await untilNames(world, "default/a-cni-addonrelease", "default/b-cni-addonrelease");
    });
  });
});

const refusal = {
  status: 403,
  headers: { "content-type": "application/json" },
  body: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message: "quota", code: 403 },
};

function tenant(addonsFrom?: string): KubeObject {
  const own = addonsFrom === undefined ? {} : { annotations: { [annotations.addonsFrom]: addonsFrom } };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: "tenant", ...own } };
}
