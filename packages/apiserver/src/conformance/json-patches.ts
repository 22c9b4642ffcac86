import assert from "node:assert/strict";
import { objectAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, Expected, World } from "./world.ts";

interface Patch {
  readonly says: string;
  readonly operations: unknown;
  /** `spec.list` and `spec.map` afterwards. */
  readonly spec?: unknown;
  readonly refused?: Expected;
}

const rejected: Expected = {
  status: 422,
  reason: "Invalid",
  message: "the server rejected our request due to an error in our request",
};

/** JSON patches of a gear whose spec is `{ list: ["a", "b", "c"], map: { "x/y": 1, "t~d": 2 }, text: "old" }`. */
const patches: readonly Patch[] = [
  { says: "add appends at -", operations: [{ op: "add", path: "/spec/list/-", value: "d" }], spec: { list: ["a", "b", "c", "d"] } },
  {
    says: "add inserts before an index",
    operations: [{ op: "add", path: "/spec/list/1", value: "x" }],
    spec: { list: ["a", "x", "b", "c"] },
  },
  {
    says: "add at the length appends",
    operations: [{ op: "add", path: "/spec/list/3", value: "d" }],
    spec: { list: ["a", "b", "c", "d"] },
  },
  { says: "add beyond the length is refused", operations: [{ op: "add", path: "/spec/list/9", value: "d" }], refused: rejected },
  { says: "add into what is not there is refused", operations: [{ op: "add", path: "/spec/none/x", value: 1 }], refused: rejected },
  { says: "add replaces a member", operations: [{ op: "add", path: "/spec/text", value: "new" }], spec: { text: "new" } },
  { says: "remove takes a list item", operations: [{ op: "remove", path: "/spec/list/0" }], spec: { list: ["b", "c"] } },
  { says: "remove takes a member", operations: [{ op: "remove", path: "/spec/text" }], spec: { text: undefined } },
  { says: "remove of what is not there is refused", operations: [{ op: "remove", path: "/spec/none" }], refused: rejected },
  { says: "remove beyond the length is refused", operations: [{ op: "remove", path: "/spec/list/3" }], refused: rejected },
  {
    says: "replace changes a list item",
    operations: [{ op: "replace", path: "/spec/list/1", value: "x" }],
    spec: { list: ["a", "x", "c"] },
  },
  { says: "~1 is a slash", operations: [{ op: "replace", path: "/spec/map/x~1y", value: 9 }], spec: { map: { "x/y": 9, "t~d": 2 } } },
  { says: "~0 is a tilde", operations: [{ op: "replace", path: "/spec/map/t~0d", value: 9 }], spec: { map: { "x/y": 1, "t~d": 9 } } },
  {
    says: "move takes from one place to another",
    operations: [{ op: "move", from: "/spec/list/0", path: "/spec/list/2" }],
    spec: { list: ["b", "c", "a"] },
  },
  { says: "copy doubles", operations: [{ op: "copy", from: "/spec/text", path: "/spec/list/-" }], spec: { list: ["a", "b", "c", "old"] } },
  {
    says: "copies that double forty times are refused",
    operations: Array.from({ length: 40 }, (_, turn) => ({ op: "copy", from: "/spec", path: `/spec/map/k${turn}` })),
    refused: rejected,
  },
  { says: "move of what is not there is refused", operations: [{ op: "move", from: "/spec/none", path: "/spec/text" }], refused: rejected },
  {
    says: "a test that holds lets the rest happen",
    operations: [
      { op: "test", path: "/spec/list", value: ["a", "b", "c"] },
      { op: "remove", path: "/spec/list" },
    ],
    spec: { list: undefined },
  },
  {
    says: "a test that fails undoes what came before",
    operations: [
      { op: "replace", path: "/spec/text", value: "new" },
      { op: "test", path: "/spec/list/0", value: "z" },
    ],
    refused: rejected,
  },
  { says: "an unknown operation is refused", operations: [{ op: "shuffle", path: "/spec/list" }], refused: rejected },
  { says: "no operation changes nothing", operations: [], spec: { text: "old" } },
  { says: "a patch that is no list is refused", operations: { op: "add" }, refused: { status: 400, reason: "BadRequest" } },
  { says: "a text for an operation is refused", operations: ["add"], refused: { status: 400, reason: "BadRequest" } },
];

async function createGear(w: World): Promise<string> {
  const path = `/apis/conformance.example.com/v1/gears`;
  const name = `patched-${w.namespace}`;
  const spec = { list: ["a", "b", "c"], map: { "x/y": 1, "t~d": 2 }, text: "old" };
  await w.create(path, { apiVersion: "conformance.example.com/v1", kind: "Gear", metadata: { name }, spec });
  return `${path}/${name}`;
}

