/**
 * Asks what answers at the endpoint of a managed cluster, as clients of it would.
 *
 * One implementation uses DNS and TLS of the system (`adapters`), one asks the APIs of simulated clusters in the same process.
 */
export interface EndpointProbe {
  /** Asks once and ends within `timeoutMs`. Sends no credentials. Never throws. */
  ask(target: EndpointTarget, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<EndpointAnswer>;
}

export interface EndpointTarget {
  /** `https://host[:port]`. */
  readonly endpoint: string;
  /** The cluster's Kubernetes authority, in PEM. Whatever shows a certificate of another one is not this cluster. */
  readonly ca: string;
  /** Whatever name the certificate is for: the cluster is still to learn that it is reached there. Absent = as clients demand. */
  readonly anyName?: true;
}

/**
 * What answered.
 *
 * - `reached`: an API server of this cluster
 * - `unresolvable`: DNS says that the name has no address
 * - `refused`: nobody listens, or whoever does ends the connection at once
 * - `foreign`: TLS, with a certificate that another authority signed
 * - `unfit`: a certificate of this cluster that is for other names, or not in force now
 * - `not-kubernetes`: no TLS, or something else than an API server behind it
 * - `silent`: nothing in time, or no way there
 */
export interface EndpointAnswer {
  readonly kind: "reached" | "unresolvable" | "refused" | "foreign" | "unfit" | "not-kubernetes" | "silent";
  /** For people: what exactly was met; a few words without a full stop. */
  readonly detail: string;
}
