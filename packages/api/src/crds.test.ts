import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { load } from "js-yaml";
import { companionCrds, crds } from "./index.ts";
import type { JsonSchema } from "./index.ts";

const folder = join(import.meta.dirname, "../../../config/crd");

interface Text {
  readonly path: string;
  readonly schema: JsonSchema;
  /** Of the rule that matches the text, and what it says. */
  readonly pattern?: string;
  readonly message?: string;
  /** So many of them one object may have. */
  readonly most: number;
}

/** Every text of every kind. */
function texts(): readonly Text[] {
  const found: Text[] = [];
  const visit = (path: string, schema: JsonSchema, most: number): void => {
    const rules = schema["x-kubernetes-validations"] ?? [];
    for (const { rule, message } of rules) {
      const [, quoted] = /^self\.matches\(("(?:[^"\\]|\\.)*")\)$/.exec(rule) ?? [];
      if (quoted !== undefined) found.push({ path, schema, pattern: JSON.parse(quoted) as string, message, most });
    }
    if (schema.pattern !== undefined) found.push({ path, schema, most });
    for (const [name, child] of Object.entries(schema.properties ?? {})) visit(`${path}.${name}`, child, most);
    if (schema.items) visit(`${path}[]`, schema.items, most * (schema.maxItems ?? 1_000_000));
  };
  for (const { spec } of crds) for (const version of spec.versions) visit(spec.names.kind, version.schema.openAPIV3Schema, 1);
  return found;
}

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
    const patterns = texts().flatMap(({ pattern, schema }) => [pattern, schema.pattern].filter((one) => one !== undefined));
    assert.ok(patterns.length > 20);
    for (const pattern of patterns) assert.doesNotMatch(pattern, /\(\?[=!<]|\\[1-9pPwWsSbB]/);
  });

  it("refuse what a person writes with a sentence that has an example, and with no pattern", () => {
    const ours = texts().filter(({ path }) => /^Talos\w+\.spec\b/.test(path));
    assert.deepEqual(
      ours.filter(({ schema }) => schema.pattern !== undefined && schema["x-kubernetes-int-or-string"] !== true).map(({ path }) => path),
      [],
    );
    const messages = new Set(ours.flatMap(({ message }) => message ?? []));
    assert.ok(messages.size >= 10);
    for (const message of messages) assert.match(message, /^must be [^\n]*(for example|such as|as sha256sum)[^\n]*$/);
  });

  it("have rules with patterns that cost no more than a server allows", () => {
    // As kube-apiserver estimates it: a tenth of the bytes of the longest text, by a quarter of the pattern, by as many as there may be.
    const costs = texts().flatMap(({ path, pattern, schema, most }) => {
      if (pattern === undefined) return [];
      const bytes = (schema.maxLength ?? 3 * 1024 * 1024) * 4 + 1;
      return [{ path, kind: path.split(".")[0] ?? "", cost: Math.ceil(bytes / 10) * Math.ceil(pattern.length / 4) * most }];
    });
    assert.deepEqual(
      costs.filter(({ cost }) => cost > 9_000_000),
      [],
    );
    for (const [kind, all] of Map.groupBy(costs, (one) => one.kind))
      assert.ok(all.reduce((sum, { cost }) => sum + cost, 0) < 90_000_000, kind);
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
