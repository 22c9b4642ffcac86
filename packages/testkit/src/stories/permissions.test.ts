import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import {
  annotations,
  companionCrds,
  crds,
  etcdBackupResource,
  finalizers,
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
} from "@talos-operator/api";
import type {
  EtcdBackup,
  TalosCluster,
  TalosClusterAddon,
  TalosClusterAddonRelease,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
} from "@talos-operator/api";
import { leaseType } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { createAddonJobRunner, createBackupJobRunner, permissions } from "@talos-operator/operator";
import type { BackupJobSettings, JobSettings, Permission } from "@talos-operator/operator";
import type { KubeTransport } from "@talos-operator/ports";
import type { Access } from "../world/accesses.ts";
import { workOffJobs } from "../world/job-cluster.ts";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { flatCluster, nestedCluster, tellComposition } from "./composition.ts";
import { leaveBehind, leaveObjects } from "./left-behind.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

/*
 * Every story of this folder runs as the service account of the published manifests, so a right that is missing shows wherever it is needed.
 * These few use every right that is given, so one that nothing needs shows here.
 */

const jobType = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };
const used = new Map<string, Access>();
const jobs: BackupJobSettings = { image: "registry/operator:1", serviceAccountName: "backup", scratchSize: "1Gi" };

function tellAndNote(options: StoryOptions, story: (world: Story) => Promise<void>): Promise<void> {
  return tell(options, async (world) => {
    await story(world);
    for (const [key, access] of world.accesses) used.set(key, access);
  });
}

