import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { attachmentType, budgetType, claimType, nodeType, podType, volumeType } from "../world/kinds.ts";
import type { Story } from "./story.ts";

/** Kinds inside the cluster that is managed. */
export const inside = {
  node: nodeType,
  pod: podType,
  budget: budgetType,
  volume: volumeType,
  claim: claimType,
  attachment: attachmentType,
} as const;

/** A Node as stories look at it. */
export type NodeObject = KubeObject & {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly addresses?: readonly { readonly address: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

/** The Node of the machine at this address. */
export async function nodeAt(world: Pick<Story, "workload">, address: string): Promise<NodeObject | undefined> {
  const { items } = await world.workload().resource<NodeObject>(inside.node).list();
  return items.find((node) => node.status?.addresses?.some((one) => one.address === address) === true);
}

/** Cordoned, and by whom: `ours` has the operator's mark. */
export async function cordonAt(world: Story, address: string): Promise<"none" | "ours" | "theirs"> {
  const node = await nodeAt(world, address);
  if (node?.spec?.unschedulable !== true) return "none";
  return node.metadata?.annotations?.["talos-operator.dev/cordoned-for"] === undefined ? "theirs" : "ours";
}

/** Puts a pod on the machine at this address, as a scheduler would. */
export async function runPod(
  world: Pick<Story, "workload">,
  address: string,
  name: string,
  over: {
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly owner?: string;
    /** Name of a claim that `provideVolume` made. */
    readonly claim?: string;
  } = {},
): Promise<void> {
  const node = await nodeAt(world, address);
  const owner = over.owner === undefined ? undefined : await ownerOf(world, over.owner);
  const owners = owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: true }] };
  await world
    .workload()
    .resource(inside.pod)
    .create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        namespace: "default",
        name,
        labels: { app: name, ...over.labels },
        ...(over.annotations === undefined ? {} : { annotations: over.annotations }),
        ...owners,
      },
      spec: {
        nodeName: node?.metadata?.name,
        terminationGracePeriodSeconds: 5,
        containers: [{ name: "main", image: "example.com/web:1" }],
        ...(over.claim === undefined ? {} : { volumes: [{ name: "data", persistentVolumeClaim: { claimName: over.claim } }] }),
      },
    } as KubeObject);
}

/** A controller of pods, made where it is missing: pods of one that does not exist are collected. */
async function ownerOf(
  world: Pick<Story, "workload">,
  kind: string,
): Promise<{ apiVersion: string; kind: string; name: string; uid: string }> {
  const type = { group: "apps", version: "v1", plural: `${kind.toLowerCase()}s`, kind, namespaced: true };
  const labels = { app: "owned" };
  const resource = world.workload().resource(type);
  const known = await resource.tryGet({ namespace: "default", name: "owner" });
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/agent:1" }] } };
  const owner =
    known ??
    (await resource.create({
      apiVersion: "apps/v1",
      kind,
      metadata: { namespace: "default", name: "owner" },
      spec: { selector: { matchLabels: labels }, template },
    } as KubeObject));
  return { apiVersion: "apps/v1", kind, name: "owner", uid: owner.metadata?.uid ?? "" };
}

/** A volume of a CSI driver with the claim of this name bound to it, as a provisioner leaves them; the volume is `pv-<claim>`. */
export async function provideVolume(world: Pick<Story, "workload">, claim: string): Promise<void> {
  const client = world.workload();
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "fast" };
  const csi = { driver: "csi.example.com", volumeHandle: `handle-${claim}` };
  const claimRef = { namespace: "default", name: claim };
  const volume = { capacity: { storage: "1Gi" }, csi, claimRef, ...common };
  await client.resource(inside.volume).create({ metadata: { name: `pv-${claim}` }, spec: volume } as KubeObject);
  const spec = { volumeName: `pv-${claim}`, resources: { requests: { storage: "1Gi" } }, ...common };
  await client.resource(inside.claim).create({ metadata: { namespace: "default", name: claim }, spec } as KubeObject);
}

/** What is attached, as `volume`, in the order of names. */
export async function attachedVolumes(world: Pick<Story, "workload">): Promise<readonly string[]> {
  const { items } = await world
    .workload()
    .resource<KubeObject & { spec: { source: { persistentVolumeName: string } } }>(inside.attachment)
    .list();
  return items.map(({ spec }) => spec.source.persistentVolumeName).toSorted();
}

/** A budget over the pods with `app=<app>`. */
export async function keepAvailable(client: KubeClient, app: string, minAvailable: number): Promise<void> {
  await client.resource(inside.budget).create({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { namespace: "default", name: `${app}-budget` },
    spec: { minAvailable, selector: { matchLabels: { app } } },
  } as KubeObject);
}

/** Names of the pods that are there. */
export async function podNames(world: Story): Promise<readonly string[]> {
  const { items } = await world.workload().resource(inside.pod).list();
  return items.map((pod) => pod.metadata?.name ?? "").toSorted();
}
