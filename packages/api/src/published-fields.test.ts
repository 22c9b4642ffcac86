import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, it } from "node:test";
import { crds } from "./index.ts";
import type { JsonSchema } from "./index.ts";
import type { PrinterColumn } from "./schema/crd.ts";

/** One field of a published CRD, as recorded. `anyOf` and the like are compared as they stand. */
interface PublishedField {
  readonly kind: string;
  readonly path: string;
  readonly required: boolean;
  readonly requiredChildren?: readonly string[];
  readonly xValidation?: readonly { readonly message: string; readonly rule: string }[];
  readonly [keyword: string]: unknown;
}

interface PublishedKind {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly scope: string;
  readonly version: string;
  readonly subresources: unknown;
  readonly printerColumns: readonly PrinterColumn[];
  readonly rootRequired: readonly string[];
}

const published = join(import.meta.dirname, "../testdata/published");
const fields = JSON.parse(readFileSync(join(published, "fields.json"), "utf8")) as readonly PublishedField[];
const kinds = JSON.parse(readFileSync(join(published, "kinds.json"), "utf8")) as readonly PublishedKind[];

const crdOf = (kind: string) => {
  const crd = crds.find(({ spec }) => spec.names.kind === kind);
  assert.ok(crd, `no CRD for ${kind}`);
  return crd;
};
const rootOf = (kind: string) => {
  const [version] = crdOf(kind).spec.versions;
  assert.ok(version);
  return version.schema.openAPIV3Schema;
};

/** Every field below `spec` and `status`, by path in the notation of the recording. */
function fieldsOf(kind: string): ReadonlyMap<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>();
  const visit = (path: string, schema: JsonSchema, isRequired: boolean): void => {
    const { description: _, properties, items, required, "x-kubernetes-validations": rules, type, ...keywords } = schema;
    found.set(path, {
      ...keywords,
      type: type ?? "int-or-string",
      required: isRequired,
      ...(required && { requiredChildren: required }),
      ...(rules && { xValidation: rules.map(({ message, rule }) => ({ message, rule })) }),
    });
    for (const [name, child] of Object.entries(properties ?? {})) visit(`${path}.${name}`, child, required?.includes(name) === true);
    if (items) visit(`${path}[]`, items, false);
  };
  const root = rootOf(kind);
  for (const name of ["spec", "status"]) visit(name, root.properties?.[name] ?? {}, root.required?.includes(name) === true);
  return found;
}

/** A line of the list of differences. */
interface Widening {
  readonly field: string;
  readonly rule: string;
  used: number;
  covers(kind: string, path: string): boolean;
}

const NEW_FIELD = "new field";

const differences = load(readFileSync(join(import.meta.dirname, "../../../docs/reference/schema-differences.yaml"), "utf8")) as {
  readonly widenings: readonly { readonly field: string; readonly rule: string; readonly reason: string }[];
  readonly columns: readonly { readonly columns: string; readonly reason: string }[];
  readonly categories: readonly string[];
};

/** Parts about kinds that `published-vitistack.test.ts` compares. */
const isElsewhere = (field: string) => /^(KubernetesCluster|Machine|EtcdBackup) /.test(field);

/** These stand for themselves: fields below them have the same names. */
const ROOTS: ReadonlySet<string> = new Set(["spec", "status"]);

/** The path and all paths above it: what is below a new field is new with it. */
const withAbove = (path: string): readonly string[] => [...path.matchAll(/\.|\[\]|$/g)].map(({ index }) => path.slice(0, index));

/** `Kind path` or the end of a path, with alternatives in braces, several of them after semicolons. A new field covers what is below it. */
const widenings: readonly Widening[] = differences.widenings
  .flatMap(({ field, rule }) => field.split("; ").map((part) => ({ field: part, rule })))
  .filter(({ field }) => !isElsewhere(field))
  .map(({ field, rule }) => {
    const [only, pattern] = field.includes(" ") ? (field.split(" ") as [string, string]) : [undefined, field];
    const [, head = "", inside = "", tail = ""] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
    const paths = inside === "" ? [pattern] : inside.split(",").map((one) => `${head}${one}${tail}`);
    return {
      field,
      rule,
      used: 0,
      covers: (kind, path) =>
        (only === undefined || only === kind) &&
        paths.some((one) =>
          [one, ...(rule === NEW_FIELD ? [one.replace(/\[\]$/, "")] : [])].some((end) =>
            (rule === NEW_FIELD ? withAbove(path) : [path]).some((at) => at === end || (!ROOTS.has(end) && at.endsWith(`.${end}`))),
          ),
        ),
    };
  });

/** Columns that ours shows otherwise, as `Kind Column`. */
const otherColumns = new Set(
  differences.columns.flatMap(({ columns }) =>
    [...columns.matchAll(/(\w+) \{([^}]*)\}/g)].flatMap(([, kind, names]) => (names ?? "").split(",").map((name) => `${kind} ${name}`)),
  ),
);

