import type { ClusterDefaults } from "@talos-operator/api";
import { defaultKubernetesFor, kubernetesRange, referenceTalosVersion, supportsKubernetes } from "@talos-operator/talos";
import { isSupportedTalos, SUPPORTED_TALOS } from "../../config/supported-versions.ts";

/** What may be set of {@link ClusterDefaults} from outside. */
export type ClusterDefaultOptions = Partial<
  Pick<ClusterDefaults, "talosVersion" | "kubernetesVersion" | "endpointMode" | "customEndpoint" | "machineProvider" | "allowLoopback">
>;

/** What KubernetesClusters get that do not say otherwise: the settings of the operator, and the versions that this release knows. */
export function clusterDefaults(options: ClusterDefaultOptions): ClusterDefaults {
  const talosVersion = options.talosVersion ?? referenceTalosVersion;
  const kubernetesVersion = options.kubernetesVersion ?? `v${defaultKubernetesFor(talosVersion)}`;
  const known = SUPPORTED_TALOS.map((contract) => `v${defaultKubernetesFor(`v${contract}.0`)}`);
  return {
    ...options,
    talosVersion,
    kubernetesVersion,
    knownTalosVersions: [...new Set([talosVersion, referenceTalosVersion])],
    knownKubernetesVersions: [...new Set([...known, kubernetesVersion])],
    versionConflict: (talos, kubernetes) => {
      if (!isSupportedTalos(talos))
        return {
          of: "talos",
          message: `Talos ${talos} is not supported: this release makes clusters of v${SUPPORTED_TALOS[0]} to v${SUPPORTED_TALOS.at(-1) ?? ""}`,
        };
      const verdict = supportsKubernetes(talos, kubernetes);
      if (verdict.ok) return undefined;
      const { oldest = "", newest = "" } = kubernetesRange(talos) ?? {};
      return { of: "both", message: `${verdict.reason}, which runs ${oldest} to ${newest}` };
    },
  };
}
