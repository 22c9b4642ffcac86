import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { HttpsTransportConfig } from "./https-config.ts";

/** What a pod knows about its API server. */
export interface InClusterConfig {
  readonly config: HttpsTransportConfig;
  /** Namespace of the pod. */
  readonly namespace: string;
}

/** Where Kubernetes mounts the service account. */
const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** True when this process runs in a pod with a service account. */
export function isInCluster(
  folder: string = serviceAccountFolder,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return env["KUBERNETES_SERVICE_HOST"] !== undefined && existsSync(join(folder, "token"));
}

/**
 * Configuration from inside a pod. Token and CA are files that the kubelet replaces; both are followed.
 *
 * @throws KubeApiError `CREDENTIALS_UNAVAILABLE` outside of a pod
 */
export async function inClusterConfig(
  folder: string = serviceAccountFolder,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<InClusterConfig> {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  if (host === undefined || host === "" || !isInCluster(folder, env)) {
    throw new KubeApiError("CREDENTIALS_UNAVAILABLE", {
      call: "read the in-cluster configuration",
      detail: "this process does not run in a pod with a service account; give a kubeconfig instead",
    });
  }
  return {
    config: {
      server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
      caFile: join(folder, "ca.crt"),
      tokenFile: join(folder, "token"),
    },
    namespace: await readNamespace(folder),
  };
}

async function readNamespace(folder: string): Promise<string> {
  try {
    return (await readFile(join(folder, "namespace"), "utf8")).trim() || "default";
  } catch {
    return "default"; // projected volumes may leave the file out
  }
}
