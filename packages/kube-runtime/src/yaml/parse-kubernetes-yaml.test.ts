import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KubernetesYamlError, parseKubernetesYaml } from "./index.ts";

describe("parseKubernetesYaml", () => {
  // Printed by `kubectl label --local -o json` of Kubernetes 1.36.
  const scalars: Readonly<Record<string, unknown>> = {
    "0644": 420,
    "0o644": 420,
    "-0644": -420,
    "0O17": 15,
    "007": 7,
    "08": 8,
    "0o8": "0o8",
    "0x1F": 31,
    "0X1F": 31,
    "-0x10": -16,
    "0x": "0x",
    "0b11": 3,
    "+12": 12,
    "1_000": 1000,
    "1__0": 10,
    "-1_0": -10,
    _1: "_1",
    "1e3": 1000,
    "12e03": 12000,
    "1e400": "1e400",
    ".5": 0.5,
    "+.5": 0.5,
    "1.": 1,
    "0.1_5": 0.15,
    yes: true,
    On: true,
    y: true,
    N: false,
    NO: false,
    off: false,
    tRue: "tRue",
    '"n"': "n",
    "!!str 5": "5",
    "~": null,
    Null: null,
    "": null,
    "2026-01-01": "2026-01-01",
    "12:30:45": "12:30:45",
    "=": "=",
  };
  for (const [text, value] of Object.entries(scalars))
    it(`reads ${text === "" ? "nothing" : text} as kubectl does`, () =>
      assert.deepEqual(parseKubernetesYaml(`a: ${text}\n`), [{ a: value }]));

  it("reads several documents, words as keys, and merge keys", () =>
    assert.deepEqual(parseKubernetesYaml("a: &a {b: 1}\n---\n---\ny: 2\nc: &c {d: 1}\ne: {<<: *c, f: 2}\n"), [
      { a: { b: 1 } },
      null,
      { true: 2, c: { d: 1 }, e: { d: 1, f: 2 } },
    ]));

  it("keeps __proto__ a plain key", () => {
    const [value] = parseKubernetesYaml('{"__proto__": {"polluted": true}}') as readonly object[];
    assert.ok(value !== undefined && Object.hasOwn(value, "__proto__"));
    assert.equal(({} as { readonly polluted?: boolean }).polluted, undefined);
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ["broken text", "a: [\n", /line \d+/],
    ["an alias bomb", bomb(10, 10), /alias/],
    ["a bomb of few aliases", bomb(24, 2), /more than 200000 values/],
    ["nesting without end", "[".repeat(20_000), /.+/],
    ["a key twice", "a: 1\na: 2\n", /line 2/],
    ["a tag of a program", "a: !!js/function 'x'\n", /.+/],
  ];
  for (const [name, text, message] of refused)
    it(`refuses ${name} in no time`, () => assert.throws(() => parseKubernetesYaml(text), { name: "KubernetesYamlError", message }));

  it("quotes nothing of the text", () =>
    assert.throws(
      () => parseKubernetesYaml("password: hunter2: [\n"),
      (thrown: unknown) =>
        thrown instanceof KubernetesYamlError && !thrown.message.includes("hunter2") && !String(thrown.stack).includes("hunter2"),
    ));

  it("takes a mapping of 40,000 keys, which costs a parser that compares each with each a quarter of a minute", () => {
    const text = Array.from({ length: 40_000 }, (_, index) => `k${index}: v\n`).join("");
    assert.equal(Object.keys(parseKubernetesYaml(text)[0] as object).length, 40_000);
  });

  it("takes a long text without aliases", () => {
    const text = `[${"1,".repeat(300_000)}1]`;
    assert.equal((parseKubernetesYaml(text)[0] as readonly unknown[]).length, 300_001);
  });
});

function bomb(levels: number, width: number): string {
  const lines = ["a0: &a0 [x]"];
  for (let level = 1; level < levels; level += 1)
    lines.push(`a${level}: &a${level} [${Array.from({ length: width }, () => `*a${level - 1}`).join(", ")}]`);
  return `${lines.join("\n")}\n`;
}
