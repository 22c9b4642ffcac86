import type { DeletionPolicy } from "@talos-operator/api";
import type { RandomSource } from "@talos-operator/ports";
import { pick } from "./fault.ts";

/**
 * How a provider fulfils Machines: at once, each after minutes, so that the second one says that it has the address of the first, or each as it comes: at
 * once, after minutes, after a quarter of an hour, or never.
 */
export type ProviderMood = "prompt" | "slow" | "confused" | "moody";

/** Machines that a KubernetesCluster asks for. */
export interface Replicas {
  readonly controlPlanes: number;
  /** Workers by the name of their group. */
  readonly groups: Readonly<Record<string, number>>;
}

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

/** The cluster is a KubernetesCluster, and its machines are provided. */
export function isComposed({ shape }: Scenario): boolean {
  return shape === "flat" || shape === "nested";
}

/** What a KubernetesCluster asks for in the beginning. */
export function firstReplicas({ controlPlanes, workers }: Scenario): Replicas {
  return { controlPlanes, groups: workers === 0 ? {} : { a: workers } };
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
