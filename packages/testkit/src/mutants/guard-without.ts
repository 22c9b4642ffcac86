import { engine } from "./mutant.ts";
import type { Mutant, SourceEdit } from "./mutant.ts";

/** Effects of the inventory whose guards are taken out. */
export type Stands = `T${1 | 2 | 3 | 4 | 6 | 7 | 8 | 9 | 11}` | "K1" | "K2" | "K5" | "WL1";

type Edit = readonly [file: string, find: string, replace?: string];

/**
 * Makes mutants that each take one guard out: what it asks is never asked, or its answer never matters.
 *
 * @param tables tests by a short name; the one that is named must fail
 */
export function guardWithout<T extends Readonly<Record<string, string>>>(
  tables: T,
): (name: string, about: string, stands: readonly Stands[], test: keyof T & string, ...edits: readonly Edit[]) => Mutant {
  return (name, about, stands, test, ...edits) => ({
    name: `without-${name}`,
    about: `goes on although ${about}`,
    stands: stands.map((id) => `guard ${id}`),
    isGuard: true,
    tests: [tables[test] ?? ""],
    edits: edits.map(([file, find, replace]): SourceEdit => ({ file, find, replace: replace ?? never(find) })),
  });
}

/** `if (x)` that is never true. */
function never(condition: string): string {
  if (!condition.startsWith("if (")) throw new Error(`say what replaces "${condition}"`);
  return `if ((false as boolean) && ${condition.slice(3)})`;
}

/** The record is not asked before a send of this kind: with it goes the intent, whatever it is. */
export function withoutRecord(kind: string): SourceEdit {
  const find = "effects.guard.check((facts) => recordHolds(record, facts, action))";
  const replace = `effects.guard.check((facts) => action.kind === "${kind}" || recordHolds(record, facts, action))`;
  return { file: `${engine}/effects/send-to-machine.ts`, find, replace };
}
