import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import type { ApiServer, Store } from "@talos-operator/apiserver";
import type {
  Clock,
  EndpointProbe,
  KeyPair,
  Keys,
  KubeTransport,
  RandomSource,
  Timers,
  WorkloadDialer,
  WorkloadTarget,
} from "@talos-operator/ports";
import { overEtcd } from "@talos-operator/simulator";
import type { EtcdDatabase, WorkloadApi, WorkloadClusterRequest } from "@talos-operator/simulator";
import { createDialledEndpoints } from "./dialled-endpoints.ts";
import { contentsOf } from "./stored-contents.ts";
import { readValueRequest } from "./value-keys.ts";

/** Kubernetes APIs of simulated clusters, reached in the same process as over a network. */
export interface DialledWorkloads {
  /** For the simulator. */
  readonly api: WorkloadApi;
  /** For the operator: reaches an API only where a control plane serves it, and only with a certificate that its cluster signed. */
  readonly dialer: WorkloadDialer;
  /** For the operator: what answers where an endpoint leads. @param resolve what DNS says of names */
  endpoints(resolve: (name: string) => readonly string[] | undefined): EndpointProbe;
  /** For stories: the API of the only cluster, as `system:masters`, past the network. Undefined before one has opened. */
  transport(): KubeTransport | undefined;
}

interface Place {
  readonly server: ApiServer;
  readonly request: WorkloadClusterRequest;
  readonly certificate: KeyPair;
  /** What the certificate is for. */
  readonly names: readonly string[];
  /** When half of the certificate's life is over. Kept, because every call asks. */
  readonly renewAt: number;
}

/** Life of the certificate of a server from its making on. */
const CERTIFICATE_MS = 365 * 86_400_000;

class Unreachable extends Error {
  override readonly name = "KubeTransportFailure";
}

/**
 * @param ports `isConnected` says whether the network between operator and an address works, default always; `etcd` the database behind a cluster, by its key,
 *   which may refuse writes, default none; `controllers` whether Deployments and the like get their pods, default no
 * @param stores what the APIs hold, by key of the cluster; filled as they open
 */
export function createDialledWorkloads(
  ports: {
    readonly clock: Clock;
    readonly timers: Timers;
    readonly random: RandomSource;
    readonly keys: Keys;
    readonly isConnected?: (address: string) => boolean;
    readonly etcd?: (key: string) => EtcdDatabase | undefined;
    readonly controllers?: boolean;
  },
  stores: Map<string, Store> = new Map(),
): DialledWorkloads {
  const open = new Map<string, Promise<ApiServer>>();
  const servers: ApiServer[] = [];
  const places = new Map<string, Place>();
  const { keys, clock, isConnected = () => true, etcd = () => undefined, controllers = false, ...rest } = ports;
  const inside = controllers ? ({ workloads: "controllers" } as const) : {};

  const api: WorkloadApi = {
    async open(request) {
      const { key, kubernetesVersion } = request;
      const store = stores.get(key) ?? createMemoryStore();
      stores.set(key, store);
      const isNew = !open.has(key);
      const opening =
        open.get(key) ??
        createApiServer({
          store,
          kubernetesVersion,
          clock,
          timers: rest.timers,
          random: rest.random,
          readCertificateRequest: readValueRequest,
          ...inside,
        });
      open.set(key, opening);
      const server = await opening;
      if (isNew) servers.push(server);
      return {
        transport: overEtcd(server.transport({ name: "system:simulated-kubelet", groups: ["system:masters"] }), () => etcd(key)),
        async serve(address, port, certificate, names) {
          await Promise.resolve();
          const { notBefore } = keys.describeCertificate(certificate.certificate);
          places.set(`${address}|${port}`, { server, request, certificate, names, renewAt: notBefore + CERTIFICATE_MS / 2 });
        },
        async unserve(address, port) {
          await Promise.resolve();
          places.delete(`${address}|${port}`);
        },
        stored: () => contentsOf(store.load()),
        async close() {
          await Promise.resolve();
          server.close();
        },
      };
    },
  };

  const renewOld = (): Promise<void> => renewCertificates(places, keys, clock.now());

  /** The API at the first place that answers, as TLS and authentication would have it. */
  const reach = (target: WorkloadTarget): KubeTransport => {
    const endpoint = /^https:\/\/\[?(.+?)\]?:(\d+)$/.exec(target.endpoint ?? "");
    const wanted = [
      ...target.addresses.map((address) => [address, "6443"] as const),
      ...(endpoint === null ? [] : [[endpoint[1] ?? "", endpoint[2] ?? ""] as const]),
    ];
    const now = clock.now();
    for (const [address, port] of wanted) {
      const place = places.get(`${address}|${port}`);
      if (place === undefined || !isConnected(address)) continue;
      // A server that the cluster's authority did not sign is not talked to; the next one may be the right one.
      if (!keys.verifyCertificate(place.certificate.certificate, target.ca, now)) continue;
      const isOurs = keys.isPair(target) && keys.verifyCertificate(target.certificate, place.request.authority.certificate, now);
      const { commonName = "", organizations } = keys.describeCertificate(target.certificate);
      if (!isOurs) return refusing;
      const served = place.server.transport({ name: commonName, groups: [...organizations, "system:authenticated"] });
      return overEtcd(served, () => etcd(place.request.key));
    }
    throw new Unreachable("no control plane serves the Kubernetes API");
  };

  return {
    api,
    endpoints: (resolve) => createDialledEndpoints({ places, keys, clock, timers: rest.timers, isConnected, renewOld, resolve }),
    dialer: {
      dial: (target) => {
        let isClosed = false;
        const demandOpen = (): void => {
          if (isClosed) throw new Unreachable("the transport is closed; create a new one");
        };
        return {
          async send(request, options) {
            await renewOld();
            demandOpen();
            return reach(target).send(request, options);
          },
          async watch(request, options) {
            await renewOld();
            demandOpen();
            return reach(target).watch(request, options);
          },
          close: () => {
            isClosed = true;
          },
        };
      },
    },
    transport: () => servers[0]?.transport({ name: "story", groups: ["system:masters"] }),
  };
}

/** Talos makes certificates of servers anew when half of their life is over, and when its clock leaps. */
async function renewCertificates(places: Map<string, Place>, keys: Keys, now: number): Promise<void> {
  for (const [at, place] of places) {
    if (now < place.renewAt) continue;
    const { commonName, organizations } = keys.describeCertificate(place.certificate.certificate);
    const subject = { usage: "server", organizations, ...(commonName === undefined ? {} : { commonName }) } as const;
    const request = { ...subject, notBefore: now, lifetimeMs: CERTIFICATE_MS };
    const certificate = await keys.signCertificate(place.request.authority, request);
    places.set(at, { ...place, certificate, renewAt: now + CERTIFICATE_MS / 2 });
  }
}

const refusing: KubeTransport = {
  send: () => Promise.resolve({ status: 401, headers: {}, body: unauthorized }),
  watch: () => Promise.resolve({ status: 401, headers: {}, body: unauthorized, events: nothing() }),
  close: () => undefined,
};

const unauthorized = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  reason: "Unauthorized",
  message: "Unauthorized",
  code: 401,
};

async function* nothing(): AsyncGenerator<never> {
  // A refused watch delivers nothing.
}
