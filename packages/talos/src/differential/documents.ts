import { constantFrom, gen, nat, noBias, uniqueArray, type Arbitrary } from "fast-check";
import { legacyKind } from "../config/document-identity.ts";
import { schemaOf, type Generation, type StructType, type Type } from "../config/schema/notation.ts";
import { writeTree, type Tree } from "./tree.ts";
import { tokensOf } from "./values.ts";

/** How wild a document is, in percent: chance that a value is odd, and that the text itself is damaged. */
export interface Wildness {
  readonly oddValues: number;
  readonly damage: number;
  /** Chance in percent that a part is named and repeated elsewhere; by default as often as damage. */
  readonly anchors?: number;
  /** Chance in percent that a part asks to be deleted; for patches. */
  readonly deletes?: number;
  /** Free-form parts hold scalars only. */
  readonly isFlat?: boolean;
}

/** Draws a number below the argument. */
type Draw = (below: number) => number;

/** Every number is as likely as any other: small ones would make odd values the rule. */
export const below = (limit: number): Arbitrary<number> => noBias(nat({ max: limit - 1 }));

/** A document of a kind, with some of its fields. */
export function documentOf(kind: string, generation: Generation, wildness: Wildness): Arbitrary<string> {
  return gen().map((g) => {
    const draw: Draw = (limit) => g(below, limit);
    const shape = schemaOf(generation).document(kind);
    if (shape === undefined) throw new Error(`no document ${kind}`);
    const density = 15 + draw(70);
    const tree = structTree(shape.type, { draw, density, wildness, depth: 0 });
    const entries = tree.entries.filter(([key]) => key !== "apiVersion" && key !== "kind");
    const head: readonly (readonly [string, Tree])[] =
      kind === legacyKind ? [] : [["apiVersion", scalar("v1alpha1")], ["kind", scalar(kind)], ...nameOf(shape.isNamed, entries, draw)];
    if (kind !== legacyKind && draw(100) < (wildness.deletes ?? 0) * 3) entries.splice(0, entries.length, ["$patch", scalar("delete")]);
    const own = kind === legacyKind ? [["version", scalar("v1alpha1")] as const, ...entries.filter(([key]) => key !== "version")] : entries;
    const text = writeTree({ type: "map", isFlow: false, entries: [...head, ...own] }, draw(2) === 0 ? 2 : 4);
    const anchored = draw(100) < (wildness.anchors ?? wildness.damage) ? withAnchor(text, draw) : text;
    return draw(100) < wildness.damage ? damaged(anchored, draw) : anchored;
  });
}

/** One to four documents of a config, the legacy one more often than others. */
export function configOf(generation: Generation, wildness: Wildness): Arbitrary<string> {
  const kinds = schemaOf(generation).kinds;
  const more = Array.from({ length: 20 }, () => legacyKind);
  return uniqueArray(constantFrom(...kinds, ...more), { minLength: 1, maxLength: 4 }).chain((list) =>
    gen().map((g) => list.map((kind) => g(() => documentOf(kind, generation, wildness))).join("---\n")),
  );
}

function nameOf(isNamed: boolean, entries: readonly (readonly [string, Tree])[], draw: Draw): readonly (readonly [string, Tree])[] {
  return isNamed && draw(20) > 0 && !entries.some(([key]) => key === "name")
    ? [["name", scalar(["eth0", "eth1", "data", "a", "bond0", "longer-name"][draw(6)] ?? "a")]]
    : [];
}

/**
 * What is deleted says nothing else, because Talos looks for parts of it after it is gone; an item of a list says which one is meant, mostly by
 * its name.
 */
function deletion(entries: readonly (readonly [string, Tree])[], { draw, isItem }: Context): Extract<Tree, { type: "map" }> {
  const directive = ["$patch", scalar("delete")] as const;
  const selectors = isItem === true ? entries.filter(([, value]) => value.type === "scalar" || draw(4) === 0) : [];
  const named = selectors.filter(([key]) => ["name", "interface", "address", "path"].includes(key));
  const selector = (named.length > 0 ? named : selectors)[0];
  const both = selector === undefined || draw(12) === 0 ? [directive] : [selector, directive];
  return { type: "map", isFlow: false, entries: draw(3) === 0 ? both.toReversed() : both };
}

interface Context {
  /** Of a list. */
  readonly isItem?: boolean;
  readonly draw: Draw;
  /** Chance in percent that an optional field is there. */
  readonly density: number;
  readonly wildness: Wildness;
  readonly depth: number;
}

function structTree(type: StructType, context: Context): Extract<Tree, { type: "map" }> {
  const { draw } = context;
  // Deep fields are rarer, or every document would be huge.
  const chance = Math.max(8, context.density - context.depth * 12);
  const chosen = type.fields.filter(({ name }) => draw(100) < (context.depth === 0 && name === "machine" ? 95 : chance));
  const entries = chosen.map(({ name, type: field }): readonly [string, Tree] => [
    name,
    valueTree(field, name, { ...context, depth: context.depth + 1, isItem: false }),
  ]);
  if (draw(1000) < context.wildness.damage * 2) entries.push(["bogusField", scalar("1")]);
  if (entries.length > 0 && draw(1000) < context.wildness.damage) entries.push(entries[draw(entries.length)] as readonly [string, Tree]);
  if (context.depth > 0 && draw(100) < (context.wildness.deletes ?? 0)) return deletion(entries, context);
  // Fields may come in any order.
  if (draw(4) === 0) entries.reverse();
  return { type: "map", isFlow: draw(10) === 0, entries };
}

