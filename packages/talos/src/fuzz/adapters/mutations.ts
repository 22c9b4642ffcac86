/** Texts that are almost right: recorded configs and bundles with a few things changed, dropped, doubled or put in. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { array, constantFrom, nat, tuple } from "fast-check";
import type { Arbitrary } from "fast-check";

const GOLDEN = fileURLToPath(new URL("../../../testdata/golden/", import.meta.url));
const KINDS = ["encoding", "genconfig", "patches", "secrets", "talosconfig", "validation"];
const LONGEST = 30_000;

/** What YAML, Go or JavaScript reads in a way of its own. */
const BITS = [
  "\0", "\u0007", "\ud800", "\udc00", "\ufeff", "\t", "\r\n", "\r", "\u2028", "\u0085", "\u00a0", "é", "😀", " ", "  ", "    ", "\n", "\n\n",
  "*a", "&a ", "!!binary ", "!x ", "<<: x\n", "%YAML 1.2\n", "---\n", "...\n", "$patch: delete\n", "__proto__: x\n", "constructor: x\n", "toString",
  "|", "|-", "|+2", ">", "?", "? ", "-", "- ", "[", "]", "{", "}", ",", ":", ": ", "#", " #", "'", '"', "\\", "=", "`", "@", "%",
  '"\\ud800"', '"\\0"', '"\\x00"', '"\\u2028"', "0o17", "0x1F", "0644", "1e3", "1_000", ".inf", ".nan", "-0", "99999999999999999999999",
  "~", "null", "true", "yes", "no", "2026-01-01", "12:30:45", "kind: ", "apiVersion: v1alpha1\n", "name: \n",
]; // prettier-ignore

type Edit = readonly ["insert" | "replace" | "drop" | "double" | "swap" | "indent", number, number, string];

/** All recorded texts that are not too long for a quick test. */
function recorded(): readonly string[] {
  const texts = new Set<string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (/\.ya?ml$/.test(entry.name)) {
        const text = readFileSync(path, "utf8");
        if (text.length < LONGEST) texts.add(text);
      }
    }
  };
  for (const kind of readdirSync(GOLDEN)) if (KINDS.includes(kind)) walk(join(GOLDEN, kind));
  return [...texts];
}

/** A recorded text with one to six edits. */
export function mutatedTexts(): Arbitrary<string> {
  const edit = tuple(constantFrom<Edit[0]>("insert", "replace", "drop", "double", "swap", "indent"), nat(), nat(), constantFrom(...BITS));
  return tuple(constantFrom(...recorded()), array(edit, { minLength: 1, maxLength: 6 })).map(([text, edits]) => edits.reduce(edited, text));
}

function edited(text: string, [what, a, b, bit]: Edit): string {
  const at = a % (text.length + 1);
  if (what === "insert") return text.slice(0, at) + bit + text.slice(at);
  if (what === "replace") return text.slice(0, at) + bit + text.slice(at + 1 + (b % 5));
  const rows = text.split("\n");
  const first = a % rows.length;
  const second = b % rows.length;
  const row = rows[first] ?? "";
  if (what === "drop") rows.splice(first, 1 + (b % 3));
  else if (what === "double") rows.splice(second, 0, row);
  else if (what === "swap") [rows[first], rows[second]] = [rows[second] ?? "", row];
  else rows[first] = " ".repeat(b % 9) + row.trimStart();
  return rows.join("\n");
}
