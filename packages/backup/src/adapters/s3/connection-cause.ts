import type { ObjectStoreFailureKind } from "@talos-operator/ports";

/** Why no connection that can be used came about, in words of ours. */
export interface ConnectionCause {
  readonly kind: Extract<ObjectStoreFailureKind, "tls" | "handshake">;
  readonly code: string;
  readonly words: string;
}

const NOT_TRUSTED = "its certificate is not trusted: name its CA in caBundle";

/** What is wrong with a certificate that was shown, where it is not who signed it. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired: renew it",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: set the clocks",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is of another host: correct the endpoint",
};

/**
 * Node gives every failure of a handshake the code EPROTO, and what it was in OpenSSL's text alone. The first that matches counts; the texts are those of
 * OpenSSL 3.
 */
const HANDSHAKES: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long|http request/i,
    "it does not speak TLS: write http:// (which needs --allow-insecure-object-storage), or give it a certificate",
  ],
  [/certificate required|alert bad certificate/i, "it wants a certificate from its clients, and a backup has none: let it take keys alone"],
  [/unrecognized name/i, "it has no certificate for this host: correct the endpoint"],
  [
    /protocol version|unsupported protocol|handshake failure|no shared cipher/i,
    "it refuses our versions or ciphers of TLS: let it take TLS 1.2 or 1.3",
  ],
];

/** @returns `undefined` for what is no failure of TLS, and no answer in another protocol */
export function connectionCause(thrown: Error, code: string): ConnectionCause | undefined {
  if (code.startsWith("HPE_")) return notHttp(code);
  const isHandshake = code === "EPROTO" || code.startsWith("ERR_SSL_");
  if (isHandshake) {
    const words = HANDSHAKES.find(([text]) => text.test(`${code.replaceAll("_", " ")} ${thrown.message}`))?.[1];
    return { kind: "handshake", code, words: words ?? "no TLS connection comes about" };
  }
  if (/^(?:ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code))
    return { kind: "tls", code, words: CERTIFICATES[code] ?? NOT_TRUSTED };
  // What Go's servers answer a client that does not begin with TLS.
  const { $responseBodyText: text } = thrown as { readonly $responseBodyText?: unknown };
  return typeof text === "string" && /HTTP request to an HTTPS server/i.test(text) ? notHttp("status 400") : undefined;
}

function notHttp(code: string): ConnectionCause {
  return { kind: "handshake", code, words: "it does not answer in plain http: write https://, or correct the port" };
}
