import { isReadyNode } from "../../assess/machine-state.ts";
import { isSameBuild } from "../../effects/demand-talos.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { MachineRole } from "../../model/machine.ts";
import type { TalosBuild } from "../../record/upgrades.ts";

/** A machine of the role is well with a build, and nothing is open on it. */
export function isProvenOn({ machines }: Pick<Assessment, "machines">, role: MachineRole, build: TalosBuild): boolean {
  return machines.some(
    (machine) =>
      machine.declared.role === role &&
      machine.intents.length === 0 &&
      isReadyNode(machine) &&
      machine.look.kind === "running" &&
      machine.look.version !== undefined &&
      isSameBuild({ version: machine.look.version, schematic: machine.look.schematic }, build),
  );
}
