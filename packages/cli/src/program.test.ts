import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { CommandSpec, FlagValues } from "./command.ts";
import { createProgram, isUsageExit } from "./program.ts";

function parse(...words: string[]): Promise<{ values?: FlagValues; said: string }> {
  return parseAs("try", [], words);
}

async function parseAs(
  name: string,
  operands: readonly string[],
  words: readonly string[],
): Promise<{ values?: FlagValues; said: string }> {
  const out = new PassThrough();
  let values: FlagValues | undefined;
  const spec: CommandSpec = {
    name,
    summary: "Nothing.",
    ...(operands.length === 0 ? {} : { operands: operands.map((operand) => ({ name: operand, summary: operand })) }),
    flags: [
      { name: "machines", kind: "number", value: "count", summary: "how many", min: 1, max: 99, isCount: true },
      { name: "patch", short: "p", kind: "list", value: "patch", summary: "as they are" },
      { name: "sans", kind: "list", value: "names", summary: "split", isCommaSeparated: true },
      { name: "live", kind: "boolean", summary: "on unless said otherwise", default: true },
      { name: "dry", kind: "boolean", summary: "off unless said otherwise" },
      { name: "version", kind: "string", value: "version", summary: "no business of the program" },
    ],
    run: (given) => {
      values = given;
      return Promise.resolve();
    },
  };
  const stream = out as unknown as NodeJS.WriteStream;
  try {
    await createProgram([spec], "0", { signal: new AbortController().signal, stdout: stream, stderr: stream }).parseAsync([...words], {
      from: "user",
    });
  } catch (error) {
    if (!isUsageExit(error)) throw error;
  }
  return { ...(values === undefined ? {} : { values }), said: String(out.read() ?? "") };
}

describe("the flags", () => {
  const refused: readonly [string, string[], RegExp][] = [
    ["a number below its range", ["--machines", "0"], /must be at least 1/],
    ["a number above its range", ["--machines", "100"], /must be at most 99/],
    ["half a machine", ["--machines", "2.5"], /must be a whole number/],
    ["a word for a number", ["--machines", "many"], /"many" is not a number/],
    ["a missing value", ["--machines"], /argument missing/],
    ["a flag that it does not have", ["--bogus"], /unknown option '--bogus'/],
  ];
  for (const [what, words, message] of refused) {
    it(`refuse ${what} and point to the help`, async () => {
      const { values, said } = await parse("try", ...words);
      assert.equal(values, undefined);
      assert.match(said, message);
      assert.match(said, /--help/);
    });
  }

  it("take what is in range", async () => {
    assert.deepEqual((await parse("try", "--machines", "99")).values, { machines: 99, live: true });
  });

  it("collect lists, split those that are lists of words, and leave the others whole", async () => {
    const { values } = await parse("try", "-p", "a: [1,2]", "--patch", "- b", "--sans", "x,y", "--sans=z");
    assert.deepEqual(values, { patch: ["a: [1,2]", "- b"], sans: ["x", "y", "z"], live: true });
  });

  it("switch on and off, the last word counts", async () => {
    assert.deepEqual((await parse("try", "--no-live", "--dry")).values, { live: false, dry: true });
    assert.deepEqual((await parse("try", "--no-live", "--live", "--dry", "--no-dry")).values, { live: true, dry: false });
  });

  it("may have the name of a flag of the program", async () => {
    assert.deepEqual((await parse("try", "--version", "v1alpha1")).values, { version: "v1alpha1", live: true });
  });
});

describe("a command of two words", () => {
  it("is found below its group and takes its operands by name", async () => {
    const { values } = await parseAs("config try", ["old", "new"], ["config", "try", "a.yaml", "--dry", "b.yaml"]);
    assert.deepEqual(values, { old: "a.yaml", new: "b.yaml", dry: true, live: true });
  });

  for (const words of [["config", "try", "a.yaml"], ["config", "try", "a", "b", "c"], ["config", "other"], ["config"]]) {
    it(`refuses ${JSON.stringify(words.join(" "))}`, async () => {
      const { values, said } = await parseAs("config try", ["old", "new"], words);
      assert.equal(values, undefined);
      assert.match(said, /missing required argument|too many arguments|unknown command|Usage: /);
    });
  }
});
