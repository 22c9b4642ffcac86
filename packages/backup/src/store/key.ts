import { StoreFailure } from "./failure.ts";

/** S3's limit, in bytes. */
const LONGEST_KEY = 1024;
/** What a file system takes as one name, in bytes. */
const LONGEST_PART = 255;

/**
 * Demands a key that every store takes, and a folder cannot be left with: parts of visible ASCII letters, none of them empty, `.` or `..`, nor hidden.
 *
 * @throws StoreFailure `invalid`
 */
export function demandKey(key: string): void {
  const parts = key.split("/");
  const isGood = parts.every(
    (part) => /^[!-~]+$/.test(part) && !part.startsWith(".") && !part.includes("\\") && part.length <= LONGEST_PART,
  );
  if (!isGood || key.length > LONGEST_KEY)
    throw new StoreFailure(
      "invalid",
      `${JSON.stringify(key.slice(0, 80))} is no key of an object: parts of visible letters with / between them.`,
    );
}

/** A prefix is the beginning of a key, at any letter. @throws StoreFailure `invalid` */
export function demandPrefix(prefix: string): void {
  if (prefix !== "") demandKey(prefix.endsWith("/") ? `${prefix}x` : prefix);
}
