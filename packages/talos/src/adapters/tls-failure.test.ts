import assert from "node:assert/strict";
import { test } from "node:test";

import { classifyTlsError } from "./tls-failure.ts";

// Codes as Node 24 with OpenSSL 3.5 gives them; the alerts were observed against OpenSSL's own server over TLS 1.2 and 1.3.
const CASES: readonly (readonly [string, ReturnType<typeof classifyTlsError>])[] = [
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", { tls: "client-refused" }],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", { tls: "client-refused" }],
  ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED", { tls: "client-refused", byTime: true }],
  ["ERR_SSL_SSL/TLS_ALERT_UNSUPPORTED_CERTIFICATE", { tls: "client-refused" }],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", { tls: "client-refused" }],
  ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", {}],
  ["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", {}],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", { tls: "untrusted-server" }],
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", { tls: "untrusted-server" }],
  ["ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL", { peer: "not-grpc" }],
  ["ERR_SSL_WRONG_VERSION_NUMBER", { tls: "not-tls" }],
  ["ERR_TLS_CERT_ALTNAME_INVALID", { tls: "unexpected-identity" }],
  ["SELF_SIGNED_CERT_IN_CHAIN", { tls: "untrusted-server" }],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", { tls: "untrusted-server" }],
  ["CERT_HAS_EXPIRED", { tls: "untrusted-server", byTime: true }],
  ["CERT_NOT_YET_VALID", { tls: "untrusted-server", byTime: true }],
  ["INVALID_PURPOSE", { tls: "untrusted-server" }],
  ["ECONNRESET", {}],
  ["ECONNREFUSED", {}],
  ["ETIMEDOUT", {}],
];

for (const [code, want] of CASES) {
  test(`${code} means ${want.tls ?? want.peer ?? "nothing about identity"}`, () => {
    assert.deepEqual(classifyTlsError(Object.assign(new Error("any text"), { code })), want);
  });
}

test("an error without a code means nothing about identity", () => {
  assert.deepEqual(classifyTlsError(new Error("certificate required")), {});
  assert.deepEqual(classifyTlsError("certificate required"), {});
});
