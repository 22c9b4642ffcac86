/** Texts that one sentence names. */
const MOST_NAMED = 8;

/** Names, the first few of them. */
export function listed(texts: readonly string[], separator = ", ", most = MOST_NAMED): string {
  const more = texts.length - most;
  return `${texts.slice(0, most).join(separator)}${more > 0 ? ` and ${more} more` : ""}`;
}
