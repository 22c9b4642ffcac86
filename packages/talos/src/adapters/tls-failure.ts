import type { TalosCallFailure } from "@talos-operator/ports";

/** Why no connection was made, as far as TLS can tell. */
export interface ConnectFailure {
  readonly tls?: NonNullable<TalosCallFailure["tls"]>;
  readonly peer?: "not-grpc";
  readonly byTime?: true;
}

/** Alerts by which a server says that it does not take our client certificate, or wants one. */
const CLIENT_REFUSED =
  /_ALERT_(CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_EXPIRED|CERTIFICATE_REVOKED|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE|NO_CERTIFICATE|ACCESS_DENIED)$/;

/** Verdicts on the dates of a certificate. OpenSSL looks at them last: everything else was in order. */
const BY_TIME = /^CERT_(NOT_YET_VALID|HAS_EXPIRED)$|_ALERT_CERTIFICATE_EXPIRED$/;

/** The peer's bytes are no TLS records. */
const NOT_TLS =
  /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|BAD_RECORD_TYPE|RECORD_LENGTH_MISMATCH|UNEXPECTED_MESSAGE)$/;

/** The peer speaks TLS, but none that we accept: too old, or no common cipher. */
const TOO_WEAK =
  /^ERR_SSL_(UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_SUITABLE_.*|EE_KEY_TOO_SMALL|CA_KEY_TOO_SMALL|CA_MD_TOO_WEAK|DH_KEY_TOO_SMALL)$|_ALERT_PROTOCOL_VERSION$/;

/** OpenSSL's verdicts on a certificate chain, as Node names them. */
const UNTRUSTED = new Set([
  "AUTHORITY_ISSUER_SERIAL_MISMATCH",
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERROR_IN_CERT_NOT_AFTER_FIELD",
  "ERROR_IN_CERT_NOT_BEFORE_FIELD",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "SUBJECT_ISSUER_MISMATCH",
  "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
  "UNABLE_TO_DECRYPT_CERT_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  // What Node gives for verdicts without a name of their own, such as a key or digest that is too weak, or a name constraint.
  "UNSPECIFIED",
]);

/**
 * What an error of a TLS connection means. Empty for a connection that was refused, reset or cut: that says nothing about identity.
 *
 * Decided by error code, never by text.
 */
export function classifyTlsError(error: unknown): ConnectFailure {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return { tls: "unexpected-identity" };
  if (code.endsWith("_ALERT_NO_APPLICATION_PROTOCOL")) return { peer: "not-grpc" };
  const byTime = BY_TIME.test(code) ? ({ byTime: true } as const) : {};
  if (CLIENT_REFUSED.test(code)) return { tls: "client-refused", ...byTime };
  if (NOT_TLS.test(code)) return { tls: "not-tls" };
  if (TOO_WEAK.test(code) || UNTRUSTED.has(code)) return { tls: "untrusted-server", ...byTime };
  return {};
}
