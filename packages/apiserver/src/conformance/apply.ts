import assert from "node:assert/strict";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const apiVersion = "conformance.example.com/v1";

/** Applies a widget `a` with this spec only. */
function apply(
  w: World,
  manager: string,
  spec: JsonObject,
  query: Record<string, string> = {},
  metadata: JsonObject = {},
): Promise<JsonObject> {
  return w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", spec, metadata), { fieldManager: manager, ...query }));
}

function applyStatus(w: World, manager: string, status: JsonObject, query: Record<string, string> = {}): Promise<JsonObject> {
  const body = { apiVersion, kind: "Widget", metadata: { name: "a" }, status };
  return w.ok(w.patch(w.widgets("a/status"), "apply", body, { fieldManager: manager, ...query }));
}

const specOf = (object: JsonObject): JsonObject => objectAt(object, "spec");

/** `manager operation[/subresource]` of each entry, sorted. */
function managersOf(object: JsonObject): readonly string[] {
  return objectsAt(metaOf(object), "managedFields")
    .map((entry) => [stringAt(entry, "manager"), stringAt(entry, "operation"), stringAt(entry, "subresource")])
    .map(([manager, operation, subresource]) => `${manager} ${operation}${subresource === undefined ? "" : `/${subresource}`}`)
    .sort();
}

function fieldsOf(object: JsonObject, manager: string): unknown {
  return objectsAt(metaOf(object), "managedFields").find((entry) => entry["manager"] === manager)?.["fieldsV1"];
}

