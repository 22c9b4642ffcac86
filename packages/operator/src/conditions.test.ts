import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { conditionCatalogue } from "@talos-operator/api";
import type { ConditionEntry } from "@talos-operator/api";

const places = [
  import.meta.dirname,
  join(import.meta.dirname, "../../api/src/validation"),
  join(import.meta.dirname, "../../api/src/meta"),
  join(import.meta.dirname, "../../api/src/vitistack"),
];
const sources = places
  .flatMap((place) => readdirSync(place, { recursive: true, encoding: "utf8" }).map((file) => join(place, file)))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");
const catalogue: Readonly<Record<string, ConditionEntry>> = conditionCatalogue;

test("every word of the condition catalogue is said by somebody", () => {
  const silent = Object.entries(catalogue).flatMap(([type, { reasons }]) =>
    [type, ...Object.keys(reasons)].filter((word) => !sources.includes(`"${word}"`)).map((word) => `${type}: ${word}`),
  );
  assert.deepEqual(silent, []);
});
