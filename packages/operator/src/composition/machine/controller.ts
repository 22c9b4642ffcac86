import { controllerOf, kubernetesClusterResource, vitistackMachineResource } from "@talos-operator/api";
import type { ClusterDefaults, TalosMachine, VitistackMachine } from "@talos-operator/api";
import { createController, isConflict, isNotFound, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, ObjectKey } from "@talos-operator/kube-runtime";
import { groupOfMachine } from "../kubernetescluster/machine-manifest.ts";
import { compositionFinalizers } from "../kubernetescluster/keys.ts";
import { composedFor, isForUs, readCluster } from "../kubernetescluster/observe.ts";
import type { CompositionCaches } from "../kubernetescluster/observe.ts";
import { pausedBy } from "../kubernetescluster/paused-by.ts";
import { talosMachineName, workerPoolName } from "../kubernetescluster/pools.ts";
import { commonOptions } from "../../controllers/shared/controller-ports.ts";
import type { ControllerPorts } from "../../controllers/shared/controller-ports.ts";
import { specOrMetadataChanged } from "../../controllers/shared/predicates.ts";
import { decideMachineAnnotations } from "./decide.ts";

/** Owner of the annotations that the operator sets on a Machine after it was made. */
const FIELD_MANAGER = "talos-operator/machine";

/** What the controller of Machines needs. */
export interface MachineIdentityControllerOptions extends ControllerPorts, CompositionCaches {
  /** As the clusters were composed with. */
  readonly defaults: ClusterDefaults;
}

/** Says on each Machine of a KubernetesCluster what address it is called by, and whether Talos is installed on it. Machines of others are not touched. */
export function createMachineIdentityController(options: MachineIdentityControllerOptions): Controller {
  const { client, clusters, vitistackMachines, controlPlanes, workers, machines } = options;
  const machineClient = client.resource<VitistackMachine>(vitistackMachineResource);

  const talosMachineOf = (machine: VitistackMachine): TalosMachine | undefined => {
    const { namespace, name } = machine.metadata;
    const owner = controllerOf(machine.metadata);
    const cluster = owner === undefined ? undefined : clusters.store.get({ namespace, name: owner.name });
    const model = cluster === undefined ? undefined : readCluster(cluster, composedFor(cluster, options), options.defaults).model;
    const group = groupOfMachine(machine);
    if (model === undefined || group === undefined) return undefined;
    const pool = group.role === "controlplane" ? model.name : workerPoolName(model, group);
    return machines.store.get({ namespace, name: talosMachineName(pool, name) });
  };

  /** Of a cluster that this operator looks after, as its finalizer says, and that nobody paused: Machines of others, and of what rests, are left as they are. */
  const isOfOurs = ({ metadata }: VitistackMachine): boolean => {
    const owner = controllerOf(metadata);
    if (owner?.kind !== kubernetesClusterResource.kind) return false;
    const cluster = clusters.store.get({ namespace: metadata.namespace, name: owner.name });
    if (cluster === undefined || cluster.metadata.uid !== owner.uid || !isForUs(cluster)) return false;
    return cluster.metadata.finalizers?.includes(compositionFinalizers.cluster) === true && pausedBy(cluster) === undefined;
  };

  /** The Machine that a TalosMachine stands for, as its pool names it. */
  const machineOf = ({ metadata, spec }: TalosMachine): readonly ObjectKey[] => {
    const { namespace } = metadata;
    const reference = spec?.controlPlaneRef ?? spec?.workerRef;
    const pool =
      spec?.controlPlaneRef === undefined
        ? workers.store.get({ namespace, name: reference?.name ?? "" })
        : controlPlanes.store.get({ namespace, name: reference?.name ?? "" });
    if (pool === undefined || controllerOf(pool.metadata)?.kind !== "KubernetesCluster") return [];
    return (pool.spec?.metalSpec?.machines ?? []).flatMap(({ machineRef }) =>
      machineRef?.name !== undefined && talosMachineName(pool.metadata.name, machineRef.name) === metadata.name
        ? [{ namespace, name: machineRef.name }]
        : [],
    );
  };

  return createController({
    name: "Machine",
    ...commonOptions(options),
    backoff: { baseMs: 20, maxMs: 15_000 },
    async reconcile(key, context) {
      const machine = vitistackMachines.store.get(key);
      if (machine === undefined || !isOfOurs(machine)) return undefined;
      const changes = decideMachineAnnotations(machine, talosMachineOf(machine));
      if (Object.keys(changes).length === 0) return undefined;
      const { uid, resourceVersion } = machine.metadata;
      const value = { metadata: { uid, resourceVersion, annotations: changes } };
      try {
        context.wrote(vitistackMachines, await machineClient.patch(key, { type: "merge", value }, { fieldManager: FIELD_MANAGER }));
      } catch (thrown) {
        // Changed or gone since it was seen: the watch brings it again.
        if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
      }
      return undefined;
    },
    watches: [
      watchOf({ informer: vitistackMachines, why: "its provider reports addresses" }),
      watchOf({ informer: machines, why: "Talos was installed on it, or wiped from it", map: machineOf }),
      watchOf({
        informer: clusters,
        why: "its cluster became ours, or goes on after a pause",
        predicate: specOrMetadataChanged,
        map: ({ metadata }) => vitistackMachines.store.byIndex("controller", metadata.uid ?? "").map((machine) => machine.metadata),
      }),
    ],
  });
}
