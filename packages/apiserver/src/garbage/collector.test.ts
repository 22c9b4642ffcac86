import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conformanceCrds } from "../conformance/fixture.ts";
import { metaOf, namesOf } from "../conformance/world.ts";
import type { World } from "../conformance/world.ts";
import { createApiServer, createMemoryStore } from "../index.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { FakeTime } from "../testing/fake-time.ts";
import { startMemoryServer } from "../testing/memory-server.ts";

async function createOwner(w: World, finalizers: readonly string[] = []): Promise<JsonObject> {
  return w.create(w.core("configmaps"), w.configMap("owner", {}, { finalizers }));
}

async function createOwned(w: World, name: string, owners: readonly JsonObject[], more: JsonObject = {}): Promise<JsonObject> {
  const ownerReferences = owners.map((owner) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: metaOf(owner)["name"],
    uid: metaOf(owner)["uid"],
    ...more,
  }));
  return w.create(w.core("configmaps"), w.configMap(name, {}, { ownerReferences }));
}

const deleteWith = (w: World, propagationPolicy: string): Promise<unknown> =>
  w.send("DELETE", w.core("configmaps", "owner"), { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy });

describe("garbage collection", () => {
  it("takes dependents along in the background, and theirs", async () => {
    const { world: w, time } = await startMemoryServer();
    const owner = await createOwner(w);
    const child = await createOwned(w, "child", [owner]);
    await createOwned(w, "grandchild", [child]);
    await deleteWith(w, "Background");
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps")))), ["child", "grandchild"]);
    time.advance(0);
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps")))), []);
  });

  it("keeps the owner until blocking dependents are gone in the foreground", async () => {
    const { world: w, time } = await startMemoryServer();
    const owner = await createOwner(w);
    await createOwned(w, "child", [owner], { blockOwnerDeletion: true });
    await w.ok(w.patch(w.core("configmaps", "child"), "merge", { metadata: { finalizers: ["example.com/hold"] } }));
    await deleteWith(w, "Foreground");
    time.advance(0);
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps")))), ["child", "owner"]);
    assert.ok(metaOf(await w.ok(w.get(w.core("configmaps", "child"))))["deletionTimestamp"]);
    await w.ok(w.patch(w.core("configmaps", "child"), "merge", { metadata: { finalizers: null } }));
    time.advance(0);
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps")))), []);
  });

  it("leaves dependents behind without the owner when orphaned", async () => {
    const { world: w, time } = await startMemoryServer();
    await createOwned(w, "child", [await createOwner(w)]);
    await deleteWith(w, "Orphan");
    time.advance(0);
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps")))), ["child"]);
    assert.equal(metaOf(await w.ok(w.get(w.core("configmaps", "child"))))["ownerReferences"], undefined);
  });

  it("keeps what another owner still owns", async () => {
    const { world: w, time } = await startMemoryServer();
    const owner = await createOwner(w);
    const other = await w.create(w.core("configmaps"), w.configMap("other"));
    await createOwned(w, "child", [owner, other]);
    await deleteWith(w, "Background");
    time.advance(0);
    const child = await w.ok(w.get(w.core("configmaps", "child")));
    assert.deepEqual(
      objectsAt(metaOf(child), "ownerReferences").map((reference) => reference["name"]),
      ["other"],
    );
  });

  it("takes a dependent whose owner has been replaced under the same name", async () => {
    const { world: w, time } = await startMemoryServer();
    await createOwned(w, "child", [await createOwner(w)]);
    await deleteWith(w, "Background");
    await createOwner(w);
    time.advance(0);
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps")))), ["owner"]);
  });

  it("lets finalizers of dependents do their work", async () => {
    const { world: w, time } = await startMemoryServer();
    await createOwned(w, "child", [await createOwner(w)]);
    await w.ok(w.patch(w.core("configmaps", "child"), "merge", { metadata: { finalizers: ["example.com/hold"] } }));
    await deleteWith(w, "Background");
    time.advance(0);
    assert.ok(metaOf(await w.ok(w.get(w.core("configmaps", "child"))))["deletionTimestamp"]);
  });

  it("never takes a dependent of a kind that is not served", async () => {
    const { world: w, time } = await startMemoryServer();
    const ownerReferences = [{ apiVersion: "gone.example.com/v1", kind: "Gone", name: "x", uid: "9bd1ff5b-6ffe-4ab0-9b74-0f5ff9d4ae26" }];
    await w.create(w.core("configmaps"), w.configMap("child", {}, { ownerReferences }));
    time.advance(10_000);
    await w.ok(w.get(w.core("configmaps", "child")));
  });

  it("goes on after a restart", async () => {
    const store = createMemoryStore();
    const { world: w, api } = await startMemoryServer({ store });
    await createOwned(w, "child", [await createOwner(w)]);
    await deleteWith(w, "Background");
    api.close();
    const time = new FakeTime();
    const next = await createApiServer({ store, clock: time, timers: time, random: time });
    time.advance(0);
    const list = await next.transport({ name: "test", groups: ["system:masters"] }).send({ method: "GET", path: w.core("configmaps") });
    assert.deepEqual(namesOf(list.body), []);
  });

  it("is idle when there is nothing to do", async () => {
    const { api, time } = await startMemoryServer();
    const before = api.revision();
    time.advance(3_600_000);
    assert.equal(api.revision(), before);
    assert.equal(time.pending, 0);
  });
});

