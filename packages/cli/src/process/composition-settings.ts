import { createFileTree } from "@talos-operator/adapters";
import type { OperatorOptions } from "@talos-operator/operator";
import type { FileTree } from "@talos-operator/ports";
import type { Settings } from "../settings/read-settings.ts";

/** What the environment says about KubernetesClusters, references and figures. */
export type CompositionSettings = Pick<
  Settings["values"],
  | "reconcileIntervalMs"
  | "maxConcurrentReconciles"
  | "resultsPath"
  | "talosVersion"
  | "kubernetesVersion"
  | "endpointMode"
  | "customEndpoint"
  | "machineRefNamespaces"
  | "metricsObjects"
>;

/** Where manifests go, below the working directory unless the path is absolute. */
export function filesOf({ resultsPath }: CompositionSettings): { readonly files?: FileTree } {
  return resultsPath === "" ? {} : { files: createFileTree(resultsPath) };
}

export function compositionOptions(
  settings: CompositionSettings,
): Pick<OperatorOptions, "maxConcurrentReconciles" | "resyncMs" | "clusterDefaults" | "machineRefNamespaces" | "metricsObjects"> {
  const { talosVersion, kubernetesVersion, endpointMode, customEndpoint } = settings;
  return {
    maxConcurrentReconciles: settings.maxConcurrentReconciles,
    resyncMs: settings.reconcileIntervalMs,
    metricsObjects: settings.metricsObjects,
    ...(settings.machineRefNamespaces === undefined ? {} : { machineRefNamespaces: settings.machineRefNamespaces }),
    clusterDefaults: {
      ...(talosVersion === "" ? {} : { talosVersion: withV(talosVersion) }),
      ...(kubernetesVersion === "" ? {} : { kubernetesVersion: withV(kubernetesVersion) }),
      endpointMode,
      customEndpoint: customEndpoint.split(",").flatMap((host) => (host.trim() === "" ? [] : [host.trim()])),
    },
  };
}

function withV(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}
