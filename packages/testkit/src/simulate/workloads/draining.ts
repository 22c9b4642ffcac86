import type { KubeObject } from "@talos-operator/kube-runtime";
import { budgetType, nodeType, podType } from "../../world/kinds.ts";
import { chooseScenario } from "../scenario.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { softTaints } from "./soft-taints.ts";
import type { Tainted } from "./soft-taints.ts";
import { allBooted, bootsOf, changeEnvironment, comparing, isSettled, sparesOf } from "./machines.ts";

type Pod = KubeObject & { readonly spec?: { readonly nodeName?: string } };
type Node = KubeObject & {
  readonly spec?: Tainted["spec"] & { readonly unschedulable?: boolean };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

/** How often the scheduler of a simulated cluster looks. */
const SCHEDULE_EVERY_MS = 3_000;

/** A Node whose kubelet is silent, of a machine that has a newer one: it was installed anew, and got another name. */
function isLeftBehind(node: Node, nodes: readonly Node[]): boolean {
  const readinessOf = ({ status }: Node): string | undefined => status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const addressOf = ({ status }: Node): string | undefined => status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  const madeAt = ({ metadata }: Node): number => Date.parse(metadata?.creationTimestamp ?? "");
  // The newer one is not ready at first, while the older one still seems to be.
  return (
    readinessOf(node) === "Unknown" &&
    nodes.some((other) => readinessOf(other) === "True" && addressOf(other) === addressOf(node) && madeAt(other) > madeAt(node))
  );
}

/** Pods that are kept running. */
interface Service {
  /** Puts them on Nodes, and again whenever one is gone, for as long as the world goes on. */
  run(world: EditableWorld): Promise<void>;
  /** All of them run on Nodes that take pods, and no Node is left cordoned. Asked after every event: what the last look showed. */
  isWhole(): boolean;
}

/** @param count pods that a budget keeps, but for one */
function createService(count: number): Service {
  let isWhole = false;
  let made = 0;
  const schedule = async (world: EditableWorld): Promise<void> => {
    const client = world.workload();
    if (client === undefined) return;
    const { items: pods } = await client.resource<Pod>(podType).list({ namespace: "default" });
    const { items: all } = await client.resource<Node>(nodeType).list();
    // A person deletes it, as nobody else knows that it never comes back.
    const former = all.filter((node) => isLeftBehind(node, all));
    for (const node of former) await client.resource(nodeType).delete({ name: node.metadata?.name ?? "" });
    const nodes = all.filter((node) => !former.includes(node));
    const open = nodes
      .filter((node) => node.spec?.unschedulable !== true)
      .toSorted((a, b) => softTaints(a) - softTaints(b))
      .map((node) => node.metadata?.name ?? "");
    const at = (node: string): number => pods.filter((pod) => pod.spec?.nodeName === node).length;
    const homeless = pods.filter((pod) => !nodes.some((node) => node.metadata?.name === pod.spec?.nodeName));
    // The garbage collector of pods, which waits for no kubelet.
    for (const pod of homeless) {
      const key = { namespace: "default", name: pod.metadata?.name ?? "" };
      await client.resource(podType).patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
      if ((await client.resource(podType).tryGet(key)) !== undefined) await client.resource(podType).delete(key);
    }
    isWhole = pods.length === count && homeless.length === 0 && open.length === nodes.length;
    const [emptiest] = open.toSorted((a, b) => at(a) - at(b) || (a < b ? -1 : 1));
    if (pods.length - homeless.length >= count || emptiest === undefined) return;
    isWhole = false;
    made += 1;
    await client.resource(podType).create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: "default", name: `web-${made}`, labels: { app: "web" } },
      spec: { nodeName: emptiest, terminationGracePeriodSeconds: 1, containers: [{ name: "main", image: "example.com/web:1" }] },
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    } as KubeObject);
  };
  return {
    async run(world) {
      const client = world.workload();
      await client?.resource(budgetType).create({
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { namespace: "default", name: "web" },
        spec: { minAvailable: count - 1, selector: { matchLabels: { app: "web" } } },
      } as KubeObject);
      const again = (): void => {
        // A round that fails, as while etcd has no quorum, is not the last one.
        world.timers.schedule(SCHEDULE_EVERY_MS, () => void schedule(world).then(again, again));
      };
      again();
    },
    isWhole: () => isWhole,
  };
}

/** Every machine boots, or workers are replaced, under pods that a budget keeps. */
export const drain: Workload = {
  name: "drain",
  about: "pods with a PodDisruptionBudget run on every node while machines boot or are replaced: they are moved first, one by one",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [2, 3], spares: 1 }),
  steps: (_scenario, random) => {
    const service = createService(4);
    const pods: Step = { what: "run pods", make: (world) => service.run(world), isReached: () => service.isWhole() };
    const isBack = (world: EditableWorld): boolean => isSettled(world) && service.isWhole();
    if (random.fraction() < 0.5) {
      const replace: Step = {
        what: "replace a worker",
        async make(world) {
          const [, ...others] = world.stage.desired?.workers ?? [];
          await world.edit({ workers: [...others, ...sparesOf(world)] });
        },
        isReached: isBack,
      };
      return [pods, replace];
    }
    const boot = comparing(bootsOf, {
      what: "change the environment of services",
      make: changeEnvironment,
      isReached: (world, boots) => isBack(world) && allBooted(boots),
    });
    return [pods, boot];
  },
};
