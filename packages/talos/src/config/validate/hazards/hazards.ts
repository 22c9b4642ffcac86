import { hazardOf, type Hazard, type HazardInput } from "./hazard.ts";
import { firewallHazards, installHazards } from "./machine.ts";
import { endpointHazards, subnetHazards } from "./network.ts";

export type { Hazard, HazardCode } from "./hazard.ts";

/** What Talos takes although a machine or a cluster would be lost over it. */
export function hazardsOf(input: HazardInput): readonly Hazard[] {
  const found = [...endpointHazards(input), ...subnetHazards(input), ...installHazards(input), ...firewallHazards(input)];
  return found.map(hazardOf);
}
