import { Optional } from "@marcbachmann/cel-js";
import type { Environment } from "@marcbachmann/cel-js";
import { sameCel } from "./equality.ts";

type Item = string | bigint | number | boolean | Date;

/** Adds the list functions that the engine lacks. */
export function registerLists(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  add("list.isSorted(): bool", (list: readonly Item[]) => list.every((item, index) => index === 0 || !(item < (list[index - 1] as Item))));
  add("list.sum(): dyn", (list: readonly Item[]) => {
    if (list.length === 0) return 0n;
    if (typeof list[0] === "bigint") return list.reduce((sum: bigint, item) => sum + (item as bigint), 0n);
    return list.reduce((sum: number, item) => sum + Number(item), 0);
  });
  add("list.min(): dyn", (list: readonly Item[]) => extreme(list, "min", (a, b) => a < b));
  add("list.max(): dyn", (list: readonly Item[]) => extreme(list, "max", (a, b) => a > b));
  add("list.indexOf(dyn): int", (list: readonly unknown[], wanted: unknown) => BigInt(list.findIndex((item) => sameCel(item, wanted))));
  add("list.lastIndexOf(dyn): int", (list: readonly unknown[], wanted: unknown) =>
    BigInt(list.findLastIndex((item) => sameCel(item, wanted))),
  );
  add("list.distinct(): list", (list: readonly unknown[]) =>
    list.filter((item, index) => list.findIndex((other) => sameCel(other, item)) === index),
  );
  add("list.sort(): list", (list: readonly Item[]) => list.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  add("list.reverse(): list", (list: readonly unknown[]) => list.toReversed());
  add("list.flatten(): list", (list: readonly unknown[]) => list.flat());
  add("list.first(): optional<dyn>", (list: readonly unknown[]) => (list.length === 0 ? Optional.none() : Optional.of(list[0])));
  add("list.last(): optional<dyn>", (list: readonly unknown[]) => (list.length === 0 ? Optional.none() : Optional.of(list.at(-1))));
  add("list.slice(int, int): list", (list: readonly unknown[], from: bigint, to: bigint) => {
    if (from < 0n || to < from || to > list.length) throw new Error(`cannot slice(${from}, ${to}), list is length ${list.length}`);
    return list.slice(Number(from), Number(to));
  });
}

function extreme(list: readonly Item[], name: string, wins: (a: Item, b: Item) => boolean): Item {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, item) => (wins(item, best) ? item : best), first);
}
