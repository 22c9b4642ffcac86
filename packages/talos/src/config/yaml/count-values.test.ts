import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { assert as check, property } from "fast-check";

import { mutatedTexts } from "../../fuzz/adapters/mutations.ts";
import { ConfigError } from "../errors.ts";
import { countValuesAtMost } from "./count-values.ts";
import { readYaml } from "./read.ts";
import type { YamlNode } from "./node.ts";

describe("the values that a text may hold", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["of nothing", "", 0],
    ["are those of its lines", "a\nb\nc", 3],
    ["begin after colons, dashes, commas and brackets", "a: [b, {c: d}]\n- e\n", 8],
    ["are also counted in quotes and comments", 'a: "b, c"\n# d: e\n', 5],
    ["are not counted in the text of a block scalar", "a: |\n  b: c, d\n  e: f, g\n\n  h: [\n  i: j\nk: l\n", 2 + 2 + 2],
    ["are not counted in the text below a dash", "- |-\n b: c\n b: c\n b: c\n b: c\n- d\n", 2 + 1 + 2],
    ["are counted again in the next key of an item", "- a: |\n    b: c\n  d: e\n", 3 + 1 + 2],
    ["are counted below a header in a comment", "# |\n  a: b\n", 1 + 2],
    ["are counted in a text that is the whole document", "|\n  a: b\n", 1 + 2],
    ["with carriage returns are the same", "a: |\r\n  b: c\r\n  b: c\r\n  b: c\r\n  b: c\r\nd: e\r\n", 2 + 1 + 2],
    ["below an anchor and an indicator are text", "a: &x |+2\n    b: c\n", 3],
  ];
  for (const [name, text, want] of cases) test(name, () => assert.equal(countValuesAtMost(text, 1000), want));

  test("are not counted beyond what is enough", () => assert.equal(countValuesAtMost("a\n".repeat(1000), 10), 11));

  test("are never more than twice what was counted, in any text that is read", () => {
    let texts = 0;
    check(
      property(mutatedTexts(), (text) => {
        const read = documentsOf(text);
        if (read === undefined) return;
        texts += 1;
        const values = read.reduce((sum, root) => sum + sizeOf(root), 0);
        const counted = countValuesAtMost(text, Number.POSITIVE_INFINITY);
        assert.ok(values <= 2 * counted + 1, `${values} values, ${counted} counted`);
      }),
      { numRuns: 300 },
    );
    assert.ok(texts > 20, `${texts} texts were read`);
  });
});

function documentsOf(text: string): readonly YamlNode[] | undefined {
  try {
    return readYaml(text).flatMap(({ root }) => (root === undefined ? [] : [root]));
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

function sizeOf(node: YamlNode): number {
  if (node.type === "scalar") return 1;
  if (node.type === "sequence") return node.items.reduce((sum, item) => sum + sizeOf(item), 1);
  return node.entries.reduce((sum, { value }) => sum + 1 + sizeOf(value), 1);
}
