import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { clusterObject } from "./clusters.ts";
import { FLEET_SHAPE } from "./ready-fleet.ts";
import type { BenchWorld } from "./world.ts";

/** An edit of one cluster, times in milliseconds since the epoch. */
export interface Edit {
  readonly cluster: number;
  readonly sentAt: number;
  /** The API's answer was there. */
  readonly ackedAt: number;
}

/** Changes a TalosCluster as a person does, by a merge patch of its spec. */
export async function editCluster(world: BenchWorld, cluster: number, spec: object): Promise<Edit> {
  const sentAt = Date.now();
  await world.client
    .resource(talosClusterResource)
    .patch({ namespace: "default", name: `bench-${cluster}` }, { type: "merge", value: { spec } });
  return { cluster, sentAt, ackedAt: Date.now() };
}

/** Edits clusters one after the other at a steady rate, whatever the answers take. */
export async function editAtRate(
  world: BenchWorld,
  clusters: readonly number[],
  perSecond: number,
  specOf: (cluster: number) => object,
): Promise<readonly Edit[]> {
  const begunAt = performance.now();
  const edits: Promise<Edit>[] = [];
  for (const [index, cluster] of clusters.entries()) {
    const due = begunAt + (index * 1000) / perSecond;
    if (due > performance.now()) await delay(due - performance.now());
    edits.push(editCluster(world, cluster, specOf(cluster)));
  }
  return Promise.all(edits);
}

/** Machines of the `index`-th cluster of a fleet: control planes, then workers. */
export function machinesOfCluster(index: number): readonly string[] {
  const spec = clusterObject(index, FLEET_SHAPE)["spec" as keyof KubeObject] as unknown as Readonly<
    Record<"controlPlane" | "worker", { readonly metalSpec: { readonly machines: readonly { readonly address: string }[] } }>
  >;
  return [...spec.controlPlane.metalSpec.machines, ...spec.worker.metalSpec.machines].map(({ address }) => address);
}

/** A setting of the workers that is in force at once; each `value` is a change. */
export function workerLabel(value: string): object {
  return { worker: { metalSpec: { machineSpec: { configPatches: [{ machine: { nodeLabels: { "example.org/bench": value } } }] } } } };
}
