import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { legacyKind } from "../document-identity.ts";
import { schemaOf, type Generation } from "../schema/notation.ts";
import { effectRuleOf } from "./classify.ts";
import { fieldPaths } from "./diff.ts";
import { rebootsForPath } from "./v1alpha1-rules.ts";

const golden = new URL("../../../testdata/effects/fields.txt", import.meta.url);
const generations: readonly Generation[] = ["1.13", "1.14"];
const identityFields = new Set(["apiVersion", "kind"]);

/** One line per field of every document: what a change of it costs. A field that has no class has a question mark. */
function classes(): readonly string[] {
  const lines = new Set<string>();
  for (const generation of generations) {
    const schema = schemaOf(generation);
    for (const kind of schema.kinds) {
      const type = schema.document(kind)?.type;
      assert.ok(type !== undefined);
      for (const path of ["", ...fieldPaths(type)]) {
        if (identityFields.has(path) || (kind === legacyKind && path === "")) continue;
        const rule = effectRuleOf(kind, path);
        const itself = kind === legacyKind && rebootsForPath(path, 13) ? " (1.13 reboots)" : "";
        const when = Object.entries(rule?.when ?? {}).map(([change, effect]) => `, ${change}: ${effect}`);
        lines.add(`${kind} ${path === "" ? "-" : path}: ${rule?.effect ?? "?"}${when.join("")}${itself}`);
      }
    }
  }
  return [...lines].toSorted();
}

test("every field of every document has a class", () => {
  assert.deepEqual(
    classes().filter((line) => line.includes(": ?")),
    [],
  );
});

test("the class of a field changes only on purpose, and a new field is looked at", () => {
  const lines = classes();
  if (process.env["UPDATE_GOLDENS"] === "1") writeFileSync(golden, `${lines.join("\n")}\n`);
  const known = readFileSync(golden, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    { added: lines.filter((line) => !known.includes(line)), gone: known.filter((line) => !lines.includes(line)) },
    { added: [], gone: [] },
  );
});
