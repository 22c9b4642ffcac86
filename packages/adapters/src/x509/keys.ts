import { createHash, generateKeyPairSync, X509Certificate, type KeyObject } from "node:crypto";
import type { AuthorityRequest, CertificateFacts, CertificateRequest, KeyPair, Keys, PrivateKeyKind } from "@talos-operator/ports";
import {
  authorityKeyIdentifier,
  basicConstraints,
  distinguishedName,
  extendedKeyUsage,
  keyUsage,
  signedCertificate,
  subjectAlternativeNames,
  subjectKeyIdentifier,
} from "./certificate.ts";
import { issuerOf } from "./issuer.ts";
import { createKeyPair } from "./key-pair.ts";
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

/** Creates keys and certificates as the genuine Talos libraries do. */
export function createX509Keys(options: X509KeysOptions = {}): X509Keys {
  const pool = createRsaPool(options.rsaPoolSize ?? 0);

  return {
    async createAuthority(request: AuthorityRequest): Promise<KeyPair> {
      const key = generatePrivateKey(request.kind);
      const name = distinguishedName(request.organization === undefined ? [] : [request.organization], undefined);
      const certificate = await signedCertificate(
        {
          issuer: name,
          subject: name,
          notBefore: request.notBefore,
          notAfter: request.notBefore + TEN_YEARS_MS,
          key,
          extensions: [
            basicConstraints(),
            keyUsage("digitalSignature", "keyCertSign"),
            extendedKeyUsage("server", "client"),
            subjectKeyIdentifier(key),
          ],
        },
        key,
      );
      return createKeyPair(certificate, writePrivateKey(key));
    },

    async createPrivateKey(kind: PrivateKeyKind): Promise<string> {
      return writePrivateKey(kind === "rsa4096" ? await pool.take() : generatePrivateKey(kind));
    },

    async signCertificate(authority: KeyPair, request: CertificateRequest): Promise<KeyPair> {
      const { organizations = [], commonName, dnsNames = [], ipAddresses = [] } = request;
      const issuer = issuerOf(authority);
      // Leaves get a key of the same kind as their authority; authorities that kubeadm made are RSA.
      const kind = kindOf(issuer.key);
      const leafKey = kind === "rsa4096" ? await pool.take() : generatePrivateKey(kind);
      const hasNames = dnsNames.length > 0 || ipAddresses.length > 0;
      const certificate = await signedCertificate(
        {
          issuer: issuer.subject,
          subject: distinguishedName(organizations, commonName),
          notBefore: request.notBefore,
          notAfter: request.notBefore + request.lifetimeMs,
          key: leafKey,
          extensions: [
            // Kubernetes wants keyEncipherment on its certificates, Talos gives its own only digitalSignature.
            kind === "ed25519" ? keyUsage("digitalSignature") : keyUsage("digitalSignature", "keyEncipherment"),
            extendedKeyUsage(request.usage),
            authorityKeyIdentifier(issuer.keyIdentifier),
            // RFC 5280 4.2.1.6: the alternative names must be critical where the subject is empty.
            ...(hasNames ? [subjectAlternativeNames(dnsNames, ipAddresses, commonName === undefined && organizations.length === 0)] : []),
          ],
        },
        issuer.key,
      );
      return createKeyPair(certificate, writePrivateKey(leafKey));
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

function kindOf(key: KeyObject): PrivateKeyKind {
  return key.asymmetricKeyType === "ed25519" ? "ed25519" : key.asymmetricKeyType === "rsa" ? "rsa4096" : "p256";
}

function spkiOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64");
}
