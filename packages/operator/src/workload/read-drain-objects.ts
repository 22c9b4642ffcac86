import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeCallOptions } from "@talos-operator/ports";
import type { DrainObjects, ForecastPod } from "../planning/drain-forecast.ts";
import { budgetType, nodeType, podType } from "./kinds.ts";

/** Of more pods than these it is not asked whether they find room: they would be held in memory. */
export const MOST_PODS = 5_000;

const PAGE = 500;

/**
 * What says whether the Nodes of a cluster can be drained.
 *
 * @param nodes client of a user who may list Nodes and pods
 * @param budgets client of one who may list PodDisruptionBudgets
 * @throws KubeApiError
 */
export async function readDrainObjects(nodes: KubeClient, budgets: KubeClient, options: KubeCallOptions): Promise<DrainObjects> {
  const { items: found } = await budgets.resource<DrainObjects["budgets"][number]>(budgetType).list(options);
  const { items } = await nodes.resource<DrainObjects["nodes"][number]>(nodeType).list(options);
  return {
    budgets: found,
    nodes: items,
    pods: await podsOf(nodes, options),
  };
}

/** A page at a time, and of each pod what is counted. */
async function podsOf(client: KubeClient, options: KubeCallOptions): Promise<readonly ForecastPod[] | undefined> {
  const pods: ForecastPod[] = [];
  for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
    const page = await client
      .resource<ForecastPod>(podType)
      .listPage({ ...options, limit: PAGE, ...(next === undefined ? {} : { continue: next }) });
    for (const { metadata, spec, status } of page.items) {
      const { namespace, name, annotations, ownerReferences, deletionTimestamp } = metadata ?? {};
      const containers = spec?.containers?.map(({ resources }) => ({ resources: { requests: resources?.requests ?? {} } })) ?? [];
      pods.push({
        metadata: { namespace, name, annotations, ownerReferences, deletionTimestamp },
        spec: { nodeName: spec?.nodeName, containers },
        status: { phase: status?.phase },
      } as ForecastPod);
    }
    if (pods.length > MOST_PODS) return undefined;
    next = page.continue;
  }
  return pods;
}
