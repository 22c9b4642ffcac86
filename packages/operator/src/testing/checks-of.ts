import { effects } from "../effects/definitions.ts";
import type { DefinitionOf } from "../effects/definitions.ts";
import { lastLooks } from "../effects/guard.ts";
import type { EffectKind } from "../model/effect.ts";
import type { PassOptions } from "./effects.ts";

/** Where a definition keeps checks, each under a name. */
const groups = ["before", "checks", "record", "beside", "late"] as const;

type NamesIn<D, G extends string> = D extends { readonly [key in G]: infer C } ? keyof C & string : never;

/** Looked at last by every effect that asks the guard. */
export type LastLookName = keyof typeof lastLooks;

/** Names of the checks that an effect makes of its own. */
export type CheckOf<K extends EffectKind> = { [G in (typeof groups)[number]]: NamesIn<DefinitionOf<K>, G> }[(typeof groups)[number]];

/** Those of them that are asked of the world, and not of the record. */
export type LiveCheckOf<K extends EffectKind> = Exclude<CheckOf<K>, NamesIn<DefinitionOf<K>, "record">>;

type Grouped = { readonly [key in (typeof groups)[number]]?: object };

/** Every check that holds an effect back: its own, and those that are made last for all that are sent to a machine. */
export function checksOf(kind: EffectKind): readonly string[] {
  const own = groups.flatMap((group) => Object.keys((effects[kind] as Grouped)[group] ?? {}));
  return effects[kind].at === "machine" ? [...own, ...Object.keys(lastLooks)] : own;
}

/** Plants a fault into a pass: these checks of one effect are not made. Effects are data: it is the registry without them, and nothing else is another. */
export function without(kind: EffectKind, names: readonly string[]): Required<Pick<PassOptions, "definitions" | "lastLooks">> {
  const definition = effects[kind] as Grouped;
  const left = groups.flatMap((group) => (definition[group] === undefined ? [] : [[group, leftOf(definition[group], names)]]));
  const known = checksOf(kind);
  for (const name of names) if (!known.includes(name)) throw new Error(`${kind} makes no check ${name}`);
  return {
    definitions: { ...effects, [kind]: { ...definition, ...Object.fromEntries(left) } },
    lastLooks: leftOf(lastLooks, names),
  };
}

function leftOf<T extends object>(checks: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(checks).filter(([name]) => !names.includes(name))) as T;
}