/** Server-side apply: ownership, conflicts, force, removal, list maps. */
export const applyCases: readonly ConformanceCase[] = [
  {
    name: "an applier owns what it applied, defaults excepted",
    run: async (w) => {
      const object = await apply(w, "one", { size: 1, replicas: 2 });
      assert.deepEqual(fieldsOf(object, "one"), { "f:spec": { "f:replicas": {}, "f:size": {} } });
      assert.equal(specOf(object)["color"], "red");
    },
  },
  {
    name: "an applier owns labels one by one",
    run: async (w) => {
      await apply(w, "one", { size: 1 }, {}, { labels: { a: "1" } });
      const both = await apply(w, "two", { size: 1 }, {}, { labels: { b: "2" } });
      assert.deepEqual(metaOf(both)["labels"], { a: "1", b: "2" });
      const less = await apply(w, "two", { size: 1 });
      assert.deepEqual(metaOf(less)["labels"], { a: "1" });
    },
  },
  {
    name: "two appliers of one value share it",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      const object = await apply(w, "two", { size: 1 });
      assert.deepEqual(managersOf(object), ["one Apply", "two Apply"]);
    },
  },
  {
    name: "a shared field stays when one of its owners lets go",
    run: async (w) => {
      await apply(w, "one", { size: 1, replicas: 3 });
      await apply(w, "two", { size: 1, replicas: 3 });
      assert.equal(specOf(await apply(w, "one", { size: 1 }))["replicas"], 3);
      assert.equal(specOf(await apply(w, "two", { size: 1 }))["replicas"], undefined);
    },
  },
  {
    name: "a shared field conflicts when one of its owners changes it",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      await apply(w, "two", { size: 1 });
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 2 }), { fieldManager: "one" }), {
        status: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "two": .spec.size',
      });
    },
  },
  {
    name: "every conflict is named, by manager",
    run: async (w) => {
      await apply(w, "one", { size: 1, replicas: 1 });
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 2, replicas: 2 }), { fieldManager: "two" }), {
        status: 409,
        reason: "Conflict",
        message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.replicas\n- .spec.size',
        causes: [".spec.replicas", ".spec.size"],
      });
    },
  },
  {
    name: "a conflict with an update names its version",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }), { fieldManager: "hand" });
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 2 }), { fieldManager: "one" }), {
        status: 409,
        message: 'Apply failed with 1 conflict: conflict with "hand" using conformance.example.com/v1: .spec.size',
      });
    },
  },
  {
    name: "an applied value that is there already is no conflict",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }), { fieldManager: "hand" });
      assert.deepEqual(managersOf(await apply(w, "one", { size: 1 })), ["hand Update", "one Apply"]);
    },
  },
  {
    name: "force takes fields from an updater",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }), { fieldManager: "hand" });
      const object = await apply(w, "one", { size: 2 }, { force: "true" });
      assert.deepEqual(fieldsOf(object, "one"), { "f:spec": { "f:size": {} } });
      assert.deepEqual(fieldsOf(object, "hand"), { "f:spec": { ".": {}, "f:color": {} } });
    },
  },
  {
    name: "an update takes fields from an applier, who then conflicts",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { size: 5 } }, { fieldManager: "hand" }));
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1 }), { fieldManager: "one" }), {
        status: 409,
        causes: [".spec.size"],
      });
    },
  },
  {
    name: "a field whose applier lost it to an update is not removed by his next apply",
    run: async (w) => {
      await apply(w, "one", { size: 1, replicas: 1 });
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { replicas: 5 } }, { fieldManager: "hand" }));
      assert.equal(specOf(await apply(w, "one", { size: 1 }))["replicas"], 5);
    },
  },
  {
    name: "a default comes back when its field is applied no more",
    run: async (w) => {
      await apply(w, "one", { size: 1, color: "blue" });
      assert.equal(specOf(await apply(w, "one", { size: 1 }))["color"], "red");
    },
  },
  {
    name: "an item of a list map goes when its only applier lets go",
    run: async (w) => {
      await apply(w, "one", {
        size: 1,
        parts: [
          { name: "x", count: 1 },
          { name: "y", count: 2 },
        ],
      });
      assert.deepEqual(specOf(await apply(w, "one", { size: 1, parts: [{ name: "y", count: 2 }] }))["parts"], [{ name: "y", count: 2 }]);
    },
  },
  {
    name: "a field inside an item of a list map has an owner of its own",
    run: async (w) => {
      await apply(w, "one", { size: 1, parts: [{ name: "x" }] });
      const object = await apply(w, "two", { size: 1, parts: [{ name: "x", count: 2 }] });
      assert.deepEqual(specOf(object)["parts"], [{ name: "x", count: 2 }]);
      await w.refused(
        w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1, parts: [{ name: "x", count: 3 }] }), { fieldManager: "one" }),
        {
          status: 409,
          causes: ['.spec.parts[name="x"].count'],
        },
      );
    },
  },
  {
    name: "the items of a list map are owned by key",
    run: async (w) => {
      const object = await apply(w, "one", { size: 1, parts: [{ name: "x", count: 1 }] });
      assert.deepEqual(fieldsOf(object, "one"), {
        "f:spec": { "f:parts": { 'k:{"name":"x"}': { ".": {}, "f:count": {}, "f:name": {} } }, "f:size": {} },
      });
    },
  },
  {
    name: "a key that stands twice in an applied list map is refused",
    run: async (w) => {
      const parts = [{ name: "x" }, { name: "x" }];
      const answer = await w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1, parts }), { fieldManager: "one" });
      assert.ok(answer.status === 500 || answer.status === 422 || answer.status === 400, String(answer.status));
      await w.refused(w.get(w.widgets("a")), { status: 404 });
    },
  },
  {
    name: "an applied object of another name than the path is refused",
    run: async (w) => {
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("b"), { fieldManager: "one" }), {
        status: 400,
        reason: "BadRequest",
        message: "the name of the object (b) does not match the name on the URL (a)",
      });
    },
  },
  {
    name: "an applied object of another version is refused",
    run: async (w) => {
      const body = { ...w.widget("a"), apiVersion: "conformance.example.com/v9" };
      await w.refused(w.patch(w.widgets("a"), "apply", body, { fieldManager: "one" }), { status: 400, reason: "BadRequest" });
    },
  },
  {
    name: "an applied object may not say managedFields",
    run: async (w) => {
      const body = w.widget("a", { size: 1 }, { managedFields: [{ manager: "x" }] });
      await w.refused(w.patch(w.widgets("a"), "apply", body, { fieldManager: "one" }), {
        status: 400,
        reason: "BadRequest",
        message: "metadata.managedFields must be nil",
      });
    },
  },
  {
    name: "apply with an old resourceVersion is a Conflict",
    run: async (w) => {
      const first = await apply(w, "one", { size: 1 });
      await apply(w, "one", { size: 2 });
      const body = w.widget("a", { size: 3 }, { resourceVersion: metaOf(first)["resourceVersion"] });
      await w.refused(w.patch(w.widgets("a"), "apply", body, { fieldManager: "one" }), { status: 409, reason: "Conflict" });
    },
  },
  {
    name: "apply of a breach of the schema is Invalid",
    run: async (w) => {
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 101 }), { fieldManager: "one" }), {
        status: 422,
        reason: "Invalid",
        causes: ["spec.size"],
      });
    },
  },
  {
    name: "a dry run of apply shows owners and stores nothing",
    run: async (w) => {
      const object = await apply(w, "one", { size: 1 }, { dryRun: "All" });
      assert.deepEqual(managersOf(object), ["one Apply"]);
      await w.refused(w.get(w.widgets("a")), { status: 404 });
    },
  },
  {
    name: "apply of unknown fields is refused",
    run: async (w) => {
      const body = w.widget("a", { size: 1, bogus: 1 });
      await w.refused(w.patch(w.widgets("a"), "apply", body, { fieldManager: "one" }), {
        status: 500,
        message: /\.spec\.bogus: field not declared in schema/,
      });
    },
  },
  {
    name: "apply to the object leaves status alone and does not own it",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      await applyStatus(w, "statuser", { phase: "Ready" });
      const body = { ...w.widget("a", { size: 2 }), status: { phase: "Lies" } };
      const object = await w.ok(w.patch(w.widgets("a"), "apply", body, { fieldManager: "one" }));
      assert.deepEqual(object["status"], { phase: "Ready" });
      assert.deepEqual(fieldsOf(object, "one"), { "f:spec": { "f:size": {} } });
    },
  },
  {
    name: "apply to status leaves spec alone",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      const body = { ...w.widget("a", { size: 50 }), status: { phase: "Ready" } };
      const object = await w.ok(w.patch(w.widgets("a/status"), "apply", body, { fieldManager: "statuser" }));
      assert.equal(specOf(object)["size"], 1);
      assert.deepEqual(managersOf(object), ["one Apply", "statuser Apply/status"]);
    },
  },
  {
    name: "one manager owns spec and status in two entries",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      assert.deepEqual(managersOf(await applyStatus(w, "one", { phase: "Ready" })), ["one Apply", "one Apply/status"]);
    },
  },
  {
    name: "a field of status that is applied no more goes away",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      await applyStatus(w, "one", { phase: "Ready", replicas: 3 });
      assert.deepEqual((await applyStatus(w, "one", { phase: "Ready" }))["status"], { phase: "Ready" });
    },
  },
  {
    name: "apply to the status of an absent object is NotFound",
    run: async (w) => {
      const body = { apiVersion, kind: "Widget", metadata: { name: "a" }, status: { phase: "x" } };
      await w.refused(w.patch(w.widgets("a/status"), "apply", body, { fieldManager: "one" }), { status: 404, reason: "NotFound" });
    },
  },
  {
    name: "an update and an apply of one manager are two entries",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      const object = await w.ok(w.patch(w.widgets("a"), "merge", { spec: { replicas: 1 } }, { fieldManager: "one" }));
      assert.deepEqual(managersOf(object), ["one Apply", "one Update"]);
    },
  },
  {
    name: "an entry that owns nothing any more goes away",
    run: async (w) => {
      await apply(w, "one", { size: 1, replicas: 1 });
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { replicas: 2 } }, { fieldManager: "hand" }));
      const object = await w.ok(w.patch(w.widgets("a"), "merge", { spec: { replicas: 3 } }, { fieldManager: "other" }));
      assert.deepEqual(managersOf(object), ["one Apply", "other Update"]);
    },
  },
  {
    name: "managedFields set to a list of one empty entry forgets every owner",
    run: async (w) => {
      await apply(w, "one", { size: 1 });
      const object = await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { managedFields: [{}] } }));
      assert.equal(metaOf(object)["managedFields"], undefined);
    },
  },
  {
    name: "an apply adopts an object that nobody owns",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }));
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { managedFields: [{}] } }));
      const object = await apply(w, "one", { size: 2 }, { force: "true" });
      assert.ok(managersOf(object).includes("one Apply"));
    },
  },
  {
    name: "a name of a manager may hold blanks, not line ends",
    run: async (w) => {
      await apply(w, "a b", { size: 1 });
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1 }), { fieldManager: "a\nb" }), {
        status: 422,
        reason: "Invalid",
        causes: ["fieldManager"],
      });
    },
  },
  {
    name: "a name of a manager has at most 128 bytes",
    run: async (w) => {
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a"), { fieldManager: "m".repeat(129) }), {
        status: 422,
        reason: "Invalid",
        causes: ["fieldManager"],
      });
    },
  },
  {
    name: "without fieldManager an update belongs to the first part of the user agent",
    run: async (w) => {
      const sent = await w.send("POST", w.widgets(), w.widget("a"), { headers: { "user-agent": "my-tool/1.2 (linux)" } });
      assert.deepEqual(managersOf(sent.body as JsonObject), ["my-tool Update"]);
    },
  },
  {
    name: "scaling is owned under the subresource",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1, replicas: 1 }), { fieldManager: "hand" });
      await w.ok(w.patch(w.widgets("a/scale"), "merge", { spec: { replicas: 4 } }, { fieldManager: "scaler" }));
      assert.deepEqual(managersOf(await w.ok(w.get(w.widgets("a")))), ["hand Update", "scaler Update/scale"]);
    },
  },
  {
    name: "keys of a ConfigMap are owned one by one",
    run: async (w) => {
      const body = (data: JsonObject): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data });
      const path = w.core("configmaps", "c");
      await w.ok(w.patch(path, "apply", body({ a: "1" }), { fieldManager: "one" }));
      await w.ok(w.patch(path, "apply", body({ b: "2" }), { fieldManager: "two" }));
      const left = await w.ok(w.patch(path, "apply", body({}), { fieldManager: "one" }));
      assert.deepEqual(left["data"], { b: "2" });
    },
  },
  {
    name: "owner references are owned by uid",
    run: async (w) => {
      const reference = { apiVersion: "v1", kind: "Node", name: "n", uid: "11111111-2222-4333-8444-555555555555" };
      const object = await apply(w, "one", { size: 1 }, { dryRun: "All" }, { ownerReferences: [reference] });
      assert.deepEqual(fieldsOf(object, "one"), {
        "f:metadata": { "f:ownerReferences": { 'k:{"uid":"11111111-2222-4333-8444-555555555555"}': {} } },
        "f:spec": { "f:size": {} },
      });
    },
  },
  {
    name: "finalizers are a set to apply",
    run: async (w) => {
      await apply(w, "one", { size: 1 }, {}, { finalizers: ["example.com/a"] });
      const both = await apply(w, "two", { size: 1 }, {}, { finalizers: ["example.com/b"] });
      assert.deepEqual(new Set(metaOf(both)["finalizers"] as string[]), new Set(["example.com/a", "example.com/b"]));
      const one = await apply(w, "one", { size: 1 });
      assert.deepEqual(metaOf(one)["finalizers"], ["example.com/b"]);
      await apply(w, "two", { size: 1 });
    },
  },
];
