import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import type { KubeRequest } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { nodeType, podType } from "../world/kinds.ts";
import type { EffectId } from "./effects.ts";
import type { Report } from "./violation.ts";
import { nodeAt, type Located } from "./node-at.ts";
import type { Stage } from "./stage.ts";

type Pod = KubeObject & { readonly spec?: { readonly nodeName?: string } };
type Node = Located & {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly effect: string }[] };
};

/** `ApplyConfigurationRequest.mode` that reboots whatever the change is. */
const MODE_REBOOT = 0;

/** The default of `talos-operator.dev/drain-timeout`: an API that was silent for so long is not waited for, whatever the policy. */
const DRAIN_TIMEOUT_MS = 10 * 60_000;

/** So long an operator that runs in the cluster waits for its API, and no longer, before a boot that is written down. */
const ITSELF_MS = 30_000;

/** Watches what the operator does inside the managed cluster, and to nodes with pods on them. */
export interface PodRules {
  /** Before an effect leaves the operator. */
  beforeSend(effect: EffectId, address: string | undefined, request: unknown): Promise<void>;
  /** After the operator asked the API of the managed cluster for something. */
  asked(isAnswered: boolean): void;
}

/**
 * WL1 pods leave by eviction alone, which asks their budgets; no Node goes whose machine is still wanted; and no node that works is taken down with pods
 * on it while its cluster is wanted, unless whoever could move them did not answer for as long as a drain waits for that.
 *
 * @param workload the API of the managed cluster, past every fault
 * @param now milliseconds of a clock that never leaps
 */
export function createPodRules(
  workload: () => KubeClient | undefined,
  datacenter: Datacenter,
  stage: Stage,
  now: () => number,
  report: Report,
): PodRules {
  /** Since when every question remained without an answer. */
  let silentSince: number | undefined;
  const machineAt = (address: string) => datacenter.machine(stage.routes.get(address) ?? address);

  async function addressOfNode(name: string): Promise<readonly string[]> {
    const node = await workload()?.resource<Node>(nodeType).tryGet({ name });
    return node?.status?.addresses?.map(({ address }) => address) ?? [];
  }

  async function judgeWrite({ method, path }: KubeRequest): Promise<void> {
    if (method !== "DELETE") return;
    if (/\/pods\/[^/]+$/.test(path)) report("WL1", `a pod is deleted past its budget: ${path}`);
    const name = /\/nodes\/([^/]+)$/.exec(path)?.[1];
    if (name === undefined) return;
    const { controlPlanes = [], workers = [] } = stage.desired ?? {};
    for (const address of await addressOfNode(name))
      if ([...controlPlanes, ...workers].includes(address) && machineAt(address).state.kubernetes.isNodeReady)
        report("WL1", `the Node ${name} is deleted, and its machine ${address} is wanted and works`);
  }

  async function judgePods(effect: EffectId, address: string): Promise<void> {
    const { state } = machineAt(address);
    const client = workload();
    if (silentSince !== undefined && now() - silentSince >= DRAIN_TIMEOUT_MS) return;
    if (client === undefined || stage.desired === undefined || !state.kubernetes.isNodeReady || state.goneSince !== undefined) return;
    const { items: nodes } = await client.resource<Node>(nodeType).list();
    const node = nodeAt(nodes, address)?.metadata?.name;
    const { items: pods } = await client.resource<Pod>(podType).list();
    // The operator's own pod stays where no other Node takes it; one that a machine left behind takes none.
    const isPresent = (one: Node): boolean => one.status?.addresses?.every((own) => nodeAt(nodes, own.address) === one) === true;
    const isStuck =
      (silentSince !== undefined && now() - silentSince >= ITSELF_MS) ||
      !nodes
        .filter(isPresent)
        .some(
          ({ metadata, spec }) =>
            metadata?.name !== node &&
            spec?.unschedulable !== true &&
            (spec?.taints ?? []).every(({ effect }) => effect === "PreferNoSchedule"),
        );
    const stays = ({ metadata }: Pod): boolean => isStuck && metadata?.uid !== undefined && metadata.uid === stage.operatorPod?.uid;
    const left = pods.filter((pod) => pod.spec?.nodeName === node && pod.metadata?.deletionTimestamp === undefined && !stays(pod));
    if (node !== undefined && left.length > 0)
      report("WL1", `${effect} goes to ${address} while ${left.map((pod) => pod.metadata?.name ?? "").join(", ")} run on ${node}`);
  }

  return {
    asked(isAnswered) {
      silentSince = isAnswered ? undefined : (silentSince ?? now());
    },
    async beforeSend(effect, address, request) {
      if (effect === "WL1") return judgeWrite(request as KubeRequest);
      const isBoot = effect === "T3" && (request as { readonly mode?: number }).mode === MODE_REBOOT;
      if (address !== undefined && (isBoot || effect === "T9" || effect === "T11")) await judgePods(effect, address);
    },
  };
}
