import assert from "node:assert/strict";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringsAt } from "../request/json.ts";
import { metaOf, namesOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

/** A reference to an object of the suite. */
function ownedBy(owner: JsonObject, more: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", name: metaOf(owner)["name"], uid: metaOf(owner)["uid"], ...more };
}

async function createOwned(w: World, name: string, owners: readonly JsonObject[], finalizers: readonly string[] = []): Promise<JsonObject> {
  const metadata = { ownerReferences: owners, ...(finalizers.length === 0 ? {} : { finalizers }) };
  return w.create(w.core("configmaps"), w.configMap(name, { k: "v" }, metadata));
}

/** Waits, by watching, until an object is gone. */
async function gone(w: World, name: string): Promise<void> {
  const list = await w.ok(w.get(w.core("configmaps"), { fieldSelector: `metadata.name=${name}` }));
  if (namesOf(list).length === 0) return;
  const query = { resourceVersion: String(metaOf(list)["resourceVersion"]), fieldSelector: `metadata.name=${name}` };
  await w.watch(w.core("configmaps"), query, (seen) => seen.at(-1)?.type === "DELETED");
}

/** Waits, by watching, until an object is as wanted. */
async function becomes(w: World, path: string, name: string, isSo: (object: JsonObject) => boolean): Promise<void> {
  await w.watch(path, { fieldSelector: `metadata.name=${name}` }, (seen) => {
    const last = seen.at(-1);
    return last !== undefined && last.type !== "DELETED" && isSo(last.object as JsonObject);
  });
}

function deleteWith(w: World, name: string, options: JsonObject): Promise<unknown> {
  return w.ok(w.send("DELETE", w.core("configmaps", name), { kind: "DeleteOptions", apiVersion: "v1", ...options }));
}

async function release(w: World, name: string): Promise<void> {
  await w.ok(w.patch(w.core("configmaps", name), "merge", { metadata: { finalizers: null } }));
}

/** Garbage collection and the end of namespaces: what the controller manager does. */
export const garbageCases: readonly ConformanceCase[] = [
  {
    name: "background deletion takes the owner at once and its dependents after it",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner)]);
      await deleteWith(w, "owner", { propagationPolicy: "Background" });
      await w.refused(w.get(w.core("configmaps", "owner")), { status: 404 });
      await gone(w, "child");
    },
  },
  {
    name: "a deletion without a policy is one in the background",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner)]);
      await w.ok(w.send("DELETE", w.core("configmaps", "owner")));
      await gone(w, "child");
    },
  },
  {
    name: "dependents of dependents go, too",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      const child = await createOwned(w, "child", [ownedBy(owner)]);
      await createOwned(w, "grandchild", [ownedBy(child)]);
      await w.ok(w.send("DELETE", w.core("configmaps", "owner")));
      await gone(w, "grandchild");
    },
  },
  {
    name: "a dependent with another owner stays and forgets the one that is gone",
    run: async (w) => {
      const first = await w.create(w.core("configmaps"), w.configMap("first"));
      const second = await w.create(w.core("configmaps"), w.configMap("second"));
      await createOwned(w, "child", [ownedBy(first), ownedBy(second)]);
      await w.ok(w.send("DELETE", w.core("configmaps", "first")));
      await becomes(w, w.core("configmaps"), "child", (child) => {
        const owners = objectsAt(metaOf(child), "ownerReferences");
        return owners.length === 1 && owners[0]?.["uid"] === metaOf(second)["uid"];
      });
    },
  },
  {
    name: "an owner that never was does not keep its dependent",
    run: async (w) => {
      await createOwned(w, "child", [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "6f0ff4b8-0000-4000-8000-000000000000" }]);
      await gone(w, "child");
    },
  },
  {
    name: "an owner of the same name with another uid does not keep it either",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "6f0ff4b8-0000-4000-8000-000000000001" }]);
      await gone(w, "child");
      await w.ok(w.get(w.core("configmaps", "owner")));
    },
  },
  {
    name: "foreground deletion keeps the owner until its blocking dependents are gone",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner, { blockOwnerDeletion: true })], ["example.com/hold"]);
      await deleteWith(w, "owner", { propagationPolicy: "Foreground" });
      await becomes(w, w.core("configmaps"), "child", (child) => metaOf(child)["deletionTimestamp"] !== undefined);
      const marked = await w.ok(w.get(w.core("configmaps", "owner")));
      assert.deepEqual(stringsAt(metaOf(marked), "finalizers"), ["foregroundDeletion"]);
      await release(w, "child");
      await gone(w, "owner");
    },
  },
  {
    name: "a dependent that does not block lets its owner go first",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner)], ["example.com/hold"]);
      await deleteWith(w, "owner", { propagationPolicy: "Foreground" });
      await gone(w, "owner");
      await becomes(w, w.core("configmaps"), "child", (child) => metaOf(child)["deletionTimestamp"] !== undefined);
      await release(w, "child");
    },
  },
  {
    name: "foreground deletion without dependents ends by itself",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("owner"));
      await deleteWith(w, "owner", { propagationPolicy: "Foreground" });
      await gone(w, "owner");
    },
  },
  {
    name: "orphaning leaves the dependents and takes the references away",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner)]);
      await deleteWith(w, "owner", { propagationPolicy: "Orphan" });
      await gone(w, "owner");
      assert.equal(metaOf(await w.ok(w.get(w.core("configmaps", "child"))))["ownerReferences"], undefined);
    },
  },
  {
    name: "orphanDependents is the old word for orphaning",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner)]);
      await deleteWith(w, "owner", { orphanDependents: true });
      await gone(w, "owner");
      assert.equal(metaOf(await w.ok(w.get(w.core("configmaps", "child"))))["ownerReferences"], undefined);
    },
  },
  {
    name: "a policy may be a query parameter",
    run: async (w) => {
      const owner = await w.create(w.core("configmaps"), w.configMap("owner"));
      await createOwned(w, "child", [ownedBy(owner)]);
      await w.ok(w.send("DELETE", w.core("configmaps", "owner"), undefined, { query: { propagationPolicy: "Orphan" } }));
      await gone(w, "owner");
      await w.ok(w.get(w.core("configmaps", "child")));
    },
  },
  {
    name: "a namespace goes with everything in it",
    run: async (w) => {
      const name = `${w.namespace}-end`;
      await w.create("/api/v1/namespaces", { metadata: { name } });
      await w.create(`/api/v1/namespaces/${name}/configmaps`, w.configMap("a"));
      await w.create(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: "b" } });
      const list = await w.ok(w.get("/api/v1/namespaces"));
      await w.ok(w.send("DELETE", `/api/v1/namespaces/${name}`));
      const query = { resourceVersion: String(metaOf(list)["resourceVersion"]), fieldSelector: `metadata.name=${name}` };
      await w.watch("/api/v1/namespaces", query, (seen) => seen.at(-1)?.type === "DELETED");
      assert.deepEqual(namesOf(await w.ok(w.get(`/api/v1/namespaces/${name}/secrets`))), []);
    },
  },
  {
    name: "a namespace waits for the finalizers in it and says so",
    run: async (w) => {
      const name = `${w.namespace}-wait`;
      await w.create("/api/v1/namespaces", { metadata: { name } });
      await w.create(`/api/v1/namespaces/${name}/configmaps`, w.configMap("held", { k: "v" }, { finalizers: ["example.com/hold"] }));
      await w.ok(w.send("DELETE", `/api/v1/namespaces/${name}`));
      await becomes(w, "/api/v1/namespaces", name, (namespace) =>
        objectsAt(namespace["status"], "conditions").some(
          ({ type, status, reason }) => type === "NamespaceFinalizersRemaining" && status === "True" && reason === "SomeFinalizersRemain",
        ),
      );
      await w.ok(w.patch(`/api/v1/namespaces/${name}/configmaps/held`, "merge", { metadata: { finalizers: null } }));
    },
  },
  {
    name: "a namespace that is deleted twice is deleted once",
    run: async (w) => {
      const name = `${w.namespace}-twice`;
      await w.create("/api/v1/namespaces", { metadata: { name } });
      await w.create(`/api/v1/namespaces/${name}/configmaps`, w.configMap("held", { k: "v" }, { finalizers: ["example.com/hold"] }));
      await w.ok(w.send("DELETE", `/api/v1/namespaces/${name}`));
      const again = await w.send("DELETE", `/api/v1/namespaces/${name}`);
      assert.ok(again.status === 200 || again.status === 409, `${again.status}: ${JSON.stringify(again.body)}`);
      assert.equal(objectAt(await w.ok(w.get(`/api/v1/namespaces/${name}`)), "status")["phase"], "Terminating");
      await w.ok(w.patch(`/api/v1/namespaces/${name}/configmaps/held`, "merge", { metadata: { finalizers: null } }));
    },
  },
  {
    name: "the finalizers of a namespace's spec change through finalize only",
    run: async (w) => {
      const path = `/api/v1/namespaces/${w.namespace}`;
      await w.ok(w.patch(path, "merge", { spec: { finalizers: [] } }));
      assert.deepEqual((await w.ok(w.get(path)))["spec"], { finalizers: ["kubernetes"] });
    },
  },
];
