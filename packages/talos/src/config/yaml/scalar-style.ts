import { isOldBoolean, isSexagesimal, kindOfPlain } from "./resolve.ts";

/** How a string is written. */
export type ScalarStyle = "plain" | "single" | "double" | "literal";

/**
 * The two generations of the Go library differ in one point: Talos 1.13 and older quote `yes`, `on`, `n`, `12:30` and `<<` with double quotes,
 * newer ones with single quotes.
 */
export type QuoteStyle = "double" | "single";

/** The style that Go's emitter picks for a string value or key; the library before has other rules for blocks. */
export function styleOf(text: string, isKey: boolean, oldBooleanQuotes: QuoteStyle, isOlder = false): ScalarStyle {
  // Most texts of a config are names, paths, images and base64: one look is enough, and all words that mean something are shorter.
  if (text.length > 5 && ordinary.test(text)) return "plain";
  if (text.includes("\n")) return isKey || !isBlockAllowed(text, isOlder) ? "double" : "literal";
  const kind = kindOfPlain(text);
  if (kind !== "str" && kind !== "merge") return "double";
  const wanted = (kind === "merge" && !isOlder) || isSexagesimal(text) || isOldBoolean(text) ? oldBooleanQuotes : "plain";
  if (wanted === "double") return "double";
  const facts = analyse(text);
  if (facts.needsDouble) return "double";
  return wanted === "single" || facts.needsQuotes ? "single" : "plain";
}

const ordinary = /^[A-Za-z/](?:[\w./+=-]|:(?=[\w./+=-]))*$/;

interface ScalarFacts {
  readonly needsQuotes: boolean;
  readonly needsDouble: boolean;
}

const startsAsIndicator = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$)|---|\.\.\.)/;
const indicatorInside = /:(?:[ \t]|$)|[ \t]#/;
// eslint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff\ufffe\uffff\ud800-\udfff\u{10000}-\u{10ffff}]/u;

function analyse(text: string): ScalarFacts {
  return {
    needsQuotes:
      startsAsIndicator.test(text) ||
      indicatorInside.test(text) ||
      text.startsWith(" ") ||
      text.endsWith(" ") ||
      /[\u0085\u2028\u2029]/.test(text),
    needsDouble: text.includes("\t") || unprintable.test(text) || /[\u0085\u2028\u2029]/.test(text),
  };
}

function isBlockAllowed(text: string, isOlder: boolean): boolean {
  if (isOlder ? text.includes("\t") : /^\s*$/.test(text)) return false;
  return !text.endsWith(" ") && !/ [\n\r\u0085\u2028\u2029]/.test(text) && !/\r/.test(text) && !unprintable.test(text);
}
