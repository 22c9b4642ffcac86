import type { KubeCallOptions, KubeTransport, WorkloadDialer, WorkloadTarget } from "@talos-operator/ports";
import { createHttpsTransport } from "./https-transport.ts";
import { KubeTransportFailure } from "./transport-failure.ts";

/** Port of the Kubernetes API on each control plane. */
const API_PORT = 6443;

/** Longest that one address is waited for while others are left to be tried. */
const ONE_ADDRESS_MS = 4_000;

/** Longest answer that is read: a cluster that its owner made hostile must not fill this process. A page of 500 Nodes has a fifth of it. */
const MOST_BYTES = 32 * 2 ** 20;

/** Kept open: the work on one cluster is one call after another. */
const AT_ONCE = 8;

/**
 * Reaches the APIs of managed clusters over HTTPS: control planes one after another, the cluster endpoint last, and again the one that answered.
 *
 * Each server must show a certificate of the cluster's own authority for the very name or address that was dialled; where it does not, the next is tried
 * and nothing is said to it. Reads go on to the next address after any failure, writes only when none of their bytes can have arrived.
 *
 * @param port of control planes, default 6443; others only in tests
 */
export function createHttpsWorkloadDialer(port: number = API_PORT): WorkloadDialer {
  return { dial: (target) => new Failover(serversOf(target, port), target) };
}

function serversOf({ addresses, endpoint }: WorkloadTarget, port: number): readonly string[] {
  const direct = addresses.map((address) => `https://${address.includes(":") ? `[${address}]` : address}:${port}`);
  // Never without TLS: the certificate that is shown there is worth a Node.
  return [...new Set([...direct, ...(endpoint?.startsWith("https://") === true ? [endpoint] : [])])];
}

class Failover implements KubeTransport {
  readonly #servers: readonly string[];
  readonly #target: WorkloadTarget;
  readonly #open = new Map<string, KubeTransport>();
  #first = 0;
  #isClosed = false;

  constructor(servers: readonly string[], target: WorkloadTarget) {
    this.#servers = servers;
    this.#target = target;
  }

  send(...[request, options]: Parameters<KubeTransport["send"]>): ReturnType<KubeTransport["send"]> {
    return this.#try(request.method === "GET", options, (transport, given) => transport.send(request, given));
  }

  watch(...[request, options]: Parameters<KubeTransport["watch"]>): ReturnType<KubeTransport["watch"]> {
    return this.#try(true, options, (transport, given) => transport.watch(request, given));
  }

  close(): void {
    this.#isClosed = true;
    for (const transport of this.#open.values()) transport.close();
    this.#open.clear();
  }

  async #try<T>(
    isRead: boolean,
    options: KubeCallOptions = {},
    call: (transport: KubeTransport, options: KubeCallOptions) => Promise<T>,
  ): Promise<T> {
    const count = this.#servers.length;
    const start = this.#first;
    if (this.#isClosed) throw new KubeTransportFailure("the transport was closed", "CLOSED");
    let failure: unknown = new KubeTransportFailure("no control plane of the cluster is known to run", "ECONNREFUSED");
    for (let turn = 0; turn < count; turn += 1) {
      const index = (start + turn) % count;
      const timeoutMs = turn === count - 1 ? options.timeoutMs : Math.min(options.timeoutMs ?? ONE_ADDRESS_MS, ONE_ADDRESS_MS);
      try {
        const answer = await call(this.#transport(index), { ...options, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
        this.#first = index;
        return answer;
      } catch (thrown) {
        if (options.signal?.aborted === true) throw thrown;
        failure = thrown;
        // The next call begins with the next address.
        this.#first = (index + 1) % count;
        if (!isRead && !isUnsent(thrown)) throw thrown;
      }
    }
    throw failure;
  }

  #transport(index: number): KubeTransport {
    const server = this.#servers[index] ?? "";
    const { ca, certificate, key } = this.#target;
    const transport =
      this.#open.get(server) ??
      createHttpsTransport({ server, ca, certificate, key, maxConcurrentRequests: AT_ONCE, maxAnswerBytes: MOST_BYTES });
    this.#open.set(server, transport);
    return transport;
  }
}

/** True when the connection itself did not come about: nobody has read the request. */
function isUnsent(thrown: unknown): boolean {
  return thrown instanceof KubeTransportFailure && unsentCodes.has(thrown.code);
}

const unsentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_SIGNATURE_FAILURE",
]);
