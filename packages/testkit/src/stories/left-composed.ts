import type { KubeObject } from "@talos-operator/kube-runtime";
import { nestedCluster } from "./composition.ts";
import { kinds } from "./story.ts";
import type { Story } from "./story.ts";

const key = { namespace: "default", name: "demo" };
const packed = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/** Machines of the cluster that is left behind. */
export const leftMachines: readonly string[] = ["demo-ctp0", "demo-ctp1", "demo-ctp2", "demo-wrk0"];

/** A KubernetesCluster, its Machines and its one Secret, as the operator that published these kinds leaves them beside a cluster that runs. */
export async function leaveComposed(world: Story, bundle: string, annotations: Record<string, string> = {}, replicas = 3): Promise<void> {
  const { metadata, ...cluster } = nestedCluster({ clusterId: "demo" }) as KubeObject & { readonly spec: Record<string, unknown> };
  const group = { replicas, version: "1.36.3" };
  const topology = { version: "1.36.3", controlplane: group, workers: [{ name: "pool", replicas: 1, version: "1.36.3" }] };
  const finalizers = ["kubernetescluster.vitistack.io/finalizer"];
  const stored = await world.client.resource(kinds.kubernetesCluster).create(
    {
      ...cluster,
      metadata: { ...metadata, name: "demo", annotations, finalizers },
      spec: { ...cluster.spec, talosVersion: "v1.13.9", topology },
    } as KubeObject,
    { fieldManager: "manager" },
  );
  const owner = {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    name: "demo",
    uid: stored.metadata?.uid,
    controller: true,
  };
  for (const [index, name] of leftMachines.entries()) {
    const isWorker = name === "demo-wrk0";
    const labels = { "vitistack.io/clusterid": "demo", "vitistack.io/node-role": isWorker ? "worker" : "control-plane" };
    await world.client.resource(kinds.vitistackMachine).create(
      {
        apiVersion: "vitistack.io/v1alpha1",
        kind: "Machine",
        metadata: {
          namespace: "default",
          name,
          labels,
          ownerReferences: [owner],
          ...(isWorker ? { annotations: { "vitistack.io/nodepool": "pool" } } : {}),
        },
        spec: { name, provider: "proxmox", machineClass: "huge", tags: { cluster: "demo" } },
      } as KubeObject,
      { fieldManager: "manager" },
    );
    const status = { phase: "Running", publicIPAddresses: [`10.5.0.${index + 1}`] };
    await world.client.resource(kinds.vitistackMachine).patchStatus({ namespace: "default", name }, { type: "merge", value: { status } });
  }
  const text = Buffer.from(bundle, "base64").toString("utf8");
  const data = {
    "secrets.bundle": packed(text),
    talosconfig: packed("context: demo"),
    "kube.config": packed("kind: Config"),
    bootstrapped: packed("true"),
  };
  const labels = { "vitistack.io/clusterid": "demo" };
  await world.client.resource(kinds.secret).create({ apiVersion: "v1", kind: "Secret", metadata: { ...key, labels }, data } as KubeObject);
}
