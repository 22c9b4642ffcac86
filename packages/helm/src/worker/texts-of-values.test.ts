import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { faultOf } from "./classify.ts";
import { textsOf } from "./texts-of-values.ts";

describe("texts of values", () => {
  test("are found at any depth, longest first, and short ones are left", () => {
    assert.deepEqual(textsOf(["a: {b: [hunter2, {c: hunter2-long}]}\nd: yes-", "e: 12345678", "f: ["]), [
      "hunter2-long",
      "12345678",
      "hunter2",
    ]);
  });

  test("are found once where aliases name them again and again", () => {
    const bomb = Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`);
    assert.deepEqual(textsOf([["a0: &a0 [hunter2]", ...bomb].join("\n")]), ["hunter2"]);
  });

  test("do not appear in what a template says of them", () => {
    const stderr = "Error: UPGRADE FAILED: execution error at (web/templates/a.yaml:3:4): password hunter2-long is too short\n";
    const fault = faultOf({ kind: "exited", code: 1, stdout: "", stderr }, "cluster", textsOf(["password: hunter2-long"]));
    assert.equal(fault.reason, "template-failed");
    assert.doesNotMatch(fault.message, /hunter2/);
    assert.match(fault.message, /password … is too short/);
  });
});
