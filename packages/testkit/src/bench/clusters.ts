import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";

export interface ClusterShape {
  readonly controlPlanes: number;
  readonly workers: number;
}

/** A TalosCluster on the `index`-th group of simulated machines. */
export function clusterObject(index: number, shape: ClusterShape): KubeObject {
  const size = shape.controlPlanes + shape.workers;
  const addresses = Array.from({ length: size }, (_, machine) => addressOf(index * size + machine + 1));
  const pool = (from: number, to: number): object => ({
    machines: addresses.slice(from, to).map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda" },
  });
  const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { name: `bench-${index}`, namespace: "default" },
    spec: {
      controlPlane: { ...common, endpoint: `https://${addresses[0]}:6443`, metalSpec: pool(0, shape.controlPlanes) },
      worker: { ...common, metalSpec: pool(shape.controlPlanes, size) },
    },
  } as KubeObject;
}

/** Pace at which {@link applyClusters} makes them. */
const APPLIED_PER_SECOND = 50;

/** Applies clusters at {@link APPLIED_PER_SECOND}. @returns when it began, of `performance.now()` */
export async function applyClusters(client: KubeClient, count: number, shape: ClusterShape): Promise<number> {
  const clusters = client.resource(talosClusterResource);
  const begunAt = performance.now();
  for (let index = 0; index < count; index += 1) {
    await clusters.create(clusterObject(index, shape));
    const due = begunAt + ((index + 1) * 1000) / APPLIED_PER_SECOND;
    if (due > performance.now()) await delay(due - performance.now());
  }
  return begunAt;
}

function addressOf(n: number): string {
  return `127.1.${Math.floor(n / 256)}.${n % 256}`;
}

/** Makes the first cluster, and waits until it is Ready. */
export async function makeOne(client: KubeClient, shape: ClusterShape): Promise<void> {
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  await watchReady(client, () => ready.resolve(), stop.signal);
  await client.resource(talosClusterResource).create(clusterObject(0, shape));
  await ready.promise;
  stop.abort();
}

/** Tells of every cluster that turns Ready. Ends with the signal. */
export async function watchReady(client: KubeClient, onReady: (name: string) => void, signal: AbortSignal): Promise<void> {
  const clusters = client.resource<KubeObject & { status?: { conditions?: { type: string; status: string }[] } }>(talosClusterResource);
  const { events } = await clusters.watch({ resourceVersion: "0", signal, timeoutMs: 30_000 });
  void (async () => {
    try {
      for await (const event of events) {
        if (event.type === "BOOKMARK") continue;
        const ready = event.object.status?.conditions?.find((condition) => condition.type === "Ready");
        if (ready?.status === "True") onReady(event.object.metadata?.name ?? "");
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  })();
}
