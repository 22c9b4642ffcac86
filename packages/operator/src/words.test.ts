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
