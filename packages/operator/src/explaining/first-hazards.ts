import { annotations } from "@talos-operator/api";
import type { Finding, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { configHashOf } from "../procedures/configure/config-hash.ts";
import { heldBack } from "../procedures/configure/hazards.ts";
import { machineFact, mayHoldConfig } from "../record/facts.ts";
import { hazardsOfFirst } from "../spec/first-config.ts";
import { asMade } from "../spec/fixed-properties.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";

/** What would hold back the first configurations of a pool, each hazard once; nobody asks the machines, so they count as what is to be installed on them. */
export function firstHazardFindings(
  pool: TalosControlPlane | TalosWorker,
  machines: readonly DeclaredMachine[],
  controlPlane: TalosControlPlane,
  facts: ClusterFacts | undefined,
): readonly Finding[] {
  const { spec } = controlPlane;
  if (spec === undefined) return [];
  const said = (pool.metadata.annotations?.[annotations.acceptHazard] ?? "").split(",").map((code) => code.trim());
  const made = facts === undefined ? spec : asMade(spec, facts);
  const found = new Map<string, Finding>();
  for (const machine of machines) {
    if (mayHoldConfig(machineFact(facts, machine.name))) continue;
    const all = hazardsOfFirst(machine, { version: machine.version, platform: "metal" }, controlPlane, facts);
    for (const { code, document, path, message } of heldBack(facts ?? {}, configHashOf(machine, made, facts), all)) {
      const place = [document === "v1alpha1" ? "" : document, path].filter((part) => part !== "").join(" ");
      if (said.includes(code) || found.has(place)) continue;
      const remedy = `To send it anyway, annotate ${pool.kind} ${pool.metadata.name} with ${annotations.acceptHazard}: ${code}`;
      found.set(place, { field: machine.field, message: `${place}: ${message}`, remedy, reason: "InvalidConfig" });
    }
  }
  return [...found.values()];
}
