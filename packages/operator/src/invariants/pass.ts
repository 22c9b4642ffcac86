import { definitionOf } from "../effects/definitions.ts";
import type { DisruptiveKind, MachineKind } from "../effects/definitions.ts";
import { machineFact } from "../record/facts.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Action } from "../model/effect.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";

/** What one pass is about to do, with the record as it is and as the pass leaves it. */
export interface Pass {
  readonly assessed: Assessment;
  readonly actions: readonly Action[];
  /** `undefined` = there is no record, or nobody could read it. */
  readonly before: ClusterFacts | undefined;
  readonly after: ClusterFacts | undefined;
}

/** One rule that no pass may break, whatever rule decided it. */
export interface PassInvariant {
  /** As `S11`: the rules of the simulated lives have the same names. */
  readonly id: string;
  /** What always holds, as a sentence. */
  readonly says: string;
  /** What the pass would break, with names and without a full stop; `undefined` = nothing. */
  broken(pass: Pass): string | undefined;
}

export function passOf(assessed: Assessment, actions: readonly Action[]): Pass {
  const written = actions.findLast((action) => action.kind === "WriteRecord");
  return { assessed, actions, before: assessed.facts, after: written?.facts ?? assessed.facts };
}

/** An action that a machine is asked to do. */
export type MachineAction = Extract<Action, { readonly kind: MachineKind }>;

/** One that takes a machine or its member down, or may. */
export type DisruptiveAction = Extract<Action, { readonly kind: DisruptiveKind }>;

export function asksMachine(action: Action): action is MachineAction {
  return definitionOf(action).at === "machine";
}

export function isDisruptive(action: Action): action is DisruptiveAction {
  return asksMachine(action) && definitionOf(action).disrupts !== "nothing";
}

/** Whom an action concerns: of a member that is removed its machine, whoever is asked. */
export function machineOf(action: MachineAction): MachineName {
  return definitionOf(action).machine?.(action) ?? "";
}

/** Its role by what is declared, else by what the record says. */
function roleOf({ assessed, after }: Pass, name: MachineName): MachineRole | undefined {
  return assessed.byName.get(name)?.declared.role ?? machineFact(after, name)?.role;
}

/** Disruptive actions on control planes. */
export function onControlPlanes(pass: Pass): readonly DisruptiveAction[] {
  return pass.actions.filter(isDisruptive).filter((action) => roleOf(pass, machineOf(action)) !== "worker");
}

/** The whole cluster is deleted: nothing of it is kept up. */
export function isClusterGoing({ assessed: { seen } }: Pass): boolean {
  return seen.controlPlane.metadata.deletionTimestamp !== undefined;
}
