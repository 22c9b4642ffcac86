/** How wide the older library lets a line become before it looks for a blank to break it at. */
const width = 80;

/** Where a text stands: columns are counted in characters, from 0. */
export interface FoldPlace {
  /** Column of the first character behind an opening quote. */
  readonly column: number;
  /** Column at which further lines begin. */
  readonly indent: number;
}

/**
 * A scalar broken at blanks as the older Go library breaks it: behind column 80 the next single blank becomes the end of the line.
 *
 * @param pieces what is printed for each character of the text
 * @param style in quotes neither the first nor the last character is a place to break; in double quotes runs of blanks are broken too
 */
export function folded(pieces: readonly string[], style: "plain" | "single" | "double", { column, indent }: FoldPlace): string {
  let out = "";
  let at = column;
  let afterBlank = false;
  for (const [index, piece] of pieces.entries()) {
    const isBlank = piece === " ";
    const isInside = style === "plain" || (index > 0 && index < pieces.length - 1);
    const isRun = pieces[index + 1] === " ";
    if (isBlank && !afterBlank && at > width && isInside && (style === "double" || !isRun)) {
      const escape = style === "double" && isRun ? "\\" : "";
      out += `\n${" ".repeat(indent)}${escape}`;
      at = indent + escape.length;
    } else {
      out += piece;
      at += Array.from(piece).length;
    }
    afterBlank = isBlank;
  }
  return out;
}
