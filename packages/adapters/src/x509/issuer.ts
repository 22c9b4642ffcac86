import { X509Certificate, type KeyObject } from "node:crypto";
import type { KeyPair } from "@talos-operator/ports";
import { SUBJECT_KEY_IDENTIFIER, keyIdentifierOf } from "./certificate.ts";
import { derValues, fieldTag, objectIdentifier, tags } from "./der.ts";
import { readPrivateKey } from "./pem.ts";

/** What signing with an authority needs, read once for each pair that a caller holds on to. */
export interface Issuer {
  readonly key: KeyObject;
  /** DER of its name, byte for byte as it stands in its certificate. */
  readonly subject: Buffer;
  /** Its own identifier, which need not be the hash of its key: OpenSSL wants the two to agree. */
  readonly keyIdentifier: Buffer;
}

const issuers = new WeakMap<KeyPair, Issuer>();

/** @throws Error for a certificate or key that cannot be read */
export function issuerOf(authority: KeyPair): Issuer {
  const known = issuers.get(authority);
  if (known !== undefined) return known;
  const certificate = new X509Certificate(authority.certificate);
  const issuer = {
    key: readPrivateKey(authority.key),
    ...readSubject(certificate.raw),
    keyIdentifier: ownIdentifier(certificate.raw) ?? keyIdentifierOf(certificate.publicKey),
  };
  issuers.set(authority, issuer);
  return issuer;
}

/** Fields of TBSCertificate; the version, which only certificates of version 1 do not have, is left out. */
function fieldsOf(certificate: Buffer): ReturnType<typeof derValues> {
  const [whole] = derValues(certificate);
  const [signed] = derValues(whole?.content ?? certificate);
  return derValues(signed?.content ?? certificate).filter(({ tag }) => tag !== fieldTag(0, true));
}

function readSubject(certificate: Buffer): Pick<Issuer, "subject"> {
  const [, , , , subject] = fieldsOf(certificate);
  if (subject?.tag !== tags.sequence) throw new TypeError("a certificate without a subject");
  return { subject: subject.whole };
}

function ownIdentifier(certificate: Buffer): Buffer | undefined {
  const extensions = fieldsOf(certificate).find(({ tag }) => tag === fieldTag(3, true));
  const [list] = derValues(extensions?.content ?? Buffer.alloc(0));
  const wanted = objectIdentifier(SUBJECT_KEY_IDENTIFIER);
  for (const { content } of derValues(list?.content ?? Buffer.alloc(0))) {
    const [id, ...rest] = derValues(content);
    if (id?.whole.equals(wanted) !== true) continue;
    const [identifier] = derValues(rest.at(-1)?.content ?? Buffer.alloc(0));
    return identifier?.content;
  }
  return undefined;
}
