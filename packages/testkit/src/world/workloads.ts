import { createApiServer, createMemoryStore, type Store } from "@talos-operator/apiserver";
import type { Clock, RandomSource, Timers } from "@talos-operator/ports";
import { contentsOf } from "./stored-contents.ts";
import { readValueRequest } from "./value-keys.ts";
import type { WorkloadApi, WorkloadCluster } from "@talos-operator/simulator";

/**
 * Kubernetes APIs of simulated clusters that nobody dials: Nodes are stored, nothing listens.
 *
 * @param stores what the APIs hold, by key of the cluster; filled as they open
 */
export function createSilentWorkloads(
  ports: { readonly clock: Clock; readonly timers: Timers; readonly random: RandomSource },
  stores: Map<string, Store> = new Map(),
): WorkloadApi {
  const open = new Map<string, Promise<WorkloadCluster>>();
  return {
    open({ key, kubernetesVersion }) {
      const known = open.get(key);
      if (known !== undefined) return known;
      const created = (async (): Promise<WorkloadCluster> => {
        const store = stores.get(key) ?? createMemoryStore();
        stores.set(key, store);
        const server = await createApiServer({ store, kubernetesVersion, readCertificateRequest: readValueRequest, ...ports });
        return {
          transport: server.transport({ name: "system:simulated-kubelet", groups: ["system:masters"] }),
          serve: async () => undefined,
          unserve: async () => undefined,
          stored: () => contentsOf(store.load()),
          close: async () => server.close(),
        };
      })();
      open.set(key, created);
      return created;
    },
  };
}
