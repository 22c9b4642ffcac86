import {
  annotations as operatorAnnotations,
  apiVersionOf,
  controllerReference,
  derivedName,
  kubernetesClusterResource,
  machineNameFor,
  vitistackMachineResource,
} from "@talos-operator/api";
import type {
  ClusterGroup,
  ClusterModel,
  GivenSecrets,
  KubernetesCluster,
  ObjectMeta,
  ResolvedVersion,
  TalosControlPlane,
  TalosWorker,
} from "@talos-operator/api";
import { compareContracts, contractFor } from "@talos-operator/talos";
import { NODE_ADDRESS_PATH, poolAnnotations } from "./keys.ts";
import { printReadVersions } from "./read-versions.ts";
import { takeoverOf } from "./takeover.ts";
import { patchesOf } from "./patches.ts";

/** First contract whose machines tell their disks before they are installed. */
const TELLS_DISKS_SINCE = "1.8";

/** Words on a cluster that count for its pools too. Those that act once belong on the pool they are about. */
const passedOn = [operatorAnnotations.drainPolicy, operatorAnnotations.drainTimeout];

/** Name of the TalosWorker of a group. */
export function workerPoolName(model: ClusterModel, group: Pick<ClusterGroup, "name">): string {
  return derivedName(model.name, group.name);
}

/** Name of the TalosMachine that stands for a Machine in a pool. */
export function talosMachineName(pool: string, machine: string): string {
  return machineNameFor(pool, { kind: "machineRef", name: machine });
}

/** What a pool is made from. */
export interface PoolInput<T extends TalosControlPlane | TalosWorker> {
  readonly cluster: KubernetesCluster;
  readonly model: ClusterModel;
  readonly group: ClusterGroup;
  /** As it is; decides what stays as it was made. */
  readonly stored: T | undefined;
  /** Versions that the spec does not write out. */
  readonly resolvedVersions: readonly ResolvedVersion[];
}

/** The control plane that the Machines of these names form. */
export function controlPlanePool(input: PoolInput<TalosControlPlane>, machines: readonly string[]): TalosControlPlane {
  const { model } = input;
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosControlPlane",
    metadata: metadataOf("TalosControlPlane", input, model.name),
    spec: {
      version: model.talosVersion,
      mode: "metal",
      kubeVersion: model.kubernetesVersion,
      ...(model.endpoint.mode === "given" ? { endpoint: model.endpoint.url } : {}),
      clusterDomain: model.dnsDomain,
      podCIDR: [...model.podSubnets],
      serviceCIDR: [...model.serviceSubnets],
      deletionPolicy: "reset",
      metalSpec: metalSpec(input, machines),
    },
  };
}

/** The pool of one group of workers. */
export function workerPool(input: PoolInput<TalosWorker>, machines: readonly string[]): TalosWorker {
  const { model, group } = input;
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosWorker",
    metadata: metadataOf("TalosWorker", input, workerPoolName(model, group)),
    spec: {
      version: model.talosVersion,
      mode: "metal",
      kubeVersion: model.kubernetesVersion,
      controlPlaneRef: { name: model.name },
      deletionPolicy: "reset",
      metalSpec: metalSpec(input, machines),
    },
  };
}

/** Name of the Secret with the token and authority that are given for a cluster. */
export function givenSecretNameOf(model: ClusterModel, given: GivenSecrets): string {
  return given.kind === "secret" ? given.name : derivedName(model.name, "given-secrets");
}

function metadataOf(
  kind: "TalosControlPlane" | "TalosWorker",
  { cluster, model, stored, resolvedVersions }: PoolInput<TalosControlPlane | TalosWorker>,
  name: string,
): ObjectMeta {
  const owner = { apiVersion: apiVersionOf(kubernetesClusterResource), kind: cluster.kind, metadata: cluster.metadata };
  const words = passedOn.flatMap((key) => {
    const value = cluster.metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const takeover = takeoverOf(cluster, model);
  const isConfirmed = cluster.metadata.annotations?.[operatorAnnotations.confirmReset] === cluster.metadata.name;
  return {
    namespace: cluster.metadata.namespace ?? "",
    name,
    annotations: {
      ...Object.fromEntries(words),
      // The word names the object it stands on.
      ...(kind === "TalosControlPlane" && model.givenSecrets !== undefined
        ? { [operatorAnnotations.givenSecrets]: givenSecretNameOf(model, model.givenSecrets) }
        : {}),
      ...(takeover === undefined ? {} : { [operatorAnnotations.importBundle]: takeover.bundle }),
      ...(takeover?.isAsked === true ? { [operatorAnnotations.reconcileMode]: "import" } : {}),
      ...(isConfirmed ? { [operatorAnnotations.confirmReset]: name } : {}),
      [poolAnnotations.patchesFor]: patchesFor(model, stored),
      ...(kind === "TalosControlPlane" ? { [poolAnnotations.readVersions]: printReadVersions(resolvedVersions) } : {}),
    },
    ownerReferences: [controllerReference(owner)],
  };
}

/** The contract stays that of the machines there are, whatever version the spec asks for later. */
function patchesFor(model: ClusterModel, stored: TalosControlPlane | TalosWorker | undefined): string {
  return stored?.metadata.annotations?.[poolAnnotations.patchesFor] ?? contractFor(model.talosVersion);
}

function metalSpec(
  { cluster, model, group, stored }: PoolInput<TalosControlPlane | TalosWorker>,
  machines: readonly string[],
): NonNullable<NonNullable<TalosControlPlane["spec"]>["metalSpec"]> {
  const { disk, isDefaultDisk, image, wipe } = model.install;
  const configPatches = patchesOf(model, group, patchesFor(model, stored));
  return {
    machines: machines.map((name) => ({
      machineRef: {
        apiVersion: apiVersionOf(vitistackMachineResource),
        kind: vitistackMachineResource.kind,
        namespace: cluster.metadata.namespace ?? "",
        name,
        fieldPath: NODE_ADDRESS_PATH,
      },
    })),
    machineSpec: {
      // Where nobody named a disk, the only one of each machine is taken, whatever it is called. Older releases do not tell their disks.
      ...(isDefaultDisk && compareContracts(contractFor(model.talosVersion), TELLS_DISKS_SINCE) >= 0 ? {} : { installDisk: disk }),
      ...(wipe ? { wipe } : {}),
      ...(image === undefined ? {} : { image }),
      ...(configPatches.length === 0 ? {} : { configPatches }),
    },
  };
}
