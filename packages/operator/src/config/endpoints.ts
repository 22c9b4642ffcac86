import { endpointHost } from "./endpoint-host.ts";
import type { MachineRole } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";

type Endpoints = Pick<ClusterFacts, "endpoint" | "nextEndpoint" | "formerEndpoints">;

/**
 * The endpoint in the configuration of a machine. Control planes get a new one first: their API servers show certificates for it before any worker or client is
 * led there.
 */
export function endpointOf(role: MachineRole, { endpoint, nextEndpoint }: Endpoints): string {
  return role === "controlplane" ? (nextEndpoint ?? endpoint) : endpoint;
}

/** Hosts that certificates of API servers are for. Those of earlier endpoints stay: kubeconfigs that people saved lead there. */
export function certificateHosts({ endpoint, nextEndpoint, formerEndpoints = [] }: Endpoints): readonly string[] {
  const all = [endpoint, ...(nextEndpoint === undefined ? [] : [nextEndpoint]), ...formerEndpoints];
  return [...new Set(all.flatMap((one) => endpointHost(one) ?? []))];
}

/** What a cluster whose endpoint changed keeps in the configuration of its control planes. */
export interface KeptOfEndpoints {
  /**
   * Who issues the tokens of service accounts: the endpoint that the cluster was made with. Talos takes the one in the configuration, and by another issuer no pod
   * that runs would be let into the API any more.
   */
  readonly issuer: string;
  /** {@link certificateHosts} */
  readonly hosts: readonly string[];
}

/** `undefined` for a worker, and while the cluster has the endpoint that it was made with. */
export function keptOf(role: MachineRole, endpoints: Endpoints): KeptOfEndpoints | undefined {
  const { endpoint, nextEndpoint, formerEndpoints = [] } = endpoints;
  if (role === "worker" || (nextEndpoint === undefined && formerEndpoints.length === 0)) return undefined;
  return { issuer: formerEndpoints[0] ?? endpoint, hosts: certificateHosts(endpoints) };
}

/**
 * What endpoints add to the settings of a machine. Nothing while the cluster has the one that it was made with; for a control plane the same before and after
 * the new one comes into force.
 */
export function endpointSettings(role: MachineRole, endpoints: Endpoints): object | undefined {
  const kept = keptOf(role, endpoints);
  const endpoint = endpointOf(role, endpoints);
  if (kept !== undefined) return { endpoint, issuer: kept.issuer, hosts: kept.hosts.toSorted() };
  return role === "worker" && (endpoints.formerEndpoints ?? []).length > 0 ? { endpoint } : undefined;
}
