import { setTimeout as delay } from "node:timers/promises";
import { talosClusterAddonReleaseResource } from "@talos-operator/api";
import type { TalosClusterAddonRelease } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { secretType, type Secret } from "../world/kinds.ts";
import { workOffJobs } from "../world/job-cluster.ts";
import { makeOne } from "./clusters.ts";
import { line, sum } from "./report.ts";
import { residentMib } from "./steady.ts";
import { startBenchWorld } from "./world.ts";

const SHAPE = { controlPlanes: 1, workers: 0 };
const NAMESPACE = "default";
const WORKLOAD = { kind: "Deployment", namespace: NAMESPACE, name: "web" } as const;
const deployments = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };

/** Each release is looked at every twenty minutes, a tenth more or less: in this time all of them are. Seconds. */
const WINDOW_S = 1_320;

/** Releases of one cluster that nobody touches: what it costs to know that what they run is ready. Their Jobs are worked off here, without any Helm. */
export async function benchAddons(
  releases: number,
  options: { readonly bundled: boolean; readonly nodeOptions: readonly string[]; readonly apiNodeOptions?: readonly string[] },
): Promise<void> {
  process.env["ADDON_JOB"] = JSON.stringify({ image: "example.org/operator:1", serviceAccountName: "worker", scratchSize: "1Gi" });
  await using world = await startBenchWorld({ ...options, rsaPool: 2, machines: 1 });
  const { client } = world;
  await makeOne(client, SHAPE);
  await makeWorkload(client);
  const objects = client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource);
  for (let index = 0; index < releases; index += 1)
    await objects.create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosClusterAddonRelease",
      metadata: { namespace: NAMESPACE, name: `release-${index}` },
      spec: {
        clusterRef: { name: "bench-0" },
        helmSpec: { chartName: "web", repoURL: "https://charts.example.org", namespace: `ns-${index}`, releaseName: `web-${index}` },
      },
    });
  const began = performance.now();
  for (let ready = 0; ready < releases;) {
    await workOffJobs(client, NAMESPACE, { now: () => Date.now() }, [WORKLOAD]);
    await delay(200);
    const { items } = await objects.list({ namespace: NAMESPACE });
    ready = items.filter(({ status }) => status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "Installed")).length;
  }
  const settledAfter = (performance.now() - began) / 1000;
  await delay(30_000);
  const before = { cpu: world.operatorCost().cpuSeconds, requests: sum(world.apiRequests()), memory: residentMib(world.operatorPid) };
  await delay(WINDOW_S * 1000);
  const cost = world.operatorCost();
  process.stdout.write(
    [
      `${releases} releases at rest on one cluster, over ${WINDOW_S} s; all were installed after ${settledAfter.toFixed(0)} s`,
      line("processor time, of one core", `${(((cost.cpuSeconds - before.cpu) / WINDOW_S) * 100).toFixed(2)} %`),
      line("API requests per minute, without the lease", (((sum(world.apiRequests()) - before.requests) * 60) / WINDOW_S).toFixed(1)),
      line(
        "memory before; after; at most",
        `${before.memory.toFixed(0)}; ${residentMib(world.operatorPid).toFixed(0)}; ${cost.peakMib.toFixed(0)} MiB`,
      ),
      "",
    ].join("\n"),
  );
}

/** What every release is said to run: it is there, and ready. */
async function makeWorkload(client: KubeClient): Promise<void> {
  const secret = await client.resource<Secret>(secretType).get({ namespace: NAMESPACE, name: "bench-0-kubeconfig" });
  const text = Buffer.from(Object.values(secret.data ?? {})[0] ?? "", "base64").toString();
  const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
  try {
    const cluster = createKubeClient(transport);
    const labels = { app: WORKLOAD.name };
    await cluster.resource(deployments).create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { namespace: NAMESPACE, name: WORKLOAD.name },
      spec: {
        // No pods: nobody runs them here.
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.org/web:1" }] } },
      },
    } as KubeObject);
    const status = { observedGeneration: 1, replicas: 0 };
    await cluster.resource(deployments).patchStatus(WORKLOAD, { type: "merge", value: { status } });
  } finally {
    transport.close();
  }
}
