import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  type webcrypto,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
import type {
  AuthorityRequest,
  CertificateFacts,
  CertificateRequest,
  KeyPair,
  Keys,
  PrivateKeyKind,
  RequestedSubject,
} from "@talos-operator/ports";
import { createKeyPair } from "./key-pair.ts";
import { describeCertificateRequest } from "./certificate-request.ts";
import { loadX509, type X509Module } from "./load.ts";
import { readPrivateKey, writePrivateKey } from "./pem.ts";
import { createRsaPool } from "./rsa-pool.ts";

const TEN_YEARS_MS = 87_600 * 3_600_000;

export interface X509KeysOptions {
  /** RSA-4096 keys kept ready, default 0. The manager keeps 2. */
  readonly rsaPoolSize?: number;
}

/** X.509 behind the `Keys` port. `close` forgets pooled keys. */
export interface X509Keys extends Keys {
  warm(): void;
  close(): void;
}

/** Creates keys and certificates as the genuine Talos libraries do. The X.509 library is loaded with the first certificate. */
export function createX509Keys(options: X509KeysOptions = {}): X509Keys {
  const pool = createRsaPool(options.rsaPoolSize ?? 0);

  return {
    async createAuthority(request: AuthorityRequest): Promise<KeyPair> {
      const x509 = await loadX509();
      const key = generatePrivateKey(request.kind);
      const keys = toCryptoKeys(key);
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        serialNumber: createSerial(),
        name: distinguishedName(x509, request.organization === undefined ? [] : [request.organization], undefined),
        notBefore: new Date(request.notBefore),
        notAfter: new Date(request.notBefore + TEN_YEARS_MS),
        keys,
        signingAlgorithm: signingAlgorithm(request.kind),
        extensions: [
          new x509.BasicConstraintsExtension(true, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      return createKeyPair(toPem(certificate.toString("pem")), writePrivateKey(key));
    },

    async createPrivateKey(kind: PrivateKeyKind): Promise<string> {
      return writePrivateKey(kind === "rsa4096" ? await pool.take() : generatePrivateKey(kind));
    },

    async signCertificate(authority: KeyPair, request: CertificateRequest): Promise<KeyPair> {
      const x509 = await loadX509();
      const issuer = await issuerOf(x509, authority);
      const leafKey = issuer.kind === "rsa4096" ? await pool.take() : generatePrivateKey(issuer.kind);
      const names = alternativeNames(request);
      // Kubernetes wants keyEncipherment on its certificates, Talos gives its own only digitalSignature.
      const keyEncipherment = issuer.kind === "ed25519" ? 0 : x509.KeyUsageFlags.keyEncipherment;
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: createSerial(),
        subject: distinguishedName(x509, request.organizations ?? [], request.commonName),
        issuer: issuer.subject,
        notBefore: new Date(request.notBefore),
        notAfter: new Date(request.notBefore + request.lifetimeMs),
        publicKey: toPublicCryptoKey(leafKey),
        signingKey: issuer.signingKey,
        signingAlgorithm: signingAlgorithm(issuer.kind),
        extensions: [
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | keyEncipherment, true),
          new x509.ExtendedKeyUsageExtension([
            request.usage === "client" ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth,
          ]),
          issuer.keyIdentifier,
          // RFC 5280 4.2.1.6: the alternative names must be critical where the subject is empty.
          ...(names.length > 0
            ? [
                new x509.SubjectAlternativeNameExtension(
                  names,
                  request.commonName === undefined && (request.organizations ?? []).length === 0,
                ),
              ]
            : []),
        ],
      });
      return createKeyPair(toPem(certificate.toString("pem")), writePrivateKey(leafKey));
    },

    async createCertificateRequest(subject: RequestedSubject): Promise<{ readonly request: string; readonly key: string }> {
      const x509 = await loadX509();
      const key = generatePrivateKey("p256");
      const names = alternativeNames(subject);
      const request = await x509.Pkcs10CertificateRequestGenerator.create({
        name: distinguishedName(x509, subject.organizations, subject.commonName),
        keys: toCryptoKeys(key),
        signingAlgorithm: signingAlgorithm("p256"),
        extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)],
      });
      return { request: toPem(request.toString("pem")), key: writePrivateKey(key) };
    },

    describeCertificateRequest,

    describeCertificate(certificate: string): CertificateFacts {
      const parsed = new X509Certificate(certificate);
      const subject = parsed.toLegacyObject().subject as unknown as Record<string, string | string[] | undefined>;
      return {
        organizations: [subject["O"] ?? []].flat(),
        commonName: [subject["CN"] ?? []].flat()[0],
        notBefore: Date.parse(parsed.validFrom),
        notAfter: Date.parse(parsed.validTo),
        spki: spkiOf(parsed.publicKey),
        serial: parsed.serialNumber.toLowerCase(),
      };
    },

    verifyCertificate(certificate: string, authority: string, at: number): boolean {
      const leaf = new X509Certificate(certificate);
      const issuer = new X509Certificate(authority);
      return (
        leaf.verify(issuer.publicKey) && leaf.issuer === issuer.subject && Date.parse(leaf.validFrom) <= at && at < Date.parse(leaf.validTo)
      );
    },

    isPair(pair: KeyPair): boolean {
      return new X509Certificate(pair.certificate).checkPrivateKey(readPrivateKey(pair.key));
    },

    warm: () => pool.warm(),
    close: () => pool.close(),
  };
}

