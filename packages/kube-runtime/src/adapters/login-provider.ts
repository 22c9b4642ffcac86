import type { RequestOptions } from "node:https";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { ProvidedCredentials } from "./https-config.ts";
import type { Fields } from "./kubeconfig-file.ts";

/** True for users whose credentials come from a program or a cloud login. */
export function needsLoginProvider(user: Fields): boolean {
  return user["exec"] !== undefined || user["auth-provider"] !== undefined;
}

/**
 * Credentials by @kubernetes/client-node (exec, OIDC, GCP, Azure). The library costs some 70 MB and 300 ms, so it is loaded at the first
 * request and never for other users. It keeps what it got until that expires.
 */
export function createLoginProvider(cluster: Fields, user: Fields): () => Promise<ProvidedCredentials> {
  let ready: Promise<(options: RequestOptions) => Promise<void>> | undefined;

  async function prepare(): Promise<(options: RequestOptions) => Promise<void>> {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: "cluster", server: typeof cluster["server"] === "string" ? cluster["server"] : "", skipTLSVerify: false },
      { name: "user", exec: user["exec"], authProvider: user["auth-provider"] },
    );
    return (options) => config.applyToHTTPSOptions(options);
  }

  return async () => {
    const options: RequestOptions = {};
    try {
      ready ??= prepare();
      await (
        await ready
      )(options);
    } catch (cause) {
      ready = undefined;
      throw new KubeApiError("CREDENTIALS_UNAVAILABLE", {
        call: "log in",
        detail: "the credential program or login provider of the kubeconfig failed",
        cause,
      });
    }
    return {
      ...(options.headers === undefined ? {} : { headers: headersOf(options.headers) }),
      ...(typeof options.cert === "string" || Buffer.isBuffer(options.cert) ? { certificate: String(options.cert) } : {}),
      ...(typeof options.key === "string" || Buffer.isBuffer(options.key) ? { key: String(options.key) } : {}),
    };
  };
}

function headersOf(headers: NonNullable<RequestOptions["headers"]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name.toLowerCase(), value] as const] : [])),
  );
}
