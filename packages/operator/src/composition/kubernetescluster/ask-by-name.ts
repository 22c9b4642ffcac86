import { controllerOf, talosControlPlaneResource, talosWorkerResource, vitistackMachineResource } from "@talos-operator/api";
import type { ObjectMeta, TalosControlPlane, TalosWorker, VitistackMachine } from "@talos-operator/api";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { Seen } from "./model.ts";
import { compose } from "./plan.ts";

/**
 * Reads live, by name, what a cluster has and no cache tells of. An API server may answer a list with less than there is: of a cluster that goes Machines would
 * go while they hold its configuration, and the cluster before what was made for it; one that stays would get a second Machine for each that is there.
 *
 * @throws KubeApiError when nobody can say
 */
export async function askByName(seen: Seen, client: KubeClient): Promise<Seen> {
  const { cluster, model } = seen;
  if (model === undefined) return { ...seen, isAsked: true };
  const { namespace, uid } = cluster.metadata;
  const read = async <T extends { readonly metadata: ObjectMeta }>(
    type: ResourceType,
    names: readonly string[],
    known: readonly T[],
  ): Promise<readonly T[]> => {
    const unlisted = names.filter((name) => !known.some(({ metadata }) => metadata.name === name));
    const found = await Promise.all(unlisted.map((name) => client.resource<T>(type).tryGet({ namespace, name })));
    return [...known, ...found.flatMap((one) => (one !== undefined && controllerOf(one.metadata)?.uid === uid ? [one] : []))];
  };
  const { machines, pools, passedOver } = compose(seen, model);
  const namesOf = (objects: readonly { readonly metadata: ObjectMeta }[]): readonly string[] =>
    objects.map(({ metadata }) => metadata.name);
  const workerNames = namesOf(pools.filter(({ kind }) => kind === "TalosWorker"));
  const told = seen.controlPlane === undefined ? [] : [seen.controlPlane];
  const [controlPlane] = await read<TalosControlPlane>(talosControlPlaneResource, [model.name], told);
  return {
    ...seen,
    isAsked: true,
    controlPlane,
    workers: await read<TalosWorker>(talosWorkerResource, workerNames, seen.workers),
    machines: await read<VitistackMachine>(vitistackMachineResource, [...namesOf(machines), ...passedOver], seen.machines),
  };
}
