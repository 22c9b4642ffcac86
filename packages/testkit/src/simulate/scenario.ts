import { annotations, type DeletionPolicy } from "@talos-operator/api";
import type { RandomSource } from "@talos-operator/ports";
import { composedManifest, firstReplicas, isComposed, type ProviderMood, type Replicas } from "./composed-scenario.ts";
import { pick } from "./fault.ts";

/** What is applied in one run, and what stands beside it; chosen from the seed. */
export interface Scenario {
  readonly controlPlanes: number;
  readonly workers: number;
  /** Machines that wait in maintenance mode and belong to nobody. */
  readonly spares: number;
  readonly talosVersion: string;
  readonly kubeVersion: string;
  /** As a TalosCluster, as a TalosControlPlane and a TalosWorker, or as a KubernetesCluster in one of its two shapes. */
  readonly shape: "cluster" | "pools" | "flat" | "nested";
  /** How the machines of a KubernetesCluster are provided; nothing for other shapes. */
  readonly provider?: ProviderMood;
  /** Whether a KubernetesCluster names its endpoint, which is its first control plane's address otherwise. Default: it does. */
  readonly endpoint?: "given" | "none";
  readonly deletionPolicy: DeletionPolicy;
  /** Whether each machine has a UUID of its own, all show one as cloned virtual machines do, or all show one that a vendor ships by the thousand. */
  readonly uuids: "own" | "cloned" | "vendor";
  /** Where the machines run. Default `metal`. */
  readonly platform?: "container";
  /** There is a store, and workers that take backups: a stand-in sends them, or the operator's controllers do. Default: there is none. */
  readonly hasBackups?: "stand-in" | "controllers";
  /** There are workers that drive Helm. Default: there are none. */
  readonly hasAddons?: true;
}

/** What a person wants at one moment of a run. */
export interface Desired {
  /** What a KubernetesCluster asks for; which machines that are follows from what is provided. */
  readonly replicas?: Replicas;
  readonly controlPlanes: readonly string[];
  readonly workers: readonly string[];
  /** `machineSpec` of all machines, beside the install disk. */
  readonly machineSpec: Readonly<Record<string, unknown>>;
  /** Patches of control planes alone. */
  readonly controlPlanePatches?: readonly object[];
  /** Machines get the configs in the ConfigMap {@link WRITTEN_CONFIGS}, by role. */
  readonly hasWrittenConfigs: boolean;
  /** Talos of all machines. Default: that of the scenario. */
  readonly talosVersion?: string;
  /** `reconcile-mode` of the applied objects; `undefined` = none. */
  readonly mode: string | undefined;
}

/** Talos and a Kubernetes that it runs. */
export type ScenarioVersions = Pick<Scenario, "talosVersion" | "kubeVersion">;

const VERSIONS: readonly ScenarioVersions[] = [
  { talosVersion: "v1.12.11", kubeVersion: "v1.35.4" },
  { talosVersion: "v1.13.9", kubeVersion: "v1.36.3" },
  { talosVersion: "v1.14.0", kubeVersion: "v1.36.3" },
];

/** What is drawn where a workload does not say. */
export interface ScenarioChoices {
  readonly controlPlanes?: readonly number[];
  readonly workers?: readonly number[];
  readonly spares?: number;
  readonly deletionPolicy?: DeletionPolicy;
  readonly platform?: "container";
  readonly versions?: readonly ScenarioVersions[];
}

/** Draws a scenario. The number of draws is always the same, so that what comes after does not shift. */
export function chooseScenario(random: RandomSource, choices: ScenarioChoices = {}): Scenario {
  return {
    controlPlanes: pick(choices.controlPlanes ?? [1, 3, 3, 5], random),
    workers: pick(choices.workers ?? [0, 1, 2, 3], random),
    spares: choices.spares ?? 0,
    deletionPolicy: choices.deletionPolicy ?? "reset",
    shape: pick(["cluster", "pools"], random),
    ...pick(choices.versions ?? VERSIONS, random),
    uuids: pick(["own", "own", "own", "own", "own", "own", "cloned", "vendor"], random),
    ...(choices.platform === undefined ? {} : { platform: choices.platform }),
  };
}

