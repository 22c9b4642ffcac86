import { clusterNetworks } from "@talos-operator/api";
import type { Finding, TalosControlPlane, TalosControlPlaneSpec } from "@talos-operator/api";
import type { ConfigBase } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";

/** Networks of a cluster as its first configuration names them, defaults filled in. @param base the config that a person wrote, which decides */
export function networksOf(
  spec: Pick<TalosControlPlaneSpec, "podCIDR" | "serviceCIDR">,
  base?: ConfigBase,
): Pick<ClusterFacts, "podCIDR" | "serviceCIDR"> {
  if (base !== undefined) return { podCIDR: base.podSubnets, serviceCIDR: base.serviceSubnets };
  const networks = clusterNetworks(spec);
  const of = (use: "pods" | "services"): readonly string[] => networks.filter((network) => network.use === use).map(({ text }) => text);
  return { podCIDR: of("pods"), serviceCIDR: of("services") };
}

/**
 * What a spec asks to be otherwise than the cluster was made: networks stand in the configuration of every machine, and no release
 * changes them. A machine that joined with others would not find the rest.
 */
export function fixedPropertyProblems({ spec }: TalosControlPlane, facts: ClusterFacts | undefined, base?: ConfigBase): readonly Finding[] {
  if (spec === undefined || facts === undefined) return [];
  const isWritten = (spec.configRef?.name ?? "") !== "";
  // What a config says that nobody read is not known.
  const { podCIDR, serviceCIDR } = isWritten && base === undefined ? { podCIDR: [], serviceCIDR: [] } : networksOf(spec, base);
  const at = base === undefined ? "" : `spec.configRef (${base.source}) `;
  const properties = [
    { field: base === undefined ? "spec.podCIDR" : `${at}podSubnets`, was: facts.podCIDR.join(", "), is: podCIDR.join(", ") },
    {
      field: base === undefined ? "spec.serviceCIDR" : `${at}serviceSubnets`,
      was: facts.serviceCIDR.join(", "),
      is: serviceCIDR.join(", "),
    },
  ];
  return properties.flatMap(({ field, was, is }) =>
    // A text may name none; an older record holds no networks.
    is === "" || was === "" || is === was
      ? []
      : [
          {
            field,
            message: `the cluster was made with ${was}, and this cannot change`,
            remedy: `Set it back to ${was}; for another value make another cluster`,
            reason: "ClusterMismatch" as const,
          },
        ],
  );
}

/**
 * The spec with what was chosen once as the cluster has it: a machine that joins gets that, whatever the spec says by now. The difference stays
 * visible as a change that is not rolled out.
 */
export function asMade(spec: TalosControlPlaneSpec, facts: ClusterFacts): TalosControlPlaneSpec {
  const { cni: wanted, ...rest } = spec;
  const cni = facts.cni ?? wanted;
  const hasCni = cni !== undefined && Object.keys(cni).length > 0;
  return { ...rest, ...(hasCni ? { cni } : {}), ...(facts.kubernetesVersion === "" ? {} : { kubeVersion: facts.kubernetesVersion }) };
}
