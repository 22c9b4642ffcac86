/** A line that ends with the sign of a block scalar: indent, dashes, and the key where there is one. */
const BLOCK_HEADER = /^( *)((?:[-?] +)*)([^\s#][^#]*?:[ \t]+)?(?:[&!]\S*[ \t]+)*[|>][-+0-9]*$/;
/** A longer line counts as if it were no header. */
const LONGEST_HEADER = 256;
/** The parser keeps each line of a text for itself, which costs a quarter of a value. */
const TEXT_LINE = 0.25;

/**
 * How many values a YAML text may hold at most, without reading it: every place where one can begin is counted, also inside quotes and comments. In the
 * text of block scalars only lines count, four of them as one value.
 *
 * Counting stops above `enough`. Costs a look at each character, so that a text that would fill the memory is refused before it does.
 */
export function countValuesAtMost(text: string, enough: number): number {
  let count = 0;
  /** Lines deeper than this are text; `undefined` outside of a block scalar. */
  let blockIndent: number | undefined;
  for (let start = 0; start < text.length && count <= enough;) {
    const newline = text.indexOf("\n", start);
    const end = contentEnd(text, start, newline < 0 ? text.length : newline);
    const indent = indentOf(text, start, end);
    if (blockIndent !== undefined && (start + indent === end || indent > blockIndent)) count += TEXT_LINE;
    else {
      count += countInLine(text, start, end);
      blockIndent = blockIndentOf(text, start, end);
    }
    if (newline < 0) break;
    start = newline + 1;
  }
  return Math.ceil(count);
}

const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** End of the line without blanks and a carriage return. */
function contentEnd(text: string, start: number, lineEnd: number): number {
  let end = lineEnd;
  while (end > start) {
    const code = text.charCodeAt(end - 1);
    if (code !== SPACE && code !== TAB && code !== CARRIAGE_RETURN) break;
    end -= 1;
  }
  return end;
}

function indentOf(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) === SPACE) at += 1;
  return at - start;
}

/**
 * Column of the collection whose value the block scalar is that begins on this line: its key, or else the last dash. `undefined` where none begins, or where
 * it is the whole document. A line that only looks like a header, inside quotes or a plain text, is followed by text or by an error of the parser.
 */
function blockIndentOf(text: string, start: number, end: number): number | undefined {
  if (end - start > LONGEST_HEADER || !endsWithSign(text, start, end)) return undefined;
  const [, spaces = "", dashes = "", key] = BLOCK_HEADER.exec(text.slice(start, end)) ?? [];
  if (key !== undefined) return spaces.length + dashes.length;
  return dashes === "" ? undefined : spaces.length + dashes.trimEnd().length - 1;
}

/** Most lines end otherwise, so that few are matched. */
function endsWithSign(text: string, start: number, end: number): boolean {
  let at = end - 1;
  while (at > start && /[-+0-9]/.test(text[at] ?? "")) at -= 1;
  return text[at] === "|" || text[at] === ">";
}

const COMMA = 0x2c;
const DASH = 0x2d;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BRACE = 0x7b;

function countInLine(text: string, start: number, end: number): number {
  let count = 1;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === COLON || code === BRACKET || code === BRACE) count += 1;
    else if (code === DASH && text.charCodeAt(at + 1) === SPACE) count += 1;
  }
  return count;
}
