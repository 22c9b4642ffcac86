import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";

/** Settings that are not on every machine yet, and get there without a person. */
const GOES_ON: ReadonlySet<string> = new Set<ReasonOf<"ConfigUpToDate">>(["RollingOut", "Waiting", "RebootPending", "NotRead"]);

/**
 * `Progressing` of an object on which nothing is being done: `Settled`, or what its other conditions say is left.
 *
 * Whoever reads `Settled` takes the spec for carried out (Flux, Argo CD and scripts do), so nothing that is asked for may be missing.
 */
export function settledOr(conditions: readonly ConditionInput[], generation: number | undefined): ConditionInput {
  const see = "See the condition ConfigUpToDate.";
  const config = conditions.find(({ type }) => type === "ConfigUpToDate");
  if (config !== undefined && GOES_ON.has(config.reason)) return conditionFor("Progressing", "ChangingConfiguration", see, generation);
  if (config?.status === "False") return conditionFor("Progressing", "Blocked", see, generation);
  const pending = conditions.find(({ type }) => type === "UpgradePending");
  if (pending !== undefined) return conditionFor("Progressing", "UpgradePending", pending.message, generation);
  return conditionFor("Progressing", "Settled", "Everything that the spec asks for is carried out.", generation);
}
