/** What one client may take of the front end. */
export interface HttpLimits {
  /** Time for a TLS handshake, milliseconds. Default 10,000. */
  readonly handshakeTimeoutMs: number;
  /** Time from the first byte of a request to the end of its headers, milliseconds; then 408. Default 10,000. */
  readonly headersTimeoutMs: number;
  /** Time from the first byte of a request to the last of its body, milliseconds; then 408. Default 60,000. */
  readonly requestTimeoutMs: number;
  /** Size of request line and headers; beyond it 431. Default 64 KiB. */
  readonly maxHeaderBytes: number;
  /** Requests and watches at once on one connection of HTTP/2; its client waits or opens another. Default 100, as kube-apiserver. */
  readonly maxConcurrentStreams: number;
  /** Connections open at once; for the next one the oldest goes on which nobody showed a credential. Default 4,000. */
  readonly maxConnections: number;
}

/** Limits for one machine that serves people, an operator and the nodes of a laptop. */
export const defaultHttpLimits: HttpLimits = {
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  maxHeaderBytes: 64 * 1024,
  maxConcurrentStreams: 100,
  maxConnections: 4000,
};
