import { type Quantity, tryParseQuantity } from "../cel/quantity.ts";

const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Nanos are the smallest part there is. */
const smallest = -9;

/**
 * A quantity as the genuine server prints it: no fraction, and the largest suffix of its family that leaves a whole number (`0.5` is `500m`,
 * `1024Mi` is `1Gi`). Numbers become texts; what is no quantity is returned as it is.
 *
 * @see k8s.io/apimachinery/pkg/api/resource `CanonicalizeBytes`
 */
export function canonicalQuantity(given: unknown): unknown {
  const text = typeof given === "number" ? String(given) : given;
  if (typeof text !== "string") return given;
  const trimmed = text.trim();
  const quantity = tryParseQuantity(trimmed);
  return quantity === undefined ? given : printQuantity(quantity, trimmed);
}

/** A quantity as text, in the family of suffixes of another one. */
function printQuantity(quantity: Quantity, like: string): string {
  if (quantity.mantissa === 0n) return "0";
  // What is smaller than a nano is rounded up, away from zero.
  let { mantissa, exponent } = quantity;
  while (exponent < smallest) {
    const isExact = mantissa % 10n === 0n;
    mantissa = mantissa / 10n + (isExact ? 0n : mantissa > 0n ? 1n : -1n);
    exponent++;
  }
  if (like.endsWith("i")) {
    const whole = quantity.toInteger();
    // Below 1024 the binary family prints without a suffix, and a fraction makes it decimal.
    if (whole !== undefined) return printBinary(whole);
  }
  return printDecimal(mantissa, exponent, /[eE][+-]?\d+$/.test(like));
}

function printBinary(whole: bigint): string {
  let step = 0;
  let value = whole;
  while (value % 1024n === 0n && step < binarySuffixes.length - 1) {
    value /= 1024n;
    step++;
  }
  return `${value}${binarySuffixes[step] ?? ""}`;
}

function printDecimal(given: bigint, power: number, withExponent: boolean): string {
  let mantissa = given;
  let exponent = power;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  // Down to a multiple of three, within the suffixes that there are.
  const largest = withExponent ? Number.POSITIVE_INFINITY : 18;
  const wanted = Math.min(Math.floor(exponent / 3) * 3, largest);
  mantissa *= 10n ** BigInt(exponent - wanted);
  const suffix = withExponent ? (wanted === 0 ? "" : `e${wanted}`) : (decimalSuffixes[(wanted - smallest) / 3] ?? "");
  return `${mantissa}${suffix}`;
}
