import { kubeconfigSecretName, talosControlPlaneResource } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { forecastDrains } from "@talos-operator/operator";
import type { DrainObjects } from "@talos-operator/operator";
import { readSecretText } from "./access-files.ts";

/** Whoever plans waits no longer for a cluster that does not answer. */
const ANSWER_WITHIN_MS = 5_000;

const NOT_KNOWN = "Budgets and room for evicted pods are not known";

/** What was answered is no list. */
class Unanswered extends Error {}

const paths = { nodes: "/api/v1/nodes", pods: "/api/v1/pods", budgets: "/apis/policy/v1/poddisruptionbudgets" } as const;

/**
 * What will hold up drains in a cluster, asked of its own API with the kubeconfig Secret that is stored beside it; sentences.
 *
 * @param cluster `namespace/name` of the control plane
 */
export async function drainsOf(cluster: string, client: KubeClient): Promise<readonly string[]> {
  const [namespace = "default", name = ""] = cluster.split("/");
  const controlPlane = await client.resource(talosControlPlaneResource).tryGet({ namespace, name });
  // The Secret is named after whoever made the control plane.
  const owner = controlPlane?.metadata?.ownerReferences?.[0]?.name ?? name;
  const kubeconfig = await readSecretText(client, namespace, kubeconfigSecretName(owner));
  if (kubeconfig === undefined) return [`${NOT_KNOWN}: there is no kubeconfig Secret.`];
  const { config } = await loadKubeconfig({ text: kubeconfig });
  const transport = createHttpsTransport(config);
  const list = async <K extends keyof DrainObjects>(kind: K): Promise<DrainObjects[K]> => {
    const { status, body } = await transport.send({ method: "GET", path: paths[kind] }, { timeoutMs: ANSWER_WITHIN_MS });
    const { items } = (body ?? {}) as { readonly items?: DrainObjects[K] };
    if (status !== 200 || items === undefined) throw new Unanswered(`the API of the cluster answered ${status} to ${paths[kind]}`);
    return items;
  };
  try {
    const [nodes, pods, budgets] = await Promise.all([list("nodes"), list("pods"), list("budgets")]);
    const said = forecastDrains({ nodes, pods, budgets });
    return said.length === 0 ? ["No budget forbids an eviction now, and evicted pods find room on the other Nodes."] : said;
  } catch (error) {
    if (error instanceof Unanswered) return [`${NOT_KNOWN}: ${error.message}.`];
    if (!(error instanceof Error && error.name === "KubeTransportFailure")) throw error;
    return [`${NOT_KNOWN}: the API of the cluster does not answer at ${config.server}.`];
  } finally {
    transport.close();
  }
}