/** The UUID that machines of a scenario share; nothing where each has its own. */
export function sharedUuid({ uuids }: Scenario): { readonly uuid?: string } {
  if (uuids === "own") return {};
  return { uuid: uuids === "cloned" ? "5f1c7a3e-9d20-4c44-8a51-3b7f0e6d2c19" : "03000200-0400-0500-0006-000700080009" };
}

export const CLUSTER_NAME = "first";
export const NAMESPACE = "default";

/** Where everybody finds the Kubernetes API of the cluster. */
export const ENDPOINT = "https://10.5.0.200:6443";

/** Name of the ConfigMap with configs that a person wrote. */
export const WRITTEN_CONFIGS = `${CLUSTER_NAME}-configs`;

/** Name of the TalosWorker where workers are applied as one. */
export const WORKERS_NAME = `${CLUSTER_NAME}-workers`;

/** Addresses of the machines in a scenario, control planes first. */
export function addressesOf(scenario: Scenario): {
  readonly controlPlanes: readonly string[];
  readonly workers: readonly string[];
  readonly spares: readonly string[];
} {
  const { controlPlanes, workers, spares } = scenario;
  const addresses = (from: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `10.5.0.${from + index + 1}`);
  return {
    controlPlanes: addresses(0, controlPlanes),
    workers: addresses(controlPlanes, workers),
    spares: addresses(controlPlanes + workers, spares),
  };
}

/** What is wanted in the beginning. */
export function firstDesired(scenario: Scenario): Desired {
  if (isComposed(scenario))
    return {
      replicas: firstReplicas(scenario),
      controlPlanes: [],
      workers: [],
      machineSpec: {},
      hasWrittenConfigs: false,
      mode: undefined,
    };
  const { controlPlanes, workers } = addressesOf(scenario);
  return { controlPlanes, workers, machineSpec: {}, hasWrittenConfigs: false, mode: undefined };
}

/** One object to apply, with the plural of its kind. */
export interface Applied {
  readonly plural: string;
  readonly name: string;
  readonly body: Record<string, unknown>;
}

/** The objects that a person would apply. */
export function manifestOf(scenario: Scenario, desired: Desired = firstDesired(scenario)): readonly Applied[] {
  if (isComposed(scenario)) return [composedManifest(scenario, desired.replicas ?? firstReplicas(scenario))];
  const machines = (addresses: readonly string[], machineSpec: object = {}): object => ({
    machines: addresses.map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda", ...desired.machineSpec, ...machineSpec },
  });
  const { controlPlanePatches: configPatches } = desired;
  const ofControlPlanes = configPatches === undefined ? {} : { configPatches };
  const common = {
    version: desired.talosVersion ?? scenario.talosVersion,
    kubeVersion: scenario.kubeVersion,
    mode: "metal",
    // The default is left out, as people do.
    ...(scenario.deletionPolicy === "reset" ? {} : { deletionPolicy: scenario.deletionPolicy }),
  };
  const written = (key: string): object => (desired.hasWrittenConfigs ? { configRef: { name: WRITTEN_CONFIGS, key } } : {});
  const controlPlane = {
    ...common,
    ...written("controlplane"),
    endpoint: ENDPOINT,
    metalSpec: machines(desired.controlPlanes, ofControlPlanes),
  };
  const worker = { ...common, ...written("worker"), metalSpec: machines(desired.workers) };
  const hasWorkers = desired.workers.length > 0;
  const object = (plural: string, kind: string, name: string, spec: object): Applied => ({
    plural,
    name,
    body: {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind,
      metadata: {
        name,
        namespace: NAMESPACE,
        // Always there: whoever takes the one annotation out takes nobody else's along.
        annotations: desired.mode === undefined ? {} : { [annotations.reconcileMode]: desired.mode },
      },
      spec,
    },
  });
  if (scenario.shape === "cluster")
    return [object("talosclusters", "TalosCluster", CLUSTER_NAME, { controlPlane, ...(hasWorkers ? { worker } : {}) })];
  return [
    object("taloscontrolplanes", "TalosControlPlane", CLUSTER_NAME, controlPlane),
    ...(hasWorkers ? [object("talosworkers", "TalosWorker", WORKERS_NAME, { ...worker, controlPlaneRef: { name: CLUSTER_NAME } })] : []),
  ];
}
