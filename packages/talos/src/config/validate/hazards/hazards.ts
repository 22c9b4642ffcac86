import { hazardOf, type Hazard, type HazardInput } from "./hazard.ts";
import { componentHazards } from "./components.ts";
import { firewallHazards, installHazards } from "./machine.ts";
import { endpointHazards, familyHazards, subnetHazards } from "./network.ts";
import { nodeHazards } from "./node.ts";

export type { Hazard, HazardCode } from "./hazard.ts";

/** What Talos takes although a machine or a cluster would be lost over it. */
export function hazardsOf(input: HazardInput): readonly Hazard[] {
  const found = [
    ...endpointHazards(input),
    ...subnetHazards(input),
    ...familyHazards(input),
    ...installHazards(input),
    ...firewallHazards(input),
    ...componentHazards(input),
    ...nodeHazards(input),
  ];
  return found.map(hazardOf);
}
