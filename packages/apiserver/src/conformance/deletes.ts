import assert from "node:assert/strict";
import { isObject } from "../json.ts";
import { objectAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase } from "./world.ts";

/** Deletion: finalizers, preconditions, collections. */
export const deleteCases: readonly ConformanceCase[] = [
  {
    name: "DELETE answers with a Status naming the object",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      const response = await w.send("DELETE", w.widgets("a"));
      assert.equal(response.status, 200);
      assert.ok(isObject(response.body));
      assert.equal(response.body["kind"], "Status");
      assert.equal(response.body["status"], "Success");
      assert.deepEqual(response.body["details"], {
        name: "a",
        group: "conformance.example.com",
        kind: "widgets",
        uid: metaOf(created)["uid"],
      });
      await w.refused(w.get(w.widgets("a")), { status: 404 });
    },
  },
  {
    name: "DELETE of an absent object is NotFound",
    run: async (w) => {
      await w.refused(w.send("DELETE", w.widgets("a")), { status: 404, reason: "NotFound" });
    },
  },
  {
    name: "a finalizer keeps the object and marks it",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { finalizers: ["example.com/hold"] }));
      const marked = await w.ok(w.send("DELETE", w.widgets("a")));
      assert.match(String(metaOf(marked)["deletionTimestamp"]), /^\d{4}-/);
      assert.equal(metaOf(marked)["deletionGracePeriodSeconds"], 0);
      assert.equal(metaOf(marked)["generation"], 2);
      await w.ok(w.get(w.widgets("a")));
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { finalizers: null } }));
      await w.refused(w.get(w.widgets("a")), { status: 404 });
    },
  },
  {
    name: "a second DELETE of a marked object changes nothing",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { finalizers: ["example.com/hold"] }));
      const first = await w.ok(w.send("DELETE", w.widgets("a")));
      const second = await w.ok(w.send("DELETE", w.widgets("a")));
      assert.deepEqual(metaOf(second), metaOf(first));
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { finalizers: [] } }));
    },
  },
  {
    name: "no finalizer may be added to a marked object",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { finalizers: ["example.com/hold"] }));
      await w.ok(w.send("DELETE", w.widgets("a")));
      await w.refused(w.patch(w.widgets("a"), "merge", { metadata: { finalizers: ["example.com/hold", "example.com/more"] } }), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.finalizers"],
      });
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { finalizers: [] } }));
    },
  },
  {
    name: "the deletion of an object with a finalizer is MODIFIED, then DELETED",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a", { size: 1 }, { finalizers: ["example.com/hold"] }));
      await w.ok(w.send("DELETE", w.widgets("a")));
      await w.ok(w.patch(w.widgets("a"), "json", [{ op: "remove", path: "/metadata/finalizers" }]));
      const events = await w.watch(
        w.widgets(),
        { resourceVersion: String(metaOf(created)["resourceVersion"]) },
        (seen) => seen.at(-1)?.type === "DELETED",
      );
      assert.deepEqual(
        events.map((event) => event.type),
        ["MODIFIED", "DELETED"],
      );
    },
  },
  {
    name: "a uid precondition that fails is a Conflict",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(
        w.send("DELETE", w.widgets("a"), {
          kind: "DeleteOptions",
          apiVersion: "v1",
          preconditions: { uid: "9bd1ff5b-6ffe-4ab0-9b74-0f5ff9d4ae26" },
        }),
        {
          status: 409,
          reason: "Conflict",
        },
      );
    },
  },
  {
    name: "a resourceVersion precondition that fails is a Conflict",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { size: 2 } }));
      const preconditions = { resourceVersion: metaOf(created)["resourceVersion"] };
      await w.refused(w.send("DELETE", w.widgets("a"), { kind: "DeleteOptions", apiVersion: "v1", preconditions }), {
        status: 409,
        reason: "Conflict",
      });
    },
  },
  {
    name: "an unknown propagation policy is refused",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.send("DELETE", w.widgets("a"), { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Sideways" }), {
        status: 422,
        reason: "Invalid",
        causes: ["propagationPolicy"],
      });
    },
  },
  {
    name: "foreground deletion waits with a finalizer and answers with the object",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { finalizers: ["example.com/hold"] }));
      const response = await w.send("DELETE", w.widgets("a"), { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Foreground" });
      assert.equal(response.status, 200);
      assert.deepEqual(metaOf(response.body)["finalizers"], ["example.com/hold", "foregroundDeletion"]);
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { finalizers: [] } }));
    },
  },
  {
    name: "a collection is deleted by selector",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { labels: { go: "1" } }));
      await w.create(w.widgets(), w.widget("b"));
      await w.ok(w.send("DELETE", w.widgets(), undefined, { query: { labelSelector: "go=1" } }));
      await w.refused(w.get(w.widgets("a")), { status: 404 });
      await w.ok(w.get(w.widgets("b")));
    },
  },
  {
    name: "the default namespace may not be deleted",
    run: async (w) => {
      await w.refused(w.send("DELETE", "/api/v1/namespaces/default"), {
        status: 403,
        reason: "Forbidden",
        message: 'namespaces "default" is forbidden: this namespace may not be deleted',
      });
    },
  },
  {
    name: "a terminating namespace takes nothing new",
    run: async (w) => {
      const name = `${w.namespace}-going`;
      await w.create("/api/v1/namespaces", { metadata: { name } });
      await w.create(`/api/v1/namespaces/${name}/configmaps`, w.configMap("hold", {}, { finalizers: ["example.com/hold"] }));
      const marked = await w.ok(w.send("DELETE", `/api/v1/namespaces/${name}`));
      assert.equal(objectAt(marked, "status")["phase"], "Terminating");
      await w.refused(w.send("POST", `/api/v1/namespaces/${name}/configmaps`, w.configMap("late")), {
        status: 403,
        reason: "Forbidden",
        message: `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        causes: ["metadata.namespace"],
      });
      await w.ok(w.patch(`/api/v1/namespaces/${name}/configmaps/hold`, "merge", { metadata: { finalizers: null } }));
    },
  },
];
