import type { ManagerHealth, MetricsRegistry } from "@talos-operator/kube-runtime";
import { serveProbes, type ProbeServer, type ProbeServerOptions } from "@talos-operator/kube-runtime/https";
import type { Logger } from "@talos-operator/ports";
import type { Settings } from "../settings/read-settings.ts";

/** Where probes and metrics are to be served; `0` or the empty text switches off. */
export type ProbeAddresses = Pick<Settings, "given"> & { readonly values: Pick<Settings["values"], "healthAddress" | "metricsAddress"> };

/** What is served. */
export interface ProbeSubjects {
  readonly health: () => Pick<ManagerHealth, "isReady" | "isAlive" | "problems">;
  readonly metrics: MetricsRegistry;
  readonly log: Logger;
}

interface Endpoint {
  readonly address: string;
  /** Nobody asked for this address, so it is no reason to end when it is taken. */
  readonly isDefault: boolean;
}

/**
 * Serves `/healthz` and `/readyz`, and `/metrics`, together where the addresses are the same.
 *
 * @throws KubeApiError `ADDRESS_UNUSABLE` for an address that was asked for; a default one that is taken is only logged
 */
export async function startProbes(addresses: ProbeAddresses, { health, metrics, log }: ProbeSubjects): Promise<{ close(): Promise<void> }> {
  const probes = endpointOf(addresses, "healthAddress");
  const scrapes = endpointOf(addresses, "metricsAddress");
  const wanted =
    probes?.address === scrapes?.address
      ? [{ endpoint: probes, routes: { health, metrics } }]
      : [
          { endpoint: probes, routes: { health } },
          { endpoint: scrapes, routes: { metrics } },
        ];
  const servers: ProbeServer[] = [];
  const close = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.close())));
  try {
    for (const { endpoint, routes } of wanted) {
      const server = endpoint === undefined ? undefined : await serve(endpoint, routes, log);
      if (server !== undefined) servers.push(server);
    }
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { close };
}

async function serve(endpoint: Endpoint, routes: Omit<ProbeServerOptions, "address">, log: Logger): Promise<ProbeServer | undefined> {
  const { address, isDefault } = endpoint;
  const serves = Object.keys(routes).join(" and ");
  try {
    const server = await serveProbes({ address, ...routes });
    log.info({ address, port: server.port, serves }, "Serving probes");
    return server;
  } catch (err) {
    if (!isDefault) throw err;
    log.warn({ err, address, serves }, "The default address for probes is taken; going on without");
    return undefined;
  }
}

function endpointOf({ values, given }: ProbeAddresses, which: "healthAddress" | "metricsAddress"): Endpoint | undefined {
  const address = values[which];
  return address === "0" || address === "" ? undefined : { address, isDefault: !given.has(which) };
}
