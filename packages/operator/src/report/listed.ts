/** Texts that one sentence names. */
const MOST_NAMED = 8;

/** Names, the first few of them. */
export function listed(texts: readonly string[], separator = ", "): string {
  const more = texts.length - MOST_NAMED;
  return `${texts.slice(0, MOST_NAMED).join(separator)}${more > 0 ? ` and ${more} more` : ""}`;
}
