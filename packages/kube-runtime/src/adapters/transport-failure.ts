/**
 * No complete answer arrived: whether the request took effect is unknown.
 * The name is the contract of the KubeTransport port.
 */
export class KubeTransportFailure extends Error {
  override readonly name = "KubeTransportFailure";
  /** Node's code, for example `ECONNREFUSED`, or `TIMEOUT`. */
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Wraps whatever a socket threw. Addresses and codes are kept, headers and bodies never enter the message. */
  static from(thrown: unknown, doing: string): KubeTransportFailure {
    if (thrown instanceof KubeTransportFailure) return thrown;
    const code = codeOf(thrown);
    const text = thrown instanceof Error ? thrown.message : "unknown failure";
    return new KubeTransportFailure(`${doing}: ${text}`, code, thrown);
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "UNKNOWN";
}
