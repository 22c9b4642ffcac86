import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { JsonObject } from "../json.ts";
import { objectAt, stringAt } from "../request/json.ts";

/** What is odd about the key pair of a Secret for TLS, which is taken as it is; in the words of Go's crypto/tls. */
export function keyPairWarnings(secret: JsonObject): readonly string[] {
  if (secret["type"] !== "kubernetes.io/tls") return [];
  const textAt = (key: string): string => Buffer.from(stringAt(objectAt(secret, "data"), key) ?? "", "base64").toString("latin1");
  const problem = problemOfKeyPair(blocksOf(textAt("tls.crt")), blocksOf(textAt("tls.key")));
  return problem === undefined ? [] : [problem];
}

interface Block {
  readonly type: string;
  readonly bytes: Buffer;
}

function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^-----BEGIN ([^\n]*?)-----\r?\n([^]*?)^-----END \1-----/gm)].flatMap(([, type = "", body = ""]) => {
    // Headers stand before an empty line.
    const encoded = body.replace(/^(?:[^\n:]*:[^\n]*\n)+\n/, "").replaceAll(/\s/g, "");
    return /^[A-Za-z0-9+/]*={0,2}$/.test(encoded) ? [{ type, bytes: Buffer.from(encoded, "base64") }] : [];
  });
}

function problemOfKeyPair(certificates: readonly Block[], keys: readonly Block[]): string | undefined {
  const types = (blocks: readonly Block[]): string => `[${blocks.map(({ type }) => type).join(" ")}]`;
  const leaf = certificates.find(({ type }) => type === "CERTIFICATE");
  if (leaf === undefined) {
    if (certificates.length === 0) return "tls: failed to find any PEM data in certificate input";
    if (certificates.length === 1 && certificates[0]?.type.endsWith("PRIVATE KEY") === true) {
      return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
    }
    return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${types(certificates)}`;
  }
  const key = keys.find(({ type }) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"));
  if (key === undefined) {
    if (keys.length === 0) return "tls: failed to find any PEM data in key input";
    if (keys.length === 1 && keys[0]?.type === "CERTIFICATE")
      return "tls: found a certificate rather than a key in the PEM for the private key";
    return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${types(keys)}`;
  }
  const publicKey = publicKeyOf(leaf);
  if (publicKey === undefined) return "x509: malformed certificate";
  const privateKey = privateKeyOf(key);
  if (privateKey === undefined) return "tls: failed to parse private key";
  if (privateKey.asymmetricKeyType !== publicKey.asymmetricKeyType) return "tls: private key type does not match public key type";
  return createPublicKey(privateKey).equals(publicKey) ? undefined : "tls: private key does not match public key";
}

function publicKeyOf({ bytes }: Block): KeyObject | undefined {
  try {
    return new X509Certificate(bytes).publicKey;
  } catch {
    return undefined;
  }
}

function privateKeyOf({ bytes }: Block): KeyObject | undefined {
  for (const type of ["pkcs1", "pkcs8", "sec1"] as const) {
    try {
      return createPrivateKey({ key: bytes, format: "der", type });
    } catch {
      // Another encoding, or none.
    }
  }
  return undefined;
}
