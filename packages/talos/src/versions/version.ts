import { ConfigError } from "../config/errors.ts";

/** A version of Talos or Kubernetes, read by the rules of semantic versioning. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Pre-release identifiers without the dash, empty for a release. */
  readonly prerelease: string;
  /** Build metadata without the plus, mostly empty. It does not count where versions are compared. */
  readonly build: string;
}

const pattern =
  /^v?(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/**
 * Reads `v1.13.2`, `1.36.0-rc.1`. The patch number is required, a leading `v` is not.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function parseVersion(text: string): Version {
  const version = tryParseVersion(text);
  if (version === undefined) throw new ConfigError("INVALID_VERSION", `${JSON.stringify(text.slice(0, 64))} is not a version`);
  return version;
}

/**
 * Reads what people shorten, as Talos does where it asks what goes together: `1.36` is `1.36.0`, zeros before a number and blanks around do not count.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function parseShortVersion(text: string): Version {
  const [major = "", minor = "0", ...rest] = text.trim().replace(/^v/, "").split(".");
  const isShort = rest.length === 0;
  const parts = [major, minor, isShort ? "0" : rest.join(".")];
  if (isShort && /[+-]/.test(major + minor)) return parseVersion(text);
  return parseVersion(parts.map((part) => part.replace(/^0+(?=\d)/, "")).join("."));
}

/** Like {@link parseVersion}, `undefined` for anything else. */
export function tryParseVersion(text: string): Version | undefined {
  const match = text.length > 128 ? null : pattern.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]), prerelease: match[4] ?? "", build: match[5] ?? "" };
}

/**
 * Negative when `a` is older than `b`, 0 when they are equal, positive when newer. Pre-releases come before their release, build metadata
 * does not count.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function compareVersions(a: string, b: string): number {
  const left = parseVersion(a);
  const right = parseVersion(b);
  return (
    left.major - right.major || left.minor - right.minor || left.patch - right.patch || comparePrerelease(left.prerelease, right.prerelease)
  );
}

function comparePrerelease(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "") return 1;
  if (b === "") return -1;
  const left = a.split(".");
  const right = b.split(".");
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const x = left[index];
    const y = right[index];
    if (x === undefined) return -1;
    if (y === undefined) return 1;
    if (x === y) continue;
    const isNumberX = /^\d+$/.test(x);
    const isNumberY = /^\d+$/.test(y);
    if (isNumberX && isNumberY) return Number(x) - Number(y);
    if (isNumberX !== isNumberY) return isNumberX ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
}
