import type { RequestOptions } from "node:https";
import type { SecureVersion } from "node:tls";
import { createFileSource } from "./file-source.ts";
import type { HttpsTransportConfig, Impersonation } from "./https-config.ts";

/** What decides who the two sides of a connection are. */
export interface TlsIdentity extends Pick<RequestOptions, "ca" | "cert" | "key" | "servername"> {
  readonly rejectUnauthorized: boolean;
  readonly minVersion: SecureVersion;
}

/** TLS options and headers of the next request. */
interface RequestIdentity {
  readonly tls: TlsIdentity;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/** Follows the files and providers of a configuration. */
export interface Credentials {
  /** @throws KubeApiError `CREDENTIALS_UNAVAILABLE` */
  current(): Promise<RequestIdentity>;
  /** The server said 401: look at the files again. True when that may change anything. */
  expire(): boolean;
}

/** Credentials as a configuration describes them. */
export function createCredentials(config: HttpsTransportConfig): Credentials {
  const source = (path: string | undefined) => (path === undefined ? undefined : createFileSource(path, config.reloadIntervalMs ?? 10_000));
  const files = {
    ca: source(config.caFile),
    certificate: source(config.certificateFile),
    key: source(config.keyFile),
    token: source(config.tokenFile),
  };
  const impersonation = config.impersonate === undefined ? {} : impersonationHeaders(config.impersonate);
  return {
    async current() {
      const provided = await config.provider?.();
      const [ca, cert, key, token] = await Promise.all([
        files.ca?.read() ?? config.ca,
        files.certificate?.read() ?? provided?.certificate ?? config.certificate,
        files.key?.read() ?? provided?.key ?? config.key,
        files.token?.read() ?? config.token,
      ]);
      return {
        tls: {
          minVersion: config.minVersion ?? "TLSv1.2",
          rejectUnauthorized: config.insecureSkipTlsVerify !== true,
          ...(ca === undefined ? {} : { ca }),
          ...(cert === undefined ? {} : { cert }),
          ...(key === undefined ? {} : { key }),
          ...(config.serverName === undefined ? {} : { servername: config.serverName }),
        },
        headers: { ...authorization(token, config.basicAuth), ...provided?.headers, ...impersonation },
      };
    },
    expire() {
      for (const file of Object.values(files)) file?.expire();
      return files.token !== undefined || files.certificate !== undefined;
    },
  };
}

/** Whether a connection that was opened for `one` may carry requests of `other`; the name of the server and the rest never change. */
export function sameIdentity(one: Pick<TlsIdentity, "ca" | "cert" | "key">, other: Pick<TlsIdentity, "ca" | "cert" | "key">): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

function authorization(token: string | undefined, basic: HttpsTransportConfig["basicAuth"]): Record<string, string> {
  if (token !== undefined && token.trim() !== "") return { authorization: `Bearer ${token.trim()}` };
  if (basic === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}` };
}

function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): Record<string, string | string[]> {
  return {
    "impersonate-user": user,
    ...(uid === undefined ? {} : { "impersonate-uid": uid }),
    ...(groups.length === 0 ? {} : { "impersonate-group": [...groups] }),
    // Keys are percent-encoded where a header name could not hold them.
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, [...values]])),
  };
}
