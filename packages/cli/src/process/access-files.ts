import { kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import type { NamedObject } from "./apply-object.ts";
import type { DataFolder } from "./data-folder.ts";

const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;

/** Copies of the access Secrets of one cluster, as files for the tools of a person at this machine. */
export interface AccessFiles {
  readonly cluster: string;
  readonly kubeconfig: string;
  readonly talosconfig: string;
}

/** Writes the access Secrets of an applied cluster into the data folder; `undefined` while they are not there. */
async function writeAccessFiles(client: KubeClient, folder: DataFolder, object: NamedObject): Promise<AccessFiles | undefined> {
  const { name, namespace = "default" } = object.metadata;
  const kubeconfig = await readSecretText(client, namespace, kubeconfigSecretName(name));
  const talosconfig = await readSecretText(client, namespace, talosconfigSecretName(name));
  if (kubeconfig === undefined || talosconfig === undefined) return undefined;
  folder.keep(kubeconfig, "clusters", namespace, name, "kubeconfig");
  folder.keep(talosconfig, "clusters", namespace, name, "talosconfig");
  return {
    cluster: `${namespace}/${name}`,
    kubeconfig: folder.file("clusters", namespace, name, "kubeconfig"),
    talosconfig: folder.file("clusters", namespace, name, "talosconfig"),
  };
}

/** Those of everything that was applied and has access Secrets, as far as they are there. */
export async function writeAllAccessFiles(
  client: KubeClient,
  folder: DataFolder,
  applied: readonly NamedObject[],
): Promise<readonly AccessFiles[]> {
  const files: AccessFiles[] = [];
  for (const owner of applied.filter(({ kind }) => OWNERS.has(kind))) {
    const written = await writeAccessFiles(client, folder, owner);
    if (written !== undefined) files.push(written);
  }
  return files;
}

const OWNERS: ReadonlySet<string> = new Set(["KubernetesCluster", "TalosCluster", "TalosControlPlane"]);

/** The text in a Secret that holds one file; `undefined` when there is no such Secret. */
export async function readSecretText(client: KubeClient, namespace: string, name: string): Promise<string | undefined> {
  const found = await client.resource<KubeObject & { data?: Record<string, string> }>(secrets).tryGet({ name, namespace });
  const [value] = Object.values(found?.data ?? {});
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
