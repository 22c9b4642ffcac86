import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { ReleaseName } from "../task/task.ts";
import type { Job } from "./job.ts";

/** Labels that this operator's revisions bear, stored by Helm with each of them. */
export const releaseLabels = {
  owner: "talos-operator.dev/owner",
  inputs: "talos-operator.dev/inputs",
  run: "talos-operator.dev/run",
} as const;

/** On the revision that a rollback of ours is about to replace: the run. */
const ROLLBACK = "talos-operator.dev/rollback";

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** A revision, as the labels of its Secret tell it. */
export interface StoredRevision {
  readonly number: number;
  /** Helm's word: `deployed`, `failed`, `pending-upgrade`. */
  readonly status: string;
  readonly owner: string | undefined;
  readonly inputs: string | undefined;
  /** The run of ours that made it. Absent when the label was inherited: Helm gives it to what a person makes afterwards, too, and to every rollback. */
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
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** All revisions of a release, newest first. @throws KubeApiError */
export async function storedRevisions(client: KubeClient, { name, namespace }: ReleaseName): Promise<readonly StoredRevision[]> {
  const { items } = await client.resource<ReleaseSecret>(secrets).list({ namespace, labelSelector: `owner=helm,name=${name}` });
  const found = items
    .map(({ metadata }) => {
      const labels = metadata.labels ?? {};
      return {
        number: Number(labels["version"] ?? "0"),
        status: labels["status"] ?? "",
        owner: labels[releaseLabels.owner],
        inputs: labels[releaseLabels.inputs],
        run: labels[releaseLabels.run],
        rollback: metadata.annotations?.[ROLLBACK],
        secret: { namespace, name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
      };
    })
    .toSorted((a, b) => b.number - a.number);
  return found.map((revision, index) => {
    const older = found.slice(index + 1);
    const isInherited = older.some(({ run }) => run === revision.run);
    const run = revision.status === "pending-rollback" ? older[0]?.rollback : isInherited ? undefined : revision.run;
    const { number, status, owner, inputs, secret } = revision;
    return { number, status, owner, inputs, run, secret };
  });
}

/**
 * Says of a revision that a run of ours left half done that it failed, as Helm itself would have. Helm then goes on from it: what it made and nobody asks for any
 * more goes with the next revision, or with the release.
 */
export async function failRevision({ client, deps }: Pick<Job, "client" | "deps">, { secret }: StoredRevision): Promise<void> {
  const found = await client.resource<ReleaseSecret>(secrets).get(secret);
  if (found.metadata.resourceVersion !== secret.resourceVersion) return;
  const release = failed(deps.scratch.gunzip(text(text(found.data?.["release"] ?? "").toString("latin1"))));
  const data = Buffer.from(deps.scratch.gzip(Buffer.from(JSON.stringify(release))).toString("base64")).toString("base64");
  const labels = { ...found.metadata.labels, status: "failed" };
  await client.resource<ReleaseSecret>(secrets).update({ ...found, metadata: { ...found.metadata, labels }, data: { release: data } });
}

const text = (base64: string): Buffer => Buffer.from(base64, "base64");

function failed(json: Buffer): object {
  const release = JSON.parse(json.toString("utf8")) as { readonly info?: object };
  return { ...release, info: { ...release.info, status: "failed", description: "The run that was at work on it has ended" } };
}

/** Writes down that a run is about to roll back: Helm gives the revision of a rollback the labels of its target, and not those of a run. */
export async function announceRollback(client: KubeClient, { secret }: StoredRevision, run: string): Promise<void> {
  await client.resource<ReleaseSecret>(secrets).patch(secret, { type: "merge", value: { metadata: { annotations: { [ROLLBACK]: run } } } });
}
