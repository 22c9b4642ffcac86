/** A number as Go reads it from YAML: `_` between digits, `0x`, `0b`, `0o`, and a leading zero is octal. `undefined` for anything else. */
export function tryParseInteger(text: string): bigint | undefined {
  const digits = text.replaceAll("_", "");
  const body = digits.replace(/^[-+]/, "");
  if (!/^(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+)$/.test(body)) return undefined;
  const octal = /^0[oO]?([0-7]+)$/.exec(body);
  const value = BigInt(octal === null ? body : `0o${octal[1]}`);
  return digits.startsWith("-") ? -value : value;
}
