const ellipsis = "…";

/** Cuts a text to at most `bytes` of UTF-8 without splitting a character; a cut text ends with an ellipsis. */
export function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const room = bytes - Buffer.byteLength(ellipsis);
  let used = 0;
  let kept = "";
  for (const character of text) {
    used += Buffer.byteLength(character);
    if (used > room) break;
    kept += character;
  }
  return kept + ellipsis;
}
