/** Texts of a machine are cut and lose control characters before they go anywhere. */
export function bounded(text: string, longest = 200): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ").slice(0, longest);
}

/**
 * A word of a machine that is written down, such as its UUID; `undefined` = it reports none, or something that is none. The record does not take longer ones, and
 * what it does not take of one machine would not be written of the others either.
 */
export function reportedWord(text: string | undefined, longest: number): string | undefined {
  return text !== undefined && text.length <= longest && /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

/** Most characters of a UUID that the record takes. */
export const LONGEST_UUID = 64;
