/** A Kubernetes resource quantity such as `500m` or `2Gi`, exact: `mantissa * 10^exponent`. */
export class Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;

  constructor(mantissa: bigint, exponent: number) {
    this.mantissa = mantissa;
    this.exponent = exponent;
  }

  /** Less than 0, 0 or more than 0. */
  compareTo(other: Quantity): number {
    const [a, b] = align(this, other);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  plus(other: Quantity): Quantity {
    const [a, b, exponent] = align(this, other);
    return new Quantity(a + b, exponent);
  }

  minus(other: Quantity): Quantity {
    return this.plus(new Quantity(-other.mantissa, other.exponent));
  }

  /** The whole number, or `undefined` when there is a fraction or it exceeds 64 bits. */
  toInteger(): bigint | undefined {
    let value = this.mantissa;
    if (this.exponent >= 0) value *= 10n ** BigInt(this.exponent);
    else {
      const divisor = 10n ** BigInt(-this.exponent);
      if (value % divisor !== 0n) return undefined;
      value /= divisor;
    }
    return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined;
  }

  toNumber(): number {
    return Number(this.mantissa) * 10 ** this.exponent;
  }
}

function align(a: Quantity, b: Quantity): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.mantissa * 10n ** BigInt(a.exponent - exponent), b.mantissa * 10n ** BigInt(b.exponent - exponent), exponent];
}

const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, bigint>> = {
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
  Pi: 2n ** 50n,
  Ei: 2n ** 60n,
};

/** Longest quantity. Longer ones say nothing that a number of 64 bits holds, and computing with them takes the square of their length. */
const longest = 1024;

/** Parses a quantity; `undefined` when the text is none. */
export function tryParseQuantity(text: string): Quantity | undefined {
  if (text.length > longest) return undefined;
  const parts = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,4}))?$/u.exec(text);
  if (parts === null) return undefined;
  const [, sign, digits = "", suffix = "", power] = parts;
  const [whole = "", fraction = ""] = digits.split(".");
  let mantissa = BigInt(`${whole}${fraction}`);
  if (sign === "-") mantissa = -mantissa;
  const factor = binary[suffix];
  if (factor !== undefined) return new Quantity(mantissa * factor, -fraction.length);
  return new Quantity(mantissa, (power === undefined ? (decimal[suffix] ?? 0) : Number(power)) - fraction.length);
}
