/** Cells that a text takes in a terminal: wide East Asian characters and pictures take two, marks that combine none. */
export function widthOf(text: string): number {
  if (IS_PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** The beginning of a text, with an ellipsis where something was cut off; never wider than `width`. */
export function cut(text: string, width: number, ellipsis: string): string {
  if (widthOf(text) <= width) return text;
  if (width <= ellipsis.length) return ellipsis.slice(0, Math.max(0, width));
  return `${beginningOf(text, width - ellipsis.length)}${ellipsis}`;
}

/** Both ends of a name: what tells one machine from another is often the end. */
export function cutMiddle(text: string, width: number, ellipsis: string): string {
  if (widthOf(text) <= width) return text;
  const room = width - ellipsis.length;
  if (room < 2) return cut(text, width, ellipsis);
  const end = Math.ceil(room / 2);
  return `${beginningOf(text, room - end)}${ellipsis}${reversed(beginningOf(reversed(text), end))}`;
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join("");
}

export function pad(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - widthOf(text)))}`;
}

/** One line without control characters: what machines say of themselves must not move the cursor. */
export function oneLine(text: string): string {
  return text.replaceAll(CONTROLS, " ").replaceAll(/ {2,}/g, " ").trim();
}

/** For terminals that show nothing else. */
export function asciiOnly(text: string): string {
  return text.replaceAll("…", "...").replaceAll(/[^\u0020-\u007e]/gu, "?");
}

const IS_PLAIN = /^[\u0020-\u007e]*$/;
// Control characters, and those that turn the direction of writing.
// oxlint-disable-next-line no-control-regex -- they are what is removed
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;
const COMBINES = /^[\p{Mark}\p{Format}]$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

function cellsOf(character: string): number {
  if (COMBINES.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

function beginningOf(text: string, width: number): string {
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += cellsOf(character);
    if (used > width) break;
    kept += character;
  }
  return kept;
}
