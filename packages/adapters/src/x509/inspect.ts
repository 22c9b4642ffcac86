import { createHash, X509Certificate } from "node:crypto";
import { loadX509, type X509Module } from "./load.ts";

/** All that a certificate says, for tests and for people who compare two of them. */
export interface CertificateDetails {
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** `Ed25519`, `ECDSA P-256`, `RSA 4096`. */
  readonly publicKey: string;
  /** As Go names it: `Ed25519`, `ECDSA-SHA256`, `SHA512-RSA`. */
  readonly signatureAlgorithm: string;
  readonly isAuthority: boolean;
  /** `undefined` where an authority sets no limit, and for leaves. */
  readonly pathLength: number | undefined;
  /** Names of RFC 5280, in the order of their bits. */
  readonly keyUsage: readonly string[];
  readonly extendedKeyUsage: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Lower-case hex; empty where there is none. */
  readonly subjectKeyId: string;
  readonly authorityKeyId: string;
  readonly serial: string;
  /** Sorted by number, ` critical` behind those that are. */
  readonly extensions: readonly string[];
  /** base64(SHA-256(SubjectPublicKeyInfo)). */
  readonly spki: string;
}

interface DistinguishedName {
  readonly organizations: readonly string[];
  readonly commonName: string | undefined;
}

/** Takes a certificate apart. Text before the first PEM block is passed over; signatures are not checked. */
export async function inspectCertificate(pem: string): Promise<CertificateDetails> {
  const x509 = await loadX509();
  const certificate = new x509.X509Certificate(new X509Certificate(pem).raw);
  const basic = certificate.getExtension(x509.BasicConstraintsExtension);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  const key = new X509Certificate(pem).publicKey;
  return {
    subject: nameOf(certificate.subjectName),
    issuer: nameOf(certificate.issuerName),
    notBefore: certificate.notBefore.getTime(),
    notAfter: certificate.notAfter.getTime(),
    publicKey:
      key.asymmetricKeyType === "ed25519"
        ? "Ed25519"
        : key.asymmetricKeyType === "ec"
          ? "ECDSA P-256"
          : `RSA ${key.asymmetricKeyDetails?.modulusLength ?? 0}`,
    signatureAlgorithm: signatureNames[describeAlgorithm(certificate)] ?? describeAlgorithm(certificate),
    isAuthority: basic?.ca ?? false,
    pathLength: basic?.pathLength,
    keyUsage: keyUsageNames(certificate.getExtension(x509.KeyUsagesExtension)?.usages ?? 0),
    extendedKeyUsage: [...(certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [])].map(
      (usage) => extendedNames[String(usage)] ?? String(usage),
    ),
    dnsNames: names.filter(({ type }) => type === "dns").map(({ value }) => value),
    ipAddresses: names.filter(({ type }) => type === "ip").map(({ value }) => value),
    subjectKeyId: certificate.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId ?? "",
    authorityKeyId: certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId ?? "",
    serial: certificate.serialNumber.toLowerCase(),
    extensions: certificate.extensions.map(({ type, critical }) => `${type}${critical ? " critical" : ""}`).toSorted(),
    spki: createHash("sha256")
      .update(key.export({ type: "spki", format: "der" }))
      .digest("base64"),
  };
}

const extendedNames: Readonly<Record<string, string>> = { "1.3.6.1.5.5.7.3.1": "serverAuth", "1.3.6.1.5.5.7.3.2": "clientAuth" };

const signatureNames: Readonly<Record<string, string>> = {
  "Ed25519 ": "Ed25519",
  "ECDSA SHA-256": "ECDSA-SHA256",
  "RSASSA-PKCS1-v1_5 SHA-256": "SHA256-RSA",
  "RSASSA-PKCS1-v1_5 SHA-512": "SHA512-RSA",
};

function describeAlgorithm(certificate: InstanceType<X509Module["X509Certificate"]>): string {
  const { name, hash } = certificate.signatureAlgorithm as { readonly name: string; readonly hash?: { readonly name: string } };
  return `${name} ${hash?.name ?? ""}`;
}

const usageBits = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
];

function keyUsageNames(flags: number): readonly string[] {
  return usageBits.filter((_, bit) => (flags & (1 << bit)) !== 0);
}

function nameOf(name: InstanceType<X509Module["Name"]>): DistinguishedName {
  return { organizations: name.getField("O"), commonName: name.getField("CN")[0] };
}
