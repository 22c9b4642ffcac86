import { createPublicKey, verify } from "node:crypto";

/** What a certificate request says and the server looks at. */
export interface CertificateRequest {
  /** Organizations of the subject: groups of the user whose certificate it will be. */
  readonly organizations: readonly string[];
}

/**
 * Reads a request for a certificate, from the text that `spec.request` encodes.
 *
 * @throws Error for what is none
 */
export type ReadCertificateRequest = (text: string) => CertificateRequest;

/** Digests by the last part of the signature algorithm's identifier; `null` where the key says it. */
const digests: Readonly<Record<string, string | null>> = {
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
  "2b6570": null,
};
const organizationName = "55040a";

interface Element {
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

/**
 * Reads a certificate request (PKCS #10 in PEM) and checks that whoever made it has the key.
 *
 * @throws Error with kube-apiserver's words for what is no request; what is wrong inside is said in ours
 */
export const readCertificateRequest: ReadCertificateRequest = (pem) => {
  const body = /^\s*-----BEGIN CERTIFICATE REQUEST-----\s+([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE REQUEST-----/m.exec(pem)?.[1];
  if (body === undefined) throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [request] = elements(Buffer.from(body, "base64"));
  const [info, algorithm, signature] = elements(contentOf(request));
  const [, subject, key] = elements(contentOf(info));
  const [identifier] = elements(contentOf(algorithm));
  const digest = digests[contentOf(identifier).toString("hex")];
  if (info === undefined || key === undefined || signature === undefined || digest === undefined)
    throw new Error("x509: the request is incomplete or signed in a way that is not supported");
  const publicKey = createPublicKey({ key: key.whole, format: "der", type: "spki" });
  // The first byte of a bit string counts the bits that are left over.
  if (!verify(digest, info.whole, publicKey, signature.content.subarray(1))) throw new Error("x509: the signature is not one of this key");
  return { organizations: organizationsOf(contentOf(subject)) };
};

function organizationsOf(subject: Buffer): readonly string[] {
  return elements(subject).flatMap((set) =>
    elements(set.content).flatMap((pair) => {
      const [name, value] = elements(pair.content);
      return contentOf(name).toString("hex") === organizationName ? [contentOf(value).toString("utf8")] : [];
    }),
  );
}

function contentOf(element: Element | undefined): Buffer {
  if (element === undefined) throw new Error("asn1: syntax error: data truncated");
  return element.content;
}

/** The elements of a DER sequence, one after the other. */
function elements(der: Buffer): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at + 1 < der.length;) {
    const start = at;
    let length = der[at + 1] ?? 0;
    at += 2;
    if (length >= 0x80) {
      const bytes = length & 0x7f;
      if (bytes === 0 || bytes > 4) throw new Error("asn1: structure error: length of indefinite or too large form");
      length = at + bytes <= der.length ? der.readUIntBE(at, bytes) : der.length;
      at += bytes;
    }
    if (at + length > der.length) throw new Error("asn1: syntax error: data truncated");
    found.push({ content: der.subarray(at, at + length), whole: der.subarray(start, at + length) });
    at += length;
  }
  return found;
}
