import { StoreFailure } from "./failure.ts";

/** S3's limit, in bytes. */
const LONGEST_KEY = 1024;
/** What a file system takes as one name, in bytes. */
const LONGEST_PART = 255;

/** Whether every store takes this key, and a folder can be left with it: see {@link demandKey}. */
export function isKey(key: string): boolean {
  const isGood = key
    .split("/")
    .every((part) => /^[!-~]+$/.test(part) && !part.startsWith(".") && !part.includes("\\") && part.length <= LONGEST_PART);
  return isGood && key.length <= LONGEST_KEY;
}

/**
 * Demands a key that every store takes, and a folder cannot be left with: parts of visible ASCII letters, none of them empty, `.` or `..`, nor hidden.
 *
 * @throws StoreFailure `invalid`
 */
export function demandKey(key: string): void {
  if (!isKey(key))
    throw new StoreFailure(
      "invalid",
      `${JSON.stringify(key.slice(0, 80))} is no key of an object: parts of visible letters with / between them.`,
    );
}

/** A prefix is the beginning of a key, at any letter. @throws StoreFailure `invalid` */
export function demandPrefix(prefix: string): void {
  if (prefix !== "") demandKey(prefix.endsWith("/") ? `${prefix}x` : prefix);
}
