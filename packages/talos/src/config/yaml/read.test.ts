import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { ConfigError, type ConfigErrorCode } from "../errors.ts";
import { emitYaml, type YamlValue } from "./emit.ts";
import { plainValue } from "./plain-value.ts";
import { readYaml } from "./read.ts";

const bomb = [
  "a: &a [x, x]",
  ...Array.from({ length: 9 }, (_, i) => `b${i}: &b${i} [${Array.from({ length: 10 }, () => (i === 0 ? "*a" : `*b${i - 1}`)).join(", ")}]`),
].join("\n");

describe("what is refused", () => {
  const cases: readonly { name: string; text: string; code: ConfigErrorCode; line?: number }[] = [
    { name: "an alias bomb", text: bomb, code: "YAML_ALIAS", line: 5 },
    {
      name: "aliases that repeat more than 10,000 values",
      text: `a: &x [${"b,".repeat(2000)}]\nc: [${"*x,".repeat(5)}]\n`,
      code: "YAML_ALIAS",
    },
    { name: "an alias to nothing", text: "a: 1\nb: *x\n", code: "YAML_ALIAS", line: 2 },
    { name: "an alias inside what it repeats", text: "a: &x\n  b: *x\n", code: "YAML_ALIAS", line: 2 },
    { name: "an alias as a key", text: "a: &x 1\n*x : 2\n", code: "WRONG_TYPE" },
    { name: "nesting of 65 levels", text: `${"[".repeat(65)}${"]".repeat(65)}`, code: "YAML_LIMIT" },
    { name: "nesting of 20,000 levels", text: `${"[".repeat(20_000)}${"]".repeat(20_000)}`, code: "YAML_LIMIT" },
    { name: "a key that stands twice", text: "a:\n  b: 1\n  b: 2\n", code: "DUPLICATE_KEY", line: 3 },
    { name: "a JavaScript tag", text: "a: !!js/function 'x'\n", code: "YAML_TAG", line: 1 },
    { name: "a binary tag", text: "a:\n  - !!binary QQ==\n", code: "YAML_TAG", line: 2 },
    { name: "a custom tag on a mapping", text: "a: !mine {b: 1}\n", code: "YAML_TAG", line: 1 },
    { name: "a tag that the value is not", text: "a: !!int x\n", code: "YAML_TAG", line: 1 },
    { name: "a tag that another meaning was given to", text: "%TAG !! tag:x,2000:\n---\na: !!str x\n", code: "YAML_TAG", line: 3 },
    { name: "a version that Talos does not read", text: "# a\n%YAML 1.2\n---\na: 1\n", code: "YAML_SYNTAX", line: 2 },
    { name: "an escape that only JSON has", text: 'a: "\\/"\n', code: "YAML_SYNTAX", line: 1 },
    { name: "a line end that only YAML 1.1 knows", text: "a: 1\nb: 'x\u2028y'\n", code: "YAML_ENCODING", line: 2 },
    { name: "a lone surrogate", text: "a: \ud800\n", code: "YAML_ENCODING", line: 1 },
    { name: "half a character by its number", text: 'a: 1\nb: "x\\ud800"\n', code: "YAML_ENCODING", line: 2 },
    { name: "two halves of a character by their numbers", text: 'a: "\\\\\\ud83d\\ude00"\n', code: "YAML_ENCODING", line: 1 },
    { name: "half a character by its long number", text: 'a: "\\U0000DC00"\n', code: "YAML_ENCODING", line: 1 },
    { name: "more than 150,000 values", text: `a: [${"b,".repeat(150_001)}]\n`, code: "YAML_LIMIT" },
    { name: "a control character", text: "a: 1\nb: \u0007\n", code: "YAML_ENCODING", line: 2 },
    { name: "tabs as indentation", text: "a:\n\tb: 1\n", code: "YAML_SYNTAX", line: 2 },
    { name: "a line of nothing but a tab", text: "a:\n\t\n  b: 1\n", code: "YAML_SYNTAX", line: 2 },
    { name: "a tab after a dash", text: "a:\n- \tb\n", code: "YAML_SYNTAX", line: 2 },
    { name: "a comment behind a tab", text: "a: b\n\t# c\n", code: "YAML_SYNTAX", line: 2 },
    { name: "a value without a key", text: "a:\n  : b\n", code: "YAML_SYNTAX" },
    { name: "a character beyond the last", text: 'a: "\\U00110000"\n', code: "YAML_ENCODING", line: 1 },
    { name: "a key at the height of a bracket that is still open", text: "a: [b\nc: d\n", code: "YAML_SYNTAX" },
    { name: "a key that is a list", text: "? [a]\n: b\n", code: "WRONG_TYPE", line: 1 },
    { name: "more than 4 MiB", text: `a: ${"x".repeat(4 * 1024 * 1024)}`, code: "YAML_LIMIT" },
    { name: "more than a thousand documents", text: "---\na: 1\n".repeat(1001), code: "YAML_LIMIT" },
  ];
  for (const { name, text, code, line } of cases) {
    test(name, () => {
      assert.throws(
        () => readYaml(text),
        (error: unknown) => error instanceof ConfigError && error.code === code && (line === undefined || error.line === line),
      );
    });
  }
});

