import { checksOf, effects } from "@talos-operator/operator/testing";
import type { EffectKind } from "@talos-operator/operator/testing";
import type { Mutant } from "./mutant.ts";
import { required, unplantable } from "./required.ts";

const kinds = Object.keys(effects) as EffectKind[];

/** What must notice a fault: test files, or simulated lives. */
export function witnessesOf({ tests, workload, trouble }: Mutant): readonly string[] {
  return tests ?? [`lives ${[workload, trouble].filter((word) => word !== undefined).join(" ")}`];
}

/** What an incident, a fault of another operator or a guard is planted as. */
export function plantedAs(id: string, mutants: readonly Mutant[]): readonly string[] {
  return [
    ...mutants.filter(({ stands = [] }) => stands.includes(id)).map(({ name }) => name),
    ...kinds.filter((kind) => `guard ${effects[kind].inventory}` === id && checksOf(kind).length > 0).map((kind) => `checks of ${kind}`),
  ];
}

/** A line for each fault: what it does, what it stands for, what must notice it. */
export function faultLines(mutants: readonly Mutant[]): readonly string[] {
  return mutants.map((mutant) => {
    const { name, about, stands = [] } = mutant;
    const standing = stands.length === 0 ? "" : ` [${stands.join(", ")}]`;
    return `${name}: ${about}${standing} <- ${witnessesOf(mutant).join(", ") || "nothing is known to notice it"}`;
  });
}

/** A line for each effect with checks, and for each incident, fault of another operator and guard. */
export function coverageLines(mutants: readonly Mutant[]): readonly string[] {
  return [
    "Checks of effects: each is taken out by the table of its effect in packages/testkit/src/effects/, and must be missed",
    ...kinds
      .filter((kind) => checksOf(kind).length > 0)
      .map((kind) => `${kind} (${effects[kind].inventory}): ${checksOf(kind).join(", ")}`),
    "",
    "Incidents, faults of other operators, guards",
    ...Object.entries(required).map(([id, was]) => `${id}: ${was} <- ${plantedAs(id, mutants).join(", ") || unplantable[id]}`),
  ];
}
