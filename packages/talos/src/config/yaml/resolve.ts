/**
 * What an unquoted YAML scalar means to Go's YAML library, which reads and writes every Talos config.
 *
 * It follows YAML 1.2 with remains of 1.1: leading-zero octals, `_` in numbers, timestamps. `yes` and `on` are strings to it, but it
 * quotes them when writing so that older readers agree.
 */
export type ScalarKind = "str" | "null" | "bool" | "int" | "float" | "timestamp" | "merge";

const words: ReadonlyMap<string, ScalarKind> = new Map<string, ScalarKind>([
  ...["", "~", "null", "Null", "NULL"].map((text): [string, ScalarKind] => [text, "null"]),
  ...["true", "True", "TRUE", "false", "False", "FALSE"].map((text): [string, ScalarKind] => [text, "bool"]),
  ...[".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"].map(
    (text): [string, ScalarKind] => [text, "float"],
  ),
  ["<<", "merge"],
]);

/** Of those that begin with a letter: `false`. */
const longestWord = 5;

const integer = /^[-+]?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+)$/;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const timestamp =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2}))|(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?))?$/;
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const oldBooleans: ReadonlySet<string> = new Set("y Y yes Yes YES on On ON n N no No NO off Off OFF".split(" "));

/** The kind that Go's library gives to a plain (unquoted, untagged) scalar. */
export function kindOfPlain(text: string): ScalarKind {
  const first = text.charCodeAt(0);
  const isLetter = (first >= 0x61 && first <= 0x7a) || (first >= 0x41 && first <= 0x5a);
  if (isLetter && text.length > longestWord) return "str";
  const known = words.get(text);
  if (known !== undefined) return known;
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  if (!isNumeric) return "str";
  if (timestamp.test(text) && isCalendarDate(text)) return "timestamp";
  const digits = first !== 0x2e && text.includes("_") ? text.replaceAll("_", "") : text;
  if (integer.test(digits) && (digits.length < 18 || fitsSixtyFourBits(digits))) return "int";
  return decimal.test(digits) && Number.isFinite(Number(digits)) ? "float" : "str";
}

const trueWords: ReadonlySet<string> = new Set("y Y yes Yes YES on On ON".split(" "));

/** What a word that YAML 1.1 reads as a boolean means where Go asks for one, quoted or not; `undefined` for all other words. */
export function oldBoolean(text: string): boolean | undefined {
  return oldBooleans.has(text) ? trueWords.has(text) : undefined;
}

/** True for words that YAML 1.1 reads as booleans: Go writes them quoted although it reads them as strings. */
export function isOldBoolean(text: string): boolean {
  return oldBooleans.has(text);
}

/** True for `12:30:45`, a number in base sixty to YAML 1.1. */
export function isSexagesimal(text: string): boolean {
  return text.includes(":") && sexagesimal.test(text);
}

/** Larger numbers become floats when they are written in tens, and texts otherwise. */
function fitsSixtyFourBits(digits: string): boolean {
  const magnitude = digits.replace(/^[-+]/, "");
  const value = BigInt(/^0[0-7]+$/.test(magnitude) ? `0o${magnitude}` : magnitude);
  return digits.startsWith("-") ? value <= 1n << 63n : value < 1n << 64n;
}

function isCalendarDate(text: string): boolean {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/[-Tt :.,Z+]/, 6).map(Number);
  if (hour > 23 || minute > 59 || second > 59) return false;
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const length = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= length;
}
