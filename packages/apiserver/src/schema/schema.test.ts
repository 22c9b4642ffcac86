import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { merges, values } from "../differential/custom-kinds.ts";
import { cloneJson, type JsonObject } from "../json.ts";
import { canonicalQuantity } from "../builtin/canonical-quantity.ts";
import { formatError } from "./formats.ts";
import { compileCrd, type CompiledVersion } from "./index.ts";

function compiled(crd: JsonObject): CompiledVersion {
  const outcome = compileCrd(crd);
  assert.ok(outcome.ok, outcome.ok ? "" : JSON.stringify(outcome.errors));
  const version = outcome.crd.versions.get("v1");
  assert.ok(version);
  return version;
}

const kind = compiled(values.crd);
const anySpec = fc.dictionary(
  fc.constantFrom(...(kind.root.properties.get("spec")?.properties.keys() ?? []), "nope"),
  fc.jsonValue({ maxDepth: 3 }),
); // oxlint-disable-line typescript/no-explicit-any
const objectOf = (spec: unknown): JsonObject =>
  JSON.parse(JSON.stringify({ apiVersion: "differential.example.com/v1", kind: "ValueKind", metadata: { name: "a" }, spec })) as JsonObject;

describe("a compiled CRD", () => {
  it("prunes what it pruned no further", () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const object = objectOf(spec);
        kind.prune(object);
        const once = cloneJson(object);
        assert.deepEqual(kind.prune(object), []);
        assert.deepEqual(object, once);
      }),
    );
  });

  it("fills defaults once", () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const object = objectOf(spec);
        kind.prune(object);
        kind.applyDefaults(object);
        const once = cloneJson(object);
        kind.applyDefaults(object);
        assert.deepEqual(object, once);
      }),
    );
  });

  it("never throws, and forgives every error of an object that did not change", () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const object = objectOf(spec);
        kind.prune(object);
        kind.applyDefaults(object);
        kind.validate(object, undefined, { subresource: "" });
        assert.deepEqual(kind.validate(object, cloneJson(object), { subresource: "" }).errors, []);
      }),
    );
  });

  it("refuses a value that changed into a bad one beside a bad one that stayed", () => {
    const old = objectOf({ must: "x", size: 11, even: 2 });
    const next = objectOf({ must: "x", size: 11, even: 3 });
    assert.deepEqual(
      kind.validate(next, old, { subresource: "" }).errors.map((error) => error.field),
      ["spec.even"],
    );
  });

  it("names versions, columns, scope and subresources", () => {
    const outcome = compileCrd(merges.crd);
    assert.ok(outcome.ok);
    const version = outcome.crd.versions.get("v1");
    assert.equal(outcome.crd.storageVersion, "v1");
    assert.equal(version?.namespaced, true);
    assert.equal(version?.subresources.status, true);
    assert.equal(version?.columns.length, 12);
    assert.deepEqual(
      kind.columns.map((column) => column.name),
      ["Age"],
    );
  });

  it("refuses what is no CRD at all with field paths instead of an exception", () => {
    for (const nonsense of [undefined, null, 1, "x", [], {}, { spec: "x" }, { spec: { versions: [1, null] } }]) {
      const outcome = compileCrd(nonsense);
      assert.equal(outcome.ok, false);
      assert.ok(!outcome.ok && outcome.errors.some((error) => error.field === "spec.group"));
    }
  });

  it("refuses conversion webhooks, which this server does not call", () => {
    const crd = cloneJson(merges.crd) as { spec: JsonObject };
    crd.spec["conversion"] = { strategy: "Webhook" };
    const outcome = compileCrd(crd);
    assert.deepEqual(outcome.ok ? [] : outcome.errors.map((error) => error.field), ["spec.conversion.strategy"]);
  });
});

describe("texts that want to take long", () => {
  const texts = ["1", "0", "a-", "1h", "0.", ":", "a.", "@", "é"].flatMap((piece) => {
    const long = piece.repeat(30_000);
    return [long, `${long}!`, `0.${long}\u0000`];
  });
  for (const [format, accepted] of [
    ["duration", 3],
    ["hostname", 0],
    ["ipv6", 0],
    ["email", 0],
    ["uri", 0],
    ["date-time", 0],
    ["byte", 3],
    ["isbn", 0],
  ] as const) {
    // Looking that takes the square of the length would go on for an hour.
    it(`${accepted} of them are a ${format}`, () => assert.equal(texts.filter((text) => !formatError(format, text)).length, accepted));
  }

  it("a quantity of many digits is none", () => {
    for (const text of texts) assert.equal(canonicalQuantity(text), text);
    assert.equal(canonicalQuantity("1000000000000000000000000"), "1000000E");
  });
});