describe("events", () => {
  it("go an hour after they were last seen, when new ones come", async () => {
    const { world: w, time, api } = await startMemoryServer();
    const about = { involvedObject: { kind: "ConfigMap", name: "a", namespace: "default" } };
    await w.create(w.core("events"), { metadata: { name: "old" }, ...about });
    await w.create(w.core("events"), { metadata: { name: "repeated" }, ...about });
    time.advance(50 * 60_000);
    await w.ok(w.patch(w.core("events", "repeated"), "merge", { lastTimestamp: new Date(time.now()).toISOString() }));
    time.advance(20 * 60_000);
    const revision = api.revision();
    time.advance(60_000);
    assert.equal(api.revision(), revision);
    await w.create(w.core("events"), { metadata: { name: "new" }, ...about });
    time.advance(0);
    assert.deepEqual(namesOf(await w.ok(w.get(w.core("events")))), ["new", "repeated"]);
  });
});

describe("namespace deletion", () => {
  it("empties the namespace, then lets it go", async () => {
    const { world: w, time } = await startMemoryServer();
    await w.create("/api/v1/namespaces", { metadata: { name: "going" } });
    await w.create("/api/v1/namespaces/going/configmaps", w.configMap("a"));
    await w.ok(w.send("DELETE", "/api/v1/namespaces/going"));
    time.advance(0);
    await w.refused(w.get("/api/v1/namespaces/going"), { status: 404, reason: "NotFound" });
    await w.refused(w.get("/api/v1/namespaces/going/configmaps/a"), { status: 404 });
  });

  it("waits for finalizers of the content and says so", async () => {
    const { world: w, time } = await startMemoryServer();
    await w.create("/api/v1/namespaces", { metadata: { name: "going" } });
    await w.create("/api/v1/namespaces/going/configmaps", w.configMap("a", {}, { finalizers: ["example.com/hold"] }));
    await w.ok(w.send("DELETE", "/api/v1/namespaces/going"));
    time.advance(0);
    const namespace = await w.ok(w.get("/api/v1/namespaces/going"));
    assert.equal(objectAt(namespace, "status")["phase"], "Terminating");
    assert.equal(objectsAt(namespace["status"], "conditions")[0]?.["type"], "NamespaceFinalizersRemaining");
    const revision = metaOf(namespace)["resourceVersion"];
    time.advance(60_000);
    assert.equal(metaOf(await w.ok(w.get("/api/v1/namespaces/going")))["resourceVersion"], revision);
    await w.ok(w.patch("/api/v1/namespaces/going/configmaps/a", "merge", { metadata: { finalizers: null } }));
    time.advance(0);
    await w.refused(w.get("/api/v1/namespaces/going"), { status: 404 });
  });

  it("waits for finalizers of the namespace itself", async () => {
    const { world: w, time } = await startMemoryServer();
    await w.create("/api/v1/namespaces", { metadata: { name: "going", finalizers: ["example.com/hold"] } });
    await w.ok(w.send("DELETE", "/api/v1/namespaces/going"));
    time.advance(0);
    assert.deepEqual(objectAt(await w.ok(w.get("/api/v1/namespaces/going")), "spec")["finalizers"], []);
    await w.ok(w.patch("/api/v1/namespaces/going", "merge", { metadata: { finalizers: null } }));
    await w.refused(w.get("/api/v1/namespaces/going"), { status: 404 });
  });

  it("gives every namespace its default service account, again when it is deleted", async () => {
    const { world: w, time } = await startMemoryServer();
    await w.ok(w.get(w.core("serviceaccounts", "default")));
    await w.ok(w.send("DELETE", w.core("serviceaccounts", "default")));
    time.advance(0);
    await w.ok(w.get(w.core("serviceaccounts", "default")));
  });
});

describe("deletion of a CustomResourceDefinition", () => {
  it("takes its objects along once their finalizers are done, and stops serving the kind", async () => {
    const { world: w, time } = await startMemoryServer();
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const crd of conformanceCrds) await w.create(crds, crd);
    await w.create(w.widgets(), w.widget("a", { size: 1 }, { finalizers: ["example.com/hold"] }));
    await w.ok(w.send("DELETE", `${crds}/widgets.conformance.example.com`));
    time.advance(0);
    assert.ok(metaOf(await w.ok(w.get(w.widgets("a"))))["deletionTimestamp"]);
    await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { finalizers: null } }));
    time.advance(0);
    await w.refused(w.get(`${crds}/widgets.conformance.example.com`), { status: 404 });
    assert.equal((await w.get(w.widgets())).status, 404);
    const list = await w.ok(w.get("/apis/conformance.example.com/v1"));
    assert.deepEqual(
      objectsAt(list, "resources").map((resource) => resource["name"]),
      ["gears"],
    );
  });
});
