/** A version of CEL's `semver()`, as semver.org 2.0.0 has it. */
export class Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  /** Less than 0, 0 or more than 0, by precedence; build metadata does not count. */
  compareTo(other: Semver): number {
    for (const [index, mine] of this.numbers.entries()) {
      const theirs = other.numbers[index] ?? 0n;
      if (mine !== theirs) return mine < theirs ? -1 : 1;
    }
    return comparePrerelease(this.prerelease, other.prerelease);
  }
}

function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0 : a.length === 0 ? 1 : -1;
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [mine, theirs] = [a[index], b[index]];
    if (mine === undefined || theirs === undefined) return mine === undefined ? -1 : 1;
    if (mine === theirs) continue;
    const areNumbers = [mine, theirs].map((part) => /^\d+$/.test(part));
    if (areNumbers[0] === true && areNumbers[1] === true) return BigInt(mine) < BigInt(theirs) ? -1 : 1;
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] === true ? -1 : 1;
    return mine < theirs ? -1 : 1;
  }
  return 0;
}

const whole =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/**
 * Parses a version; `undefined` when the text is none.
 *
 * @param normalize also take `v1`, `1.2` and `01.2.3`, as the genuine function does when it is asked to
 */
export function tryParseSemver(text: string, normalize = false): Semver | undefined {
  const parts = whole.exec(normalize ? normalized(text) : text);
  if (parts === null) return undefined;
  const prerelease = parts[4] === undefined ? [] : parts[4].split(".");
  if (prerelease.some((part) => /^0\d+$/.test(part))) return undefined;
  return new Semver([BigInt(parts[1] ?? 0), BigInt(parts[2] ?? 0), BigInt(parts[3] ?? 0)], prerelease);
}

function normalized(text: string): string {
  const [, numbers = "", rest = ""] = /^v?([\d.]*)(.*)$/s.exec(text) ?? [];
  const parts = numbers.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
  // Only a version that says nothing more may be short.
  const missing = rest === "" ? Math.max(0, 3 - parts.length) : 0;
  return `${parts.join(".")}${".0".repeat(missing)}${rest}`;
}
