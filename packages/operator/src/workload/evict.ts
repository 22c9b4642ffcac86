import { isConflict, isNotFound, KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeCallOptions } from "@talos-operator/ports";
import { podType } from "./kinds.ts";
import type { PodObject } from "./kinds.ts";

/** What became of one eviction. */
export type Eviction =
  /** The pod is on its way out, or was gone. */
  | { readonly kind: "leaves" }
  /** A PodDisruptionBudget forbids it for now. */
  | { readonly kind: "blocked"; readonly budget: string | undefined; readonly retryAfterMs: number | undefined }
  /** The server is busy; nothing is known of budgets. */
  | { readonly kind: "later"; readonly retryAfterMs: number | undefined };

/**
 * Asks for one pod to be evicted: the very pod that was seen, not one that took its name meanwhile. Budgets are the server's to keep; it is never deleted
 * past them.
 *
 * @throws KubeApiError for what is no answer about this pod: refusals, silence
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
export async function evict(client: KubeClient, pod: PodObject, options: KubeCallOptions): Promise<Eviction> {
  const { name = "", namespace, uid } = pod.metadata ?? {};
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    deleteOptions: { preconditions: uid === undefined ? {} : { uid } },
  };
  try {
    await client.resource<PodObject>(podType).createSubresource({ namespace, name }, "eviction", eviction, options);
    return { kind: "leaves" };
  } catch (thrown) {
    // Another pod under this name is seen when the pods are listed again.
    if (isNotFound(thrown) || isConflict(thrown)) return { kind: "leaves" };
    if (!(thrown instanceof KubeApiError)) throw thrown;
    const { retryAfterMs } = thrown;
    if (thrown.code === "TOO_MANY_REQUESTS") {
      const cause = thrown.causes.find(({ reason }) => reason === "DisruptionBudget");
      return cause === undefined
        ? { kind: "later", retryAfterMs }
        : { kind: "blocked", budget: budgetOf(cause.message, namespace), retryAfterMs };
    }
    // Two budgets over one pod: the server cannot keep both, and evicts it never.
    if (thrown.status === 500 && thrown.message.includes("more than one PodDisruptionBudget"))
      return { kind: "blocked", budget: undefined, retryAfterMs };
    throw thrown;
  }
}

/** The server names the budget in its sentence and nowhere else. */
function budgetOf(message: string, namespace: string | undefined): string | undefined {
  const name = /\bdisruption budget ([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?) /.exec(message)?.[1];
  return name === undefined ? undefined : `${namespace ?? ""}/${name}`;
}
