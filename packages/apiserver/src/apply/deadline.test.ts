import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { merges } from "../differential/custom-kinds.ts";
import { withinDeadline } from "../request/deadline.ts";
import { compileCrd } from "../schema/index.ts";
import { checkApplied } from "./check-applied.ts";
import { compareFields, fieldsOf } from "./field-sets-of.ts";
import { subtractSets, unionSets } from "./field-set.ts";
import { mergeApplied, removeFields } from "./merge.ts";

const outcome = compileCrd(merges.crd);
assert.ok(outcome.ok);
const { root } = outcome.crd.versions.get("v1") ?? assert.fail();

const labels = (prefix: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`${prefix}${index}`, "v"]));
const [one, other] = [{ spec: { labels: labels("a") } }, { spec: { labels: labels("b") } }];
const [fields, otherFields] = [fieldsOf(one, root), fieldsOf(other, root)];
const moreFields = fieldsOf({ spec: { labels: { ...one.spec.labels, c: "v" } } }, root);

describe("server-side apply of what is large ends with its request while it", () => {
  for (const [does, run] of [
    ["checks the configuration", () => checkApplied(one, root)],
    ["lists the fields", () => fieldsOf(one, root)],
    ["merges", () => mergeApplied(one, other, root)],
    ["compares", () => compareFields(one, other, root)],
    ["removes fields", () => removeFields(one, otherFields, root)],
    ["takes fields from others", () => subtractSets(fields, moreFields)],
    ["joins what managers own", () => unionSets(fields, moreFields)],
  ] as const) {
    it(does, () => {
      assert.doesNotThrow(() => withinDeadline(() => 0, run));
      let now = 0;
      assert.throws(() => withinDeadline(() => (now += 100), run), { code: 504, reason: "Timeout" });
    });
  }
});
