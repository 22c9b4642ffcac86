import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { simulatorErrorCodes } from "./errors.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/errors/simulator.md"), "utf8");

test("every error code has its entry, and every entry its code", () => {
  const entries = [...page.matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? "");
  assert.deepEqual(entries.toSorted(), [...simulatorErrorCodes].toSorted());
});

test("every entry says cause, effect and remedy", () => {
  for (const entry of page.split(/^## /m).slice(1)) {
    for (const part of ["- Cause: ", "- Effect: ", "- Remedy: "])
      assert.ok(entry.includes(part), `${entry.split("\n")[0] ?? ""} lacks ${part}`);
  }
});
