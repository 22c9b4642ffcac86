import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "node:test";
import { decodePem } from "./pem.ts";
import { readPrivateKey } from "./private-key.ts";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
const ed25519 = generateKeyPairSync("ed25519").privateKey;

function pem(key: typeof ec, type: "pkcs1" | "pkcs8" | "sec1", label?: string): string {
  const text = String(key.export({ type: type, format: "pem" }));
  return label === undefined ? text : text.replaceAll(/(BEGIN|END) [A-Z0-9 ]+-----/g, `$1 ${label}-----`);
}

describe("private keys that Talos takes or refuses", () => {
  const wrongForm = "x509: failed to parse private key (use";
  const cases: readonly (readonly [name: string, text: string, refusal: string])[] = [
    ["PKCS#1", pem(rsa, "pkcs1"), ""],
    ["SEC1", pem(ec, "sec1"), ""],
    ["PKCS#8", pem(ed25519, "pkcs8"), ""],
    ["PKCS#8 under Talos's own label", pem(ed25519, "pkcs8", "ED25519 PRIVATE KEY"), ""],
    ["another kind under Talos's own label", pem(ec, "pkcs8", "ED25519 PRIVATE KEY"), "failed parsing Ed25519 key, got wrong key type"],
    [
      "PKCS#8 as EC",
      pem(ec, "pkcs8", "EC PRIVATE KEY"),
      `failed to parse ECDSA key: ${wrongForm} ParsePKCS8PrivateKey instead for this key format)`,
    ],
    [
      "SEC1 as RSA",
      pem(ec, "sec1", "RSA PRIVATE KEY"),
      `failed to parse RSA key: ${wrongForm} ParseECPrivateKey instead for this key format)`,
    ],
    [
      "PKCS#1 without a kind",
      pem(rsa, "pkcs1", "PRIVATE KEY"),
      `failed to parse key: ${wrongForm} ParsePKCS1PrivateKey instead for this key format)`,
    ],
    [
      "parameters before the key",
      `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem(ec, "sec1")}`,
      'unsupported key type: "EC PARAMETERS"',
    ],
    [
      "a key that is cut off",
      pem(ec, "sec1").replace(/.{12}\n-----END/, "\n-----END"),
      "failed to parse ECDSA key: x509: failed to parse EC private key: asn1: syntax error: data truncated",
    ],
    [
      "a curve that Go does not know",
      pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey, "sec1"),
      "failed to parse ECDSA key: x509: unknown elliptic curve",
    ],
    [
      "nothing in it",
      "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
      "failed to parse key: asn1: syntax error: sequence truncated",
    ],
    [
      "bytes that are no key",
      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
      "failed to parse key: asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false}) {optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false} pkcs8 @2",
    ],
    ["no PEM", "key", "failed to parse PEM block"],
  ];
  for (const [name, text, refusal] of cases) {
    test(name, () => {
      const result = readPrivateKey(text, "authority");
      assert.equal("refusal" in result ? result.refusal : "", refusal);
    });
  }

  test("a service account key is refused in other words", () => {
    assert.deepEqual(readPrivateKey("-----BEGIN X-----\nAAAA\n-----END X-----\n", "serviceAccount"), {
      refusal: 'unsupported key type "X"',
    });
  });
});

describe("PEM text", () => {
  const cases: readonly (readonly [name: string, text: string, label: string | undefined])[] = [
    ["behind other text", "hello\n-----BEGIN A-----\nAAAA\n-----END A-----\n", "A"],
    ["with headers", "-----BEGIN A-----\nProc-Type: 4\nDEK: x\n\nAAAA\n-----END A-----", "A"],
    ["with Windows line ends", "-----BEGIN A-----\r\nAAAA\r\n-----END A-----\r\n", "A"],
    ["after a block that cannot be read", "-----BEGIN A-----\n!\n-----END A-----\n-----BEGIN B-----\nAAAA\n-----END B-----\n", "B"],
    ["without an end", "-----BEGIN A-----\nAAAA\n", undefined],
    ["in the middle of a line", "x-----BEGIN A-----\nAAAA\n-----END A-----\n", undefined],
  ];
  for (const [name, text, label] of cases) {
    test(name, () => {
      assert.equal(decodePem(text)?.label, label);
    });
  }
});

test("a text full of beginnings is read in one go", () => {
  const beginnings = Array.from({ length: 60_000 }, (_, number) => `-----BEGIN A${number % 500}-----`).join("\n");
  assert.equal(decodePem(beginnings), undefined);
  assert.equal(decodePem(`${beginnings}\n!\n-----END A0-----\n-----BEGIN B-----\nAAAA\n-----END B-----`)?.label, "B");
});
