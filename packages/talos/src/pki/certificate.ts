import { createHash, X509Certificate } from "node:crypto";
import { decodePem } from "./pem.ts";

/** A certificate, or the text with which Talos refuses it. */
export type CertificateResult = { readonly certificate: X509Certificate } | { readonly refusal: string };

/** Reads the first certificate of a PEM text. */
export function readCertificate(text: string): CertificateResult {
  const block = decodePem(text);
  if (block === undefined) return { refusal: "failed to parse PEM block" };
  try {
    return { certificate: new X509Certificate(block.der) };
  } catch {
    // OpenSSL's own words name its source files and nothing that helps.
    return { refusal: `failed to parse certificate: x509: malformed ${isKey(block.der) ? "tbs " : ""}certificate` };
  }
}

/** A list of values that begins with a number: some other structure, a private key most often. Anything else is no structure at all. */
function isKey(der: Uint8Array): boolean {
  const long = (der[1] ?? 0) & 0x80 ? (der[1] as number) & 0x7f : 0;
  const sizeBytes = long === 0 ? (der[1] ?? 0) : der.subarray(2, 2 + long).reduce((sum, byte) => sum * 256 + byte, 0);
  return der[0] === 0x30 && der.length === 2 + long + sizeBytes && der[2 + long] === 0x02;
}

/** SHA-256 of the public key, by which Talos pins and names authorities: base64 for pins, hex behind `sha256:` for people. */
export function fingerprintOf(certificate: X509Certificate): { readonly base64: string; readonly hex: string } {
  const digest = createHash("sha256")
    .update(certificate.publicKey.export({ type: "spki", format: "der" }))
    .digest();
  return { base64: digest.toString("base64"), hex: `sha256:${digest.toString("hex")}` };
}
