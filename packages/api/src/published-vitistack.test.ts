import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, it } from "node:test";
import { companionCrds, crds } from "./index.ts";
import type { JsonSchema } from "./index.ts";

/** One field of a published CRD, as recorded. */
interface PublishedField {
  readonly kind: string;
  readonly version: string;
  readonly path: string;
  readonly required: boolean;
  readonly requiredChildren?: readonly string[];
  readonly [keyword: string]: unknown;
}

interface PublishedKind {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly scope: string;
  readonly printerColumns: readonly unknown[];
}

const read = <T>(...path: readonly string[]) => readFileSync(join(import.meta.dirname, "..", ...path), "utf8") as T & string;
const published = JSON.parse(read("testdata/published/vitistack-fields.json")) as readonly PublishedField[];
const kinds = JSON.parse(read("testdata/published/vitistack-kinds.json")) as readonly PublishedKind[];
const { widenings } = load(read("../../docs/reference/schema-differences.yaml")) as {
  readonly widenings: readonly { readonly field: string; readonly rule: string }[];
};

/** Paths that the list of differences names for a kind under one rule. */
const listed = (kind: string, rule: string): readonly string[] =>
  widenings.flatMap((line) =>
    line.field.split("; ").flatMap((part) => {
      const [, only, head = "", inside, tail = ""] = /^(\w+) ([^{]*)(?:\{([^}]*)\}(.*))?$/.exec(part) ?? [];
      if (only !== kind || line.rule !== rule) return [];
      return inside === undefined ? [head] : inside.split(",").map((one) => `${head}${one}${tail}`);
    }),
  );
const isBelow = (path: string, roots: readonly string[]) =>
  roots.some((root) => path === root || path.startsWith(`${root}.`) || path.startsWith(`${root}[`));

const crdOf = (kind: string) =>
  [...crds, ...companionCrds].find(({ spec }) => spec.names.kind === kind) ?? assert.fail(`no CRD for ${kind}`);

/** Every field of a kind of ours by path, in the notation of the recording. */
function fieldsOf(kind: string): ReadonlyMap<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>();
  const visit = (path: string, schema: JsonSchema, isRequired: boolean): void => {
    const {
      description: _,
      properties,
      items,
      additionalProperties,
      required,
      "x-kubernetes-validations": rules,
      type,
      ...keywords
    } = schema;
    found.set(path, {
      ...keywords,
      type: type ?? (keywords["x-kubernetes-int-or-string"] ? "int-or-string" : "untyped"),
      required: isRequired,
      ...(additionalProperties && { additionalProperties: additionalProperties.type }),
      ...(required && { requiredChildren: required }),
      ...(rules && { xValidation: rules.map(({ message, rule }) => ({ message, rule })) }),
    });
    for (const [name, child] of Object.entries(properties ?? {})) visit(`${path}.${name}`, child, required?.includes(name) === true);
    if (items) visit(`${path}[]`, items, false);
    if (additionalProperties) visit(`${path}.*`, additionalProperties, false);
  };
  const root = crdOf(kind).spec.versions[0]?.schema.openAPIV3Schema;
  for (const name of ["spec", "status"]) visit(name, root?.properties?.[name] ?? {}, root?.required?.includes(name) === true);
  return found;
}

/** What ours may add to a published field: rules of our own, and what makes a list a map. */
const additions: readonly string[] = [
  "xValidation",
  "anyOf",
  "not",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "required",
  "requiredChildren",
];
/** The width of a whole number is one more thing that ours may say. */
const isWidth = (value: unknown) => value === "int64" || value === "int32";
const without = (field: Record<string, unknown>, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(field).filter(([key, value]) => !keys.includes(key) && !(key === "format" && isWidth(value))));

describe("the published kinds of vitistack.io", () => {
  for (const want of kinds) {
    it(`gives ${want.kind} the published names, scope and columns`, () => {
      const { spec } = crdOf(want.kind);
      const { kind, plural, singular, listKind, shortNames } = spec.names;
      assert.deepEqual(
        { kind, plural, singular, listKind, shortNames, scope: spec.scope, printerColumns: spec.versions[0]?.additionalPrinterColumns },
        {
          kind: want.kind,
          plural: want.plural,
          singular: want.singular,
          listKind: want.listKind,
          shortNames: want.shortNames,
          scope: want.scope,
          printerColumns: want.printerColumns,
        },
      );
    });

    it(`gives ${want.kind} every published field with its type, default and limits`, () => {
      const ours = fieldsOf(want.kind);
      const untyped = listed(want.kind, "list form").filter((path) => path.endsWith(".workers"));
      for (const { kind: _, version: __, ...theirs } of published.filter(({ kind }) => kind === want.kind)) {
        const own = ours.get(theirs.path) ?? assert.fail(`${want.kind} ${theirs.path} is missing`);
        if (untyped.includes(theirs.path)) assert.equal(own["type"], "untyped");
        else assert.deepEqual(without(own, additions), without(theirs, ["path", ...additions]), `${want.kind} ${theirs.path}`);
        const rules = (theirs["xValidation"] ?? []) as readonly unknown[];
        for (const rule of rules) assert.ok(JSON.stringify(own["xValidation"]).includes(JSON.stringify(rule)), theirs.path);
      }
    });

    it(`demands of ${want.kind} what is published, but for what the list of differences names`, () => {
      const ours = fieldsOf(want.kind);
      const theirs = published.filter(({ kind }) => kind === want.kind);
      const loosened = theirs.filter(({ path, required }) => required && ours.get(path)?.["required"] !== true).map(({ path }) => path);
      const named = [...listed(want.kind, "required"), ...listed(want.kind, "list form")];
      assert.deepEqual(loosened.toSorted(), named.filter((path) => ours.get(path)?.["required"] !== true).toSorted());
      const tightened = theirs.filter(({ path, required }) => !required && ours.get(path)?.["required"] === true).map(({ path }) => path);
      assert.deepEqual(tightened, []);
    });

    it(`adds to ${want.kind} only what the list of differences names`, () => {
      const named = listed(want.kind, "new field");
      // The items of a list of groups stand beside the published object form.
      const inList = listed(want.kind, "list form")
        .filter((path) => path.endsWith(".workers"))
        .map((path) => `${path}[]`);
      const theirs = new Set(published.filter(({ kind }) => kind === want.kind).map(({ path }) => path));
      const added = [...fieldsOf(want.kind).keys()].filter((path) => !theirs.has(path));
      assert.deepEqual(
        added.filter((path) => !isBelow(path, [...named, ...inList])),
        [],
      );
      for (const path of named)
        assert.ok(added.includes(path), `${want.kind} ${path} is published or gone: take it off the list of differences`);
      for (const path of named)
        assert.ok(fieldsOf(want.kind).get(path)?.["required"] === false, `${path} is of ours, so nobody has to give it`);
    });
  }
});
