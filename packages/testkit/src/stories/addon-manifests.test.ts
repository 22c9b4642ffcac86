// What becomes of spec.manifests: the worker is the genuine one, and the cluster has an API of its own.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { findCondition, talosClusterAddonReleaseResource, talosClusterAddonResource } from "@talos-operator/api";
import type { ManifestsSpec, TalosClusterAddonRelease, TalosClusterAddonReleaseSpec } from "@talos-operator/api";
import type { FetchedManifest } from "@talos-operator/helm/worker";
import { runManifests } from "@talos-operator/helm/worker";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { createSimulatedHelm } from "../world/simulated-helm.ts";
import type { SimulatedHelm } from "../world/simulated-helm.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const API = "talos.alperen.cloud/v1alpha1";
const ENDPOINT = "https://10.5.0.100:6443";
const key = (name: string) => ({ namespace: "default", name });
const maps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const namespaces: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

const map = (name: string, data: Record<string, string> = {}): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
const namespace = (name: string): string => JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const inline = (...objects: readonly string[]) => ({ inline: objects.join("\n---\n") });

/** A cluster `demo` that runs, with workers that really apply to its API. `served` is what stands at addresses. */
function tellSets(story: (world: Story, helm: SimulatedHelm, served: Map<string, string>) => Promise<void>): Promise<void> {
  let helm: SimulatedHelm | undefined;
  const served = new Map<string, string>();
  const fetch = async (url: string): Promise<FetchedManifest> => {
    const text = served.get(url);
    return text === undefined
      ? { kind: "failed", why: "nothing is there" }
      : { kind: "fetched", text, sha256: createHash("sha256").update(text).digest("hex") };
  };
  const addons = () => {
    if (helm === undefined) throw new Error("the story has not begun");
    return { runner: helm.runner, helm: () => Promise.resolve({ found: false, message: "There is no helm." } as const) };
  };
  return tell({ addons }, async (world) => {
    const { clock, timers } = world.time;
    helm = createSimulatedHelm(clock, {
      manifests: (task, secrets) =>
        runManifests(task, secrets, {
          async open(kubeconfig) {
            const { clusters } = JSON.parse(kubeconfig) as {
              readonly clusters: readonly [{ readonly cluster: { readonly server: string } }];
            };
            assert.equal(clusters[0].cluster.server, ENDPOINT, "objects are applied to the cluster of the release");
            return { client: world.workload(), close() {} };
          },
          fetch,
          clock,
          timers,
          signal: new AbortController().signal,
        }),
    });
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.untilReady();
    await story(world, helm, served);
  });
}

const specOf = (over: Partial<ManifestsSpec>): ManifestsSpec => ({ namespace: "web", sources: [inline(map("page"))], ...over });

async function release(
  world: Story,
  name: string,
  manifests: Partial<ManifestsSpec>,
  over: Partial<TalosClusterAddonReleaseSpec> = {},
): Promise<void> {
  await apply(world, talosClusterAddonReleaseResource, {
    apiVersion: API,
    kind: "TalosClusterAddonRelease",
    metadata: key(name),
    spec: { clusterRef: { name: "demo" }, manifests: specOf(manifests), ...over },
  });
}

const read = (world: Story, name: string): Promise<TalosClusterAddonRelease | undefined> =>
  world.client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource).tryGet(key(name));
const readyOf = async (world: Story, name: string) => findCondition((await read(world, name))?.status?.conditions, "Ready");
const until = (world: Story, name: string, reason: string, seconds = 120): Promise<void> =>
  world.until(`${name} says ${reason}`, async () => (await readyOf(world, name))?.reason === reason, seconds);
const edit = (world: Story, name: string, manifests: Partial<ManifestsSpec>): Promise<unknown> =>
  world.client.resource(talosClusterAddonReleaseResource).patch(key(name), { type: "merge", value: { spec: { manifests } } });
const remove = (world: Story, name: string): Promise<unknown> => world.client.resource(talosClusterAddonReleaseResource).delete(key(name));
const gone = (world: Story, name: string, seconds = 120): Promise<void> =>
  world.until(`${name} is gone`, async () => (await read(world, name)) === undefined, seconds);
