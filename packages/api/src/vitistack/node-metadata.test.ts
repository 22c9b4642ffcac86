import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Notes } from "./cluster-draft.ts";
import { nodeMetadata } from "./node-metadata.ts";

type What = Parameters<typeof nodeMetadata>[3];

function read(pairs: Readonly<Record<string, string>>, what: What = "label") {
  const notes: Notes = { problems: [], inertFields: [] };
  const kept = nodeMetadata(notes, "spec.x", pairs, what);
  return { kept, problems: notes.problems.map(({ field }) => field), inert: notes.inertFields.map(({ field }) => field) };
}

describe("labels, annotations and taints of nodes", () => {
  it("are kept in one order, whatever order they were written in", () => {
    assert.equal(JSON.stringify(read({ b: "1", a: "", "example.com/c": "x_y.z" }).kept), '{"a":"","b":"1","example.com/c":"x_y.z"}');
  });

  const refused: readonly (readonly [key: string, value: string, what: What])[] = [
    ["", "a", "label"],
    ["a b", "a", "label"],
    ["/a", "a", "label"],
    ["Example.com/a", "a", "label"],
    ["a/b/c", "a", "label"],
    ["a".repeat(64), "a", "label"],
    [`${"a".repeat(254)}/b`, "a", "label"],
    ["a", "b c", "label"],
    ["a", "Trøndelag", "label"],
    ["a", "x".repeat(64), "label"],
    ["a", "-", "taint"],
    ["a\nb", "a", "annotation"],
    ["__proto__", "a", "annotation"],
  ];
  for (const [key, value, what] of refused)
    it(`refuse the ${what} ${JSON.stringify(key.slice(0, 20))}: ${JSON.stringify(value.slice(0, 20))}`, () => {
      const { kept, problems } = read(JSON.parse(`{${JSON.stringify(key)}: ${JSON.stringify(value)}}`) as Record<string, string>, what);
      assert.equal(problems.length, 1);
      assert.deepEqual(Object.keys(kept), []);
    });

  it("take free text as the value of an annotation", () => {
    assert.deepEqual(read({ why: "fordi: Øst\n" }, "annotation"), { kept: { why: "fordi: Øst\n" }, problems: [], inert: [] });
  });

  it("leave out what is the operator's or Kubernetes' own, and say so", () => {
    const own = {
      "vitistack.io/a": "1",
      "cluster.vitistack.io/role": "1",
      "talos-operator.dev/x": "1",
      "node-role.kubernetes.io/worker": "",
    };
    const { kept, problems, inert } = read({ ...own, "node.kubernetes.io/a": "1", "notvitistack.io/b": "1" });
    assert.deepEqual(kept, { "node.kubernetes.io/a": "1", "notvitistack.io/b": "1" });
    assert.deepEqual([problems, inert.length], [[], 4]);
  });
});
