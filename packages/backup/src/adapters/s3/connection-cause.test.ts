import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionCause } from "./connection-cause.ts";

for (const [code, kind, words] of [
  ["SELF_SIGNED_CERT_IN_CHAIN", "tls", "its certificate is not trusted: name its CA in caBundle"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls", "its certificate is not trusted: name its CA in caBundle"],
  ["CERT_HAS_EXPIRED", "tls", "its certificate has expired: renew it"],
  ["CERT_NOT_YET_VALID", "tls", "its certificate is not valid yet: set the clocks"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls", "its certificate is of another host: correct the endpoint"],
  ["ERR_SSL_NO_SHARED_CIPHER", "handshake", "it refuses our versions or ciphers of TLS: let it take TLS 1.2 or 1.3"],
  ["EPROTO", "handshake", "no TLS connection comes about"],
] as const)
  test(`${code} has words of its own`, () => {
    assert.deepEqual(connectionCause(new Error("a text that says nothing"), code), { kind, code, words });
  });

test("what is no failure of a connection has none", () => assert.equal(connectionCause(new Error("x"), "AccessDenied"), undefined));