/** JSON patches in detail, and merge patches of lists. */
export const jsonPatchCases: readonly ConformanceCase[] = [
  ...patches.map(({ says, operations, spec, refused }) => ({
    name: `of a JSON patch: ${says}`,
    run: async (w: World) => {
      const path = await createGear(w);
      if (refused !== undefined) {
        await w.refused(w.patch(path, "json", operations), refused);
        assert.equal(objectAt(await w.ok(w.get(path)), "spec")["text"], "old");
        return;
      }
      const after = objectAt(await w.ok(w.patch(path, "json", operations)), "spec");
      for (const [key, value] of Object.entries(spec as Record<string, unknown>)) assert.deepEqual(after[key], value);
    },
  })),
  {
    name: "a JSON patch may not make an object another one",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.patch(w.core("configmaps", "a"), "json", [{ op: "replace", path: "/metadata/name", value: "b" }]), {
        status: 400,
        reason: "BadRequest",
        message: "the name of the object (b) does not match the name on the URL (a)",
      });
    },
  },
  {
    name: "a JSON patch may not change the uid",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.patch(w.widgets("a"), "json", [{ op: "replace", path: "/metadata/uid", value: "x" }]), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.uid"],
      });
    },
  },
  {
    name: "a JSON patch with a resourceVersion test is a compare and swap",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      const operations = [
        { op: "test", path: "/metadata/resourceVersion", value: metaOf(created)["resourceVersion"] },
        { op: "replace", path: "/spec/size", value: 2 },
      ];
      await w.ok(w.patch(w.widgets("a"), "json", operations));
      await w.refused(w.patch(w.widgets("a"), "json", operations), { status: 422, reason: "Invalid" });
    },
  },
  {
    name: "a JSON patch that names a resourceVersion which is gone is a Conflict",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      const operations = [
        { op: "replace", path: "/metadata/resourceVersion", value: metaOf(created)["resourceVersion"] },
        { op: "replace", path: "/spec/size", value: 2 },
      ];
      await w.ok(w.patch(w.widgets("a"), "json", operations));
      await w.refused(w.patch(w.widgets("a"), "json", operations), { status: 409, reason: "Conflict" });
    },
  },
  {
    name: "a JSON patch with more than 10,000 operations is refused",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/a", value: "1" }));
      await w.refused(w.patch(w.core("configmaps", "a"), "json", operations), {
        status: 413,
        reason: "RequestEntityTooLarge",
        message: /The allowed maximum operations in a JSON patch is 10000, got 10001/,
      });
    },
  },
  {
    name: "a merge patch replaces a list as a whole",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1, parts: [{ name: "x" }, { name: "y" }] }));
      const after = await w.ok(w.patch(w.widgets("a"), "merge", { spec: { parts: [{ name: "z" }] } }));
      assert.deepEqual(objectAt(after, "spec")["parts"], [{ name: "z" }]);
    },
  },
  {
    name: "a merge patch puts an object where a scalar was",
    run: async (w) => {
      const path = await createGear(w);
      const after = await w.ok(w.patch(path, "merge", { spec: { text: { now: "map", gone: null } } }));
      assert.deepEqual(objectAt(after, "spec")["text"], { now: "map" });
    },
  },
  {
    name: "a merge patch that is no object is refused",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.patch(w.core("configmaps", "a"), "merge", ["x"]), { status: 400, reason: "BadRequest" });
    },
  },
  {
    name: "an empty merge patch changes nothing",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      const after = await w.ok(w.patch(w.widgets("a"), "merge", {}));
      assert.equal(metaOf(after)["resourceVersion"], metaOf(created)["resourceVersion"]);
    },
  },
  {
    name: "a merge patch removes a required field and is Invalid",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.patch(w.widgets("a"), "merge", { spec: { size: null } }), {
        status: 422,
        reason: "Invalid",
        message: /spec\.size: Required value/,
      });
    },
  },
  {
    name: "a patch cannot change the kind",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.patch(w.widgets("a"), "merge", { kind: "Gear" }), { status: 422, reason: "Invalid", causes: ["kind"] });
    },
  },
  {
    name: "a patch of another content type is UnsupportedMediaType and names those of the kind",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.send("PATCH", w.widgets("a"), {}, { headers: { "content-type": "application/json" } }), {
        status: 415,
        reason: "UnsupportedMediaType",
        message:
          /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
      });
    },
  },
  {
    name: "a strategic merge patch merges containers by name",
    run: async (w) => {
      const path = `/apis/apps/v1/namespaces/${w.namespace}/deployments`;
      const labels = { app: "x" };
      const containers = [
        { name: "one", image: "i:1" },
        { name: "two", image: "i:2" },
      ];
      await w.create(path, {
        metadata: { name: "d" },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      });
      const patch = { spec: { template: { spec: { containers: [{ name: "two", image: "i:3" }] } } } };
      const after = await w.ok(w.patch(`${path}/d`, "strategic-merge", patch));
      const spec = objectAt(objectAt(objectAt(after, "spec"), "template"), "spec");
      assert.deepEqual((spec["containers"] as { name: string; image: string }[]).map(({ name, image }) => `${name} ${image}`).sort(), [
        "one i:1",
        "two i:3",
      ]);
    },
  },
  {
    name: "a strategic merge patch deletes an item by name",
    run: async (w) => {
      const path = `/apis/apps/v1/namespaces/${w.namespace}/deployments`;
      const labels = { app: "x" };
      const containers = [
        { name: "one", image: "i:1" },
        { name: "two", image: "i:2" },
      ];
      await w.create(path, {
        metadata: { name: "d" },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      });
      const patch = { spec: { template: { spec: { containers: [{ name: "one", $patch: "delete" }] } } } };
      const after = await w.ok(w.patch(`${path}/d`, "strategic-merge", patch));
      const spec = objectAt(objectAt(objectAt(after, "spec"), "template"), "spec");
      assert.deepEqual(
        (spec["containers"] as { name: string }[]).map(({ name }) => name),
        ["two"],
      );
    },
  },
  {
    name: "a strategic merge patch adds and removes finalizers as a set",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a", { k: "v" }, { finalizers: ["example.com/a"] }));
      const added = await w.ok(w.patch(w.core("configmaps", "a"), "strategic-merge", { metadata: { finalizers: ["example.com/b"] } }));
      assert.deepEqual(new Set(metaOf(added)["finalizers"] as string[]), new Set(["example.com/a", "example.com/b"]));
      const left = await w.ok(
        w.patch(w.core("configmaps", "a"), "strategic-merge", {
          metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/b"] },
        }),
      );
      assert.equal(metaOf(left)["finalizers"], undefined);
    },
  },
];
