import { createHash, X509Certificate } from "node:crypto";
import { isWholeSequence, readDer } from "./der.ts";
import { decodePem } from "./pem.ts";

/** A certificate, or the text with which Talos refuses it. */
export type CertificateResult = { readonly certificate: X509Certificate } | { readonly refusal: string };

/** Reads the first certificate of a PEM text. */
export function readCertificate(text: string): CertificateResult {
  const block = decodePem(text);
  if (block === undefined) return { refusal: "failed to parse PEM block" };
  try {
    const certificate = new X509Certificate(block.der);
    return readDer(block.der)?.rest.length === 0 ? { certificate } : { refusal: "failed to parse certificate: x509: trailing data" };
  } catch {
    // OpenSSL's own words name its source files and nothing that helps.
    return { refusal: `failed to parse certificate: x509: malformed ${lacksBody(block.der) ? "tbs " : ""}certificate` };
  }
}

/** Whether the bytes hold a list whose first member, the certificate proper, is none: a private key most often. */
function lacksBody(der: Uint8Array): boolean {
  const outer = readDer(der);
  return isWholeSequence(outer) && !isWholeSequence(readDer(outer.content));
}

/** SHA-256 of the public key, by which Talos pins and names authorities: base64 for pins, hex behind `sha256:` for people. */
export function fingerprintOf(certificate: X509Certificate): { readonly base64: string; readonly hex: string } {
  const digest = createHash("sha256")
    .update(certificate.publicKey.export({ type: "spki", format: "der" }))
    .digest();
  return { base64: digest.toString("base64"), hex: `sha256:${digest.toString("hex")}` };
}
