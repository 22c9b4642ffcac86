import { createHash } from "node:crypto";
import type { CertificateFacts, CertificateRequestFacts, KeyPair, Keys, RandomSource } from "@talos-operator/ports";

/**
 * Keys as value tokens: the same questions get the same answers as with X.509 (who signed, for whom, until when, does the key belong to it),
 * but nothing is computed, so a seed gives the same bytes every time. A token looks like PEM because code around it carries PEM.
 */
export function createValueKeys(random: RandomSource): Keys {
  const newId = (): string => Buffer.from(random.bytes(12)).toString("hex");

  const certificateOf = (token: Omit<CertificateToken, "spki">): string => armour("CERTIFICATE", token);

  return {
    createAuthority: async ({ kind, organization, notBefore }) => {
      const id = newId();
      const token: Omit<CertificateToken, "spki"> = {
        id,
        issuer: id,
        isAuthority: true,
        organizations: organization === undefined ? [] : [organization],
        commonName: undefined,
        notBefore,
        notAfter: notBefore + 87_600 * 3_600_000,
      };
      return { certificate: certificateOf(token), key: keyOf(kind === "ed25519" ? "ED25519 PRIVATE KEY" : "EC PRIVATE KEY", id) };
    },
    createPrivateKey: async (kind) => {
      const label = kind === "rsa4096" ? "RSA PRIVATE KEY" : kind === "p256" ? "EC PRIVATE KEY" : "ED25519 PRIVATE KEY";
      return keyOf(label, newId());
    },
    signCertificate: async (authority: KeyPair, request) => {
      const issuer = readCertificate(authority.certificate);
      if (readKey(authority.key).id !== issuer.id) throw new Error("the authority's key does not belong to its certificate");
      const id = newId();
      const token: Omit<CertificateToken, "spki"> = {
        id,
        issuer: issuer.id,
        isAuthority: false,
        organizations: request.organizations ?? [],
        commonName: request.commonName,
        notBefore: request.notBefore,
        notAfter: request.notBefore + request.lifetimeMs,
      };
      return { certificate: certificateOf(token), key: keyOf("EC PRIVATE KEY", id) };
    },
    createCertificateRequest: async (subject) => {
      const id = newId();
      const facts: CertificateRequestFacts = { dnsNames: [], ipAddresses: [], otherNames: [], ...subject };
      return { request: armour(requestLabel, { id, ...facts }), key: keyOf("EC PRIVATE KEY", id) };
    },
    describeCertificateRequest: async (request) => readValueRequest(request),
    describeCertificate: (certificate): CertificateFacts => {
      const token = readCertificate(certificate);
      return {
        organizations: token.organizations,
        commonName: token.commonName,
        notBefore: token.notBefore,
        notAfter: token.notAfter,
        spki: token.spki,
        serial: token.id,
      };
    },
    verifyCertificate: (certificate, authority, at) => {
      const token = readCertificate(certificate);
      const issuer = readCertificate(authority);
      // As TLS libraries do: an authority that is not valid yet vouches for nobody.
      const isInForce = [token, issuer].every(({ notBefore, notAfter }) => notBefore <= at && at < notAfter);
      return issuer.isAuthority && token.issuer === issuer.id && isInForce;
    },
    isPair: (pair) => readCertificate(pair.certificate).id === readKey(pair.key).id,
  };
}

const requestLabel = "CERTIFICATE REQUEST";

/** What a request of these keys asks for. @throws Error for any other text */
export function readValueRequest(request: string): CertificateRequestFacts {
  if (!request.includes(`BEGIN ${requestLabel}-`)) throw new Error("this is no value token of a request");
  return unarmour(request) as CertificateRequestFacts;
}

interface CertificateToken {
  readonly id: string;
  readonly issuer: string;
  readonly isAuthority: boolean;
  readonly organizations: readonly string[];
  readonly commonName: string | undefined;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Follows from the id; not written down. */
  readonly spki: string;
}

function armour(label: string, value: unknown): string {
  const body = Buffer.from(JSON.stringify(value)).toString("base64");
  return `-----BEGIN ${label}-----\n${body.replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;
}

/** The private half of an id, which nothing public has a part of: whoever searches for secrets would find it in every certificate. */
function keyOf(label: string, id: string): string {
  return armour(label, { of: hidden(id) });
}

function hidden(id: string): string {
  return Array.from(id).toReversed().join("");
}

function unarmour(text: string): unknown {
  const match = /-----BEGIN [A-Z0-9 ]+-----\n([\s\S]+?)\n-----END/.exec(text);
  if (match?.[1] === undefined) throw new Error("this is no value token");
  return JSON.parse(Buffer.from(match[1].replaceAll("\n", ""), "base64").toString("utf8"));
}

/** Certificates that were read last: each handshake reads the same ones. */
const MOST_READ = 2_000;
const read = new Map<string, CertificateToken>();

function readCertificate(text: string): CertificateToken {
  const known = read.get(text);
  if (known !== undefined) return known;
  const unread = unarmour(text) as Omit<CertificateToken, "spki">;
  const token = { ...unread, spki: createHash("sha256").update(unread.id).digest("base64") };
  if (read.size >= MOST_READ) read.clear();
  read.set(text, token);
  return token;
}

function readKey(text: string): { readonly id: string } {
  const { of } = unarmour(text) as { readonly of: string };
  return { id: hidden(of) };
}
