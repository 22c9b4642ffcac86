import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { load } from "js-yaml";
import { companionCrds, crds } from "./index.ts";
import type { JsonSchema } from "./index.ts";

const folder = join(import.meta.dirname, "../../../config/crd");

describe("crds", () => {
  for (const [place, definitions] of [
    [folder, crds],
    [join(folder, "companions"), companionCrds],
  ] as const)
    it(`are what ${definitions === crds ? "config/crd" : "config/crd/companions"} holds as YAML`, () => {
      const files = readdirSync(place)
        .filter((file) => file.endsWith(".yaml"))
        .toSorted();
      assert.deepEqual(files, definitions.map(({ spec }) => `${spec.group}_${spec.names.plural}.yaml`).toSorted());
      const stored = files.map((file) => load(readFileSync(join(place, file), "utf8")) as { metadata: { name: string } });
      for (const crd of definitions)
        assert.deepEqual(
          stored.find(({ metadata }) => metadata.name === crd.metadata.name),
          crd,
        );
    });

  it("explain every field", () => {
    const bare: string[] = [];
    const visit = (path: string, schema: JsonSchema): void => {
      if (!/[.]$/.test(schema.description ?? "") && !path.endsWith(".metadata")) bare.push(path);
      for (const [name, child] of Object.entries(schema.properties ?? {})) visit(`${path}.${name}`, child);
      if (schema.items) visit(`${path}[]`, schema.items);
    };
    for (const { spec } of [...crds, ...companionCrds])
      for (const version of spec.versions) visit(spec.names.kind, version.schema.openAPIV3Schema);
    assert.deepEqual(bare, []);
  });

  it("use only patterns that read alike in RE2 and JavaScript", () => {
    const patterns = JSON.stringify(crds).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
    assert.ok(patterns.length > 0);
    for (const pattern of patterns) assert.doesNotMatch(pattern, /\(\?[=!<]|\\\\[1-9pPwWsSbB]/);
  });

  it("keep the fields of an unbounded list free of rules that walk further lists", () => {
    // The server estimates what a rule can cost from the sizes the schema allows and refuses a CRD that may cost too much.
    const costly: string[] = [];
    const visit = (path: string, schema: JsonSchema, isRepeated: boolean): void => {
      for (const { rule } of schema["x-kubernetes-validations"] ?? [])
        if (isRepeated && /\.(all|exists|map|filter)\(/.test(rule)) costly.push(path);
      for (const [name, child] of Object.entries(schema.properties ?? {})) visit(`${path}.${name}`, child, isRepeated);
      if (schema.items) visit(`${path}[]`, schema.items, isRepeated || schema.maxItems === undefined);
    };
    for (const { spec } of crds) for (const version of spec.versions) visit(spec.names.kind, version.schema.openAPIV3Schema, false);
    assert.deepEqual(costly, []);
  });
});
