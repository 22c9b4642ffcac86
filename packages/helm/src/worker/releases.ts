import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import { isNotFound } from "@talos-operator/kube-runtime";
import type { ReleaseName } from "../task/task.ts";

/** Labels that this operator's revisions bear, stored by Helm with each of them. */
export const releaseLabels = {
  owner: "talos-operator.dev/owner",
  inputs: "talos-operator.dev/inputs",
  run: "talos-operator.dev/run",
} as const;

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** A revision, as the labels of its Secret tell it. */
export interface StoredRevision {
  readonly number: number;
  /** Helm's word: `deployed`, `failed`, `pending-upgrade`. */
  readonly status: string;
  readonly owner: string | undefined;
  readonly inputs: string | undefined;
  readonly run: string | undefined;
  readonly secret: { readonly namespace: string; readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

interface ReleaseSecret {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** All revisions of a release, newest first. @throws KubeApiError */
export async function storedRevisions(client: KubeClient, { name, namespace }: ReleaseName): Promise<readonly StoredRevision[]> {
  const { items } = await client.resource<ReleaseSecret>(secrets).list({ namespace, labelSelector: `owner=helm,name=${name}` });
  return items
    .map(({ metadata }) => {
      const labels = metadata.labels ?? {};
      return {
        number: Number(labels["version"] ?? "0"),
        status: labels["status"] ?? "",
        owner: labels[releaseLabels.owner],
        inputs: labels[releaseLabels.inputs],
        run: labels[releaseLabels.run],
        secret: { namespace, name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
      };
    })
    .toSorted((a, b) => b.number - a.number);
}

/**
 * Takes a revision away that a run of ours left half done. Helm then goes on from the one before it; objects that the run made bear the release's name, and the
 * next revision takes them up.
 */
export async function dropRevision(client: KubeClient, { secret }: StoredRevision): Promise<void> {
  try {
    await client
      .resource<ReleaseSecret>(secrets)
      .delete(secret, { preconditions: { uid: secret.uid, resourceVersion: secret.resourceVersion } });
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
  }
}
