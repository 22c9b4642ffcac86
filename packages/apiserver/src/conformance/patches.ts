import assert from "node:assert/strict";
import { objectAt, objectsAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase } from "./world.ts";

/** The four patch types, dry run, field validation. */
export const patchCases: readonly ConformanceCase[] = [
  {
    name: "a merge patch removes what is null and keeps the rest",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a", { a: "1", b: "2" }));
      const after = await w.ok(w.patch(w.core("configmaps", "a"), "merge", { data: { a: null, c: "3" } }));
      assert.deepEqual(after["data"], { b: "2", c: "3" });
    },
  },
  {
    name: "a merge patch with an old resourceVersion is a Conflict",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.patch(w.core("configmaps", "a"), "merge", { metadata: { resourceVersion: "1" }, data: { b: "2" } }), {
        status: 409,
        reason: "Conflict",
      });
    },
  },
  {
    name: "a JSON patch tests, adds and removes",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a", { a: "1" }));
      const after = await w.ok(
        w.patch(w.core("configmaps", "a"), "json", [
          { op: "test", path: "/data/a", value: "1" },
          { op: "add", path: "/data/b", value: "2" },
          { op: "remove", path: "/data/a" },
        ]),
      );
      assert.deepEqual(after["data"], { b: "2" });
    },
  },
  {
    name: "a JSON patch whose test fails is Invalid",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a", { a: "1" }));
      await w.refused(w.patch(w.core("configmaps", "a"), "json", [{ op: "test", path: "/data/a", value: "9" }]), {
        status: 422,
        reason: "Invalid",
      });
    },
  },
  {
    name: "a strategic merge patch of a built-in kind merges",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a", { a: "1" }));
      const after = await w.ok(w.patch(w.core("configmaps", "a"), "strategic-merge", { data: { b: "2" } }));
      assert.deepEqual(after["data"], { a: "1", b: "2" });
    },
  },
  {
    name: "a strategic merge patch adds a condition beside the others",
    run: async (w) => {
      const name = `node-${w.namespace}`;
      await w.create("/api/v1/nodes", { metadata: { name } });
      await w.ok(
        w.patch(`/api/v1/nodes/${name}/status`, "strategic-merge", { status: { conditions: [{ type: "Ready", status: "True" }] } }),
      );
      const after = await w.ok(
        w.patch(`/api/v1/nodes/${name}/status`, "strategic-merge", { status: { conditions: [{ type: "Other", status: "False" }] } }),
      );
      const types = objectsAt(after["status"], "conditions").map((condition) => condition["type"]);
      assert.deepEqual(new Set(types), new Set(["Other", "Ready"]));
      await w.ok(w.send("DELETE", `/api/v1/nodes/${name}`));
    },
  },
  {
    name: "a strategic merge patch of a custom kind is refused",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.patch(w.widgets("a"), "strategic-merge", { spec: { size: 2 } }), { status: 415, reason: "UnsupportedMediaType" });
    },
  },
  {
    name: "a patch of an absent object is NotFound",
    run: async (w) => {
      await w.refused(w.patch(w.core("configmaps", "nope"), "merge", { data: {} }), {
        status: 404,
        reason: "NotFound",
        message: 'configmaps "nope" not found',
      });
    },
  },
  {
    name: "a patch that breaks the schema is Invalid",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.patch(w.widgets("a"), "merge", { spec: { size: 101 } }), {
        status: 422,
        reason: "Invalid",
        message:
          'Widget.conformance.example.com "a" is invalid: spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100',
        causes: ["spec.size"],
      });
    },
  },
  {
    name: "apply creates with 201 and changes with 200",
    run: async (w) => {
      const first = await w.patch(w.widgets("a"), "apply", w.widget("a"), { fieldManager: "one" });
      assert.equal(first.status, 201);
      const second = await w.patch(w.widgets("a"), "apply", w.widget("a", { size: 3 }), { fieldManager: "one" });
      assert.equal(second.status, 200);
      assert.equal(objectAt(second.body, "spec")["size"], 3);
    },
  },
  {
    name: "apply without a field manager is refused",
    run: async (w) => {
      await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a")), { status: 422, reason: "Invalid", causes: ["fieldManager"] });
    },
  },
  {
    name: "apply of a field that another manager owns is a Conflict",
    run: async (w) => {
      await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1 }), { fieldManager: "one" }));
      const status = await w.refused(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 2 }), { fieldManager: "two" }), {
        status: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
        causes: [".spec.size"],
      });
      assert.equal(objectsAt(objectAt(status, "details"), "causes")[0]?.["reason"], "FieldManagerConflict");
    },
  },
  {
    name: "forced apply takes the field over",
    run: async (w) => {
      await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1 }), { fieldManager: "one" }));
      const after = await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 2 }), { fieldManager: "two", force: "true" }));
      assert.equal(objectAt(after, "spec")["size"], 2);
      assert.deepEqual(
        objectsAt(metaOf(after), "managedFields").map((entry) => `${String(entry["manager"])} ${String(entry["operation"])}`),
        ["two Apply"],
      );
    },
  },
  {
    name: "a field that is applied no more goes away",
    run: async (w) => {
      await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1, replicas: 3 }), { fieldManager: "one" }));
      const after = await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1 }), { fieldManager: "one" }));
      assert.equal(objectAt(after, "spec")["replicas"], undefined);
    },
  },
  {
    name: "two managers share a list map by key",
    run: async (w) => {
      await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a", { size: 1, parts: [{ name: "x", count: 1 }] }), { fieldManager: "one" }));
      const after = await w.ok(
        w.patch(
          w.widgets("a"),
          "apply",
          {
            apiVersion: "conformance.example.com/v1",
            kind: "Widget",
            metadata: { name: "a" },
            spec: { size: 1, parts: [{ name: "y", count: 2 }] },
          },
          { fieldManager: "two" },
        ),
      );
      assert.deepEqual(objectAt(after, "spec")["parts"], [
        { name: "x", count: 1 },
        { name: "y", count: 2 },
      ]);
    },
  },
  {
    name: "apply that changes nothing keeps the resourceVersion",
    run: async (w) => {
      const first = await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a"), { fieldManager: "one" }));
      const second = await w.ok(w.patch(w.widgets("a"), "apply", w.widget("a"), { fieldManager: "one" }));
      assert.equal(metaOf(second)["resourceVersion"], metaOf(first)["resourceVersion"]);
    },
  },
  {
    name: "apply to status owns under the subresource",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const applied = { apiVersion: "conformance.example.com/v1", kind: "Widget", metadata: { name: "a" }, status: { phase: "Ready" } };
      const after = await w.ok(w.patch(w.widgets("a/status"), "apply", applied, { fieldManager: "one" }));
      assert.deepEqual(after["status"], { phase: "Ready" });
      const entry = objectsAt(metaOf(after), "managedFields").find((candidate) => candidate["manager"] === "one");
      assert.equal(entry?.["subresource"], "status");
    },
  },
  {
    name: "force is refused for patches other than apply",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.patch(w.core("configmaps", "a"), "merge", {}, { force: "true" }), {
        status: 422,
        reason: "Invalid",
        causes: ["force"],
      });
    },
  },
  {
    name: "an update records its manager",
    run: async (w) => {
      const object = await w.create(w.widgets(), w.widget("a"), { fieldManager: "hand" });
      const entries = objectsAt(metaOf(object), "managedFields");
      assert.deepEqual(
        entries.map((entry) => ({ ...entry, time: undefined })),
        [
          {
            manager: "hand",
            operation: "Update",
            apiVersion: "conformance.example.com/v1",
            time: undefined,
            fieldsType: "FieldsV1",
            fieldsV1: { "f:spec": { ".": {}, "f:color": {}, "f:size": {} } },
          },
        ],
      );
    },
  },
  {
    name: "dry run of a create stores nothing",
    run: async (w) => {
      const object = await w.create(w.core("configmaps"), w.configMap("a"), { dryRun: "All" });
      assert.ok(metaOf(object)["uid"]);
      await w.refused(w.get(w.core("configmaps", "a")), { status: 404 });
    },
  },
  {
    name: "dry run of an update answers with the change and stores nothing",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      const seen = await w.ok(w.patch(w.core("configmaps", "a"), "merge", { data: { a: "9" } }, { dryRun: "All" }));
      assert.deepEqual(seen["data"], { a: "9" });
      assert.deepEqual((await w.ok(w.get(w.core("configmaps", "a"))))["data"], { a: "1" });
    },
  },
  {
    name: "dry run of a delete keeps the object",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.ok(w.send("DELETE", w.core("configmaps", "a"), undefined, { query: { dryRun: "All" } }));
      await w.ok(w.get(w.core("configmaps", "a")));
    },
  },
  {
    name: "another value of dryRun is refused",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a"), { query: { dryRun: "Some" } }), {
        status: 422,
        reason: "Invalid",
        causes: ["dryRun"],
      });
    },
  },
  {
    name: "unknown fields are dropped with a warning",
    run: async (w) => {
      const response = await w.send("POST", w.widgets(), w.widget("a", { size: 1, bogus: 2 }));
      assert.equal(response.status, 201);
      assert.equal(objectAt(response.body, "spec")["bogus"], undefined);
      assert.match(response.headers["warning"] ?? "", /299 - "unknown field \\"spec\.bogus\\""/);
    },
  },
  {
    name: "unknown fields are dropped silently when asked to",
    run: async (w) => {
      const response = await w.send("POST", w.widgets(), w.widget("a", { size: 1, bogus: 2 }), { query: { fieldValidation: "Ignore" } });
      assert.equal(response.status, 201);
      assert.equal(response.headers["warning"], undefined);
    },
  },
  {
    name: "unknown fields are refused when strict",
    run: async (w) => {
      await w.refused(w.send("POST", w.widgets(), w.widget("a", { size: 1, bogus: 2 }), { query: { fieldValidation: "Strict" } }), {
        status: 400,
        reason: "BadRequest",
        message: 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.bogus"',
      });
    },
  },
  {
    name: "another value of fieldValidation is refused",
    run: async (w) => {
      await w.refused(w.send("POST", w.widgets(), w.widget("a"), { query: { fieldValidation: "Maybe" } }), {
        status: 422,
        reason: "Invalid",
        causes: ["fieldValidation"],
      });
    },
  },
  {
    name: "a missing required field is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.widgets(), w.widget("a", {})), {
        status: 422,
        reason: "Invalid",
        message:
          /^Widget\.conformance\.example\.com "a" is invalid: \[spec\.size: Required value, <nil>: Invalid value: null: some validation rules were not checked/,
      });
    },
  },
  {
    name: "a value outside an enum is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.widgets(), w.widget("a", { size: 1, color: "pink" })), {
        status: 422,
        reason: "Invalid",
        message: /"a" is invalid: \[spec\.color: Unsupported value: "pink": supported values: "red", "green", "blue", <nil>: /,
      });
    },
  },
  {
    name: "a value of another type is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.widgets(), w.widget("a", { size: "3" })), {
        status: 422,
        reason: "Invalid",
        message: /spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"/,
      });
    },
  },
  {
    name: "defaults are filled in",
    run: async (w) => {
      const object = await w.create(w.widgets(), w.widget("a"));
      assert.equal(objectAt(object, "spec")["color"], "red");
    },
  },
  {
    name: "a transition rule holds between old and new",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1, fixed: "x" }));
      await w.refused(w.patch(w.widgets("a"), "merge", { spec: { fixed: "y" } }), {
        status: 422,
        reason: "Invalid",
        message: /spec\.fixed: Invalid value: .*: fixed is immutable/,
      });
    },
  },
  {
    name: "scale reads and writes the paths of the kind",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1, replicas: 2 }));
      const scale = await w.ok(w.get(w.widgets("a/scale")));
      assert.equal(scale["kind"], "Scale");
      assert.deepEqual(scale["spec"], { replicas: 2 });
      await w.ok(w.patch(w.widgets("a/scale"), "merge", { spec: { replicas: 5 } }));
      assert.equal(objectAt(await w.ok(w.get(w.widgets("a"))), "spec")["replicas"], 5);
    },
  },
];
