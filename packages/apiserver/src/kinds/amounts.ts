import { printQuantity } from "../builtin/canonical-quantity.ts";
import { Quantity, tryParseQuantity } from "../cel/quantity.ts";
import type { JsonObject } from "../json.ts";

/** How much of what: quantities as texts, by the name of a resource (`cpu`, `requests.storage`). */
export type Amounts = Readonly<Record<string, string>>;

/** The quantities of a stored object, which were checked when it was written. */
export function amountsIn(holder: JsonObject): Amounts {
  return Object.fromEntries(Object.entries(holder).map(([name, amount]) => [name, String(amount)]));
}

/** A quantity to compute with; what is none counts as zero. */
export function quantityOf(amount: unknown): Quantity {
  return tryParseQuantity(String(amount).trim()) ?? new Quantity(0n, 0);
}

/** Both together, name by name. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => {
    const left = quantityOf(one);
    // A sum keeps the suffixes of what there was, and nothing has none.
    return printQuantity(left.plus(quantityOf(other)), left.mantissa === 0n ? other : one);
  });
}

/** The larger of both, name by name. */
export function largerAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => (quantityOf(one).compareTo(quantityOf(other)) < 0 ? other : one));
}

/** What `a` has more than `b`; nothing where it has less. */
export function amountsBeyond(a: Amounts, b: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(a).flatMap(([name, amount]) => {
      const more = quantityOf(amount).minus(quantityOf(b[name] ?? "0"));
      return more.mantissa > 0n ? [[name, printQuantity(more, amount)]] : [];
    }),
  );
}

function combine(a: Amounts, b: Amounts, both: (one: string, other: string) => string): Amounts {
  const result: Record<string, string> = { ...a };
  for (const [name, amount] of Object.entries(b)) result[name] = result[name] === undefined ? amount : both(result[name], amount);
  return result;
}
