import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withinDeadline } from "../request/deadline.ts";
import { meteredProgram, type Metered } from "./cost/meter.ts";
import { createCelEnvironment } from "./library.ts";
import { prepareExpression } from "./names.ts";
import { parseExpression } from "./parse-expression.ts";

const environment = createCelEnvironment().registerVariable("self", "dyn");

const run = (expression: string, self: unknown): Metered =>
  meteredProgram(parseExpression(environment, prepareExpression(expression).text))({ self });

const numbers = Array.from({ length: 50_000 }, (_, index) => BigInt(index));
const long = "x".repeat(1_000_000);

describe("expressions that want to take long", () => {
  const doubling = `[self]${Array.from({ length: 40 }, (_, turn) => `.map(a${turn}, a${turn} + a${turn})`).join("")}.size() == 1`;
  const tooDear: readonly (readonly [name: string, expression: string, self: unknown])[] = [
    ["two long lists that are compared item by item", "sets.contains(self, self)", numbers],
    ["a list of lists that shares its parts", "self.map(a, self) == self.map(a, self.map(b, b))", numbers.slice(0, 3000)],
    ["lists that are looked for in a list of them", "self.map(a, self).indexOf(self) == 0", numbers.slice(0, 3000)],
    ["lists that double", doubling, numbers],
    ["lists that are laid out flat", "self.map(a, self).flatten().size() == 1", numbers.slice(0, 20_000)],
    ["texts that are joined", "self.map(a, self[0]).join(',') == ''", [long, ...Array.from({ length: 200 }, () => "")]],
    ["texts that double", doubling, long],
  ];
  for (const [name, expression, self] of tooDear) {
    it(`stops ${name}`, () => assert.equal(run(expression, self).kind, "too dear"));
  }

  for (const expression of [
    "self.replace('x', self).size() > 0",
    "self.replace('', self).size() > 0",
    `'${"%s".repeat(11)}'.format([${Array.from({ length: 11 }, () => "self").join(", ")}]).size() > 0`,
  ]) {
    it(`makes no text without end: ${expression.slice(0, 40)}`, () => assert.equal(run(expression, long).kind, "error"));
  }

  for (const expression of [
    "self.matches('^(a+)+$')",
    "self.//\nmatches('^(a+)+$')",
    String.raw`"""\"""" == '' || self.matches('^(a+)+$') || "" == "x"`,
    "self.find('^(a+)+$') != ''",
    "self.findAll('^(a+)+$').size() > 0",
  ]) {
    it(`matches without backtracking: ${JSON.stringify(expression)}`, () => {
      assert.deepEqual({ ...run(expression, `${"a".repeat(60_000)}!`), cost: 0 }, { kind: "value", value: false, cost: 0 });
    });
  }

  for (const piece of [String.raw`"\\`, String.raw`'\\`, "r'", "b'''", '"""', "[?"]) {
    it(`reads no text twice when ${piece} stands there often and is never closed`, () => {
      const expression = `self == ${piece.repeat(50_000)}`;
      assert.throws(() => parseExpression(environment, prepareExpression(expression).text));
    });
  }

  it("ends with the request, whatever forgives errors around it", () => {
    let now = 0;
    const program = meteredProgram(parseExpression(environment, "self.all(a, self.exists(b, b < 0) || true)"));
    assert.throws(
      () =>
        withinDeadline(
          () => (now += 1000),
          () => program({ self: numbers }),
        ),
      { code: 504 },
    );
  });
});
