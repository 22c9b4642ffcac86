import { annotations, controllerOf } from "@talos-operator/api";
import type { TalosWorker } from "@talos-operator/api";
import { intentOn } from "../../record/facts.ts";
import { listed } from "../../report/listed.ts";
import { isWiped, leaversOf, policyOf, poolOf } from "./removal.ts";
import type { Leaver } from "./removal.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed } from "../../model/observation.ts";

/** The pool lists no machine, which a merge patch with an empty list does by accident: its machines are wiped on a person's word alone. */
export function isEmptied(pool: TalosWorker): boolean {
  return (pool.spec?.metalSpec?.machines ?? []).length === 0 && !isCounted(pool);
}

/** A KubernetesCluster says how many machines a pool has: zero is no slip. */
export function isCounted({ metadata }: TalosWorker): boolean {
  return controllerOf(metadata)?.kind === "KubernetesCluster";
}

/** A person confirmed that the machines of this pool are wiped. */
export function isConfirmed({ metadata }: TalosWorker): boolean {
  return metadata.annotations?.[annotations.confirmReset] === metadata.name;
}

/** Why this worker is not wiped before a person confirms it, or `undefined`. The same words for all machines of a pool. */
export function awaitsConfirmation(seen: Observed, facts: ClusterFacts, leaver: Leaver): string | undefined {
  const pool = poolOf(seen, leaver.machine);
  if (pool === undefined || !isAsked(seen, facts, leaver) || isConfirmed(pool)) return undefined;
  const { name } = pool.metadata;
  const asked = leaversOf(seen, facts, "worker").filter((one) => poolOf(seen, one.machine) === pool && isAsked(seen, facts, one));
  const machines = listed(asked.map(({ fact }) => fact.name).toSorted(), ", ", 3);
  return `TalosWorker ${name} lists no machine any more, and wiping its machines destroys their data: ${machines}. Nothing is wiped before a person confirms it. List them again, or annotate the TalosWorker with ${annotations.confirmReset}: ${name}.`;
}

/** What is under way goes on, and whoever deletes a TalosMachine that was made by hand means that very machine. */
function isAsked(seen: Observed, facts: ClusterFacts, leaver: Leaver): boolean {
  const pool = poolOf(seen, leaver.machine);
  if (pool === undefined || !isEmptied(pool) || policyOf(pool.spec) === "preserve") return false;
  const { name } = leaver.fact;
  if (intentOn(facts, name, "Reset") !== undefined || isWiped(facts, leaver)) return false;
  const object = seen.machineObjects.find(({ metadata }) => metadata.name === name);
  return object === undefined || controllerOf(object.metadata) !== undefined;
}
