import { createX509Keys, systemClock, systemRandom, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import { createHttpsTransport } from "@talos-operator/kube-runtime/https";
import type { KeyPair, KubeTransport } from "@talos-operator/ports";
import { createApiServer, createMemoryStore } from "../index.ts";
import type { ApiServer, ApiServerOptions } from "../index.ts";
import { serveHttps } from "../adapters/https-server.ts";
import type { HttpsFrontEnd, HttpsOptions } from "../adapters/https-server.ts";

/** Bearer token of `token-user` on a test server. */
export const testToken = "a-token-for-tests";

/** A served API for tests, on a port of the operating system's choice. */
export interface TestServer {
  readonly api: ApiServer;
  readonly https: HttpsFrontEnd;
  readonly authority: KeyPair;
  readonly admin: KeyPair;
  /** As `admin` in `system:masters`, over TLS. */
  readonly transport: KubeTransport;
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Starts one with its own PKI. */
export async function startTestServer(options: Partial<ApiServerOptions> = {}, front: Partial<HttpsOptions> = {}): Promise<TestServer> {
  const keys = createX509Keys();
  const notBefore = systemClock.now() - 60_000;
  const authority = await keys.createAuthority({ kind: "p256", organization: "test", notBefore });
  const lifetimeMs = 3_600_000;
  const serving = await keys.signCertificate(authority, {
    usage: "server",
    notBefore,
    lifetimeMs,
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["localhost"],
  });
  const admin = await keys.signCertificate(authority, {
    usage: "client",
    notBefore,
    lifetimeMs,
    commonName: "admin",
    organizations: ["system:masters"],
  });
  const api = await createApiServer({
    store: createMemoryStore(),
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    workedMs: threadWorkedMs,
    ...options,
  });
  const https = await serveHttps(api, {
    address: "127.0.0.1",
    port: 0,
    certificate: serving,
    clientAuthorities: [authority.certificate],
    tokens: new Map([[testToken, { name: "token-user", groups: ["testers"] }]]),
    ...front,
  });
  const transport = createHttpsTransport({ server: https.url, ca: authority.certificate, certificate: admin.certificate, key: admin.key });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    api,
    https,
    authority,
    admin,
    transport,
    kubeconfig: JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      clusters: [{ name: "test", cluster: { server: https.url, "certificate-authority-data": base64(authority.certificate) } }],
      users: [{ name: "test", user: { "client-certificate-data": base64(admin.certificate), "client-key-data": base64(admin.key) } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    }),
    close: async () => {
      transport.close();
      await https.close();
      api.close();
    },
  };
}
