import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { CommandSpec, FlagValues } from "./command.ts";
import { createProgram, isUsageExit } from "./program.ts";

async function parse(...words: string[]): Promise<{ values?: FlagValues; said: string }> {
  const out = new PassThrough();
  let values: FlagValues | undefined;
  const spec: CommandSpec = {
    name: "try",
    summary: "Nothing.",
    flags: [{ name: "machines", kind: "number", value: "count", summary: "how many", min: 1, max: 99, isCount: true }],
    run: (given) => {
      values = given;
      return Promise.resolve();
    },
  };
  const stream = out as unknown as NodeJS.WriteStream;
  try {
    await createProgram([spec], "0", { signal: new AbortController().signal, stdout: stream, stderr: stream }).parseAsync(words, {
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
    assert.deepEqual((await parse("try", "--machines", "99")).values, { machines: 99 });
  });
});
