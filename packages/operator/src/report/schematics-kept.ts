import { defaultSchematicId, isPlainSchematic, noSchematic } from "@talos-operator/talos";
import { askedSchematic } from "../planning/upgrade-plan.ts";
import { listed } from "./listed.ts";
import type { SeenMachine } from "../model/observation.ts";

/**
 * Machines that stay with the schematic that they run, though the spec names none, in a sentence: no image, and an installer of Talos itself, ask for none. A version
 * is told by its refusal.
 */
export function schematicsKept(machines: readonly SeenMachine[]): string | undefined {
  const kept = machines.flatMap(({ declared: { name, version, machineSpec }, look }) =>
    look.kind === "running" &&
    look.version === version &&
    look.schematic !== undefined &&
    !isPlainSchematic(look.schematic) &&
    askedSchematic(machineSpec.image) === noSchematic
      ? [{ name, schematic: look.schematic }]
      : [],
  );
  if (kept.length === 0) return undefined;
  const groups = [...Map.groupBy(kept, ({ schematic }) => schematic)].map(
    ([schematic, all]) => `${schematic} (${listed(all.map(({ name }) => name))})`,
  );
  return `The spec names no image of an Image Factory, and machines stay with the schematic that they run: ${groups.join(", ")}. Name its image, for machines that join get the installer of Talos itself; to leave it, name that of the schematic ${defaultSchematicId}, which holds nothing.`;
}
