import { annotations, controllerOf } from "@talos-operator/api";
import type { LabelSelector, TalosCluster, TalosControlPlane } from "@talos-operator/api";

type Labels = Readonly<Record<string, string>>;

/** A control plane, and the TalosClusters that made or name it. */
export interface Cluster {
  readonly controlPlane: TalosControlPlane;
  readonly talosClusters: readonly TalosCluster[];
}

/** A selector that was read. `empty` selects nothing. */
export type ReadSelector =
  | { readonly kind: "empty" }
  | { readonly kind: "invalid"; readonly message: string }
  | { readonly kind: "selector"; readonly matches: (cluster: Cluster) => boolean };

/** Holds of a cluster or not, by the labels of each of its objects. */
type Demand = (labels: readonly Labels[]) => boolean;

/**
 * Reads a label selector, as `metav1.LabelSelector`.
 *
 * A cluster has the labels of several objects: what a label has to be holds when one of them has it, and what it must not be when none has it. So who excludes
 * `env: production` never meets a cluster that says so anywhere.
 */
export function readSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): ReadSelector {
  const demands: Demand[] = Object.entries(matchLabels).map(
    ([key, value]) =>
      (labels) =>
        labels.some((one) => one[key] === value),
  );
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const at = `spec.clusterSelector.matchExpressions[${index}]`;
    if (key === "") return { kind: "invalid", message: `${at}.key: it names no label.` };
    const isIn: Demand = (labels) => labels.some((one) => one[key] !== undefined && values.includes(one[key]));
    const exists: Demand = (labels) => labels.some((one) => one[key] !== undefined);
    const takesValues = operator === "In" || operator === "NotIn";
    if (!takesValues && operator !== "Exists" && operator !== "DoesNotExist")
      return {
        kind: "invalid",
        message: `${at}.operator: ${JSON.stringify(operator.slice(0, 64))} is none of In, NotIn, Exists and DoesNotExist.`,
      };
    if (takesValues && values.length === 0) return { kind: "invalid", message: `${at}.values: ${operator} needs at least one.` };
    if (!takesValues && values.length > 0) return { kind: "invalid", message: `${at}.values: ${operator} takes none.` };
    const positive = takesValues ? isIn : exists;
    demands.push(operator === "In" || operator === "Exists" ? positive : (labels) => !positive(labels));
  }
  if (demands.length === 0) return { kind: "empty" };
  return {
    kind: "selector",
    matches: ({ controlPlane, talosClusters }) => {
      const labels = [controlPlane, ...talosClusters].map(({ metadata }) => metadata.labels ?? {});
      return demands.every((demand) => demand(labels));
    },
  };
}

/** Every control plane with its TalosClusters. */
export function clustersOf(controlPlanes: readonly TalosControlPlane[], talosClusters: readonly TalosCluster[]): readonly Cluster[] {
  const naming = Map.groupBy(talosClusters, ({ metadata, spec }) => `${metadata.namespace ?? ""}/${spec?.controlPlaneRef?.name ?? ""}`);
  const byUid = new Map(talosClusters.map((cluster) => [cluster.metadata.uid, cluster]));
  return controlPlanes.map((controlPlane) => {
    const { namespace = "", name } = controlPlane.metadata;
    const owner = controllerOf(controlPlane.metadata);
    const made = owner?.kind === "TalosCluster" ? byUid.get(owner.uid) : undefined;
    const named = (naming.get(`${namespace}/${name}`) ?? []).filter((one) => one !== made);
    return { controlPlane, talosClusters: made === undefined ? named : [made, ...named] };
  });
}

/** Whether a Namespace lets addons of another one install into its clusters, by its annotation {@link annotations.addonsFrom}. */
export function grants(granted: Labels | undefined, addonNamespace: string): boolean {
  const names = (granted?.[annotations.addonsFrom] ?? "").split(",").map((name) => name.trim());
  return names.includes("*") || (addonNamespace !== "" && names.includes(addonNamespace));
}
