import { quote } from "../validation/host.ts";

const COMPLETE = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
const MINOR = /^v?(\d{1,4})\.(\d{1,4})$/;

/** A version that is complete, or why it cannot be. */
export type CompletedVersion = { readonly version: string } | { readonly message: string; readonly remedy: string };

/**
 * Reads `1.33`, `v1.33`, `1.33.6` or `v1.33.6` as `v1.33.6`. Without a patch it is the newest known one of its minor; pre-releases never are.
 *
 * @param known complete versions, with or without `v`
 */
export function completeVersion(text: string, known: readonly string[]): CompletedVersion {
  const full = COMPLETE.exec(text);
  if (full !== null) return { version: text.startsWith("v") ? text : `v${text}` };
  const short = MINOR.exec(text);
  if (short === null) return { message: `${quote(text)} is no version`, remedy: "Write it as 1.33 or v1.33.6" };
  const [, major, minor] = short;
  const patches = known.flatMap((one) => {
    const match = COMPLETE.exec(one);
    return match !== null && match[1] === major && match[2] === minor && match[4] === undefined ? [Number(match[3])] : [];
  });
  return patches.length === 0
    ? { message: `no patch of ${quote(text)} is known to this release`, remedy: `Write the patch too, or one of ${minorsOf(known)}` }
    : { version: `v${major}.${minor}.${Math.max(...patches)}` };
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