const inCluster = (world: Story, name: string, space = "web") =>
  world.workload().resource<{ readonly metadata: object; readonly data?: Record<string, string> }>(maps).tryGet({ namespace: space, name });
const names = async (world: Story, space = "web"): Promise<readonly string[]> =>
  (await world.workload().resource<{ readonly metadata: { readonly name: string } }>(maps).list({ namespace: space })).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== "kube-root-ca.crt");
const settled = (world: Story, name: string, objects: readonly string[], seconds = 120): Promise<void> =>
  world.until(
    `${name} has ${objects.join(", ")}`,
    async () => {
      const status = (await read(world, name))?.status;
      return (
        status?.run === undefined && (await readyOf(world, name))?.reason === "Installed" && String(await names(world)) === String(objects)
      );
    },
    seconds,
  );

describe("a set of objects", () => {
  test("is applied without Helm, pruned at an edit but for its Namespace, and deleted with its release", () =>
    tellSets(async (world, helm) => {
      await release(world, "web", { sources: [inline(namespace("web"), map("a"), map("b"))] });
      await settled(world, "web", ["a", "b"]);
      const status = (await read(world, "web"))?.status;
      assert.equal(status?.objects, 3);
      assert.equal(status.manifests?.inventory, `talos-operator-addon-${(await read(world, "web"))?.metadata.uid}`);
      await edit(world, "web", { sources: [inline(map("b", { k: "v" }))] });
      await settled(world, "web", ["b"]);
      assert.equal((await inCluster(world, "b"))?.data?.["k"], "v");
      assert.match((await readyOf(world, "web"))?.message ?? "", /^1 object is applied; kept: Namespace web\.$/);
      assert.deepEqual((await read(world, "web"))?.status?.manifests?.keptObjects, ["Namespace web"]);
      await remove(world, "web");
      await gone(world, "web");
      assert.deepEqual(await names(world), []);
      assert.notEqual(await world.workload().resource(namespaces).tryGet({ name: "web" }), undefined);
      assert.deepEqual(
        helm.begun.map(({ task }) => task.kind),
        ["apply-manifests", "apply-manifests", "remove-manifests"],
      );
    }));

  test("puts drift right about every hour, without a word in Ready, and a restart does nothing", () =>
    tellSets(async (world, helm) => {
      await release(world, "web", { sources: [inline(map("a", { k: "asked" }))] });
      await settled(world, "web", ["a"]);
      const since = (await readyOf(world, "web"))?.lastTransitionTime;
      await world.workload().resource(maps).delete({ namespace: "web", name: "a" });
      await world.stop();
      await world.start();
      await world.time.advance(50 * 60_000);
      assert.equal(helm.begun.length, 1, "nothing within the hour, nor by a new process");
      await world.until("applied again", async () => (await inCluster(world, "a")) !== undefined, 45 * 60);
      await world.time.advance(60_000);
      assert.equal((await readyOf(world, "web"))?.reason, "Installed");
      assert.equal((await readyOf(world, "web"))?.lastTransitionTime, since);
      assert.equal(helm.begun.length, 2);
    }));

  test("that is to be applied once is not applied again, but for an edit", () =>
    tellSets(async (world, helm) => {
      await apply(world, maps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: key("set"),
        data: { "manifests.yaml": map("a", { k: "1" }) },
      });
      await release(world, "web", { mode: "Once", sources: [{ configMapRef: { name: "set" } }] });
      await settled(world, "web", ["a"]);
      await world.workload().resource(maps).delete({ namespace: "web", name: "a" });
      await world.client.resource(maps).patch(key("set"), { type: "merge", value: { data: { "manifests.yaml": map("a", { k: "2" }) } } });
      await world.time.advance(3 * 60 * 60_000);
      assert.equal(helm.begun.length, 1);
      await edit(world, "web", { sources: [{ configMapRef: { name: "set" } }, inline(map("b"))] });
      await settled(world, "web", ["a", "b"]);
      assert.equal((await inCluster(world, "a"))?.data?.["k"], "2");
    }));

  test("follows a ConfigMap of its own namespace, and says which is missing", () =>
    tellSets(async (world) => {
      await release(world, "web", { sources: [{ configMapRef: { name: "set" } }] });
      await until(world, "web", "ValuesNotFound");
      await apply(world, maps, { apiVersion: "v1", kind: "ConfigMap", metadata: key("set"), data: { "manifests.yaml": map("a") } });
      await settled(world, "web", ["a"]);
      await world.client.resource(maps).patch(key("set"), { type: "merge", value: { data: { "manifests.yaml": map("b") } } });
      await settled(world, "web", ["b"], 25 * 60);
    }));

  test("is not touched by what stands at an address with another digest", () =>
    tellSets(async (world, _helm, served) => {
      const url = "https://example.org/set.yaml";
      const text = map("a", { k: "good" });
      served.set(url, text);
      await release(world, "web", { sources: [{ url, sha256: createHash("sha256").update(text).digest("hex") }] });
      await settled(world, "web", ["a"]);
      served.set(url, map("a", { k: "evil" }));
      await until(world, "web", "ManifestsRefused", 2 * 60 * 60);
      assert.equal((await inCluster(world, "a"))?.data?.["k"], "good");
      served.delete(url);
      await until(world, "web", "ManifestsUnreachable", 2 * 60 * 60);
    }));

  test("leaves what another manager has, and what is another addon's", () =>
    tellSets(async (world) => {
      await release(world, "first", { sources: [inline(map("mine", { k: "first" }))] });
      await settled(world, "first", ["mine"]);
      await release(world, "second", { sources: [inline(map("mine", { k: "second" }))] });
      await until(world, "second", "ObjectsConflict");
      assert.match((await readyOf(world, "second"))?.message ?? "", /ConfigMap web\/mine belongs to another addon/);
      await remove(world, "second");
      await gone(world, "second");
      assert.equal((await inCluster(world, "mine"))?.data?.["k"], "first");
    }));

  test("never deletes what was there before it, nor what somebody took its mark from", () =>
    tellSets(async (world) => {
      const workload = world.workload();
      await workload.resource(namespaces).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "web" } });
      const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "web", name: "theirs" }, data: { k: "theirs" } };
      await workload.resource(maps).create(theirs);
      await release(world, "web", { sources: [inline(map("left"), map("ours"), map("theirs", { more: "ours" }))] });
      await settled(world, "web", ["left", "ours", "theirs"]);
      const value = { metadata: { annotations: { "talos-operator.dev/addon-owner": null } } };
      await workload.resource(maps).patch({ namespace: "web", name: "left" }, { type: "merge", value });
      await remove(world, "web");
      await gone(world, "web");
      assert.deepEqual(await names(world), ["left", "theirs"]);
      assert.deepEqual((await inCluster(world, "theirs"))?.data, { k: "theirs" }, "its fields are given back");
    }));

  test("that was applied by halves is known, and pruned", () =>
    tellSets(async (world) => {
      const workload = world.workload();
      await workload.resource(namespaces).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "web" } });
      const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "web", name: "theirs" }, data: { k: "theirs" } };
      await workload.resource(maps).create(theirs);
      await release(world, "web", { sources: [inline(map("half"), map("theirs", { k: "ours" }))] });
      await until(world, "web", "ObjectsConflict");
      assert.match((await readyOf(world, "web"))?.message ?? "", /ConfigMap web\/theirs: \.data\.k belong to /);
      assert.deepEqual(await names(world), ["half", "theirs"]);
      await edit(world, "web", { sources: [inline(map("whole"))] });
      await settled(world, "web", ["theirs", "whole"]);
    }));

  test("shares an object with another set, and takes no field of it away", () =>
    tellSets(async (world) => {
      const workload = world.workload();
      await workload.resource(namespaces).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shared" } });
      const labelled = (label: string): string =>
        JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shared", labels: { [label]: "yes" } } });
      for (const name of ["one", "two"]) {
        await release(world, name, { sources: [inline(labelled(name))] });
        await until(world, name, "Installed");
      }
      const found = await workload
        .resource<{ readonly metadata: { readonly labels?: Record<string, string> } }>(namespaces)
        .get({ name: "shared" });
      assert.deepEqual([found.metadata.labels?.["one"], found.metadata.labels?.["two"]], ["yes", "yes"]);
    }));

  test("for a cluster of before is not applied to the one that has its name by now", () =>
    tellSets(async (world, helm) => {
      await release(world, "web", {}, { clusterRef: { name: "demo", uid: "of-the-one-before" } });
      await until(world, "web", "WaitingForCluster");
      await world.time.advance(60_000);
      assert.equal(helm.begun.length, 0);
    }));

  for (const fault of ["dies", "lost"] as const)
    test(`whose worker ${fault} is tried again`, () =>
      tellSets(async (world, helm) => {
        helm.fail("web/web", { kind: fault });
        await release(world, "web", {});
        await until(world, "web", "HelmClientFailed");
        await settled(world, "web", ["page"]);
        assert.equal(helm.begun.length, 2);
      }));

  test("is left in the cluster when the cluster goes", () =>
    tellSets(async (world, helm) => {
      await release(world, "web", {});
      await settled(world, "web", ["page"]);
      await world.client.resource(kinds.cluster).delete(key("demo"));
      await world.until(
        "deleting",
        async () => {
          const controlPlane = await world.get(kinds.controlPlane);
          return controlPlane === undefined || controlPlane.metadata?.deletionTimestamp !== undefined;
        },
        60,
      );
      await remove(world, "web");
      await gone(world, "web", 30);
      assert.equal(helm.begun.length, 1, "nothing is removed from machines that are wiped");
    }));

  test("names one place for each source, and no address without a digest", () =>
    tellSets(async (world) => {
      const sha256 = "0".repeat(64);
      for (const source of [
        {},
        { ...inline(map("a")), configMapRef: { name: "set" } },
        { url: "https://example.org/a" },
        { ...inline(map("a")), sha256 },
        { url: "http://example.org/a", sha256 },
        { url: "https://user@example.org/a", sha256 },
      ])
        await assert.rejects(release(world, "web", { sources: [source] }), /INVALID/, JSON.stringify(source));
      await release(world, "web", { sources: [{ url: "https://example.org/a?b=c", sha256 }] });
      await until(world, "web", "ManifestsUnreachable");
    }));

  test("beside a chart is refused, and so is a release that turns from one into the other", () =>
    tellSets(async (world, helm) => {
      const helmSpec = { chartName: "web", repoURL: "https://charts.example.org" };
      await release(world, "both", {}, { helmSpec });
      await until(world, "both", "SpecRefused");
      await release(world, "web", {});
      await settled(world, "web", ["page"]);
      const value = { spec: { manifests: null, helmSpec } };
      await world.client.resource(talosClusterAddonReleaseResource).patch(key("web"), { type: "merge", value });
      await until(world, "web", "SpecRefused");
      assert.equal(helm.begun.length, 1);
      await remove(world, "web");
      await gone(world, "web");
      assert.deepEqual(await names(world), [], "what was applied is removed, whatever the spec says by then");
    }));

  test("of an addon is applied on every cluster that it selects", () =>
    tellSets(async (world) => {
      await world.client.resource(kinds.cluster).patch(key("demo"), { type: "merge", value: { metadata: { labels: { env: "prod" } } } });
      for (const name of ["one", "two"])
        await apply(world, talosClusterAddonResource, {
          apiVersion: API,
          kind: "TalosClusterAddon",
          metadata: key(name),
          spec: { clusterSelector: { matchLabels: { env: "prod" } }, targetNamespace: "web", manifests: { sources: [inline(map(name))] } },
        });
      await settled(world, "demo-one-addonrelease", ["one", "two"]);
      await until(world, "demo-two-addonrelease", "Installed");
      await world.client.resource(talosClusterAddonResource).delete(key("one"));
      await gone(world, "demo-one-addonrelease");
      assert.deepEqual(await names(world), ["two"]);
    }));
});
