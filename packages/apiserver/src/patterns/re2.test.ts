import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { withinDeadline } from "../request/deadline.ts";
import { programSizeOf } from "./program-size.ts";
import { RE2JS } from "re2js";
import { compileRe2 } from "./re2.ts";

interface Verdict {
  readonly pattern: string;
  readonly texts?: readonly string[];
  readonly error?: string | undefined;
  readonly found?: readonly (readonly string[] | null)[];
}

/** What Go 1.26 says, recorded by `record.go` beside it: patterns of well-known definitions, each part of the syntax, and what is refused. */
const verdicts = JSON.parse(readFileSync(join(import.meta.dirname, "../../testdata/patterns/verdicts.json"), "utf8")) as readonly Verdict[];

/** Where the engine, or our bound on the size of a pattern, speaks otherwise than Go. */
const otherwise: Readonly<Record<string, string>> = {
  "(?P<n>a)(?P<n>b)": "duplicate capture group name: `n`",
  "((a{100}){100}){100}": "expression too large: `((a{100}){100}){100}`",
};

const said = verdicts.map((verdict) =>
  otherwise[verdict.pattern] === undefined ? verdict : { pattern: verdict.pattern, error: otherwise[verdict.pattern] },
);

describe("Go regular expressions", () => {
  for (const { pattern, texts = [], error, found = [] } of said) {
    const shown = JSON.stringify(pattern).slice(0, 80);
    if (error !== undefined) {
      it(`refuses ${shown} in the words of Go`, () => {
        assert.throws(() => compileRe2(pattern), { name: "SyntaxError", message: error.replace("error parsing regexp: ", "") });
      });
      continue;
    }
    it(`${shown} matches what it matches in Go`, () => {
      const compiled = compileRe2(pattern);
      for (const [index, text] of texts.entries()) {
        const want = found[index] ?? [];
        assert.deepEqual(compiled.findAll(text), want, JSON.stringify(text));
        assert.equal(compiled.test(text), want.length > 0, JSON.stringify(text));
        assert.equal(compiled.find(text), want[0], JSON.stringify(text));
      }
    });
  }
});

const attack = `
  const { parentPort, workerData } = require("node:worker_threads");
  import(workerData.module).then(({ compileRe2 }) =>
    parentPort.postMessage(
      workerData.attacks.map(([pattern, text]) => [compileRe2(pattern).test(text), compileRe2(pattern).find(text) !== undefined]),
    ),
  );
`;

describe("patterns and texts that want to take long", () => {
  // In a thread of its own: an engine that never ends would take the test with it.
  it("looks at each letter once where a backtracking engine never ends", { timeout: 60_000 }, async (context) => {
    const attacks = [
      ["^(a+)+$", `${"a".repeat(60_000)}!`],
      ["^(a+)+$", "a".repeat(60_000)],
      ["(x+x+)+y", "x".repeat(60_000)],
      ["^(.*,)*(.*,)*(.*,)*z$", "a,".repeat(5000)],
    ];
    const worker = new Worker(attack, { eval: true, workerData: { module: new URL("./re2.ts", import.meta.url).href, attacks } });
    context.after(() => worker.terminate());
    const [answers] = (await once(worker, "message")) as [unknown];
    assert.deepEqual(answers, [
      [false, false],
      [true, true],
      [false, false],
      [false, false],
    ]);
  });

  it("refuses patterns that a few letters make as large as a program", () => {
    for (const pattern of [
      "((((a{10}){10}){10}b){10}){10}",
      "(abcdefghijklmnopqrstuvwxyz){1000}",
      "a?".repeat(50_000),
      `[${"ab".repeat(60_000)}]`,
    ]) {
      assert.throws(() => compileRe2(pattern), { name: "SyntaxError" });
    }
    assert.throws(() => compileRe2("(abcdefghijklmnopqrstuvwxyz){1000}"), { message: /^expression too large: / });
  });

  it("counts at least the instructions that the engine makes", () => {
    const taken = said.filter(({ error }) => error === undefined);
    assert.ok(taken.length > 50, String(taken.length));
    for (const { pattern } of taken) {
      const made = RE2JS.compile(pattern).programSize();
      // A letter that stands for others, and the ends of the whole, are a few more.
      assert.ok(programSizeOf(pattern) + 3 >= made, `${pattern}: ${programSizeOf(pattern)} counted, ${made} made`);
    }
  });

  it("refuses a text that is too long for a large pattern, and takes it for a small one", () => {
    const text = "a".repeat(100_000);
    const large = compileRe2("(a|b)*a(a|b){1000}c");
    assert.equal(large.isCheap(text), false);
    assert.throws(() => large.test(text), /too long for the pattern/);
    assert.throws(() => large.findAll(text), /too long for the pattern/);
    assert.equal(compileRe2("^[a-z]*$").test(text), true);
  });

  it("ends a search whose parts are looked for again and again", () => {
    let now = 0;
    assert.throws(
      () =>
        withinDeadline(
          () => now++,
          () => compileRe2("a*?b|a").findAll("a".repeat(20_000)),
        ),
      { code: 504 },
    );
  });

  it("keeps what it compiled for long only as far as there is room", () => {
    const patterns = Array.from({ length: 600 }, (_, index) => compileRe2(`^a{${index}}$`));
    for (const [index, compiled] of patterns.entries())
      assert.deepEqual([compiled.test("a".repeat(index)), compiled.test("a".repeat(index + 1))], [true, false]);
  });
});
