import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@talos-operator/api";
import type { KubeTransport } from "@talos-operator/ports";
import { demoCluster, kinds, tell } from "./story.ts";

const controlPlanes = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

interface Written {
  readonly metadata?: { readonly name?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A write to the Kubernetes API in the words of the flow. */
function writtenStep(path: string, body: Written): string | undefined {
  const kind = path
    .split("/")
    .find((part) => ["talosclusters", "taloscontrolplanes", "talosworkers", "clusterrecords", "secrets"].includes(part));
  const isReady = body.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
  if (body.status !== undefined) return kind === "talosclusters" && isReady ? "Ready" : undefined;
  if (kind === "secrets") return body.metadata?.name?.startsWith("demo-bundle") === true ? "secrets bundle" : "access Secrets";
  return { taloscontrolplanes: "control plane", talosworkers: "workers", clusterrecords: "record" }[kind ?? ""];
}

/** A call that changes a machine in the words of the flow. */
function sentStep(effect: string): string {
  const [method, address = ""] = effect.split(" ");
  if (method !== "ApplyConfiguration") return "etcd is bootstrapped";
  return controlPlanes.includes(address) ? "control planes are configured" : "workers are configured";
}

test("a cluster is validated, gets its keys, a control plane and workers, is waited for, and is said to be Ready last (B054, B145)", () => {
  const steps: string[] = [];
  let seen: () => readonly string[] = () => [];
  let told = 0;
  const note = (): void => {
    steps.push(...seen().slice(told).map(sentStep));
    told = seen().length;
  };
  const kube = (real: KubeTransport): KubeTransport => ({
    ...real,
    send(request, options) {
      note();
      const step = request.method === "GET" ? undefined : writtenStep(request.path, request.body ?? {});
      if (step !== undefined) steps.push(step);
      return real.send(request, options);
    },
  });
  return tell({ kube }, async (world) => {
    seen = () => world.effects;
    await world.client.resource(kinds.cluster).create(demoCluster(controlPlanes, workers, { kubeVersion: "v1.99.0" }));
    await world.start();
    await world.until("refused", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False");
    await world.time.advance(60_000);
    assert.deepEqual(steps, [], "a spec that is refused gets neither keys nor pools, and no machine is sent anything");
    await world.client.resource(kinds.cluster).apply(demoCluster(controlPlanes, workers), { fieldManager: "kubectl", force: true });
    await world.untilReady();
    note();
    assert.deepEqual(
      [...new Set(steps)],
      [
        "control plane",
        "workers",
        "secrets bundle",
        "record",
        "control planes are configured",
        "workers are configured",
        "etcd is bootstrapped",
        "access Secrets",
        "Ready",
      ],
    );
    assert.equal(steps.at(-1), "Ready");
  });
});
