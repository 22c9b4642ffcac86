import assert from "node:assert/strict";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringsAt } from "../request/json.ts";
import { conformanceGroup, metaOf, namesOf, until } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const hold = "example.com/hold";

function secret(name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, ...metadata }, stringData: { key: "a" }, ...more };
}

/** A definition of a kind of its own; `names` is both its plural and its group's first label. */
function definition(names: string, spec: JsonObject): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names}.${names}.${conformanceGroup}` },
    spec: {
      group: `${names}.${conformanceGroup}`,
      scope: "Namespaced",
      names: { plural: names, kind: `${names.slice(0, 1).toUpperCase()}${names.slice(1)}` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }],
    },
  };
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Creates the kind and returns the path of its objects, once they can be listed. */
async function served(w: World, names: string, spec: JsonObject): Promise<string> {
  await w.create(definitions, definition(names, spec));
  const path = `/apis/${names}.${conformanceGroup}/v1/namespaces/${w.namespace}/${names}`;
  await until(async () => (await w.get(path)).status === 200);
  return path;
}

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });

/** Input that people should never send, and what becomes of it; the ids are those of the project's list of bad inputs. */
export const badInputCases: readonly ConformanceCase[] = [
  {
    name: "IN3: names that read alike when they are joined stay apart",
    run: async (w) => {
      for (const name of [`${w.namespace}-a`, `${w.namespace}-a-b`]) await w.create("/api/v1/namespaces", { metadata: { name } });
      const path = (namespace: string, name = ""): string => `/api/v1/namespaces/${namespace}/configmaps/${name}`.replace(/\/$/u, "");
      await w.create(path(`${w.namespace}-a`), w.configMap("b-c", { of: "first" }));
      await w.create(path(`${w.namespace}-a-b`), w.configMap("c", { of: "second" }));
      await w.ok(w.send("DELETE", path(`${w.namespace}-a`, "b-c")));
      assert.deepEqual((await w.ok(w.get(path(`${w.namespace}-a-b`, "c"))))["data"], { of: "second" });
      await w.refused(w.get(path(`${w.namespace}-a`, "c")), { status: 404 });
    },
  },
  {
    name: "IN5: an object made again under its name is another one, and what was meant for the old one is refused",
    run: async (w) => {
      const old = await w.create(w.core("secrets"), secret("a"));
      await w.ok(w.send("DELETE", w.core("secrets", "a")));
      const fresh = await w.create(w.core("secrets"), secret("a"));
      assert.notEqual(metaOf(fresh)["uid"], metaOf(old)["uid"]);
      const preconditions = { uid: metaOf(old)["uid"] };
      await w.refused(w.send("DELETE", w.core("secrets", "a"), { kind: "DeleteOptions", apiVersion: "v1", preconditions }), {
        status: 409,
      });
      const { resourceVersion, uid } = metaOf(old);
      await w.refused(w.patch(w.core("secrets", "a"), "merge", { metadata: { uid }, type: "Opaque" }), {
        status: 422,
        reason: "Invalid",
      });
      await w.refused(w.patch(w.core("secrets", "a"), "merge", { metadata: { resourceVersion }, data: { key: "Yg==" } }), { status: 409 });
    },
  },
  {
    name: "IN7: a token of a service account is bound to an account and says so",
    run: async (w) => {
      const type = "kubernetes.io/service-account-token";
      await w.refused(w.send("POST", w.core("secrets"), secret("a", { type })), {
        status: 422,
        causes: ["metadata.annotations[kubernetes.io/service-account.name]"],
      });
      await w.create(w.core("secrets"), secret("b"));
      await w.refused(w.patch(w.core("secrets", "b"), "merge", { type }), { status: 422, reason: "Invalid" });
    },
  },
  {
    name: "IN10: taking finalizer and object away leaves nothing behind that a new one could inherit",
    run: async (w) => {
      await w.create(w.core("secrets"), secret("a", { immutable: true }, { finalizers: [hold], labels: { kept: "yes" } }));
      await w.ok(w.patch(w.core("secrets", "a"), "merge", { metadata: { finalizers: null } }));
      await w.ok(w.send("DELETE", w.core("secrets", "a")));
      await w.refused(w.get(w.core("secrets", "a")), { status: 404, reason: "NotFound" });
      const fresh = await w.create(w.core("secrets"), secret("a"));
      assert.equal(fresh["immutable"], undefined);
      assert.equal(metaOf(fresh)["labels"], undefined);
      assert.equal(metaOf(fresh)["finalizers"], undefined);
    },
  },
  {
    name: "IN11: an immutable Secret takes no other content, and does not become mutable",
    run: async (w) => {
      await w.create(w.core("secrets"), secret("a", { immutable: true }));
      const path = w.core("secrets", "a");
      await w.refused(w.patch(path, "merge", { data: { key: "Yg==" } }), { status: 422, causes: ["data"] });
      await w.refused(w.patch(path, "merge", { immutable: null }), { status: 422, causes: ["immutable"] });
      await w.refused(
        w.patch(path, "apply", { ...secret("a"), stringData: undefined, data: { key: "Yg==" } }, { fieldManager: "b", force: "true" }),
        {
          status: 422,
        },
      );
      await w.ok(w.patch(path, "merge", { metadata: { labels: { a: "b" } } }));
    },
  },
  {
    name: "IN15: five replicas may become one in one edit: only who acts on it goes in steps",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1, replicas: 5 }));
      const scaled = await w.ok(w.patch(w.widgets("a"), "merge", { spec: { replicas: 1 } }));
      assert.equal(objectAt(scaled, "spec")["replicas"], 1);
      assert.equal(metaOf(scaled)["generation"], 2);
    },
  },
  {
    name: "the Scale of a custom object that says no replicas cannot be read, and can be set",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.refused(w.get(w.widgets("a/scale")), {
        status: 500,
        reason: "InternalError",
        message: 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
      });
      await w.ok(w.patch(w.widgets("a/scale"), "merge", { spec: { replicas: 2 } }));
      assert.equal(objectAt(await w.ok(w.get(w.widgets("a/scale"))), "spec")["replicas"], 2);
    },
  },
  {
    name: "IN18: a list longer than its maxItems is refused whole, with its path",
    run: async (w) => {
      const path = await served(w, "fleets", object({ machines: { type: "array", maxItems: 1000, items: { type: "string" } } }));
      const machines = Array.from({ length: 10_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
      const body = { apiVersion: `fleets.${conformanceGroup}/v1`, kind: "Fleets", metadata: { name: "a" }, spec: { machines } };
      await w.refused(w.send("POST", path, body), { status: 422, reason: "Invalid", causes: ["spec.machines"] });
      await w.refused(w.get(`${path}/a`), { status: 404 });
      await w.ok(w.send("DELETE", `${definitions}/fleets.fleets.${conformanceGroup}`));
    },
  },
  {
    name: "IN22: times beyond four digits and durations that are none are refused, the year 9999 is kept",
    run: async (w) => {
      const times = object({ at: { type: "string", format: "date-time" }, every: { type: "string", format: "duration" } });
      const positive = "!has(self.every) || self.every >= duration('1m')";
      const path = await served(w, "times", { ...times, "x-kubernetes-validations": [{ rule: positive, message: "at least one minute" }] });
      const body = (spec: JsonObject, name = "a"): JsonObject => ({
        apiVersion: `times.${conformanceGroup}/v1`,
        kind: "Times",
        metadata: { name },
        spec,
      });
      for (const every of ["0s", "1ns", "-1h", "-5m"]) {
        await w.refused(w.send("POST", path, body({ every })), { status: 422, message: /at least one minute/ });
      }
      for (const spec of [
        { every: "soon" },
        { every: "1" },
        { at: "10000-01-01T00:00:00Z" },
        { at: "2026-02-30T00:00:00Z" },
        { at: "now" },
      ]) {
        await w.refused(w.send("POST", path, body(spec)), { status: 422 });
      }
      const kept = await w.create(path, body({ at: "9999-12-31T23:59:59Z", every: "1m" }));
      assert.deepEqual(kept["spec"], { at: "9999-12-31T23:59:59Z", every: "1m" });
      await w.ok(w.send("DELETE", `${definitions}/times.times.${conformanceGroup}`));
    },
  },
  {
    name: "IN82: an object restored from a backup comes without its status",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const saved = await w.ok(w.patch(w.widgets("a/status"), "merge", { status: { phase: "Bootstrapped" } }));
      await w.ok(w.send("DELETE", w.widgets("a")));
      const { name, labels, annotations } = metaOf(saved);
      const restored = await w.create(w.widgets(), { ...saved, metadata: { name, labels, annotations } });
      assert.equal(restored["status"], undefined);
      assert.equal(metaOf(restored)["generation"], 1);
      await w.refused(w.send("POST", w.widgets(), { ...saved, metadata: { ...metaOf(saved), name: "b" } }), { status: 500 });
    },
  },
  {
    name: "IN83: a namespace that is being deleted takes nothing new and waits for finalizers",
    run: async (w) => {
      const name = `${w.namespace}-ending`;
      await w.create("/api/v1/namespaces", { metadata: { name } });
      const path = `/api/v1/namespaces/${name}/configmaps`;
      await w.create(path, w.configMap("held", {}, { finalizers: [hold] }));
      await w.ok(w.send("DELETE", `/api/v1/namespaces/${name}`));
      await w.refused(w.send("POST", path, w.configMap("late")), {
        status: 403,
        reason: "Forbidden",
        message: /because it is being terminated/,
      });
      const held = await w.ok(w.get(`/api/v1/namespaces/${name}`));
      assert.equal(objectAt(held, "status")["phase"], "Terminating");
      assert.deepEqual(namesOf(await w.ok(w.get(path))), ["held"]);
      await w.ok(w.patch(`${path}/held`, "merge", { metadata: { finalizers: null } }));
    },
  },
  {
    name: "IN83: a definition that is being deleted waits for the finalizers of its objects",
    run: async (w) => {
      const path = await served(w, "helds", object({ a: { type: "string" } }));
      const kind = { apiVersion: `helds.${conformanceGroup}/v1`, kind: "Helds" };
      await w.create(path, { ...kind, metadata: { name: "held", finalizers: [hold] } });
      const at = `${definitions}/helds.helds.${conformanceGroup}`;
      const marked = await w.ok(w.send("DELETE", at));
      assert.notEqual(metaOf(marked)["deletionTimestamp"], undefined);
      await w.watch(
        path,
        { fieldSelector: "metadata.name=held" },
        (seen) => metaOf(seen.at(-1)?.object)["deletionTimestamp"] !== undefined,
      );
      await w.refused(w.send("POST", path, { ...kind, metadata: { name: "late" } }), {
        status: 403,
        reason: "Forbidden",
        message: /create not allowed while custom resource definition is terminating/,
      });
      assert.notEqual(metaOf(await w.ok(w.get(at)))["deletionTimestamp"], undefined);
      await w.ok(w.patch(`${path}/held`, "merge", { metadata: { finalizers: null } }));
    },
  },
  {
    name: "IN84: two managers that want the same field are told of each other, and force moves it",
    run: async (w) => {
      const wanted = (color: string): JsonObject => w.widget("a", { size: 1, color });
      await w.ok(w.patch(w.widgets("a"), "apply", wanted("red"), { fieldManager: "first" }));
      const refusal = await w.refused(w.patch(w.widgets("a"), "apply", wanted("blue"), { fieldManager: "second" }), {
        status: 409,
        reason: "Conflict",
        causes: [".spec.color"],
      });
      assert.match(JSON.stringify(objectsAt(objectAt(refusal, "details"), "causes")), /conflict with \\"first\\"/);
      await w.ok(w.patch(w.widgets("a"), "apply", wanted("blue"), { fieldManager: "second", force: "true" }));
      await w.refused(w.patch(w.widgets("a"), "apply", wanted("red"), { fieldManager: "first" }), { status: 409, causes: [".spec.color"] });
    },
  },
  {
    name: "IN85: a right that is taken away is Forbidden from the next request on, never NotFound",
    run: async (w) => {
      const jane = { "impersonate-user": `jane-${w.namespace}` };
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${w.namespace}`;
      await w.create(`${rbac}/roles`, { metadata: { name: "r" }, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] });
      await w.create(`${rbac}/rolebindings`, {
        metadata: { name: "b" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: jane["impersonate-user"] }],
      });
      await w.create(w.core("secrets"), secret("a"));
      const asJane = (): ReturnType<World["send"]> => w.send("GET", w.core("secrets", "a"), undefined, { headers: jane });
      while ((await asJane()).status !== 200) {
        // The authorizer of the genuine server sees a binding a moment after it was made.
      }
      await w.ok(w.send("DELETE", `${rbac}/rolebindings/b`));
      let last = await asJane();
      while (last.status === 200) last = await asJane();
      assert.equal(last.status, 403);
      assert.equal((last.body as JsonObject)["reason"], "Forbidden");
      const absent = await w.send("GET", w.core("secrets", "absent"), undefined, { headers: jane });
      assert.equal(absent.status, 403);
    },
  },
  {
    name: "IN9: a forged owner cannot take an object that a finalizer holds",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      const forged = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metaOf(owner)["uid"] }];
      await w.create(w.core("secrets"), secret("a", { immutable: true }, { finalizers: [hold], ownerReferences: forged }));
      await w.ok(w.send("DELETE", w.core("configmaps", "owner")));
      const held = await w.ok(w.get(w.core("secrets", "a")));
      assert.deepEqual(stringsAt(metaOf(held), "finalizers"), [hold]);
      assert.deepEqual(held["data"], { key: "YQ==" });
      await w.ok(w.patch(w.core("secrets", "a"), "merge", { metadata: { finalizers: null } }));
    },
  },
];