function valueTree(type: Type, name: string, context: Context): Tree {
  const { draw, wildness } = context;
  if (draw(1000) < wildness.oddValues * 2) return oddTree(draw);
  switch (type.kind) {
    case "pointer":
      return valueTree(type.to, name, context);
    case "struct":
      return structTree(type, context);
    case "list": {
      const items = Array.from({ length: draw(4) }, () =>
        valueTree(type.item, name, { ...context, depth: context.depth + 1, isItem: true }),
      );
      return { type: "list", isFlow: draw(4) === 0, items };
    }
    case "map": {
      const keys = [
        "a",
        "b.c",
        "node-role",
        "example.org/x",
        "'1'",
        "docker.io",
        '"*"',
        "eth10.x",
        "eth9.x",
        "eth9x",
        "10.0.0.9:5000",
        "10.0.0.10:5000",
        "N",
        "_",
      ].filter(() => draw(4) === 0);
      return {
        type: "map",
        isFlow: draw(5) === 0,
        entries: keys.map((key) => [key, valueTree(type.value, name, { ...context, depth: context.depth + 1, isItem: false })]),
      };
    }
    case "any":
      return anyTree(context, type.isMapping);
    case "argument":
      return draw(3) === 0
        ? {
            type: "list",
            isFlow: draw(2) === 0,
            items: Array.from({ length: draw(3) }, () => pick({ kind: "string", bits: 0, name: "string" }, name, context)),
          }
        : pick({ kind: "string", bits: 0, name: "string" }, name, context);
    default:
      return pick(type, name, context);
  }
}

function pick(type: Type, name: string, { draw, wildness }: Context): Tree {
  const { right, odd } = tokensOf(type, name);
  const isOdd = draw(100) < wildness.oddValues;
  if (!isOdd && type.kind === "string" && draw(30) === 0) return blockText(draw);
  const list = isOdd ? odd : right;
  return scalar(list[draw(list.length)] as string);
}

/** Some begin or end with lines that are empty or blank. */
function blockText(draw: Draw): Tree {
  const before = draw(3) === 0 ? ["", "", "   ", "      "].slice(draw(4), 4).slice(0, 1 + draw(2)) : [];
  const after = draw(5) === 0 ? ["", ""].slice(draw(2)) : [];
  return { type: "block", lines: [...before, ...["first line", "  indented", "last"].slice(draw(2), 1 + draw(3)), ...after] };
}

/** A part with a name that another part repeats, which may lie inside it. */
function withAnchor(text: string, draw: Draw): string {
  const lines = text.split("\n");
  const holders = lines.flatMap((line, index) => (/^ *[\w./'"-]+:(?: |$)/.test(line) && !/: [|>&*]/.test(line) ? [index] : []));
  const [from, to] = [holders[draw(Math.max(1, holders.length))], holders[draw(Math.max(1, holders.length))]];
  if (from === undefined || to === undefined || from === to) return text;
  const named = lines.with(from, (lines[from] ?? "").replace(/: ?/, ": &part ").trimEnd());
  const target = named[to] ?? "";
  // What has parts of its own is not replaced by an alias: only leaves are.
  if (!/: ?\S/.test(target) && draw(2) === 0) return text;
  const repeated = draw(5) === 0 ? target.replace(/^( *).*/, "$1<<: *part") : target.replace(/:.*/, ": *part");
  return named.with(to, repeated).join("\n");
}

function anyTree(context: Context, isMapping: boolean): Tree {
  const { draw } = context;
  const form = isMapping ? 2 : context.wildness.isFlat === true ? 0 : draw(4);
  const deeper = { ...context, depth: context.depth + 1 };
  if (form === 2 && context.depth < 8) {
    const keys = ["apiVersion", "kind", "count", "zeta", "alpha", "nested", "'1'", "yes"].filter(() => draw(3) === 0);
    return { type: "map", isFlow: draw(6) === 0, entries: keys.map((key) => [key, anyTree(deeper, false)]) };
  }
  if (form === 3 && context.depth < 8)
    return { type: "list", isFlow: draw(3) === 0, items: Array.from({ length: draw(3) }, () => anyTree(deeper, false)) };
  const tokens = [
    "1",
    "text",
    "true",
    "1.5",
    '"1"',
    "~",
    "1e3",
    "0x1f",
    "100000000000",
    "1e21",
    "0.1",
    '"true"',
    "2001-01-01",
    "''",
    "-0",
    "1.0",
    "123456789.5",
    "1e-7",
  ];
  return scalar(tokens[draw(tokens.length)] as string);
}

function oddTree(draw: Draw): Tree {
  const trees: readonly Tree[] = [
    scalar("~"),
    scalar("text"),
    scalar("1"),
    { type: "list", isFlow: true, items: [] },
    { type: "map", isFlow: true, entries: [] },
    { type: "list", isFlow: true, items: [scalar("1")] },
    { type: "map", isFlow: true, entries: [["bogus", scalar("1")]] },
  ];
  return trees[draw(trees.length)] as Tree;
}

/** Faults of the text, not of its meaning. */
function damaged(text: string, draw: Draw): string {
  const lines = text.split("\n");
  const at = draw(lines.length);
  switch (draw(6)) {
    case 0:
      return `# a comment\n${text}`;
    case 1:
      return text.replaceAll("\n", "\r\n");
    case 2:
      return [...lines.slice(0, at), `${lines[at] ?? ""}   # behind`, ...lines.slice(at + 1)].join("\n");
    case 3:
      return [...lines.slice(0, at), "", ...lines.slice(at)].join("\n");
    case 4:
      return `${text}...\n`;
    default:
      return [...lines.slice(0, at), ` ${lines[at] ?? ""}`, ...lines.slice(at + 1)].join("\n");
  }
}

function scalar(token: string): Tree {
  return { type: "scalar", token };
}
