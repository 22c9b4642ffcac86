import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../../..");

/** Rows of the glossary: a word, its meaning, and what nobody says instead. */
async function unsaid(): Promise<readonly string[]> {
  const page = await readFile(join(root, "docs/reference/glossary.md"), "utf8");
  const rows = page.split("\n").filter((line) => /^\| [^-]/.test(line));
  return rows
    .slice(1)
    .flatMap((row) => (row.split("|")[3] ?? "").split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

test("no message says what the glossary has another word for", async () => {
  const words = await unsaid();
  assert.ok(words.includes("let go") && words.length > 8, `read ${words.length} words`);
  const files = globSync("packages/{operator,api,cli}/src/**/*.ts", { cwd: root }).filter((file) => !/\.(real-)?test\.ts$/.test(file));
  assert.ok(files.length > 300, `read ${files.length} files`);
  const found: string[] = [];
  for (const file of files) {
    const lines = (await readFile(join(root, file), "utf8")).split("\n");
    for (const [index, line] of lines.entries())
      // Comments may be about words; what people read stands in strings.
      for (const word of /^\s*(\/\/|\*|\/\*)/.test(line) ? [] : words)
        if (new RegExp(`["'\`].*\\b${word}\\b`, "i").test(line)) found.push(`${file}:${index + 1} says "${word}"`);
  }
  assert.deepEqual(found, []);
});

/** Longest first sentence, and longest message, of what is written down; what is filled in comes on top. */
const [LONGEST_SENTENCE, LONGEST_MESSAGE] = [120, 300];

/** Texts that are no messages of conditions: reference pages, invariants. */
const PAGES = /\/(error-reference\.ts|invariants\/)/;

/** The texts of a line, with nothing where something is filled in. */
function textsOf(line: string): readonly string[] {
  let left = line.replaceAll(String.raw`\n`, ". ").replaceAll(/\\./g, "");
  for (let before = ""; before !== left;) {
    before = left;
    // From the inside out: what is filled in may hold texts of its own.
    left = left.replaceAll(/\$\{[^{}`"]*\}/g, "").replaceAll(/\$\{[^{}`]*"[^"]*"[^{}`]*\}/g, "");
    left = left.replaceAll(/\$\{([^{}`]*)`[^`]*`([^{}`]*)\}/g, "");
  }
  return [...left.matchAll(/"([^"]*)"|`([^`]*)`/g)].map(([, quoted, template]) => quoted ?? template ?? "");
}

test("no message is longer than a person reads: a first sentence of 120 characters, 300 in all, names and paths aside", async () => {
  const places = ["packages/operator/src/**/*.ts", "packages/talos/src/{upgrades,config/validate/hazards}/*.ts"];
  const files = globSync(places, { cwd: root }).filter((file) => !/\.test\.ts$|\/testing\//.test(file));
  const found: string[] = [];
  for (const file of files.filter((one) => !PAGES.test(one)))
    for (const [index, line] of (await readFile(join(root, file), "utf8")).split("\n").entries()) {
      if (/^\s*(\/\/|\*|\/\*)/.test(line)) continue;
      for (const text of textsOf(line)) {
        const said = text.replaceAll(/\S*(talos-operator\.dev|docs\/|[a-z]\.[a-z])\S*/g, "");
        const [first = said] = /^.*?\.(?=\s|$)/.exec(said) ?? [];
        if (/[a-z] [a-z]/.test(said) && (first.length > LONGEST_SENTENCE || said.length > LONGEST_MESSAGE))
          found.push(`${file}:${index + 1} ${first.length}/${said.length} ${text}`);
      }
    }
  assert.deepEqual(found, []);
});
