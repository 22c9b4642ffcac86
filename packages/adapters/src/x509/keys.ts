import { createHash, createPublicKey, generateKeyPairSync, randomBytes, webcrypto, X509Certificate, type KeyObject } from "node:crypto";
import type { AuthorityRequest, CertificateFacts, CertificateRequest, KeyPair, Keys, PrivateKeyKind } from "@talos-operator/ports";
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
      const keys = await toCryptoKeys(key);
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        serialNumber: createSerial(),
        name: distinguishedName(x509, request.organization === undefined ? [] : [request.organization], undefined),
        notBefore: new Date(request.notBefore),
        notAfter: new Date(request.notBefore + TEN_YEARS_MS),
        keys,
        signingAlgorithm: signingAlgorithm(key),
        extensions: [
          new x509.BasicConstraintsExtension(true, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      return { certificate: toPem(certificate.toString("pem")), key: writePrivateKey(key) };
    },

    async createPrivateKey(kind: PrivateKeyKind): Promise<string> {
      return writePrivateKey(kind === "rsa4096" ? await pool.take() : generatePrivateKey(kind));
    },

    async signCertificate(authority: KeyPair, request: CertificateRequest): Promise<KeyPair> {
      const x509 = await loadX509();
      const issuerKey = readPrivateKey(authority.key);
      const issuer = new x509.X509Certificate(authority.certificate);
      const leafKey = generatePrivateKey(issuerKey.asymmetricKeyType === "ed25519" ? "ed25519" : "p256");
      const { publicKey } = await toCryptoKeys(leafKey);
      const names = [
        ...(request.dnsNames ?? []).map((value) => ({ type: "dns" as const, value })),
        ...(request.ipAddresses ?? []).map((value) => ({ type: "ip" as const, value })),
      ];
      // Kubernetes wants keyEncipherment on its certificates, Talos gives its own only digitalSignature.
      const keyEncipherment = issuerKey.asymmetricKeyType === "ed25519" ? 0 : x509.KeyUsageFlags.keyEncipherment;
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: createSerial(),
        subject: distinguishedName(x509, request.organizations ?? [], request.commonName),
        issuer: issuer.subjectName,
        notBefore: new Date(request.notBefore),
        notAfter: new Date(request.notBefore + request.lifetimeMs),
        publicKey,
        signingKey: (await toCryptoKeys(issuerKey)).privateKey,
        signingAlgorithm: signingAlgorithm(issuerKey),
        extensions: [
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | keyEncipherment, true),
          new x509.ExtendedKeyUsageExtension([
            request.usage === "client" ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth,
          ]),
          await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
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
      return { certificate: toPem(certificate.toString("pem")), key: writePrivateKey(leafKey) };
    },

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

type X509Module = typeof import("@peculiar/x509");

/** 180 ms and 19 MB, so only a process that issues certificates pays for it. */
async function loadX509(): Promise<X509Module> {
  return (await import("./library.ts")).x509;
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

async function toCryptoKeys(key: KeyObject): Promise<webcrypto.CryptoKeyPair> {
  const algorithm = key.asymmetricKeyType === "ed25519" ? { name: "Ed25519" } : { name: "ECDSA", namedCurve: "P-256" };
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  return {
    privateKey: await webcrypto.subtle.importKey("pkcs8", new Uint8Array(pkcs8), algorithm, false, ["sign"]),
    publicKey: await webcrypto.subtle.importKey("spki", new Uint8Array(spki), algorithm, true, ["verify"]),
  };
}

function signingAlgorithm(key: KeyObject): webcrypto.Algorithm | webcrypto.EcdsaParams {
  return key.asymmetricKeyType === "ed25519" ? { name: "Ed25519" } : { name: "ECDSA", hash: "SHA-256" };
}

function distinguishedName(
  x509: X509Module,
  organizations: readonly string[],
  commonName: string | undefined,
): InstanceType<X509Module["Name"]> {
  return new x509.Name([
    ...organizations.map((value) => ({ O: [{ utf8String: value }] })),
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
