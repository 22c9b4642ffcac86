/**
 * Keys and certificates. In production X.509 (`adapters`), in simulation value tokens with the same checks (who signed, roles, expiry).
 * Everything is PEM text; private Ed25519 keys carry Talos's label `ED25519 PRIVATE KEY`, P-256 `EC PRIVATE KEY`, RSA `RSA PRIVATE KEY`.
 */
export interface Keys {
  /** Self-signed CA, valid ten years, with the key usage and extensions that Talos gives its CAs. */
  createAuthority(request: AuthorityRequest): Promise<KeyPair>;
  /** Bare private key, as for the service account. */
  createPrivateKey(kind: PrivateKeyKind): Promise<string>;
  /** Leaf with a fresh key of the same kind as the authority's. */
  signCertificate(authority: KeyPair, request: CertificateRequest): Promise<KeyPair>;
  /** A fresh P-256 key and the request (PKCS #10, PEM) for a certificate of it. */
  createCertificateRequest(subject: RequestedSubject): Promise<{ readonly request: string; readonly key: string }>;
  /**
   * What a certificate request (PKCS #10, PEM) asks for.
   *
   * @throws Error for what is no request, or was not signed with the key that it is about
   */
  describeCertificateRequest(request: string): Promise<CertificateRequestFacts>;
  /** What a certificate says; signatures are not checked. */
  describeCertificate(certificate: string): CertificateFacts;
  /** True when `certificate` was signed by `authority` and is valid at `at`. */
  verifyCertificate(certificate: string, authority: string, at: number): boolean;
  /** True when the private key belongs to the certificate. */
  isPair(pair: KeyPair): boolean;
}

export type PrivateKeyKind = "ed25519" | "p256" | "rsa4096";

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface AuthorityRequest {
  readonly kind: "ed25519" | "p256";
  /** Subject `O`; none gives an empty subject (the aggregator's CA). */
  readonly organization?: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
}

export interface CertificateRequest {
  readonly usage: "client" | "server";
  /** Subject `O` values in the order given: Talos roles or Kubernetes groups. */
  readonly organizations?: readonly string[];
  readonly commonName?: string;
  readonly notBefore: number;
  readonly lifetimeMs: number;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** For whom a certificate is asked. */
export interface RequestedSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** What a certificate request asks for. */
export interface CertificateRequestFacts {
  readonly commonName: string | undefined;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Names of any other kind (`email`, `url`, `dn`, ...), as `kind:value`. */
  readonly otherNames: readonly string[];
}

export interface CertificateFacts {
  readonly organizations: readonly string[];
  readonly commonName: string | undefined;
  readonly notBefore: number;
  readonly notAfter: number;
  /** base64(SHA-256(SubjectPublicKeyInfo)). */
  readonly spki: string;
  /** Lower-case hex. */
  readonly serial: string;
}