describe("the rights of the operator", () => {
  it("are enough for a cluster from its creation to its end, under a lease and with a server that streams no lists", () =>
    tellAndNote({ kube: withoutStreamedLists, operator: { leaderElection: {} } }, async (world) => {
      // Somebody else held the lease a moment ago: it is watched until it is free.
      await world.client
        .resource(leaseType)
        .create({ metadata: { namespace: "default", name: "ffa5cb32.alperen.cloud" }, spec: heldAt(world.time.now()) } as KubeObject);
      const { spec, ...rest } = demoCluster(["10.5.0.1"], ["10.5.0.2", "10.5.0.3"], await ownConfig(world));
      await world.client.resource<TalosCluster>(kinds.cluster).create({ ...rest, spec: spec ?? {} });
      await world.start();
      await world.untilReady();
      // An answer that is given twice within minutes is one event with a count.
      for (let round = 0; round < 2; round += 1) {
        await world.annotate(kinds.controlPlane, "talos-operator.dev/approve-reprovision", "demo-10.5.0.1");
        await world.time.advance(90_000);
      }
      const [kept] = spec?.worker?.metalSpec?.machines ?? [];
      const fewer = { spec: { worker: { ...spec?.worker, metalSpec: { ...spec?.worker?.metalSpec, machines: [kept] } } } };
      await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: fewer });
      await world.until("one worker less", async () => (await world.get(kinds.machine, "demo-10.5.0.3")) === undefined);
      await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 600);
    }));

  it("are enough to say what the record of a preserved cluster waits for, and to let it go", () =>
    tellAndNote({}, async (world) => {
      const key = { namespace: "default", name: "demo" };
      await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"], [], { deletionPolicy: "preserve" }));
      await world.start();
      await world.untilReady();
      await world.client.resource(kinds.cluster).delete(key);
      await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined);
      const record = (await world.get(kinds.record)) as unknown as { readonly spec: { readonly clusterId: string } };
      await world.client.resource(kinds.record).delete(key);
      await world.until("held", async () => (await world.condition(kinds.record, "DeletionHeld"))?.status === "True");
      await world.annotate(kinds.record, "talos-operator.dev/release-keys", record.spec.clusterId);
      await world.until("let go", async () => (await world.get(kinds.record)) === undefined);
    }));

  it("are enough to take a cluster over, and to see who else is at work", () =>
    tellAndNote({ operator: { leaderElection: {} } }, async (world) => {
      const bundle = await leaveBehind(world);
      await leaveObjects(world, readFileSync(new URL("../../testdata/peers/talos-alperen-cloud.yaml", import.meta.url), "utf8"), bundle);
      await world.time.advance(11 * 60_000);
      await world.start();
      await world.until("taken over", async () => (await world.condition(kinds.controlPlane, "Imported"))?.status === "True", 120);
      // Its kubeconfig and talosconfig are renewed.
      world.time.setClock(world.time.clock.now() + 340 * 86_400_000);
      await world.time.advance(150_000);
    }));

  it("are enough to compose a cluster of Machines, and to take it apart again", () =>
    tellComposition({ crds: [...crds, ...companionCrds] }, async (world) => {
      const networks = world.client.resource(kinds.networkNamespace);
      const spec = { datacenterIdentifier: "south", supervisorIdentifier: "super" };
      const kind = { apiVersion: "vitistack.io/v1alpha1", kind: "NetworkNamespace" };
      await networks.create({ ...kind, metadata: { namespace: "default", name: "net" }, spec } as KubeObject);
      for (const name of ["named", "unnamed"]) {
        const { spec: asked, ...rest } = nestedCluster(
          { clusterId: name, ...(name === "named" ? { networkNamespaceName: "net" } : {}) },
          name,
        ) as KubeObject & {
          readonly spec: Record<string, unknown>;
        };
        await world.client
          .resource(kinds.kubernetesCluster)
          .create({ ...rest, spec: { ...asked, clusterEndpoint: undefined } } as KubeObject);
      }
      await world.start();
      const conditions = [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }];
      await networks.patchStatus({ namespace: "default", name: "net" }, { type: "merge", value: { status: { conditions } } });
      const addresses = world.client.resource(kinds.sharedAddress);
      await world.until("asked", async () => (await addresses.list()).items.length === 2);
      for (const name of ["named", "unnamed"]) await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name });
      await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { workers: 1 }));
      await world.untilComposed(600);
      await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.cluster()) === undefined, 600);
      for (const [key, access] of world.accesses) used.set(key, access);
    }));

  it("are enough to take backups by Jobs beside the operator, at set times, to prove them and to let them go", () =>
    tellAndNote(
      {
        kube: withoutStreamedLists,
        backups: (client) => ({
          runner: createBackupJobRunner({ client, namespace: "default", settings: jobs }),
          backupDirectory: "/backups",
        }),
      },
      async (world) => {
        await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
        await world.start();
        await world.untilReady();
        const schedules = world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
        const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
        const key = { name: "s3", key: "id" };
        await world.client.resource(kinds.secret).create({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { namespace: "default", name: "s3" },
          type: "Opaque",
          data: { id: Buffer.from("id").toString("base64") },
        } as KubeObject);
        const s3 = { bucket: "backups", region: "eu-central-1", accessKeyID: key, secretAccessKey: key };
        await schedules.create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosEtcdBackupSchedule",
          // The finalizer is the published operator's, which left it behind.
          metadata: { namespace: "default", name: "often", finalizers: [finalizers.talosEtcdBackupSchedule] },
          spec: {
            schedule: "*/5 * * * *",
            retention: 1,
            drill: { interval: "10m" },
            backupTemplate: { spec: { clusterRef: { name: "demo" }, backupStorage: { s3 } } },
          },
        });
        const gone = new Set<string>();
        const seen = new Set<string>();
        await world.until(
          "two were let go",
          async () => {
            await workOffJobs(world.client, "default", world.time.clock);
            const names = (await backups.list({ namespace: "default" })).items.map(({ metadata }) => metadata.name);
            for (const name of names) seen.add(name);
            for (const name of seen) if (!names.includes(name)) gone.add(name);
            return gone.size >= 2;
          },
          3_600,
        );
        // No other one comes, so that the newest gets as old as its proof may.
        await schedules.patch({ namespace: "default", name: "often" }, { type: "merge", value: { spec: { paused: true } } });
        await world.until(
          "a proof was tried",
          async () => {
            await workOffJobs(world.client, "default", world.time.clock);
            const { items } = await backups.list({ namespace: "default" });
            return items.some(({ status }) => status?.conditions?.some(({ reason }) => reason === "ProofNotRun"));
          },
          3_600,
        );
        await schedules.delete({ namespace: "default", name: "often" });
        await world.until(
          "the schedule is gone",
          async () => (await schedules.tryGet({ namespace: "default", name: "often" })) === undefined,
        );
      },
    ));

  it("are enough to install an addon by Jobs beside the operator, with values of other objects, and to remove it", () => {
    const addonJobs: JobSettings = { image: "registry/operator:1", serviceAccountName: "addon", scratchSize: "1Gi" };
    return tellAndNote(
      { addons: (client) => ({ runner: createAddonJobRunner({ client, namespace: "default", settings: addonJobs }) }) },
      async (world) => {
        await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
        await world.start();
        await world.untilReady();
        const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
        await world.client.resource(configMaps).create({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { namespace: "default", name: "cni" },
          data: { "values.yaml": "replicas: 2" },
        } as KubeObject);
        const releases = world.client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource);
        const key = { namespace: "default", name: "cni" };
        await releases.create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosClusterAddonRelease",
          metadata: key,
          spec: {
            clusterRef: { name: "demo" },
            helmSpec: { chartName: "cilium", repoURL: "https://helm.cilium.io", valuesFrom: [{ kind: "ConfigMap", name: "cni" }] },
          },
        });
        const worked = async (): Promise<TalosClusterAddonRelease | undefined> => {
          await workOffJobs(world.client, "default", world.time.clock);
          return releases.tryGet(key);
        };
        await world.until("installed", async () => (await worked())?.status?.revision === 1, 300);
        await releases.delete(key);
        await world.until("gone", async () => (await worked()) === undefined, 300);
        await world.until(
          "no Job is left",
          async () => (await world.client.resource(jobType).list({ namespace: "default" })).items.length === 0,
          60,
        );
      },
    );
  });

  it("are enough to carry out EtcdBackups, and to follow them", () => {
    const jobRunner = (client: KubeClient) => createBackupJobRunner({ client, namespace: "default", settings: jobs });
    return tellComposition({ backups: (client) => ({ runner: jobRunner(client), backupDirectory: "/backups" }) }, async (world) => {
      await world.start();
      await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { workers: 0 }));
      await world.untilComposed(600);
      const asked = world.client.resource<EtcdBackup>(etcdBackupResource);
      const schedules = world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
      const isThere = async (): Promise<boolean> => (await schedules.tryGet({ namespace: "default", name: "often" })) !== undefined;
      await asked.create({
        apiVersion: "vitistack.io/v1alpha1",
        kind: "EtcdBackup",
        metadata: { namespace: "default", name: "often" },
        spec: { clusterName: "demo", schedule: "0 2 * * *", storageLocation: { type: "local" } },
      });
      await world.until("its schedule is made", isThere, 60);
      await asked.patch({ namespace: "default", name: "often" }, { type: "merge", value: { spec: { schedule: null } } });
      await world.until("its schedule is gone", async () => !(await isThere()), 60);
      for (const [key, access] of world.accesses) used.set(key, access);
    });
  });

  it("are enough to have addons on the clusters that they select, here and in a namespace that grants it", () =>
    tellAndNote({ kube: withoutStreamedLists, machines: [], addons: () => ({}) }, async (world) => {
      const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
      const selected = { labels: { env: "production" }, annotations: { [annotations.reconcileMode]: "disable" } };
      await world.client.resource(namespaces).create({
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: "tenant", annotations: { [annotations.addonsFrom]: "default" } },
      });
      for (const namespace of ["default", "tenant"])
        await world.client.resource(kinds.controlPlane).create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosControlPlane",
          metadata: { namespace, name: "demo", ...selected },
          spec: { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", metalSpec: { machines: [{ address: "10.5.0.1" }] } },
        } as KubeObject);
      await world.start();
      const addons = world.client.resource<TalosClusterAddon>(talosClusterAddonResource);
      const releases = world.client.resource(talosClusterAddonReleaseResource);
      const untilReleases = (count: number): Promise<void> =>
        world.until(`${count} releases`, async () => (await releases.list()).items.length === count, 60);
      await addons.create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosClusterAddon",
        metadata: { namespace: "default", name: "cni" },
        spec: {
          clusterSelector: { matchLabels: { env: "production" } },
          helmSpec: { chartName: "cilium", repoURL: "https://helm.cilium.io" },
          onDeselect: "uninstall",
        },
      });
      await untilReleases(2);
      const later = (value: object) => addons.patch({ namespace: "default", name: "cni" }, { type: "merge", value: { spec: value } });
      await later({ helmSpec: { version: "1.18.2" } });
      await world.time.advance(10_000);
      await world.client
        .resource(namespaces)
        .patch({ name: "tenant" }, { type: "merge", value: { metadata: { annotations: { [annotations.addonsFrom]: null } } } });
      await untilReleases(1);
      await addons.delete({ namespace: "default", name: "cni" });
      await untilReleases(0);
      await world.until("gone", async () => (await world.get(talosClusterAddonResource, "cni")) === undefined, 60);
    }));

  after(() => {
    const wanted = new Set([...used.values()].flatMap(rightsFor));
    const granted = new Set(permissions.flatMap(rightsOf));
    assert.deepEqual(
      [...granted].filter((right) => !wanted.has(right)),
      [],
      "rights that nothing uses: take them out of packages/operator/src/permissions.ts",
    );
    assert.deepEqual(
      [...wanted].filter((right) => !granted.has(right)),
      [],
      "rights that are missing in packages/operator/src/permissions.ts",
    );
  });
});

