import { conditionFor, releaseOf } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";

/**
 * `Progressing` of an object on which nothing is being done: `Settled`, or what its other conditions say is left.
 *
 * Whoever reads `Settled` takes the spec for carried out (Flux, Argo CD and scripts do), so nothing that is asked for may be missing.
 */
export function settledOr(conditions: readonly ConditionInput[], generation: number | undefined): ConditionInput {
  const removing = conditions.find(({ type }) => type === "Removing");
  // Of one that does not answer the rest of the cluster is not held up, but it is not carried out before a person released it.
  if (removing !== undefined)
    return conditionFor("Progressing", releaseOf(removing) === "person" ? "Blocked" : "Removing", "See Removing.", generation);
  const endpoint = conditions.find(({ type }) => type === "EndpointUpToDate");
  if (endpoint !== undefined)
    return conditionFor(
      "Progressing",
      releaseOf(endpoint) === "person" ? "Blocked" : "ChangingConfiguration",
      "See EndpointUpToDate.",
      generation,
    );
  const see = "See ConfigUpToDate.";
  const config = conditions.find(({ type }) => type === "ConfigUpToDate");
  // Settings that are not on every machine yet, and get there without a person.
  if (config !== undefined && releaseOf(config) === "itself") return conditionFor("Progressing", "ChangingConfiguration", see, generation);
  if (config?.status === "False") return conditionFor("Progressing", "Blocked", see, generation);
  const pending = conditions.find(({ type }) => type === "UpgradePending");
  if (pending?.reason === "Upgrading" || pending?.reason === "UpgradeWaits")
    return conditionFor("Progressing", "UpgradingTalos", pending.message, generation);
  if (pending !== undefined) return conditionFor("Progressing", "UpgradePending", pending.message, generation);
  return conditionFor("Progressing", "Settled", "Everything that the spec asks for is carried out.", generation);
}