test("an escaped backslash before u is none, and whole characters by their numbers are read", () => {
  const document = readYaml('a: "\\\\ud800 \\u00e9 \\U0001F600"\n')[0]?.root;
  assert.ok(document?.type === "mapping" && document.entries[0]?.value.type === "scalar");
  assert.equal(document.entries[0].value.text, "\\ud800 é 😀");
});

test("a refusal does not show the lines around it, which may hold secrets", () => {
  assert.throws(
    () => readYaml("token: secret-value\n  bad: [\n"),
    (error: unknown) => error instanceof ConfigError && !error.message.includes("secret-value"),
  );
});

/** The last document, printed. */
function readAs(text: string): string {
  const root = readYaml(text).at(-1)?.root;
  assert.ok(root !== undefined);
  return emitYaml(plainValue(root));
}

test("aliases repeat what the latest anchor of their name stands at, also in a later document", () => {
  assert.equal(readAs("a: &x 1\nb: &x 2\nc: *x\n"), "a: 1\nb: 2\nc: 2\n");
  assert.equal(readAs("a: &x [1, {b: 2}]\nc: *x\n"), "a:\n    - 1\n    - b: 2\nc:\n    - 1\n    - b: 2\n");
  assert.equal(readAs("a: &x b\n---\nc: *x\n"), "c: b\n");
  assert.equal(readAs("&k a: b\nc: *k\n"), "a: b\nc: a\n");
});

test("brackets, braces and quotes go on in lines of any height", () => {
  const cases: readonly (readonly [text: string, printed: string])[] = [
    ["a:\n  b: [\n    c\n  ]\n  d: e\n", "a:\n    b:\n        - c\n    d: e\n"],
    ["a: {\n  b: c\n}\nd: e\n", "a:\n    b: c\nd: e\n"],
    ["a:\n  b: [c\n  ,{d:\n# no value ]\n\te}]\nf: |\n  [\n  g\n", "a:\n    b:\n        - c\n        - d: e\nf: |\n    [\n    g\n"],
    ["a:\n  b: \"c\n  d\"\n  e: 'f\n\n  it''s'\n", "a:\n    b: c d\n    e: |-\n        f\n        it's\n"],
    ['- a: [\n  b]\n  c: d[\n- {"e": "f#\n]"}\n', "- a:\n    - b\n  c: d[\n- e: f# ]\n"],
  ];
  for (const [text, printed] of cases) assert.equal(readAs(text), printed);
  const root = readYaml("a: [\nb,\n  c]\n")[0]?.root;
  assert.ok(root?.type === "mapping" && root.entries[0]?.value.type === "sequence");
  assert.deepEqual(
    root.entries[0].value.items.map(({ line, column }) => [line, column]),
    [
      [2, 1],
      [3, 3],
    ],
  );
});

