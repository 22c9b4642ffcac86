import type { TalosCallFailure } from "@talos-operator/ports";
import { grpcStatus } from "./call.ts";

/** The failure that a channel throws, as the port declares it. */
export class CallFailure extends Error implements TalosCallFailure {
  override readonly name = "TalosCallFailure";
  readonly code: number;
  readonly tls?: NonNullable<TalosCallFailure["tls"]>;
  readonly byTime?: true;

  constructor(code: number, message: string, tls?: NonNullable<TalosCallFailure["tls"]>, byTime = false) {
    super(message);
    this.code = code;
    if (tls !== undefined) this.tls = tls;
    if (byTime) this.byTime = true;
  }
}

/** Texts of gRPC's Go client, as recorded, for connections that did not come about. */
export const connectionFailure = {
  refused: (place: string): CallFailure => unavailable(`transport: Error while dialing: dial tcp ${place}: connect: connection refused`),
  noRoute: (place: string): CallFailure => unavailable(`transport: Error while dialing: dial tcp ${place}: connect: no route to host`),
  broken: (): CallFailure => unavailable("error reading from server: EOF"),
  deadline: (): CallFailure => new CallFailure(grpcStatus.deadlineExceeded, "context deadline exceeded"),
  cancelled: (): CallFailure => new CallFailure(grpcStatus.cancelled, "context canceled"),
  alert: (alert: string): CallFailure =>
    unavailable(`error reading server preface: remote error: tls: ${alert}`, "client-refused", alert === "expired certificate"),
  untrusted: (): CallFailure =>
    unavailable(
      "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority",
      "untrusted-server",
    ),
  outOfTime: (): CallFailure =>
    unavailable(
      "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
      "untrusted-server",
      true,
    ),
  wrongName: (valid: string, asked: string): CallFailure =>
    unavailable(
      `transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate is valid for ${valid}, not ${asked}`,
      "untrusted-server",
    ),
  unexpectedIdentity: (): CallFailure =>
    unavailable("transport: authentication handshake failed: the server's key is not the expected one", "unexpected-identity"),
};

function unavailable(detail: string, tls?: NonNullable<TalosCallFailure["tls"]>, byTime = false): CallFailure {
  return new CallFailure(grpcStatus.unavailable, `connection error: desc = ${JSON.stringify(detail)}`, tls, byTime);
}
