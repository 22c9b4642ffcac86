import { isTalosError } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient } from "@talos-operator/talos/client";

/** Where a control plane keeps the data of etcd. */
const DATA_PATH = "/var/lib/etcd";

/**
 * Whether a control plane holds data of etcd, by the folder itself, which is what Talos' own Bootstrap looks at. Nothing else tells it: the resource
 * `EtcdMembers` is there only while etcd runs and is healthy, and a service that prepares, has finished or failed may have data or not.
 *
 * Needs `os:reader`; the same in every Talos release.
 *
 * @returns `undefined` = the machine does not tell
 * @see siderolabs/talos `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go` Bootstrap, List
 */
export async function etcdHasData(client: Pick<TalosClient, "list">, options: CallOptions): Promise<boolean | undefined> {
  try {
    let isFolder = false;
    for await (const { relativeName, isDirectory, error } of client.list({ root: DATA_PATH }, options)) {
      if (relativeName !== ".") return true;
      isFolder = isDirectory && error === "";
    }
    return isFolder ? false : undefined;
  } catch (thrown) {
    if (!isTalosError(thrown)) throw thrown;
    // Made when etcd first prepares, taken away when a member leaves.
    return /no such file or directory/.test(thrown.nodeText) ? false : undefined;
  }
}

/**
 * Whether etcd's image is there, in the store that machined takes it from: containerd's namespace `system` behind the CRI socket. An image of that name
 * counts, whatever its registry and tag; one that a person calls otherwise is not known.
 *
 * Needs `os:reader`. One call from Talos 1.13, two before it.
 *
 * @returns `undefined` = the machine does not tell
 */
export async function hasEtcdImage(client: Pick<TalosClient, "imageList">, options: CallOptions): Promise<boolean | undefined> {
  try {
    const images = await client.imageList("system", options);
    return images.some(({ name }) => /(?:^|\/)etcd(?:[:@]|$)/.test(name));
  } catch (thrown) {
    if (isTalosError(thrown)) return undefined;
    throw thrown;
  }
}