/** A control plane whose config, keys included, a person wrote. */
async function ownConfig(world: Story): Promise<Record<string, unknown>> {
  const secrets = await generateSecretsBundle({
    contract: "1.13",
    clock: world.time.clock,
    random: createSeededRandom(9),
    keys: world.keys,
  });
  const data = {
    "controlplane.yaml": generateMachineConfig({
      role: "controlplane",
      clusterName: "demo",
      endpoint: "https://10.5.0.100:6443",
      contract: "1.13",
      kubernetesVersion: "v1.36.3",
      secrets,
      install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
    }),
  };
  const type = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "written" }, data };
  await world.client.resource(type).create(configMap);
  return { configRef: { name: "written", key: "controlplane.yaml" } };
}

/** A lease that ends 15 s from now unless it is renewed. */
function heldAt(now: number): object {
  const at = new Date(now).toISOString().replace("Z", "000Z");
  return { holderIdentity: "the-one-before", leaseDurationSeconds: 15, acquireTime: at, renewTime: at, leaseTransitions: 0 };
}

/** One line per verb, resource, and name where the right is for names alone. */
function rightsOf({ group, resources, verbs, resourceNames, inOwnNamespace }: Permission): readonly string[] {
  const where = inOwnNamespace === true ? " in the own namespace" : "";
  return resources.flatMap((resource) =>
    verbs.flatMap((verb) => (resourceNames ?? [""]).map((name) => `${verb} ${resource}.${group}${name === "" ? "" : ` ${name}`}${where}`)),
  );
}

/** The right that an access needs; names and places count where the table makes them count. */
function rightsFor({ verb, group, resource, namespace, name }: Access): readonly string[] {
  const rules = permissions.filter((rule) => rule.group === group && rule.resources.includes(resource));
  const isNamed = rules.some(({ resourceNames }) => resourceNames !== undefined);
  // Leases across all namespaces are a neighbour's, one in a namespace is its own.
  const isOwn = namespace !== "" && rules.some(({ inOwnNamespace }) => inOwnNamespace === true);
  return [`${verb} ${resource}.${group}${isNamed ? ` ${name}` : ""}${isOwn ? " in the own namespace" : ""}`];
}

/** As a server that cannot give a list as a stream of events. */
function withoutStreamedLists(kube: KubeTransport): KubeTransport {
  const refusal = { kind: "Status", status: "Failure", code: 422, reason: "Invalid", message: "sendInitialEvents: Forbidden" };
  return {
    ...kube,
    watch: async (request, options) =>
      request.query?.["sendInitialEvents"] === undefined
        ? kube.watch(request, options)
        : { status: 422, headers: {}, body: refusal, events: (async function* () {})() },
  };
}
