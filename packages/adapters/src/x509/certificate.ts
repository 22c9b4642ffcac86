import { createHash, createPublicKey, randomBytes, sign, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { bitString, der, derValues, fieldTag, namedBits, objectIdentifier, positiveInteger, sequence, tags, time } from "./der.ts";
import { ipBytes } from "./ip-bytes.ts";

/*
 * Certificates as Talos and Kubernetes use them, written by RFC 5280 without a library: one that does everything costs 20 MB of memory and several
 * milliseconds for each certificate, and an operator makes one for every effect.
 */

/** What a certificate says. Times in milliseconds since the epoch. */
export interface CertificateContent {
  /** DER of the issuer's name; {@link distinguishedName} for one that signs itself. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Of it the public half goes in. */
  readonly key: KeyObject;
  /** In their order. */
  readonly extensions: readonly Uint8Array[];
}

const signAside = promisify(sign);

/** The certificate as PEM, signed with this private key. */
export async function signedCertificate(content: CertificateContent, signingKey: KeyObject): Promise<string> {
  const { hash, algorithm } = signatureOf(signingKey);
  const signed = sequence(
    version3,
    positiveInteger(serialNumber()),
    algorithm,
    content.issuer,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    publicKeyInfo(content.key),
    ...(content.extensions.length === 0 ? [] : [der(fieldTag(3, true), sequence(...content.extensions))]),
  );
  // RSA takes milliseconds, which belong to another thread; for the others the way there costs more than the work.
  const signature = signingKey.asymmetricKeyType === "rsa" ? await signAside(hash, signed, signingKey) : sign(hash, signed, signingKey);
  return toPem(sequence(signed, algorithm, bitString(signature)));
}

const version3 = der(fieldTag(0, true), positiveInteger(Buffer.from([2])));

function signatureOf(key: KeyObject): { readonly hash: string | null; readonly algorithm: Buffer } {
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return { hash: null, algorithm: ed25519 };
    case "rsa":
      return { hash: "sha512", algorithm: rsaWithSha512 };
    default:
      return { hash: "sha256", algorithm: ecdsaWithSha256 };
  }
}

const ed25519 = sequence(objectIdentifier("1.3.101.112"));
const ecdsaWithSha256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
const rsaWithSha512 = sequence(objectIdentifier("1.2.840.113549.1.1.13"), der(tags.null));

/** 128 random bits, positive. */
function serialNumber(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f || 1;
  return bytes;
}

/** DER of a name. Like Go, all organizations in one set, whose members DER wants in the order of their bytes: shorter ones first. */
export function distinguishedName(organizations: readonly string[], commonName: string | undefined): Buffer {
  const sets = [
    ...(organizations.length === 0
      ? []
      : [organizations.map((value) => attribute("2.5.4.10", value)).toSorted((a, b) => Buffer.compare(a, b))]),
    ...(commonName === undefined ? [] : [[attribute("2.5.4.3", commonName)]]),
  ];
  return sequence(...sets.map((attributes) => der(tags.set, ...attributes)));
}

function attribute(type: string, value: string): Buffer {
  return sequence(objectIdentifier(type), der(tags.utf8String, Buffer.from(value)));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(objectIdentifier(id), ...(isCritical ? [der(tags.boolean, Buffer.from([0xff]))] : []), der(tags.octetString, value));
}

export const SUBJECT_KEY_IDENTIFIER = "2.5.29.14";

/** It is an authority, without a limit of how many may stand below it. */
export function basicConstraints(): Buffer {
  return extension("2.5.29.19", sequence(der(tags.boolean, Buffer.from([0xff]))), true);
}

const usageBits = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5 } as const;

export function keyUsage(...usages: readonly (keyof typeof usageBits)[]): Buffer {
  return extension("2.5.29.15", namedBits(usages.map((usage) => usageBits[usage])), true);
}

const purposes = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

export function extendedKeyUsage(...of: readonly (keyof typeof purposes)[]): Buffer {
  return extension("2.5.29.37", sequence(...of.map((purpose) => objectIdentifier(purposes[purpose]))));
}

export function subjectKeyIdentifier(key: KeyObject): Buffer {
  return extension(SUBJECT_KEY_IDENTIFIER, der(tags.octetString, keyIdentifierOf(key)));
}

export function authorityKeyIdentifier(identifier: Uint8Array): Buffer {
  return extension("2.5.29.35", sequence(der(fieldTag(0, false), identifier)));
}

/** DNS names are ASCII here: whoever has others writes them in Punycode. */
export function subjectAlternativeNames(dnsNames: readonly string[], ipAddresses: readonly string[], isCritical: boolean): Buffer {
  return extension(
    "2.5.29.17",
    sequence(
      ...dnsNames.map((name) => der(fieldTag(2, false), Buffer.from(name, "latin1"))),
      ...ipAddresses.map((address) => der(fieldTag(7, false), ipBytes(address))),
    ),
    isCritical,
  );
}

/** SHA-1 of the bits of the public key: the first way of RFC 5280 4.2.1.2. */
export function keyIdentifierOf(key: KeyObject): Buffer {
  const info = publicKeyInfo(key);
  // The bits are the last field; of all kinds of keys that are used here, raw bytes behind a count of bits that are not used.
  const [, bits] = derValues(derValues(info)[0]?.content ?? info);
  return createHash("sha1")
    .update(bits?.content.subarray(1) ?? info)
    .digest();
}

function publicKeyInfo(key: KeyObject): Buffer {
  return (key.type === "private" ? createPublicKey(key) : key).export({ type: "spki", format: "der" });
}

/** Go's PEM encoder ends the text with a newline. */
function toPem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
