import assert from "node:assert/strict";
import { objectAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase } from "./world.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Create, get, replace: names, metadata that the server owns, optimistic concurrency. */
export const objectCases: readonly ConformanceCase[] = [
  {
    name: "create answers 201 with uid, creationTimestamp and resourceVersion",
    run: async (w) => {
      const response = await w.send("POST", w.core("configmaps"), w.configMap("a"));
      assert.equal(response.status, 201);
      const meta = metaOf(response.body);
      assert.match(String(meta["uid"]), uuid);
      assert.match(String(meta["creationTimestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.match(String(meta["resourceVersion"]), /^[1-9]\d*$/);
      assert.equal(meta["namespace"], w.namespace);
      assert.equal(meta["generation"], undefined);
    },
  },
  {
    name: "what a client sends for server-owned metadata does not count",
    run: async (w) => {
      const sent = w.configMap(
        "a",
        { a: "1" },
        { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: "2001-01-01T00:00:00Z", generation: 9 },
      );
      const meta = metaOf(await w.create(w.core("configmaps"), sent));
      assert.match(String(meta["uid"]), uuid);
      assert.notEqual(meta["creationTimestamp"], "2001-01-01T00:00:00Z");
      assert.equal(meta["deletionTimestamp"], undefined);
    },
  },
  {
    name: "a second create of a name is AlreadyExists",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a")), {
        status: 409,
        reason: "AlreadyExists",
        message: 'configmaps "a" already exists',
      });
    },
  },
  {
    name: "a second create of a custom object names the group",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const status = await w.refused(w.send("POST", w.widgets(), w.widget("a")), {
        status: 409,
        reason: "AlreadyExists",
        message: 'widgets.conformance.example.com "a" already exists',
      });
      assert.deepEqual(objectAt(status, "details"), { name: "a", group: "conformance.example.com", kind: "widgets" });
    },
  },
  {
    name: "an absent object is NotFound with details",
    run: async (w) => {
      const status = await w.refused(w.get(w.core("secrets", "nope")), {
        status: 404,
        reason: "NotFound",
        message: 'secrets "nope" not found',
      });
      assert.deepEqual(objectAt(status, "details"), { name: "nope", kind: "secrets" });
    },
  },
  {
    name: "an unknown resource of a served group is NotFound without a name",
    run: async (w) => {
      const response = await w.get(w.core("gizmos"));
      assert.equal(response.status, 404);
    },
  },
  {
    name: "an absent namespace refuses its content",
    run: async (w) => {
      await w.refused(w.send("POST", "/api/v1/namespaces/nowhere/configmaps", w.configMap("a")), {
        status: 404,
        reason: "NotFound",
        message: 'namespaces "nowhere" not found',
      });
    },
  },
  {
    name: "an absent namespace lists empty",
    run: async (w) => {
      const list = await w.ok(w.get("/api/v1/namespaces/nowhere/configmaps"));
      assert.deepEqual(list["items"], []);
    },
  },
  {
    name: "a bad name is Invalid with its field",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("Bad_Name")), {
        status: 422,
        reason: "Invalid",
        message:
          /^ConfigMap "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of/,
        causes: ["metadata.name"],
      });
    },
  },
  {
    name: "a path-like name is refused",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("../../etc/passwd")), { status: 422, reason: "Invalid" });
    },
  },
  {
    name: "a namespace name is a label",
    run: async (w) => {
      await w.refused(w.send("POST", "/api/v1/namespaces", { metadata: { name: "a.b" } }), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.name"],
      });
    },
  },
  {
    name: "a missing name is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), { data: {} }), {
        status: 422,
        reason: "Invalid",
        message: /metadata\.name: Required value: name or generateName is required/,
      });
    },
  },
  {
    name: "generateName appends five characters",
    run: async (w) => {
      const meta = metaOf(await w.create(w.core("configmaps"), { metadata: { generateName: "gen-" } }));
      assert.match(String(meta["name"]), /^gen-[a-z0-9]{5}$/);
      assert.equal(meta["generateName"], "gen-");
    },
  },
  {
    name: "a namespace in the object must be that of the path",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a", {}, { namespace: "other" })), {
        status: 400,
        reason: "BadRequest",
        message: /the namespace of the provided object does not match the namespace sent on the request/,
      });
    },
  },
  {
    name: "an object of another kind is BadRequest",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }), {
        status: 400,
        reason: "BadRequest",
      });
    },
  },
  {
    name: "a custom object of another version is BadRequest",
    run: async (w) => {
      await w.refused(w.send("POST", w.widgets(), { ...w.widget("a"), apiVersion: "conformance.example.com/v9" }), {
        status: 400,
        reason: "BadRequest",
      });
    },
  },
  {
    name: "a resourceVersion on create is refused",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a", {}, { resourceVersion: "5" })), {
        status: 500,
        message: "resourceVersion should not be set on objects to be created",
      });
    },
  },
  {
    name: "a bad label value is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a", {}, { labels: { a: "not valid!" } })), {
        status: 422,
        reason: "Invalid",
        message: /metadata\.labels: Invalid value: "not valid!": a valid label must be an empty string or consist of/,
      });
    },
  },
  {
    name: "a bad label key is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a", {}, { labels: { "a b": "x" } })), {
        status: 422,
        causes: ["metadata.labels"],
      });
    },
  },
  {
    name: "annotations above 256 KiB are refused",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a", {}, { annotations: { a: "x".repeat(262_144) } })), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.annotations"],
      });
    },
  },
  {
    name: "__proto__ and constructor are plain keys in labels",
    run: async (w) => {
      const labels = JSON.parse('{"constructor":"a","toString":"b"}') as Record<string, string>;
      const object = await w.create(w.core("configmaps"), w.configMap("a", {}, { labels }));
      assert.deepEqual(metaOf(object)["labels"], labels);
    },
  },
  {
    name: "owner references must be complete",
    run: async (w) => {
      await w.refused(
        w.send(
          "POST",
          w.core("configmaps"),
          w.configMap("a", {}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "" }] }),
        ),
        {
          status: 422,
          reason: "Invalid",
          causes: ["metadata.ownerReferences.uid"],
        },
      );
    },
  },
  {
    name: "PUT with the resourceVersion read replaces",
    run: async (w) => {
      const before = await w.create(w.core("configmaps"), w.configMap("a"));
      const after = await w.ok(w.send("PUT", w.core("configmaps", "a"), { ...before, data: { b: "2" } }));
      assert.deepEqual(after["data"], { b: "2" });
      assert.notEqual(metaOf(after)["resourceVersion"], metaOf(before)["resourceVersion"]);
      assert.equal(metaOf(after)["uid"], metaOf(before)["uid"]);
    },
  },
  {
    name: "PUT with an old resourceVersion is a Conflict",
    run: async (w) => {
      const before = await w.create(w.core("configmaps"), w.configMap("a"));
      await w.ok(w.send("PUT", w.core("configmaps", "a"), { ...before, data: { b: "2" } }));
      await w.refused(w.send("PUT", w.core("configmaps", "a"), { ...before, data: { c: "3" } }), {
        status: 409,
        reason: "Conflict",
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      });
    },
  },
  {
    name: "PUT without resourceVersion replaces a built-in object",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      const after = await w.ok(w.send("PUT", w.core("configmaps", "a"), w.configMap("a", { z: "1" })));
      assert.deepEqual(after["data"], { z: "1" });
    },
  },
  {
    name: "PUT without resourceVersion is refused for a custom object",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.send("PUT", w.widgets("a"), w.widget("a", { size: 2 })), {
        status: 422,
        reason: "Invalid",
        message: /metadata\.resourceVersion: Invalid value: .*: must be specified for an update/,
        causes: ["metadata.resourceVersion"],
      });
    },
  },
  {
    name: "PUT to a name that does not exist is NotFound",
    run: async (w) => {
      await w.refused(w.send("PUT", w.core("configmaps", "a"), w.configMap("a")), { status: 404, reason: "NotFound" });
    },
  },
  {
    name: "PUT with another uid is a Conflict",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.send("PUT", w.core("configmaps", "a"), w.configMap("a", {}, { uid: "9bd1ff5b-6ffe-4ab0-9b74-0f5ff9d4ae26" })), {
        status: 409,
        reason: "Conflict",
        message: /Precondition failed: UID in precondition: 9bd1ff5b-6ffe-4ab0-9b74-0f5ff9d4ae26, UID in object meta: /,
      });
    },
  },
  {
    name: "PUT with another name than the path is BadRequest",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      await w.refused(w.send("PUT", w.core("configmaps", "a"), w.configMap("b")), {
        status: 400,
        reason: "BadRequest",
        message: "the name of the object (b) does not match the name on the URL (a)",
      });
    },
  },
  {
    name: "a PUT that changes nothing keeps the resourceVersion",
    run: async (w) => {
      const before = await w.create(w.widgets(), w.widget("a"));
      const after = await w.ok(w.send("PUT", w.widgets("a"), before));
      assert.equal(metaOf(after)["resourceVersion"], metaOf(before)["resourceVersion"]);
    },
  },
  {
    name: "generation of a custom object counts changes of spec, not of labels",
    run: async (w) => {
      const first = await w.create(w.widgets(), w.widget("a"));
      assert.equal(metaOf(first)["generation"], 1);
      const labelled = await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { labels: { x: "y" } } }));
      assert.equal(metaOf(labelled)["generation"], 1);
      const changed = await w.ok(w.patch(w.widgets("a"), "merge", { spec: { size: 2 } }));
      assert.equal(metaOf(changed)["generation"], 2);
    },
  },
  {
    name: "generation without a status subresource counts every change outside metadata",
    run: async (w) => {
      const name = `gear-${w.namespace}`;
      const path = "/apis/conformance.example.com/v1/gears";
      await w.create(path, { apiVersion: "conformance.example.com/v1", kind: "Gear", metadata: { name }, status: { a: 1 } });
      const changed = await w.ok(w.patch(`${path}/${name}`, "merge", { status: { a: 2 } }));
      assert.equal(metaOf(changed)["generation"], 2);
      assert.deepEqual(changed["status"], { a: 2 });
    },
  },
  {
    name: "status is dropped on create and kept on update of the object",
    run: async (w) => {
      const created = await w.create(w.widgets(), { ...w.widget("a"), status: { phase: "Mine" } });
      assert.equal(created["status"], undefined);
      const withStatus = await w.ok(w.send("PUT", w.widgets("a/status"), { ...created, status: { phase: "Ready" } }));
      const after = await w.ok(w.send("PUT", w.widgets("a"), { ...withStatus, spec: { size: 5 }, status: { phase: "Mine" } }));
      assert.deepEqual(after["status"], { phase: "Ready" });
      assert.equal(objectAt(after, "spec")["size"], 5);
    },
  },
  {
    name: "a write to status changes neither spec nor labels nor generation",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      const sent = { ...created, metadata: { ...metaOf(created), labels: { no: "way" } }, spec: { size: 99 }, status: { phase: "Ready" } };
      const after = await w.ok(w.send("PUT", w.widgets("a/status"), sent));
      assert.deepEqual(after["status"], { phase: "Ready" });
      assert.equal(objectAt(after, "spec")["size"], 1);
      assert.equal(metaOf(after)["labels"], undefined);
      assert.equal(metaOf(after)["generation"], 1);
      assert.notEqual(metaOf(after)["resourceVersion"], metaOf(created)["resourceVersion"]);
    },
  },
  {
    name: "status of an absent object is NotFound",
    run: async (w) => {
      await w.refused(w.patch(w.widgets("nope/status"), "merge", { status: {} }), { status: 404, reason: "NotFound" });
    },
  },
  {
    name: "a subresource that a kind has not is NotFound",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      assert.equal((await w.get(w.core("configmaps", "a/status"))).status, 404);
    },
  },
  {
    name: "a subresource that a custom kind has not is answered as if the object were not there",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const path = w.widgets("a/nothing");
      await w.refused(w.get(path), { status: 404, reason: "NotFound", message: /^widgets\.\S+ "a" not found$/ });
    },
  },
  {
    name: "PATCH of a collection is not allowed",
    run: async (w) => {
      assert.equal((await w.patch(w.core("configmaps"), "merge", {})).status, 405);
    },
  },
];
