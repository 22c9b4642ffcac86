import { quote } from "../validation/host.ts";

const COMPLETE = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
const MINOR = /^v?(\d{1,4})\.(\d{1,4})$/;

/** A version that is complete, or why it cannot be. */
export type CompletedVersion = { readonly version: string } | { readonly message: string; readonly remedy: string };

/**
 * Reads `1.33`, `v1.33`, `1.33.6` or `v1.33.6` as `v1.33.6`. Without a patch it is the one that it was read as before, else the newest known one of its minor;
 * pre-releases never are.
 *
 * @param known complete versions, with or without `v`
 * @param before complete, as it was read the last time; of another minor it does not count
 */
export function completeVersion(text: string, known: readonly string[], before?: string): CompletedVersion {
  const full = COMPLETE.exec(text);
  if (full !== null) return { version: withV(text) };
  const short = MINOR.exec(text);
  if (short === null) return { message: `${quote(text)} is no version`, remedy: "Write it as 1.33 or v1.33.6" };
  const [, major, minor] = short;
  const told = before === undefined ? undefined : minorOf(before);
  if (before !== undefined && told?.[0] === Number(major) && told[1] === Number(minor)) return { version: withV(before) };
  const patches = known.flatMap((one) => {
    const match = COMPLETE.exec(one);
    return match !== null && match[1] === major && match[2] === minor && match[4] === undefined ? [Number(match[3])] : [];
  });
  return patches.length === 0
    ? { message: `no patch of ${quote(text)} is known to this release`, remedy: `Write the patch too, or one of ${minorsOf(known)}` }
    : { version: `v${major}.${minor}.${Math.max(...patches)}` };
}

/** A version with its `v`. */
export function withV(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/** What a version is asked for as, however it is spelled: without `v`. */
export function askedAs(text: string): string {
  return text.replace(/^v/, "");
}

/** True for a version with its patch. */
export function isCompleteVersion(text: string): boolean {
  return COMPLETE.test(text);
}

/** Major and minor of a complete version; `undefined` for anything else. */
export function minorOf(version: string): readonly [major: number, minor: number] | undefined {
  const match = COMPLETE.exec(version);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

function minorsOf(known: readonly string[]): string {
  const minors = known.flatMap((one) => {
    const match = COMPLETE.exec(one);
    return match === null || match[4] !== undefined ? [] : [`${match[1]}.${match[2]}`];
  });
  return [...new Set(minors)].join(", ");
}