function alternativeNames({
  dnsNames = [],
  ipAddresses = [],
}: Pick<CertificateRequest, "dnsNames" | "ipAddresses">): { type: "dns" | "ip"; value: string }[] {
  return [...dnsNames.map((value) => ({ type: "dns" as const, value })), ...ipAddresses.map((value) => ({ type: "ip" as const, value }))];
}

function generatePrivateKey(kind: "ed25519" | "p256"): KeyObject;
function generatePrivateKey(kind: PrivateKeyKind): KeyObject;
function generatePrivateKey(kind: PrivateKeyKind): KeyObject {
  switch (kind) {
    case "ed25519":
      return generateKeyPairSync("ed25519").privateKey;
    case "p256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    case "rsa4096":
      throw new Error("RSA keys come from the pool: making one here would block the process for a second");
  }
}

/** What signing with an authority needs, read once for each pair that a caller holds on to. */
interface Issuer {
  /** Leaves get a key of the same kind; authorities that kubeadm made are RSA. */
  readonly kind: PrivateKeyKind;
  readonly subject: InstanceType<X509Module["Name"]>;
  readonly keyIdentifier: InstanceType<X509Module["AuthorityKeyIdentifierExtension"]>;
  readonly signingKey: webcrypto.CryptoKey;
}

const issuers = new WeakMap<KeyPair, Promise<Issuer>>();

function issuerOf(x509: X509Module, authority: KeyPair): Promise<Issuer> {
  const known = issuers.get(authority);
  if (known !== undefined) return known;
  const read = readIssuer(x509, authority);
  issuers.set(authority, read);
  return read;
}

async function readIssuer(x509: X509Module, authority: KeyPair): Promise<Issuer> {
  const key = readPrivateKey(authority.key);
  const certificate = new x509.X509Certificate(authority.certificate);
  return {
    kind: kindOf(key),
    subject: certificate.subjectName,
    keyIdentifier: await keyIdentifierOf(x509, certificate),
    signingKey: key.toCryptoKey(keyAlgorithm(key), false, ["sign"]),
  };
}

/** The authority's own identifier need not be the hash of its key, and OpenSSL wants the two to agree. */
function keyIdentifierOf(
  x509: X509Module,
  authority: InstanceType<X509Module["X509Certificate"]>,
): Promise<Issuer["keyIdentifier"]> | Issuer["keyIdentifier"] {
  const own = authority.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  return own === undefined
    ? x509.AuthorityKeyIdentifierExtension.create(authority.publicKey)
    : new x509.AuthorityKeyIdentifierExtension(own);
}

function toCryptoKeys(key: KeyObject): webcrypto.CryptoKeyPair {
  return { privateKey: key.toCryptoKey(keyAlgorithm(key), false, ["sign"]), publicKey: toPublicCryptoKey(key) };
}

function toPublicCryptoKey(key: KeyObject): webcrypto.CryptoKey {
  return createPublicKey(key).toCryptoKey(keyAlgorithm(key), true, ["verify"]);
}

function kindOf(key: KeyObject): PrivateKeyKind {
  return key.asymmetricKeyType === "ed25519" ? "ed25519" : key.asymmetricKeyType === "rsa" ? "rsa4096" : "p256";
}

function keyAlgorithm(key: KeyObject): webcrypto.Algorithm | webcrypto.EcKeyAlgorithm | webcrypto.RsaHashedImportParams {
  switch (kindOf(key)) {
    case "ed25519":
      return { name: "Ed25519" };
    case "p256":
      return { name: "ECDSA", namedCurve: "P-256" };
    case "rsa4096":
      return rsaWithSha512;
  }
}

function signingAlgorithm(kind: PrivateKeyKind): webcrypto.Algorithm | webcrypto.EcdsaParams {
  switch (kind) {
    case "ed25519":
      return { name: "Ed25519" };
    case "p256":
      return { name: "ECDSA", hash: "SHA-256" };
    case "rsa4096":
      return rsaWithSha512;
  }
}

const rsaWithSha512 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" };

function distinguishedName(
  x509: X509Module,
  organizations: readonly string[],
  commonName: string | undefined,
): InstanceType<X509Module["Name"]> {
  // Like Go, all organizations in one set, whose members DER wants in the order of their bytes: shorter ones first.
  const inOrder = [...organizations].toSorted((a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || (a < b ? -1 : 1));
  return new x509.Name([
    ...(inOrder.length === 0 ? [] : [{ O: inOrder.map((value) => ({ utf8String: value })) }]),
    ...(commonName === undefined ? [] : [{ CN: [{ utf8String: commonName }] }]),
  ]);
}

/** 128 random bits, positive. */
function createSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f || 1;
  return bytes.toString("hex");
}

function spkiOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64");
}

/** Go's PEM encoder ends the text with a newline. */
function toPem(text: string): string {
  return `${text.replaceAll("\r\n", "\n").trimEnd()}\n`;
}
