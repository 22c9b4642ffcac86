import { kubeconfigSecretName, talosControlPlaneResource, talosMachineResource } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { accessName, readSecretText } from "./access-files.ts";
import { isLoopback } from "./loopback.ts";

const ANSWER_WITHIN_MS = 2000;

/**
 * Asks the clusters themselves which machines are up, through their kubeconfig Secrets.
 *
 * A status outlives the process that wrote it: after a start it may still say Ready while no machine runs.
 */
export interface NodeCheck {
  /** Names of the Nodes that are Ready now, by address. A cluster that does not answer has none. */
  upNodes(): Promise<ReadonlyMap<string, string>>;
  close(): void;
}

/** @param client of the API that holds the control planes and their Secrets */
export function createNodeCheck(client: KubeClient): NodeCheck {
  const transports = new Map<string, KubeTransport>();
  const transportFor = async (kubeconfig: string, controlPlane: string | undefined): Promise<KubeTransport> => {
    let transport = transports.get(kubeconfig);
    if (transport === undefined) {
      const { config } = await loadKubeconfig({ text: kubeconfig });
      // Simulated clusters answer on loopback alone, whatever endpoint their examples name.
      const isElsewhere = !isLoopback(new URL(config.server).hostname) && controlPlane !== undefined;
      transport = createHttpsTransport(isElsewhere ? { ...config, server: `https://${controlPlane}:6443` } : config);
      transports.set(kubeconfig, transport);
    }
    return transport;
  };
  return {
    async upNodes() {
      const found = new Map<string, string>();
      const machines = (await client.resource<TalosMachine>(talosMachineResource).list()).items;
      for (const { metadata = {} } of (await client.resource(talosControlPlaneResource).list()).items) {
        const { name = "", namespace = "default" } = metadata;
        const kubeconfig = await readSecretText(client, namespace, kubeconfigSecretName(accessName(metadata)));
        if (kubeconfig === undefined) continue;
        const controlPlaneAt = machines.find(
          ({ metadata: own, spec }) => own.namespace === namespace && spec?.controlPlaneRef?.name === name,
        )?.spec?.endpoint;
        for (const [address, node] of await readyNodes(await transportFor(kubeconfig, controlPlaneAt))) found.set(address, node);
      }
      return found;
    },
    close() {
      for (const transport of transports.values()) transport.close();
    },
  };
}

interface NodeFacts {
  readonly metadata?: { readonly name?: string };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

async function readyNodes(transport: KubeTransport): Promise<readonly (readonly [address: string, name: string])[]> {
  try {
    const response = await transport.send({ method: "GET", path: "/api/v1/nodes" }, { timeoutMs: ANSWER_WITHIN_MS });
    const nodes = (response.body as { items?: readonly NodeFacts[] } | undefined)?.items ?? [];
    return nodes
      .filter(({ status }) => status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true)
      .flatMap(({ metadata, status }) =>
        (status?.addresses ?? [])
          .filter(({ type }) => type === "InternalIP")
          .map(({ address }) => [address, metadata?.name ?? ""] as const),
      );
  } catch (error) {
    // No answer is what is asked about here; the next look asks again.
    if (error instanceof Error && error.name === "KubeTransportFailure") return [];
    throw error;
  }
}
