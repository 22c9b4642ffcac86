import {
  clusterRecordResource,
  controllerOf,
  kubernetesClusterResource,
  talosClusterResource,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { ClusterRecord, TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { isForbidden } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { ExplainInput } from "./explain.ts";
import type { Explained } from "./what-stands.ts";

const resources = [
  talosClusterResource,
  talosControlPlaneResource,
  talosWorkerResource,
  talosMachineResource,
  kubernetesClusterResource,
] as const;

/** The resource that a word means as kubectl takes words: kind, plural, singular or short name, in any letter case. */
export function resourceOfWord(word: string): ResourceType | undefined {
  const wanted = word.toLowerCase();
  return resources.find(
    ({ kind, plural, singular, shortNames, group }) =>
      [kind.toLowerCase(), plural, singular, ...shortNames].includes(wanted) ||
      wanted === `${plural}.${group}` ||
      wanted === `${singular}.${group}`,
  );
}

/** Words of the kinds that can be asked about, for messages. */
export const askableKinds: readonly string[] = resources.map(({ kind, shortNames }) => `${kind} (${shortNames.join(", ")})`);

/** Reads an object with all that its state depends on; `undefined` when there is no such object. Lists one namespace, and only where it must. */
export async function readSubject(
  client: KubeClient,
  type: ResourceType,
  namespace: string,
  name: string,
): Promise<ExplainInput | undefined> {
  const object = await client.resource<Explained & { readonly spec?: unknown }>(type).tryGet({ namespace, name });
  if (object === undefined) return undefined;
  const listed = async <T>(of: ResourceType): Promise<readonly T[]> => (await client.resource<T & object>(of).list({ namespace })).items;
  const found = async (cluster: string | undefined, rest: readonly (Explained | undefined)[]): Promise<ExplainInput> => ({
    object,
    related: rest.filter((one) => one !== undefined),
    record: await recordOf(client, namespace, cluster),
  });

  switch (type.kind) {
    case "TalosCluster": {
      const { spec } = object as unknown as TalosCluster;
      const controlPlane = spec?.controlPlane === undefined ? spec?.controlPlaneRef?.name : name;
      const worker = spec?.worker === undefined ? spec?.workerRef?.name : name;
      return found(controlPlane, [
        await one<TalosControlPlane>(client, talosControlPlaneResource, namespace, controlPlane),
        await one<TalosWorker>(client, talosWorkerResource, namespace, worker),
      ]);
    }
    case "KubernetesCluster": {
      const isOwn = ({ metadata }: Explained): boolean => controllerOf(metadata)?.uid === object.metadata.uid;
      const controlPlanes = (await listed<TalosControlPlane>(talosControlPlaneResource)).filter(isOwn);
      const workers = (await listed<TalosWorker>(talosWorkerResource)).filter(isOwn);
      return found(controlPlanes[0]?.metadata.name, [...controlPlanes, ...workers]);
    }
    case "TalosControlPlane": {
      const workers = (await listed<TalosWorker>(talosWorkerResource)).filter(({ spec }) => spec?.controlPlaneRef?.name === name);
      const machines = await listed<TalosMachine>(talosMachineResource);
      return found(name, [...workers, ...machines.filter(({ spec }) => spec?.controlPlaneRef?.name === name)]);
    }
    case "TalosWorker": {
      const controlPlane = (object as unknown as TalosWorker).spec?.controlPlaneRef?.name;
      const machines = await listed<TalosMachine>(talosMachineResource);
      return found(controlPlane, [
        await one<TalosControlPlane>(client, talosControlPlaneResource, namespace, controlPlane),
        ...machines.filter(({ spec }) => spec?.workerRef?.name === name),
      ]);
    }
    default: {
      const { spec, metadata } = object as unknown as TalosMachine;
      const owner = controllerOf(metadata);
      const worker = await one<TalosWorker>(
        client,
        talosWorkerResource,
        namespace,
        spec?.workerRef?.name ?? (owner?.kind === "TalosWorker" ? owner.name : undefined),
      );
      const controlPlane = spec?.controlPlaneRef?.name ?? worker?.spec?.controlPlaneRef?.name;
      return found(controlPlane, [worker, await one<TalosControlPlane>(client, talosControlPlaneResource, namespace, controlPlane)]);
    }
  }
}

async function one<T extends object>(
  client: KubeClient,
  type: ResourceType,
  namespace: string,
  name: string | undefined,
): Promise<T | undefined> {
  return name === undefined || name === "" ? undefined : client.resource<T>(type).tryGet({ namespace, name });
}

/** The memory of the cluster; who may not read it is told the rest. */
async function recordOf(client: KubeClient, namespace: string, name: string | undefined): Promise<ClusterRecord | undefined> {
  try {
    return await one<ClusterRecord>(client, clusterRecordResource, namespace, name);
  } catch (thrown) {
    if (isForbidden(thrown)) return undefined;
    throw thrown;
  }
}
