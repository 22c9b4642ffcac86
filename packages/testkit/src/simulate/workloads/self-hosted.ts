import { annotations, talosControlPlaneResource } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { SimulatedMachine } from "@talos-operator/simulator";
import { nodeType, podType } from "../../world/kinds.ts";
import { nodeAt, type Located } from "../node-at.ts";
import { CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import type { EditableWorld } from "../workload.ts";
import { isNode, wantedMachines } from "./machines.ts";
import { softTaints } from "./soft-taints.ts";
import type { Tainted } from "./soft-taints.ts";

type Pod = KubeObject & { readonly spec?: { readonly nodeName?: string } };
type Node = Located & { readonly spec?: Tainted["spec"] & { readonly unschedulable?: boolean } };

/** How often the kubelets and the scheduler of the cluster look at the pod. */
const LOOK_EVERY_MS = 1_000;

/** Kubernetes gives up the pods of a silent node: after 40 s it counts as unreachable, and pods tolerate that for 300 s. */
const GIVEN_UP_MS = 340_000;

/** As a Deployment names its pods, each another. */
const keyOf = (nth: number) => ({ namespace: "default", name: `operator-${nth}` });

/** The operator as a pod of the very cluster that it manages: it ends with its Node, and when it is evicted, and goes on wherever there is room. */
export interface Seat {
  /** Puts it on a Node, and looks after it for as long as the world goes on. */
  run(world: EditableWorld): Promise<void>;
  /** It runs. */
  isTaken(): boolean;
}

export function createSeat(): Seat {
  let at: { readonly machine: SimulatedMachine; readonly bootId: string; readonly uid: string } | undefined;
  let goOn: (() => void) | undefined;
  let silentSince: number | undefined;
  let made = 0;

  /** The machine whose Node takes a pod now: those that no taint would rather keep it off before others, and the last ones first. */
  const roomIn = async (world: EditableWorld): Promise<{ readonly machine: SimulatedMachine; readonly node: string } | undefined> => {
    const nodes = (await world.workload()?.resource<Node>(nodeType).list())?.items ?? [];
    const open = wantedMachines(world)
      .toReversed()
      .flatMap((machine) => {
        const node = nodeAt(nodes, machine.address);
        const takes = isNode(machine) && node?.spec?.unschedulable !== true && node?.metadata?.name !== undefined;
        return takes ? [{ machine, node: node.metadata.name, taints: softTaints(node) }] : [];
      });
    return open.toSorted((a, b) => a.taints - b.taints)[0];
  };

  const place = async (world: EditableWorld): Promise<void> => {
    const client = world.workload();
    const room = await roomIn(world);
    if (client === undefined || room === undefined) return;
    made += 1;
    const key = keyOf(made);
    const pod = await client.resource<Pod>(podType).create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...key, labels: { app: "operator" } },
      spec: { nodeName: room.node, terminationGracePeriodSeconds: 1, containers: [{ name: "main", image: "example.com/operator:1" }] },
    } as Pod);
    at = { machine: room.machine, bootId: room.machine.state.bootId, uid: pod.metadata?.uid ?? "" };
    world.stage.operatorPod = { ...key, uid: at.uid };
    world.trace(`the operator runs on ${room.machine.address}`);
  };

  const end = (world: EditableWorld, why: string): void => {
    if (goOn !== undefined) return;
    world.trace(`the operator ends: ${why}`);
    goOn = world.endOperators();
  };

  /** Its node was silent for so long that the pod is given up: those who do that run on a control plane, and there is room elsewhere. */
  const isGivenUp = async (world: EditableWorld, machine: SimulatedMachine): Promise<boolean> => {
    silentSince = isNode(machine) ? undefined : (silentSince ?? world.now());
    if (silentSince === undefined || world.now() - silentSince < GIVEN_UP_MS) return false;
    const { controlPlanes = [] } = world.stage.desired ?? {};
    return controlPlanes.some((address) => isNode(world.datacenter.machine(address))) && (await roomIn(world)) !== undefined;
  };

  const look = async (world: EditableWorld): Promise<void> => {
    const client = world.workload();
    if (client === undefined) return;
    const pod = await client.resource<Pod>(podType).tryGet(keyOf(made));
    if (at !== undefined && (pod === undefined || pod.metadata?.uid !== at.uid || pod.metadata.deletionTimestamp !== undefined)) {
      end(world, "its pod is evicted");
      at = undefined;
    }
    if (at === undefined && pod === undefined) await place(world);
    if (at === undefined) return;
    const { machine } = at;
    if (await isGivenUp(world, machine)) {
      // It ends once its kubelet is back, which may be never unless another goes on meanwhile, as where the machine got another disk.
      await client.resource(podType).delete(keyOf(made));
      end(world, "its pod is given up");
      await place(world);
      return;
    }
    if (machine.state.bootId !== at.bootId || machine.state.power !== "on") {
      end(world, "its node went down");
      // The same pod is started again when its Node is back.
      if (isNode(machine)) at = { ...at, bootId: machine.state.bootId };
      else return;
    }
    if (!isNode(machine)) return;
    goOn?.();
    goOn = undefined;
  };

  return {
    async run(world) {
      await place(world);
      end(world, "it moves into the cluster");
      const again = (): void => {
        // A look that fails, as while etcd has no quorum, is not the last one.
        const later = (): unknown => world.timers.schedule(LOOK_EVERY_MS, again);
        void look(world).then(later, later);
      };
      again();
    },
    isTaken: () => at !== undefined && goOn === undefined,
  };
}

/** A person approves that the only node of the cluster goes down, for this version. */
export async function approveOutage({ client }: EditableWorld, version: string): Promise<void> {
  await client
    .resource(talosControlPlaneResource)
    .patch(
      { namespace: NAMESPACE, name: CLUSTER_NAME },
      { type: "merge", value: { metadata: { annotations: { [annotations.approveOutage]: version } } } },
    );
}
