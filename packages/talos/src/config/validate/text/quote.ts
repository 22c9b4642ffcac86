/** A text in double quotes as Go's `%q` prints it. */
export function quoted(text: string): string {
  let out = '"';
  for (const char of text) out += escapes.get(char) ?? (isPrintable(char) ? char : escaped(char));
  return `${out}"`;
}

/** Texts in brackets, as Go prints a list with `%q`. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(" ")}]`;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\u000b", "\\v"],
]);

/** Letters, marks, numbers, punctuation, symbols and the plain space. */
function isPrintable(char: string): boolean {
  return char === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char);
}

function escaped(char: string): string {
  const code = char.codePointAt(0) as number;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
