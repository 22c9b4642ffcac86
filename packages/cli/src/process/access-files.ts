import { kubeconfigSecretName, talosconfigSecretName, talosControlPlaneResource } from "@talos-operator/api";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import type { DataFolder } from "./data-folder.ts";

const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;

/** How often the files of tools are brought up to date with their Secrets, milliseconds. */
const WRITE_EVERY_MS = 5_000;

type Metadata = NonNullable<KubeObject["metadata"]>;

/** Copies of the access Secrets of one cluster, as files for the tools of a person at this machine. */
export interface AccessFiles {
  readonly cluster: string;
  readonly kubeconfig: string;
  readonly talosconfig: string;
}

/** Keeps files of the access Secrets of every cluster of the API, whoever made it. */
interface AccessKeeper {
  /** Writes what changed; the files of all clusters that have access Secrets. */
  readonly write: () => Promise<readonly AccessFiles[]>;
  /** As `write`, when it is time: the files of clusters that no call gave before. */
  readonly writeNews: () => Promise<readonly AccessFiles[]>;
}

export function keepAccessFiles(client: KubeClient, folder: DataFolder, now: () => number): AccessKeeper {
  const given = new Set<string>();
  let writtenAt = Number.NEGATIVE_INFINITY;
  const write = async (): Promise<readonly AccessFiles[]> => {
    writtenAt = now();
    const files: AccessFiles[] = [];
    for (const { metadata = {} } of (await client.resource(talosControlPlaneResource).list()).items) {
      const written = await writeAccessFiles(client, folder, metadata);
      if (written !== undefined) files.push(written);
    }
    return files;
  };
  const give = (files: readonly AccessFiles[]): readonly AccessFiles[] => {
    for (const { cluster } of files) given.add(cluster);
    return files;
  };
  return {
    write: async () => give(await write()),
    writeNews: async () => (now() - writtenAt < WRITE_EVERY_MS ? [] : give((await write()).filter(({ cluster }) => !given.has(cluster)))),
  };
}

/** Writes the access Secrets of one cluster into the data folder; `undefined` while they are not there. */
async function writeAccessFiles(client: KubeClient, folder: DataFolder, controlPlane: Metadata): Promise<AccessFiles | undefined> {
  const { namespace = "default" } = controlPlane;
  const name = accessName(controlPlane);
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

/** Access Secrets are named after whoever made the control plane. */
export function accessName({ name = "", ownerReferences = [] }: Metadata): string {
  return ownerReferences[0]?.name ?? name;
}

/** The text in a Secret that holds one file; `undefined` when there is no such Secret. */
export async function readSecretText(client: KubeClient, namespace: string, name: string): Promise<string | undefined> {
  const found = await client.resource<KubeObject & { data?: Record<string, string> }>(secrets).tryGet({ name, namespace });
  const [value] = Object.values(found?.data ?? {});
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
