/** Certificates for tests, made once per process: the authority of a cluster, another one, and leaves of both. */
import { createX509Keys } from "@talos-operator/adapters";
import type { CertificateRequest, KeyPair } from "@talos-operator/ports";

const DAY_MS = 86_400_000;

export interface TestPki {
  readonly authority: KeyPair;
  readonly foreignAuthority: KeyPair;
  server(request?: Partial<CertificateRequest>, authority?: KeyPair): Promise<KeyPair>;
  client(request?: Partial<CertificateRequest>, authority?: KeyPair): Promise<KeyPair>;
  spkiOf(certificate: string): string;
}

export async function createTestPki(): Promise<TestPki> {
  const keys = createX509Keys();
  const notBefore = Date.now() - 3_600_000;
  const authority = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore });
  const foreignAuthority = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore });
  const sign = (base: CertificateRequest, request: Partial<CertificateRequest> | undefined, by: KeyPair): Promise<KeyPair> =>
    keys.signCertificate(by, { ...base, ...request });
  return {
    authority,
    foreignAuthority,
    server: (request, by = authority) =>
      sign(
        {
          usage: "server",
          commonName: "node-1",
          notBefore,
          lifetimeMs: DAY_MS,
          ipAddresses: ["127.0.0.1", "::1"],
          dnsNames: ["localhost"],
        },
        request,
        by,
      ),
    client: (request, by = authority) => sign({ usage: "client", organizations: ["os:admin"], notBefore, lifetimeMs: DAY_MS }, request, by),
    spkiOf: (certificate) => keys.describeCertificate(certificate).spki,
  };
}
