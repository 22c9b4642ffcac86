import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { faultOf } from "./classify.ts";
import { textsOf } from "./texts-of-values.ts";

describe("texts of values", () => {
  test("are found at any depth, longest first, and short ones are left", () => {
    const texts = textsOf(["a: {b: [hunter2, {c: hunter2-long}]}\nd: oui", "e: 12345678", "f: ["]);
    const plain = texts.filter((text) => !texts.some((other) => Buffer.from(other).toString("base64") === text));
    assert.deepEqual(plain, ["hunter2-long", "12345678", "hunter2"]);
  });

  test("are none of what is no YAML: Helm does not quote it", () => {
    assert.deepEqual(textsOf(["f: [", ""]), []);
  });

  test("are found once where aliases name them again and again", () => {
    const bomb = Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`);
    assert.deepEqual(textsOf([["a0: &a0 [hunter2]", ...bomb].join("\n")]), ["aHVudGVyMg==", "hunter2"]);
  });

  for (const [what, values, said] of [
    ["over several lines, of which an error quotes the first", 'key: "first-line\\nsecond-line"', "cannot read first-line\nsecond-line"],
    ["with quotes and line ends, as Go prints them", 'key: "hun\\"ter2\\nsecond-line"', 'cannot read "hun\\"ter2\\nsecond-line" of it'],
    ["encoded, as a Secret has them", "key: hunter2-hunter2", "illegal base64: aHVudGVyMi1odW50ZXIy of it"],
    ["under a key that stands twice", "key: hunter2-hunter2\nkey: hunter2-hunter2", "cannot read hunter2-hunter2 of it"],
  ] as const)
    test(`do not appear ${what}`, () => {
      const fault = faultOf({ kind: "exited", code: 1, stdout: "", stderr: `Error: ${said}` }, "cluster", textsOf([values]));
      assert.doesNotMatch(fault.message, /hun|ter2|first-line|second-line|aHVu/);
      assert.match(fault.message, /(cannot read|base64)/);
    });

  const HARD = `p<a>&"s s/w:o'rd+=é?`;
  for (const [how, said] of [
    ["as JSON", String.raw`p<a>&\"s s/w:o'rd+=é?`],
    ["as JSON that is kept out of HTML", String.raw`p\u003ca\u003e\u0026\"s s/w:o'rd+=é?`],
    ["as HTML", "p&lt;a&gt;&amp;&#34;s s/w:o&#39;rd+=é?"],
    ["as a query", "p%3Ca%3E%26%22s+s%2Fw%3Ao%27rd%2B%3D%C3%A9%3F"],
    ["as a part of a path", "p%3Ca%3E&%22s%20s%2Fw:o%27rd+=%C3%A9%3F"],
    ["as a login", "p%3Ca%3E&%22s%20s%2Fw%3Ao%27rd+=%C3%A9%3F"],
    ["as a path", "p%3Ca%3E&%22s%20s/w:o%27rd+=%C3%A9%3F"],
    ["as what a client of another language sends", "p%3Ca%3E%26%22s%20s%2Fw%3Ao%27rd%2B%3D%C3%A9%3F"],
    ["in base64", Buffer.from(HARD).toString("base64")],
  ] as const)
    test(`do not appear ${how}`, () => {
      const stderr = `Error: cannot read ${said} of it`;
      const fault = faultOf({ kind: "exited", code: 1, stdout: "", stderr }, "cluster", textsOf([JSON.stringify({ key: HARD })]));
      assert.equal(fault.message, "Helm failed: cannot read … of it.");
    });

  test("do not appear in what a template says of them", () => {
    const stderr = "Error: UPGRADE FAILED: execution error at (web/templates/a.yaml:3:4): password hunter2-long is too short\n";
    const fault = faultOf({ kind: "exited", code: 1, stdout: "", stderr }, "cluster", textsOf(["password: hunter2-long"]));
    assert.equal(fault.reason, "template-failed");
    assert.doesNotMatch(fault.message, /hunter2/);
    assert.match(fault.message, /password … is too short/);
  });
});
