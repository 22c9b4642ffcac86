import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createSqliteStore, serveHttps, type HttpsFrontEnd } from "@talos-operator/apiserver/https";
import { systemClock, systemRandom, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import type { Logger } from "@talos-operator/ports";
import {
  overEtcd,
  type EtcdDatabase,
  type WorkloadApi,
  type WorkloadCluster,
  type WorkloadClusterRequest,
} from "@talos-operator/simulator";
import type { DataFolder } from "./data-folder.ts";
import { isLoopback } from "./loopback.ts";
import { servedOverEtcd } from "./served-over-etcd.ts";

/** Endpoints of simulated clusters in networks that this host is not part of: by `address|port`, where a control plane of the cluster listens instead. */
type StandIns = Map<string, () => string | undefined>;

/** The network of simulated clusters, as far as this host has no such addresses. */
export interface SimulatedEndpoints {
  /** `address:port` of a control plane of the cluster whose endpoint this would be; `undefined` = it is nobody's, or of this host. */
  standInFor(address: string, port: number): string | undefined;
}

/**
 * The Kubernetes APIs inside the simulated clusters: one embedded API each, served with the cluster's own keys.
 *
 * Deployments and the like get pods and pods get Nodes; the simulated kubelets let them run.
 *
 * @param etcd the database of the etcd with this key, which may refuse writes
 * @param folder keeps what they hold, as etcd does, for the next process. Default: it is in memory, and made anew; Nodes register again, as kubelets do
 */
export function createEmbeddedWorkloads(
  log: Logger,
  etcd: (key: string) => EtcdDatabase | undefined,
  folder?: DataFolder,
): WorkloadApi & SimulatedEndpoints & { close(): Promise<void> } {
  const open = new Map<string, Promise<WorkloadCluster>>();
  const standIns: StandIns = new Map();
  return {
    standInFor: (address, port) => standIns.get(`${address}|${port}`)?.(),
    open(request) {
      let cluster = open.get(request.key);
      if (cluster === undefined) {
        cluster = openCluster(request, log, () => etcd(request.key), folder, standIns);
        open.set(request.key, cluster);
      }
      return cluster;
    },
    async close() {
      for (const cluster of open.values()) await (await cluster).close();
      open.clear();
    },
  };
}

async function openCluster(
  request: WorkloadClusterRequest,
  log: Logger,
  etcd: () => EtcdDatabase | undefined,
  folder: DataFolder | undefined,
  standIns: StandIns,
): Promise<WorkloadCluster> {
  const store =
    folder === undefined
      ? createMemoryStore()
      : createSqliteStore(folder.file("kubernetes", `${request.key}.db`), { durability: "process-crash" });
  const server = await createApiServer({
    store,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    workedMs: threadWorkedMs,
    log,
    kubernetesVersion: request.kubernetesVersion,
    workloads: "controllers",
  });
  const served = servedOverEtcd(server, etcd);
  const listeners = new Map<string, HttpsFrontEnd>();
  const key = (address: string, port: number): string => `${address}|${port}`;
  const unserve = async (address: string, port: number): Promise<void> => {
    const listener = listeners.get(key(address, port));
    listeners.delete(key(address, port));
    standIns.delete(key(address, port));
    await listener?.close();
  };
  return {
    transport: overEtcd(server.transport({ name: "system:simulated-kubelet", groups: ["system:masters"] }), etcd),
    async serve(address, port, certificate) {
      await unserve(address, port);
      try {
        listeners.set(
          key(address, port),
          await serveHttps(served, { address, port, certificate, clientAuthorities: [request.authority.certificate] }),
        );
      } catch (error) {
        // An endpoint in some other network, as examples name them: the simulated nodes find each other without it.
        if (isLoopback(address) || !isUnbindable(error)) throw error;
        standIns.set(key(address, port), () => listeners.keys().next().value?.replace("|", ":"));
        log.warn({ endpoint: address }, "This host has no such address; the simulated cluster is reached at its control planes alone");
      }
    },
    unserve,
    stored() {
      const { revision, entries } = store.load();
      return { revision, objects: entries };
    },
    async close() {
      for (const listener of listeners.values()) await listener.close();
      listeners.clear();
      server.close();
    },
  };
}

/** No address of this host, whoever found it out. */
function isUnbindable(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ("code" in cause && cause.code === "EADDRNOTAVAIL") return true;
  return error instanceof Error && error.message.includes("EADDRNOTAVAIL");
}
