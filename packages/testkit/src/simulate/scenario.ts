import type { RandomSource } from "@talos-operator/ports";
import { pick } from "./fault.ts";

/** What is applied in one run; chosen from the seed. */
export interface Scenario {
  readonly controlPlanes: number;
  readonly workers: number;
  readonly talosVersion: string;
  readonly kubeVersion: string;
  /** As a TalosCluster, or as a TalosControlPlane and a TalosWorker. */
  readonly shape: "cluster" | "pools";
}

const VERSIONS = [
  { talosVersion: "v1.12.11", kubeVersion: "v1.35.4" },
  { talosVersion: "v1.13.9", kubeVersion: "v1.36.3" },
  { talosVersion: "v1.14.0", kubeVersion: "v1.36.3" },
] as const;

export function chooseScenario(random: RandomSource): Scenario {
  return {
    controlPlanes: pick([1, 3, 3, 5], random),
    workers: pick([0, 1, 2, 3], random),
    shape: pick(["cluster", "pools"], random),
    ...pick(VERSIONS, random),
  };
}

export const CLUSTER_NAME = "first";
export const NAMESPACE = "default";

/** Addresses of the machines in a scenario, control planes first. */
export function addressesOf(scenario: Scenario): { readonly controlPlanes: readonly string[]; readonly workers: readonly string[] } {
  const address = (index: number): string => `10.5.0.${index + 1}`;
  return {
    controlPlanes: Array.from({ length: scenario.controlPlanes }, (_, index) => address(index)),
    workers: Array.from({ length: scenario.workers }, (_, index) => address(scenario.controlPlanes + index)),
  };
}

/** The objects that a person would apply. */
export function manifestOf(scenario: Scenario): readonly Record<string, unknown>[] {
  const { controlPlanes, workers } = addressesOf(scenario);
  const machines = (addresses: readonly string[]): object => ({
    machines: addresses.map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda" },
  });
  const controlPlane = {
    version: scenario.talosVersion,
    kubeVersion: scenario.kubeVersion,
    mode: "metal",
    endpoint: "https://10.5.0.200:6443",
    metalSpec: machines(controlPlanes),
  };
  const worker = { version: scenario.talosVersion, kubeVersion: scenario.kubeVersion, mode: "metal", metalSpec: machines(workers) };
  const object = (kind: string, name: string, spec: object): Record<string, unknown> => ({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind,
    metadata: { name, namespace: NAMESPACE },
    spec,
  });
  if (scenario.shape === "cluster") {
    return [object("TalosCluster", CLUSTER_NAME, { controlPlane, ...(workers.length === 0 ? {} : { worker }) })];
  }
  return [
    object("TalosControlPlane", CLUSTER_NAME, controlPlane),
    ...(workers.length === 0
      ? []
      : [object("TalosWorker", `${CLUSTER_NAME}-workers`, { ...worker, controlPlaneRef: { name: CLUSTER_NAME } })]),
  ];
}