test("tabs may stand where nothing begins", () => {
  assert.equal(
    readAs("a:\tb\t# c\nd: [e,\n\tf]\ng: |\n  x\n  \ty\nh: i\n  \tj\n"),
    "a: b\nd:\n    - e\n    - f\ng: |\n    x\n    \ty\nh: i j\n",
  );
});

test("all keys that stand twice are named at once", () => {
  assert.throws(
    () => readYaml("a: 1\na: 2\na: 3\nb:\n  c: 1\n  c: 2\n"),
    (error: unknown) =>
      error instanceof ConfigError &&
      error.line === 2 &&
      error.detail.split("\n").slice(1).join() ===
        '  line 2: mapping key "a" already defined at line 1,  line 3: mapping key "a" already defined at line 1,' +
          '  line 3: mapping key "a" already defined at line 2,  line 6: mapping key "c" already defined at line 5',
  );
});

test("a tag of JSON's types says what a text is", () => {
  assert.equal(readAs('a: !!str 5\nb: !!int "5"\nc: !!map {d: !!seq [!!null ~]}\n'), 'a: "5"\nb: 5\nc:\n    d:\n        - ~\n');
  assert.equal(readAs("a: !<tag:yaml.org,2002:str> true\n"), 'a: "true"\n');
});

test("a version directive that Talos reads, and a percent sign that is none", () => {
  assert.equal(readAs("%YAML 1.1\n---\na: 1\n"), "a: 1\n");
  assert.equal(readAs("a: |\n  %YAML 1.2\n"), "a: |\n    %YAML 1.2\n");
});

test("a byte order mark and carriage returns change nothing", () => {
  const document = readYaml("\ufeffa: 1\r\nb: x\r\n")[0]?.root;
  assert.ok(document?.type === "mapping");
  assert.deepEqual(
    document.entries.map(({ key, value }) => [key, value.type === "scalar" ? value.text : ""]),
    [
      ["a", "1"],
      ["b", "x"],
    ],
  );
});

test("scalars keep the text that was written", () => {
  const texts = ["no", "0o17", "1e3", "2026-01-01", "12:30:45", "0644", "1.50", "~"];
  const root = readYaml(texts.map((text, index) => `k${index}: ${text}`).join("\n"))[0]?.root;
  assert.ok(root?.type === "mapping");
  assert.deepEqual(
    root.entries.map(({ value }) => (value.type === "scalar" ? value.text : "")),
    texts,
  );
});

test("places count from one and point at the quote", () => {
  const root = readYaml('a:\n  b: "x"\n')[0]?.root;
  assert.ok(root?.type === "mapping" && root.entries[0]?.value.type === "mapping");
  const { line, column } = root.entries[0].value.entries[0]?.value ?? {};
  assert.deepEqual({ line, column }, { line: 2, column: 6 });
});

/** Any value that our emitter may be given. Surrogates and control characters cannot be read back: the reader refuses them. */
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "yes",
    "n",
    "012",
    "1e5",
    "",
    " x",
    "x ",
    "a\nb",
    "a\n",
    "\n",
    "a \nb",
    "- a",
    "a: b",
    "#",
    "---",
    "2001-01-01",
    "12:30:45",
    "é",
    "\t",
  ),
);
const anyValue = fc.letrec<{ value: YamlValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.boolean(),
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 200 }), tie("value"), { maxKeys: 4 }).map((members) => new Map(Object.entries(members))),
  ),
})).value;

test("whatever is printed is read back as the same value", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const printed = emitYaml(value);
      const root = readYaml(printed)[0]?.root;
      assert.ok(root !== undefined || value === null);
      if (root !== undefined) assert.deepEqual(emitYaml(plainValue(root)), printed);
    }),
    { numRuns: 500, seed: 1 },
  );
});

test("random texts are read or refused, never anything else", () => {
  const fragments = fc.array(
    fc.constantFrom("a", ":", " ", "\n", "-", "[", "]", "{", "}", "&x", "*x", "!t", '"', "'", "|", ">", "#", "?", "---\n", "\t", "%"),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(fragments, (parts) => {
      try {
        readYaml(parts.join(""));
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
      }
    }),
    { numRuns: 2000, seed: 2 },
  );
});
