import { KubeApiError } from "@talos-operator/kube-runtime";
import { EffectError } from "../errors.ts";
import type { ClusterWorkload } from "../workload/cluster-workload.ts";
import type { WorkloadPlace } from "../workload/workload-api.ts";
import { always } from "./define.ts";
import type { Effects } from "./ports.ts";

/** After an effect on a Node whose end is not known. */
export const tendAgainMs = always(30_000);

/** After taints that were written nothing has to be waited for: what was done is known. */
export const taintAgainMs = { answered: 0, refused: 30_000, unknown: 30_000 } as const;

/** Does it once; what the cluster's API does not answer is tried again later and fails no pass. */
export async function tend(effect: string, effects: Effects, work: (workload: ClusterWorkload) => Promise<void>): Promise<void> {
  const workload = workloadOf(effects);
  effects.session.noteSent(effect, "unknown", "");
  try {
    await work(workload);
    effects.session.noteSent(effect, "answered", "");
  } catch (thrown) {
    if (!(thrown instanceof KubeApiError)) throw thrown;
    effects.log.debug({ action: effect, err: thrown.message }, "The cluster's own API did not do it; trying again later");
  } finally {
    workload.staleNodes();
  }
}

/** The cluster itself. @throws EffectError `PRECONDITION_GONE` where nobody reaches it */
export function workloadOf({ session }: Effects): ClusterWorkload {
  if (session.workload === undefined) throw new EffectError("PRECONDITION_GONE", "there is no client of the cluster's own API");
  return session.workload;
}

/** Where the cluster's own API is reached. */
export function placeOf(effects: Effects): WorkloadPlace {
  return {
    addresses: () => effects.session.machines.runningControlPlanes().map(({ address }) => address),
    endpoint: effects.facts().endpoint,
    authority: async () => (await effects.bundle()).certs.k8s,
  };
}
