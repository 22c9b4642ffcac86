import { createPrivateKey, type KeyObject } from "node:crypto";

/** Talos writes Ed25519 keys as PKCS#8 under a label that OpenSSL refuses. */
const TALOS_ED25519_LABEL = "ED25519 PRIVATE KEY";

/** Reads a private key in any of the forms that Talos reads and writes. */
export function readPrivateKey(pem: string): KeyObject {
  return createPrivateKey(pem.replaceAll(TALOS_ED25519_LABEL, "PRIVATE KEY"));
}

/**
 * Writes a private key under the label that Talos gives its kind.
 *
 * @see siderolabs/crypto `x509/constants.go`
 */
export function writePrivateKey(key: KeyObject): string {
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return String(key.export({ type: "pkcs8", format: "pem" })).replaceAll("PRIVATE KEY", TALOS_ED25519_LABEL);
    case "ec":
      return String(key.export({ type: "sec1", format: "pem" }));
    case "rsa":
      return String(key.export({ type: "pkcs1", format: "pem" }));
    default:
      throw new Error(`private keys of kind ${key.asymmetricKeyType ?? "unknown"} are not used by Talos; use Ed25519, P-256 or RSA`);
  }
}
