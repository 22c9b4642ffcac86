import { createHash } from "node:crypto";
import type { AuthorityRequest, CertificateFacts, CertificateRequest, CertificateRequestFacts, KeyPair, Keys } from "@talos-operator/ports";

interface Token {
  readonly serial: string;
  readonly key: string;
  readonly issuer: string;
  readonly organizations: readonly string[];
  readonly commonName?: string | undefined;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Keys and certificates as readable values: who signed, roles and expiry are checked, nothing is computed. */
export function createTokenKeys(): Keys {
  let count = 0;
  const issue = (issuer: string | undefined, token: Omit<Token, "serial" | "key" | "issuer">): KeyPair => {
    count += 1;
    const key = `key-${count}`;
    const full: Token = { serial: String(count), key: hash(key), issuer: issuer ?? hash(key), ...token };
    return { certificate: `CERTIFICATE ${JSON.stringify(full)}`, key: `PRIVATE KEY ${key}` };
  };
  const read = (certificate: string): Token => JSON.parse(certificate.replace(/^CERTIFICATE /, "")) as Token;
  const tenYearsMs = 10 * 365 * 86_400_000;
  return {
    createAuthority: (request: AuthorityRequest) =>
      Promise.resolve(
        issue(undefined, {
          organizations: request.organization === undefined ? [] : [request.organization],
          notBefore: request.notBefore,
          notAfter: request.notBefore + tenYearsMs,
        }),
      ),
    createPrivateKey: () => {
      count += 1;
      return Promise.resolve(`PRIVATE KEY key-${count}`);
    },
    signCertificate: (authority: KeyPair, request: CertificateRequest) =>
      Promise.resolve(
        issue(hash(authority.key.replace(/^PRIVATE KEY /, "")), {
          organizations: request.organizations ?? [],
          commonName: request.commonName,
          notBefore: request.notBefore,
          notAfter: request.notBefore + request.lifetimeMs,
        }),
      ),
    createCertificateRequest: (subject) => {
      count += 1;
      const facts = { dnsNames: [], ipAddresses: [], otherNames: [], ...subject };
      return Promise.resolve({ request: `CERTIFICATE REQUEST ${JSON.stringify(facts)}`, key: `PRIVATE KEY key-${count}` });
    },
    describeCertificateRequest: (request) =>
      Promise.resolve(JSON.parse(request.replace(/^CERTIFICATE REQUEST /, "")) as CertificateRequestFacts),
    describeCertificate: (certificate): CertificateFacts => {
      const token = read(certificate);
      return {
        organizations: token.organizations,
        commonName: token.commonName,
        notBefore: token.notBefore,
        notAfter: token.notAfter,
        spki: token.key,
        serial: token.serial,
      };
    },
    verifyCertificate: (certificate, authority, at) => {
      const token = read(certificate);
      return token.issuer === read(authority).key && at >= token.notBefore && at <= token.notAfter;
    },
    isPair: (pair) => read(pair.certificate).key === hash(pair.key.replace(/^PRIVATE KEY /, "")),
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
