import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "../client/kube-client.ts";
import { isConflict } from "../client/error-predicates.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { createFakeApi } from "../testing/index.ts";
import { deleteExactly } from "./delete-exactly.ts";
import { addFinalizer, hasFinalizer, isBeingDeleted, removeFinalizer } from "./finalizers.ts";
import { keyText, parseKey } from "./kube-object.ts";
import { controllerOf, controllerReference, isControlledBy } from "./owner-references.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const things = "/apis/example.dev/v1/things";
const finalizer = "example.dev/guard";
const start = () => {
  const api = createFakeApi();
  return { api, resource: createKubeClient(api.transport()).resource(type) };
};

describe("finalizers", () => {
  it("guard an object until they are removed", async () => {
    const { api, resource } = start();
    const guarded = await addFinalizer(
      resource,
      api.put(things, { metadata: { namespace: "ns", name: "a", finalizers: ["other/x"] } }),
      finalizer,
    );
    assert.deepEqual(guarded.metadata?.finalizers, ["other/x", finalizer]);
    const deleted = await resource.delete({ namespace: "ns", name: "a" });
    assert.ok(deleted !== undefined && isBeingDeleted(deleted) && hasFinalizer(deleted, finalizer));
    const released = await removeFinalizer(resource, deleted, finalizer);
    assert.deepEqual(released?.metadata?.finalizers, ["other/x"]);
  });

  it("make no call when there is nothing to change", async () => {
    const { api, resource } = start();
    const object = api.put(things, { metadata: { namespace: "ns", name: "a", finalizers: [finalizer] } });
    await addFinalizer(resource, object, finalizer);
    await removeFinalizer(resource, object, "example.dev/never-there");
    assert.equal(api.requests.length, 0);
  });

  it("never overwrite what somebody else did meanwhile", async () => {
    const { api, resource } = start();
    const read = api.put(things, { metadata: { namespace: "ns", name: "a" } });
    api.put(things, { metadata: { namespace: "ns", name: "a", finalizers: ["other/x"] } });
    await assert.rejects(addFinalizer(resource, read, finalizer), isConflict);
  });

  it("are content when the object is gone", async () => {
    const { api, resource } = start();
    const read = api.put(things, { metadata: { namespace: "ns", name: "a", finalizers: [finalizer] } });
    api.remove(things, "ns", "a");
    assert.equal(await removeFinalizer(resource, read, finalizer), undefined);
  });
});

describe("owner references", () => {
  const owner = { metadata: { namespace: "ns", name: "a", uid: "u1" } };

  it("name the controller by uid", () => {
    const owned = {
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x", uid: "u0" }, controllerReference(owner, type)] },
    };
    assert.deepEqual(controllerOf(owned), {
      apiVersion: "example.dev/v1",
      kind: "Thing",
      name: "a",
      uid: "u1",
      controller: true,
      blockOwnerDeletion: true,
    });
    assert.equal(isControlledBy(owned, owner), true);
    assert.equal(isControlledBy(owned, { metadata: { name: "a", uid: "u2" } }), false, "same name, created again");
  });

  it("refuse an owner that was never read from the server", () => {
    assert.throws(() => controllerReference({ metadata: { name: "a" } }, type), RangeError);
  });
});

it("turns keys into text and back", () => {
  for (const key of [{ name: "a" }, { namespace: "ns", name: "a" }]) assert.deepEqual(parseKey(keyText(key)), key);
});

describe("a deletion of one very object", () => {
  it("names it by its UID, so that it never meets a successor of the same name", async () => {
    const { api, resource } = start();
    const object = api.put(things, { metadata: { namespace: "ns", name: "a" } });
    await deleteExactly(resource, object);
    assert.deepEqual(
      api.requests.map(({ method, body }) => [method, (body as { readonly preconditions?: unknown }).preconditions]),
      [["DELETE", { uid: object.metadata?.uid }]],
    );
  });

  it("is refused for an object that no server told", async () => {
    await assert.rejects(deleteExactly(start().resource, { metadata: { namespace: "ns", name: "a" } }), RangeError);
  });
});
