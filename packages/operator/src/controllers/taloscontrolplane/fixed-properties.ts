import { clusterNetworks } from "@talos-operator/api";
import type { Finding, TalosControlPlane, TalosControlPlaneSpec } from "@talos-operator/api";
import type { ClusterFacts } from "./facts.ts";

/** Networks of a cluster as its first configuration names them, defaults filled in. */
export function networksOf(spec: Pick<TalosControlPlaneSpec, "podCIDR" | "serviceCIDR">): Pick<ClusterFacts, "podCIDR" | "serviceCIDR"> {
  const networks = clusterNetworks(spec);
  const of = (use: "pods" | "services"): readonly string[] => networks.filter((network) => network.use === use).map(({ text }) => text);
  return { podCIDR: of("pods"), serviceCIDR: of("services") };
}

/**
 * What a spec asks to be otherwise than the cluster was made: endpoint and networks stand in the configuration of every machine, and no release
 * changes them. A machine that joined with others would not find the rest.
 */
export function fixedPropertyProblems({ spec }: TalosControlPlane, facts: ClusterFacts | undefined): readonly Finding[] {
  if (spec === undefined || facts === undefined) return [];
  const { podCIDR, serviceCIDR } = networksOf(spec);
  const properties = [
    { field: "spec.endpoint", was: facts.endpoint, is: spec.endpoint ?? "" },
    { field: "spec.podCIDR", was: facts.podCIDR.join(", "), is: podCIDR.join(", ") },
    { field: "spec.serviceCIDR", was: facts.serviceCIDR.join(", "), is: serviceCIDR.join(", ") },
  ];
  return properties.flatMap(({ field, was, is }) =>
    // An endpoint that is not named was chosen by the operator; an older record holds no networks.
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
