import {
  kubeconfigSecretName,
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosClusterResource,
  talosControlPlaneResource,
} from "@talos-operator/api";
import type { TalosCluster, TalosClusterAddon, TalosClusterAddonRelease, TalosControlPlane } from "@talos-operator/api";
import type { HelmResult, HelmSecrets, PreviewTask } from "@talos-operator/helm";
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from "@talos-operator/kube-runtime";
import { validateRelease } from "../addons/validate-release.ts";
import { wishOf } from "../addons/wish.ts";
import { releaseFor } from "../controllers/talosclusteraddon/compose.ts";
import { releaseOn, selects, viewOf } from "../controllers/talosclusteraddon/seen.ts";
import { clustersOf } from "../controllers/talosclusteraddon/selection.ts";
import { clusterOf } from "../controllers/talosclusteraddonrelease/cluster-of.ts";
import { taskTimeoutMs } from "../controllers/talosclusteraddonrelease/begin.ts";
import { planned } from "../controllers/talosclusteraddonrelease/preview.ts";
import { readAccess, readValues } from "../controllers/talosclusteraddonrelease/read-values.ts";
import { accessOwner } from "../procedures/access/rule.ts";
import { secretText, secretType } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";

/** Objects of a manifest that say something about addons. */
export type EditedAddon = TalosClusterAddon | TalosClusterAddonRelease;

/** What an edit would change of one release. */
export interface WhatIfAddon {
  /** `namespace/name` of the TalosClusterAddonRelease. */
  readonly release: string;
  /** What Helm would do, or why nobody can tell. */
  readonly words: string;
  /** What it would make, change and delete: an object, and of its fields the new values. As many as there is room for. */
  readonly changes: readonly string[];
}

/** What {@link whatIfAddons} needs beside the objects. */
export interface WhatIfAddonPorts {
  readonly client: KubeClient;
  /** Gives a task to a worker with Helm; it changes nothing. */
  readonly give: (task: PreviewTask, secrets: HelmSecrets) => Promise<HelmResult>;
  readonly allowPlainText?: boolean;
}

/**
 * What Helm would do by an edit that nobody made, release by release. Values, access and the kubeconfig of each cluster are read with the rights of who asks; Helm is
 * asked as by a dry run. Of clusters those of the addon's own namespace are looked at.
 */
export async function whatIfAddons(edited: readonly EditedAddon[], ports: WhatIfAddonPorts): Promise<readonly WhatIfAddon[]> {
  const results: WhatIfAddon[] = [];
  for (const [namespace, objects] of Map.groupBy(edited, ({ metadata }) => metadata.namespace ?? "default")) {
    const stored = await readStored(namespace, ports.client);
    for (const release of objects.flatMap((object) => releasesOf(object, stored)))
      results.push({
        release: `${namespace}/${release.metadata.name}`,
        ...(await foreseen(release, stored, ports)),
      });
  }
  return results;
}

interface Stored {
  readonly controlPlanes: readonly TalosControlPlane[];
  readonly talosClusters: readonly TalosCluster[];
  readonly addons: readonly TalosClusterAddon[];
  readonly releases: readonly TalosClusterAddonRelease[];
}

async function readStored(namespace: string, client: KubeClient): Promise<Stored> {
  const list = async <T extends KubeObject>(type: ResourceType): Promise<readonly T[]> =>
    (await client.resource<T>(type).list({ namespace })).items;
  const [controlPlanes, talosClusters, addons, releases] = await Promise.all([
    list<TalosControlPlane>(talosControlPlaneResource),
    list<TalosCluster>(talosClusterResource),
    list<TalosClusterAddon>(talosClusterAddonResource),
    list<TalosClusterAddonRelease>(talosClusterAddonReleaseResource),
  ]);
  return { controlPlanes, talosClusters, addons, releases };
}

