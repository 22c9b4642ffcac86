import type { Action, ActionOf, EffectKind } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { EffectDefinition } from "./define.ts";
import * as all from "./index.ts";

/** Definitions by kind. A kind without one does not compile. */
export type Definitions = { readonly [K in EffectKind]: EffectDefinition<K> & { readonly kind: K } };

type Defined = typeof all;

/** The definition of one kind, with the names of its checks. */
export type DefinitionOf<K extends EffectKind> = Extract<Defined[keyof Defined], { readonly kind: K }>;

/** Effects that a machine is asked for. */
export type MachineKind = { [K in EffectKind]: DefinitionOf<K> extends { readonly at: "machine" } ? K : never }[EffectKind];

/** Those of them that take something away, for a while or for good. */
export type DisruptiveKind = { [K in MachineKind]: DefinitionOf<K> extends { readonly disrupts: "nothing" } ? never : K }[MachineKind];

/** Every effect. */
export const effects = byKind(all) satisfies Definitions;

function byKind(definitions: Defined): { readonly [K in Defined[keyof Defined]["kind"]]: DefinitionOf<K> } {
  return Object.fromEntries(Object.values(definitions).map((one) => [one.kind, one])) as ReturnType<typeof byKind>;
}

/** The definition of an effect that a decision asks for. @param of default: as they are */
export function definitionOf<K extends EffectKind>(action: ActionOf<K>, of: Definitions = effects): EffectDefinition<K> {
  return of[action.kind];
}

/** It asks the guard itself, right before it sends. */
export function asksGuard(action: Action): boolean {
  return definitionOf(action).at !== "objects";
}

/** It is asked beforehand whether the cluster is still to be reconciled. */
export function asksWord(action: Action, seen: Observed): boolean {
  return !asksGuard(action) && definitionOf(action).remembers?.(action, seen) !== true;
}

/** Something goes away by it for a while, or a machine is told something. */
export function changesMachines(action: Action): boolean {
  const { at, disrupts } = definitionOf(action);
  return at === "machine" || disrupts !== "nothing";
}

/** Machines that something is done to; an effect begins with its intent in the record. */
export function concernedBy(action: Action, seen: Observed): readonly MachineName[] {
  const { machine, begins } = definitionOf(action);
  return machine === undefined ? (begins?.(action, seen) ?? []) : [machine(action)];
}
