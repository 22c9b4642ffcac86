import type { SecureVersion } from "node:tls";

/** Where a Kubernetes API is and who we are there. Texts in PEM. */
export interface HttpsTransportConfig {
  /** `https://host:port`, optionally with a path prefix; `http://` only for a local proxy that authenticates for us. */
  readonly server: string;
  /** Who signed the server's certificate; default is the system's list. */
  readonly ca?: string;
  /** As `ca`, read again when the file changes. Wins over `ca`. */
  readonly caFile?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** As `certificate` and `key`, read again when they change (short-lived certificates). Win over the texts. */
  readonly certificateFile?: string;
  readonly keyFile?: string;
  /** Bearer token. */
  readonly token?: string;
  /** Bearer token from a file that is replaced before the token expires. Wins over `token`. */
  readonly tokenFile?: string;
  readonly basicAuth?: { readonly username: string; readonly password: string };
  /** `http://host:port` or `https://host:port` of a proxy through which a tunnel to the server is opened. Default none; the environment is not asked. */
  readonly proxyUrl?: string;
  /** Act as somebody else; the credentials above must be allowed to. */
  readonly impersonate?: Impersonation;
  /** Name that the server certificate must carry, when it is not the host of `server`. */
  readonly serverName?: string;
  /** Do not verify the server. Only ever by explicit configuration. Default false. */
  readonly insecureSkipTlsVerify?: boolean;
  /** Lowest TLS version. Default `TLSv1.2`. */
  readonly minVersion?: SecureVersion;
  /** Credentials that a program or a login provider hands out; asked before each request, so it must cache. Added to the above. */
  readonly provider?: () => Promise<ProvidedCredentials>;
  /** Default `talos-operator`. */
  readonly userAgent?: string;
  /** Requests in flight at once, watches not counted. Default 32. */
  readonly maxConcurrentRequests?: number;
  /** Longest answer that is read, watches not counted; what is longer fails with the code `TOO_LARGE`. Default none: a server of one's own is believed. Bytes. */
  readonly maxAnswerBytes?: number;
  /** For how long a file's content is used without looking whether it changed. Default 10_000. */
  readonly reloadIntervalMs?: number;
}

/** Whom to act as, see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a credential provider gives. */
export interface ProvidedCredentials {
  /** Lower-case header names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly certificate?: string;
  readonly key?: string;
}