/** The releases as they would be after the edit. */
function releasesOf(edited: EditedAddon, stored: Stored): readonly TalosClusterAddonRelease[] {
  if (edited.kind === "TalosClusterAddonRelease") {
    const known = stored.releases.find(({ metadata }) => metadata.name === edited.metadata.name);
    return [
      { ...edited, metadata: { ...known?.metadata, ...edited.metadata }, ...(known?.status === undefined ? {} : { status: known.status }) },
    ];
  }
  const known = stored.addons.find(({ metadata }) => metadata.name === edited.metadata.name);
  // What is not stored yet owns nothing yet.
  const addon: TalosClusterAddon = { ...edited, metadata: { uid: "plan", ...known?.metadata, ...edited.metadata } };
  const clusters = clustersOf(stored.controlPlanes, stored.talosClusters);
  const view = viewOf({ addon, problems: [], clusters, releases: stored.releases, addons: [addon], namespaces: new Map() });
  return clusters
    .filter((cluster) => selects(view, addon, cluster))
    .map((cluster) => {
      const existing = releaseOn(view, addon, cluster);
      const release = releaseFor(addon, cluster.controlPlane, existing);
      return existing?.status === undefined ? release : { ...release, status: existing.status };
    });
}

async function foreseen(
  release: TalosClusterAddonRelease,
  stored: Stored,
  { client, give, allowPlainText = false }: WhatIfAddonPorts,
): Promise<Omit<WhatIfAddon, "release">> {
  const { metadata, spec, status } = release;
  const namespace = metadata.namespace ?? "default";
  // Whether the operator may skip a check is not for this process to say.
  const [problem] = validateRelease(release, { allowPlainText, allowUnchecked: true });
  if (problem !== undefined) return only(`${problem.field}: ${problem.message} ${problem.remedy}`);
  if (spec.helmSpec === undefined) return only("No plan is made of spec.manifests: kubectl diff shows what they change.");
  const found = <T extends KubeObject>(objects: readonly T[]) => ({
    store: { get: ({ name }: ObjectKey): T | undefined => objects.find((one) => one.metadata?.name === name) },
  });
  const cluster = await clusterOf(
    release,
    { controlPlanes: found(stored.controlPlanes), talosClusters: found(stored.talosClusters) },
    client,
  );
  const { seen, facts, values } = cluster;
  if (facts === undefined || values === undefined || !("name" in seen))
    return only("message" in seen ? seen.message : "The cluster is being deleted.");
  const read = await readValues(spec.helmSpec, values, namespace, client);
  if (read.kind === "missing") return only(read.message);
  const { documents, hidden } = read.value;
  const wish = wishOf(spec, documents, facts.kubernetesVersion, status?.chart, allowPlainText);
  if (wish === undefined) return only("The spec asks for nothing.");
  if (wish.inputs === status?.inputs) return only("What the spec asks for is installed.");
  const access = await readAccess(spec.helmSpec, namespace, client);
  if (access.kind === "missing") return only(access.message);
  const controlPlane = stored.controlPlanes.find((one) => one.metadata.name === seen.name);
  const secretName = kubeconfigSecretName(controlPlane === undefined ? seen.name : accessOwner({ controlPlane }));
  const secret = await client.resource<Secret>(secretType).tryGet({ namespace, name: secretName });
  const kubeconfig = secret === undefined ? undefined : secretText(secret, "kubeconfig");
  if (kubeconfig === undefined) return only(`Secret ${secretName} holds no kubeconfig of the cluster.`);
  const result = await give(
    {
      kind: "preview",
      release: wish.release,
      owner: metadata.uid ?? "plan",
      timeoutMs: taskTimeoutMs(release),
      chart: wish.chart,
      options: wish.options,
      unowned: "adopt",
    },
    { kubeconfig, values: wish.values, hidden, ...(access.value === undefined ? {} : { repository: access.value }) },
  );
  if (result.kind === "previewed") return planned(release, result);
  return only(result.kind === "failed" ? result.message : "The worker reported a result of another task.");
}

/** Nothing would be done, or nobody can tell what. */
function only(words: string): Omit<WhatIfAddon, "release"> {
  return { words, changes: [] };
}
