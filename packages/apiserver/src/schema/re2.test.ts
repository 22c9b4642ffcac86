import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileRe2 } from "./re2.ts";

const cases: readonly [pattern: string, matches: readonly string[], misses: readonly string[]][] = [
  ["^\\d+\\.\\d+$", ["1.2"], ["1", "1.2\n"]],
  ["^a\\-b\\_c$".replace("\\_", "_"), ["a-b_c"], ["a\\-b_c"]],
  ["^[a-z\\-\\.]+$", ["a-b.c"], ["A"]],
  ["^[[:alpha:]]+$", ["abcXYZ"], ["a1"]],
  ["(?i)^abc$", ["ABC"], ["abcd"]],
  ["^(?P<year>\\d{4})$", ["2026"], ["26"]],
  ["^\\Qa.b\\E$", ["a.b"], ["axb"]],
  ["^a{,2}$", ["a{,2}"], ["aa"]],
  ["^[]a]+$", ["]a"], ["b"]],
  ["^.$", ["\u{1F600}", "ä"], ["ab", "\n"]],
  ["^\\s$", [" ", "\t"], ["\u00a0", "\v"]],
  ["^\\pL+\\z", ["äö"], ["1"]],
  ["^\\x{1F600}$", ["\u{1F600}"], ["x"]],
  ["^/dev/(sd[a-z]|nvme[0-9]+n[0-9]+)$", ["/dev/sda", "/dev/nvme0n1"], ["/dev/hda"]],
];

describe("Go regular expressions", () => {
  for (const [pattern, matches, misses] of cases) {
    it(`${JSON.stringify(pattern)} means what Go means`, () => {
      const regular = compileRe2(pattern);
      for (const text of matches) assert.equal(regular.test(text), true, text);
      for (const text of misses) assert.equal(regular.test(text), false, text);
    });
  }

  for (const pattern of ["(?=a)", "(?!a)", "(?<=a)", "(a)\\1", "(", "[a", "a**", "\\", "(?<a"]) {
    it(`refuses ${JSON.stringify(pattern)} as Go does`, () => {
      assert.throws(() => compileRe2(pattern), SyntaxError);
    });
  }
});
