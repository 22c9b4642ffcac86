import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { grants } from "./selection.ts";

describe("a Namespace grants addons of another one", () => {
  for (const [given, from, granted] of [
    ["dev", "dev", true],
    ["ops, dev", "dev", true],
    ["*", "dev", true],
    ["dev", "developer-7", false],
    ["developer-7", "dev", false],
    ["dev*", "dev", false],
    ["", "dev", false],
    [",", "", false],
    [undefined, "dev", false],
  ] as const)
    test(`${String(given)}: ${from === "" ? "none" : from} ${granted ? "may" : "may not"}`, () =>
      assert.equal(grants(given === undefined ? undefined : { [annotations.addonsFrom]: given }, from), granted));
});
