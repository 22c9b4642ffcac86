import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { isRecord } from "../client/error-of-response.ts";
import { createLoginProvider, needsLoginProvider } from "./login-provider.ts";
import type { HttpsTransportConfig } from "./https-config.ts";
import { type Fields, folderOf, invalidKubeconfig, type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from "./kubeconfig-file.ts";

/** Which kubeconfig. Without any of these: the files of the environment variable `KUBECONFIG`, else `~/.kube/config`. */
export interface KubeconfigSource {
  readonly path?: string;
  /** The text itself, for example from a Secret. Relative file names in it count from the working directory. */
  readonly text?: string;
  /** Default: the file's current context. */
  readonly context?: string;
}

/** What a kubeconfig says. */
export interface LoadedKubeconfig {
  readonly config: HttpsTransportConfig;
  /** Namespace of the context, `default` when it names none. */
  readonly namespace: string;
  readonly context: string;
}

/**
 * Reads a kubeconfig.
 *
 * Certificates, keys, tokens and token files are handled here. A user that logs in by program (`exec`) or provider (`auth-provider`) is handed
 * to @kubernetes/client-node, which is loaded only then.
 *
 * @throws KubeApiError `KUBECONFIG_INVALID` naming file and entry; secrets are never quoted
 */
export async function loadKubeconfig(source: KubeconfigSource = {}): Promise<LoadedKubeconfig> {
  const { file, name } = await readSource(source);
  const contextName = source.context ?? file.currentContext;
  if (contextName === undefined) throw invalidKubeconfig(name, "it has no current-context; name a context");
  const context = file.contexts.get(contextName);
  if (context === undefined) throw invalidKubeconfig(name, `there is no context "${contextName}"`);
  const clusterName = text(context, "cluster");
  const cluster = clusterName === undefined ? undefined : file.clusters.get(clusterName);
  if (cluster === undefined) throw invalidKubeconfig(name, `context "${contextName}" names no known cluster`);
  const userName = text(context, "user");
  const user = userName === undefined ? {} : file.users.get(userName);
  if (user === undefined) throw invalidKubeconfig(name, `context "${contextName}" names the unknown user "${userName ?? ""}"`);

  const server = text(cluster, "server");
  if (server === undefined) throw invalidKubeconfig(name, `cluster "${clusterName ?? ""}" has no server`);
  const config: HttpsTransportConfig = { server, ...clusterPart(cluster, name), ...userPart(user, name) };
  const provider = needsLoginProvider(user) ? createLoginProvider(cluster, user) : undefined;
  return {
    config: provider === undefined ? config : { ...config, provider },
    namespace: text(context, "namespace") ?? "default",
    context: contextName,
  };
}

async function readSource(source: KubeconfigSource): Promise<{ readonly file: Kubeconfig; readonly name: string }> {
  if (source.text !== undefined) return { file: parseKubeconfig(source.text, "(text)", process.cwd()), name: "(text)" };
  const fromEnvironment = (process.env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  const isGiven = source.path !== undefined || fromEnvironment.length === 0;
  const paths = isGiven ? [source.path ?? join(homedir(), ".kube", "config")] : fromEnvironment;
  const files: Kubeconfig[] = [];
  for (const path of paths) {
    let content: string;
    try {
      content = await readFile(path, "utf8");
    } catch (thrown) {
      // As kubectl does: of several files in KUBECONFIG some may be missing.
      if (paths.length > 1 && isMissing(thrown)) continue;
      throw invalidKubeconfig(path, isMissing(thrown) ? "the file does not exist" : "the file cannot be read");
    }
    files.push(parseKubeconfig(content, path, folderOf(path)));
  }
  return { file: mergeKubeconfigs(files), name: paths.join(delimiter) };
}

function clusterPart(cluster: Fields, name: string): Partial<HttpsTransportConfig> {
  const ca = decoded(cluster, "certificate-authority-data", name);
  const caFile = text(cluster, "certificate-authority");
  const serverName = text(cluster, "tls-server-name");
  const proxyUrl = text(cluster, "proxy-url");
  return {
    ...(ca === undefined ? (caFile === undefined ? {} : { caFile }) : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(cluster["insecure-skip-tls-verify"] === true ? { insecureSkipTlsVerify: true } : {}),
  };
}

// The inline form wins over the file, as in kubectl; for tokens it is the other way round.
function userPart(user: Fields, name: string): Partial<HttpsTransportConfig> {
  const certificate = decoded(user, "client-certificate-data", name);
  const key = decoded(user, "client-key-data", name);
  const files = {
    certificateFile: text(user, "client-certificate"),
    keyFile: text(user, "client-key"),
    tokenFile: text(user, "tokenFile"),
  };
  const token = text(user, "token");
  const username = text(user, "username");
  return {
    ...(certificate === undefined
      ? files.certificateFile === undefined
        ? {}
        : { certificateFile: files.certificateFile }
      : { certificate }),
    ...(key === undefined ? (files.keyFile === undefined ? {} : { keyFile: files.keyFile }) : { key }),
    ...(token === undefined ? {} : { token }),
    ...(files.tokenFile === undefined ? {} : { tokenFile: files.tokenFile }),
    ...(username === undefined ? {} : { basicAuth: { username, password: text(user, "password") ?? "" } }),
    ...impersonationPart(user, name),
  };
}

function impersonationPart(user: Fields, name: string): Partial<HttpsTransportConfig> {
  const { as, "as-uid": uid, "as-groups": groups = [], "as-user-extra": extra = {} } = user;
  if (as === undefined && user["as-uid"] === undefined && user["as-groups"] === undefined && user["as-user-extra"] === undefined) return {};
  const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((one) => typeof one === "string");
  const hasWrongExtra = !isRecord(extra) || !Object.values(extra).every(isTexts);
  if (typeof as !== "string" || as === "" || !(uid === undefined || typeof uid === "string") || !isTexts(groups) || hasWrongExtra) {
    throw invalidKubeconfig(name, "impersonation needs a text in as, and lists of texts in as-groups and as-user-extra");
  }
  return {
    impersonate: { user: as, groups, extra: extra as Record<string, readonly string[]>, ...(uid === undefined ? {} : { uid }) },
  };
}

function decoded(fields: Fields, field: string, source: string): string | undefined {
  const value = text(fields, field);
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value, "base64").toString("utf8");
  if (!bytes.includes("-----BEGIN ")) throw invalidKubeconfig(source, `"${field}" is not base64 of PEM`);
  return bytes;
}

function text(fields: Fields, field: string): string | undefined {
  const value = fields[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
