import { machineFact, mayHoldConfig } from "../../record/facts.ts";
import type { TalosMachine } from "@talos-operator/api";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** TalosMachines of machines that were released, or never were part of the cluster, and that no spec lists. */
export function forgottenObjects({ machines, former, machineObjects }: Observed, facts: ClusterFacts | undefined): readonly TalosMachine[] {
  const kept = new Set([...machines, ...former].map(({ declared }) => declared.name));
  return machineObjects.filter(({ metadata: { name } }) => !kept.has(name) && !mayHoldConfig(machineFact(facts, name)));
}
