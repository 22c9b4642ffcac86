import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { budgetType, nodeType, podType } from "../world/kinds.ts";
import type { Story } from "./story.ts";

/** Kinds inside the cluster that is managed. */
export const inside = {
  node: nodeType,
  pod: podType,
  budget: budgetType,
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
  over: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string>; readonly owner?: string } = {},
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
