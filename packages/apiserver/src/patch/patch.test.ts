import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { builtinKind } from "../builtin/index.ts";
import { cloneJson, isObject, type JsonObject } from "../json.ts";
import { withinDeadline } from "../request/deadline.ts";
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, type PatchOutcome } from "./index.ts";

const patched = (outcome: PatchOutcome): JsonObject => {
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  return outcome.object;
};
const document = fc
  .dictionary(fc.constantFrom("a", "b", "__proto__", "c/d", "e~f"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

describe("merge patches", () => {
  // Examples of RFC 7386, appendix A, as far as both sides are objects.
  const cases: readonly [before: JsonObject, patch: JsonObject, after: JsonObject][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    // What a genuine server does beyond them.
    [{ a: [1] }, { a: [{ b: { c: null } }, null] }, { a: [{ b: {} }, null] }],
  ];
  for (const [before, patch, after] of cases) {
    it(`${JSON.stringify(before)} with ${JSON.stringify(patch)} is ${JSON.stringify(after)}`, () => {
      assert.deepEqual(patched(applyMergePatch(before, patch)), after);
    });
  }

  it("changes nothing when empty, nothing more when repeated, and never its arguments", () => {
    fc.assert(
      fc.property(document, document, (before, patch) => {
        const [untouchedBefore, untouchedPatch] = [cloneJson(before), cloneJson(patch)];
        assert.deepEqual(patched(applyMergePatch(before, {})), before);
        const once = patched(applyMergePatch(before, patch));
        assert.deepEqual(patched(applyMergePatch(once, patch)), once);
        assert.deepEqual([before, patch], [untouchedBefore, untouchedPatch]);
      }),
    );
  });

  it("leaves no null that the patch put there, and pollutes no prototype", () => {
    fc.assert(
      fc.property(document, (patch) => {
        const made = patched(applyMergePatch({}, patch));
        const hasNull = (value: unknown): boolean => value === null || (isObject(value) && Object.values(value).some(hasNull));
        assert.equal(hasNull(made), false);
      }),
    );
    applyMergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
});

describe("JSON patches", () => {
  it("replacing the whole of any document by another works through add, replace and move", () => {
    fc.assert(
      fc.property(document, fc.jsonValue({ maxDepth: 2 }), (before, value) => {
        const added = patched(applyJsonPatch(before, [{ op: "add", path: "/x~1y", value }]));
        // JSON knows no negative zero.
        assert.equal(JSON.stringify(added["x/y"]), JSON.stringify(value));
        const moved = patched(
          applyJsonPatch(added, [
            { op: "move", from: "/x~1y", path: "/z" },
            { op: "remove", path: "/z" },
          ]),
        );
        assert.deepEqual(moved, Object.fromEntries(Object.entries(before).filter(([key]) => key !== "z" && key !== "x/y")));
      }),
      { examples: [[{}, null]] },
    );
  });

  for (const operations of [
    [{ op: "add", path: "/list/5", value: 1 }],
    [{ op: "add", path: "/list/x", value: 1 }],
    [{ op: "add", path: "/none/x", value: 1 }],
    [{ op: "remove", path: "/none" }],
    [{ op: "remove", path: "" }],
    [{ op: "replace", path: "/list/9", value: 1 }],
    [{ op: "test", path: "/list/0", value: 2 }],
    [{ op: "move", from: "/none", path: "/x" }],
    [{ op: "jump", path: "/x" }],
    [{ op: "add", path: "x", value: 1 }],
    [{ op: "add", value: 1 }],
    [{ op: "replace", path: "", value: "no object" }],
  ]) {
    it(`refuses ${JSON.stringify(operations[0])} on {"list":[1]}`, () => {
      const outcome = applyJsonPatch({ list: [1] }, operations);
      assert.deepEqual(outcome, { ok: false, status: 422, message: "the server rejected our request due to an error in our request" });
    });
  }

  it("refuses more than 10,000 operations", () => {
    const outcome = applyJsonPatch(
      {},
      Array.from({ length: 10_001 }, () => ({ op: "add", path: "/a", value: 1 })),
    );
    assert.equal(outcome.ok, false);
  });
});

describe("JSON patches that grow", () => {
  const refused = { ok: false, status: 422, message: "the server rejected our request due to an error in our request" };
  const doubling = Array.from({ length: 40 }, (_, turn) => ({ op: "copy", from: "/data", path: `/data/k${turn}` }));

  it("refuses copies that double the object forty times", () => {
    assert.deepEqual(applyJsonPatch({ data: { text: "x".repeat(100) } }, doubling), refused);
  });

  it("refuses an object that is copied into its own depth without end", () => {
    const operations = Array.from({ length: 40 }, (_, turn) => ({
      op: "copy",
      from: "/data",
      path: `/data${"/a".repeat(2 ** Math.min(turn, 12))}`,
    }));
    assert.deepEqual(applyJsonPatch({ data: {} }, operations), refused);
  });

  it("refuses values that are hung one below the other", () => {
    const operations = Array.from({ length: 10_000 }, (_, turn) => ({ op: "add", path: "/a".repeat(turn + 1), value: {} }));
    assert.deepEqual(applyJsonPatch({}, operations), refused);
  });

  it("takes copies of 3 MiB in sum and not a byte more", () => {
    const text = "x".repeat(1024 * 1024 - 2);
    const copies = (count: number): unknown =>
      Array.from({ length: count }, (_, turn) => ({ op: "copy", from: "/text", path: `/k${turn}` }));
    assert.equal(applyJsonPatch({ text }, copies(3)).ok, true);
    assert.deepEqual(applyJsonPatch({ text: `${text}x` }, copies(3)), refused);
  });

  it("ends a patch that moves a long list ten thousand times", () => {
    let now = 0;
    const operations = Array.from({ length: 10_000 }, () => ({ op: "add", path: "/list/0", value: 0 }));
    const patch = (): PatchOutcome => applyJsonPatch({ list: [1, 2, 3] }, operations);
    assert.throws(() => withinDeadline(() => now++, patch), { code: 504, reason: "Timeout" });
  });
});

describe("strategic merge patches", () => {
  const pod = builtinKind("", "v1", "Pod");
  assert.ok(pod);
  const before = {
    spec: {
      containers: [
        { name: "a", image: "a:1", env: [{ name: "X", value: "1" }] },
        { name: "b", image: "b:1" },
      ],
      nodeSelector: { zone: "1" },
      tolerations: [{ key: "t" }],
    },
  };
  const containers = (list: readonly JsonObject[]): JsonObject => ({ spec: { ...before.spec, containers: list } });
  const [a = {}, b = {}]: readonly JsonObject[] = before.spec.containers;
  const cases: readonly [name: string, patch: JsonObject, after: JsonObject][] = [
    ["merges an item by its key", { spec: { containers: [{ name: "b", image: "b:2" }] } }, containers([a, { name: "b", image: "b:2" }])],
    ["puts a new item first", { spec: { containers: [{ name: "c", image: "c" }] } }, containers([{ name: "c", image: "c" }, a, b])],
    ["deletes an item by its key", { spec: { containers: [{ name: "a", $patch: "delete" }] } }, containers([b])],
    ["replaces the list when told so", { spec: { containers: [{ $patch: "replace" }, { name: "z" }] } }, containers([{ name: "z" }])],
    [
      "merges nested lists",
      { spec: { containers: [{ name: "a", env: [{ name: "Y", value: "2" }] }] } },
      containers([
        {
          ...a,
          env: [
            { name: "Y", value: "2" },
            { name: "X", value: "1" },
          ],
        },
        b,
      ]),
    ],
    [
      "orders as told",
      { spec: { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "b", image: "b:2" }] } },
      containers([{ name: "b", image: "b:2" }, a]),
    ],
    [
      "replaces a list without strategy",
      { spec: { tolerations: [{ key: "u" }] } },
      { spec: { ...before.spec, tolerations: [{ key: "u" }] } },
    ],
    [
      "replaces a map when told so",
      { spec: { nodeSelector: { $patch: "replace", disk: "ssd" } } },
      { spec: { ...before.spec, nodeSelector: { disk: "ssd" } } },
    ],
    [
      "removes a field",
      { spec: { nodeSelector: null } },
      { spec: { containers: before.spec.containers, tolerations: before.spec.tolerations } },
    ],
  ];
  for (const [name, patch, after] of cases) {
    it(name, () => {
      assert.deepEqual(patched(applyStrategicMergePatch(pod, before, patch)), after);
    });
  }
});

describe("patches of long lists", () => {
  const configMap = builtinKind("", "v1", "ConfigMap");
  assert.ok(configMap);
  const finalizers = (prefix: string): string[] => Array.from({ length: 40_000 }, (_, index) => `example.com/${prefix}${index}`);

  it("adds to a set in a time that grows with it alone", () => {
    const merged = applyStrategicMergePatch(
      configMap,
      { metadata: { finalizers: finalizers("a") } },
      { metadata: { finalizers: finalizers("b") } },
    );
    assert.equal((patched(merged)["metadata"] as { finalizers: unknown[] }).finalizers.length, 80_000);
  });

  it("ends with the request where each item is compared with each", () => {
    let now = 0;
    const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": finalizers("b") } };
    const run = (): PatchOutcome => applyStrategicMergePatch(configMap, { metadata: { finalizers: finalizers("a") } }, patch);
    assert.throws(() => withinDeadline(() => (now += 100), run), { code: 504 });
  });
});