/** Our columns as they were published, where the differences allow it: other paths and types are taken back, and columns of ours are left out. */
function publishedColumns(kind: string, ours: readonly PrinterColumn[], published: readonly PrinterColumn[]): readonly PrinterColumn[] {
  return ours.flatMap((column, index) => {
    if (!otherColumns.has(`${kind} ${column.name}`)) return [column];
    const known = published[index];
    return known?.name === column.name ? [{ ...column, jsonPath: known.jsonPath, type: known.type }] : [];
  });
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf("."));
const nameOf = (path: string) => path.slice(path.lastIndexOf(".") + 1);

/** A published field whose children are not all demanded any more: rules of ours demand what takes their place. */
function withoutDemand(
  { requiredChildren = [], ...rest }: { readonly requiredChildren?: readonly string[]; readonly [keyword: string]: unknown },
  children: readonly string[],
  xValidation: unknown,
): Record<string, unknown> {
  const left = requiredChildren.filter((name) => !children.includes(name));
  assert.ok(Array.isArray(xValidation) && xValidation.length > 0, `nothing demands ${children.join(" or ")} or what takes its place`);
  return { ...rest, ...(left.length > 0 && { requiredChildren: left }), xValidation };
}

const newFieldsOf = (kind: string): readonly string[] =>
  [...fieldsOf(kind).keys()].filter(
    (path) =>
      !fields.some((published) => published.kind === kind && published.path === path) &&
      widenings.some((widening) => widening.rule === NEW_FIELD && widening.covers(kind, path)),
  );

describe("the published kinds", () => {
  for (const want of kinds) {
    it(`gives ${want.kind} the published names, scope, subresources and columns`, () => {
      const { spec } = crdOf(want.kind);
      const [version] = spec.versions;
      assert.deepEqual(
        {
          kind: spec.names.kind,
          group: spec.group,
          plural: spec.names.plural,
          singular: spec.names.singular,
          listKind: spec.names.listKind,
          shortNames: spec.names.shortNames,
          categories: (spec.names.categories ?? []).filter((name) => !differences.categories.includes(name)),
          scope: spec.scope,
          version: version?.name,
          served: version?.served,
          storage: version?.storage,
          subresources: version?.subresources,
          printerColumns: publishedColumns(want.kind, version?.additionalPrinterColumns ?? [], want.printerColumns),
          rootRequired: rootOf(want.kind).required ?? [],
          fields: fieldsOf(want.kind).size - newFieldsOf(want.kind).length,
        },
        want,
      );
    });

    it(`gives ${want.kind} every published field with its type, default and rules, and no other`, () => {
      const ours = fieldsOf(want.kind);
      const theirs = fields.filter(({ kind }) => kind === want.kind);
      const loosened = theirs.filter(({ path }) =>
        widenings.some((widening) => widening.rule === "required" && widening.covers(want.kind, path)),
      );
      for (const { kind: _, version: __, path, ...published } of theirs) {
        const children = loosened.filter((child) => parentOf(child.path) === path).map((child) => nameOf(child.path));
        const keywords = children.length === 0 ? published : withoutDemand(published, children, ours.get(path)?.["xValidation"]);
        const known = widenings.find((widening) => widening.rule !== NEW_FIELD && widening.covers(want.kind, path));
        if (known === undefined) {
          assert.deepEqual(ours.get(path), keywords, `${want.kind} ${path}`);
          continue;
        }
        const rest = { ...ours.get(path) };
        const others: Record<string, unknown> = { ...keywords };
        for (const rule of known.rule.split(" and ")) {
          assert.notDeepEqual(rest[rule], others[rule], `${want.kind} ${path} is as published: take it off the list of differences`);
          Reflect.deleteProperty(rest, rule);
          Reflect.deleteProperty(others, rule);
        }
        assert.deepEqual(rest, others, `${want.kind} ${path}`);
        for (const one of widenings) if (one.rule === known.rule && one.covers(want.kind, path)) one.used += 1;
      }
      const added = [...ours.keys()].filter((path) => !theirs.some((field) => field.path === path));
      for (const path of added) {
        const known = widenings.find((widening) => widening.rule === NEW_FIELD && widening.covers(want.kind, path));
        assert.ok(known, `${want.kind} ${path} is not published and not in docs/reference/schema-differences.yaml`);
        // The items of a list are never required, and what is below a new field is demanded only with it.
        const isBelowNew = added.includes(parentOf(path)) || added.includes(parentOf(path).replace(/\[\]$/, ""));
        assert.ok(
          ours.get(path)?.["required"] === false || path.endsWith("[]") || isBelowNew,
          `${path} is of ours, so nobody has to give it`,
        );
        known.used += 1;
      }
      const missing = theirs.filter(({ path }) => !ours.has(path)).map(({ path }) => path);
      assert.deepEqual(missing, []);
    });
  }

  it("differs from what is published in no more than nine lines, each of them true", () => {
    assert.ok(differences.widenings.length <= 9);
    assert.deepEqual(
      widenings.filter(({ used }) => used === 0).map(({ field }) => field),
      [],
    );
  });
});
