/** Texts that one sentence names. */
const MOST_NAMED = 3;

/** Names, the first few of them. */
export function listed(texts: readonly string[], separator = ", ", most = MOST_NAMED): string {
  const more = texts.length - most;
  return `${texts.slice(0, most).join(separator)}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Sentences, the first few of them. */
export function sentences(texts: readonly string[]): string {
  const more = texts.length - MOST_NAMED;
  return [...texts.slice(0, MOST_NAMED), ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
}

/** `1 machine`, `2 machines`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
