// Genuine parts: none
// Beside the genuine parts because it takes its time: every reader meets every bomb.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { bombs } from "./bombs.ts";

describe("a text that is too much", () => {
  test("is answered within 64 MiB", async () => {
    // What is loaded takes 17 MiB.
    const limits = ["--max-semi-space-size=2", "--max-old-space-size=81"];
    const script = fileURLToPath(new URL("adapters/bomb-process.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [...limits, script], { maxBuffer: 16 * 1024 * 1024 });
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly bomb: string; readonly reader: string; readonly outcome: string });
    assert.deepEqual(new Set(answers.map(({ bomb }) => bomb)), new Set(Object.keys(bombs)), "each was answered, none ended the process");
    assert.deepEqual(
      answers.filter(({ outcome }) => outcome.startsWith("threw")),
      [],
    );
    const refused = (bomb: string): Set<string> => new Set(answers.filter((answer) => answer.bomb === bomb).map(({ outcome }) => outcome));
    for (const bomb of ["a million empty documents", "open brackets", "different keys", "mappings in mappings"])
      assert.deepEqual([...refused(bomb)], ["YAML_LIMIT"], bomb);
  });
});
