import assert from "node:assert/strict";
import { test } from "node:test";
import { identityOf, union, without } from "./inventory.ts";
import { mayDelete } from "./removal.ts";

const kinds = ["Namespace", "CustomResourceDefinition", "PersistentVolumeClaim", "PersistentVolume", "Secret", "Widget"];

for (const [policy, deleted] of [
  [{ prune: true, pruneProtected: false }, ["Secret", "Widget"]],
  [{ prune: true, pruneProtected: true }, kinds],
  [{ prune: false, pruneProtected: false }, []],
  [{ prune: false, pruneProtected: true }, []],
] as const)
  test(`${JSON.stringify(policy)} deletes ${deleted.length} kinds of ${kinds.length}`, () =>
    assert.deepEqual(
      kinds.filter((kind) => mayDelete({ kind }, policy)),
      deleted,
    ));

test("an object is the same in every version of its group, and in no other group or namespace", () => {
  const entry = (apiVersion: string, namespace?: string) => ({
    apiVersion,
    kind: "Ingress",
    name: "a",
    ...(namespace === undefined ? {} : { namespace }),
  });
  const [old, now, other, elsewhere] = [
    entry("networking.k8s.io/v1beta1", "web"),
    entry("networking.k8s.io/v1", "web"),
    entry("extensions/v1beta1", "web"),
    entry("networking.k8s.io/v1", "shop"),
  ];
  assert.equal(identityOf(old), identityOf(now));
  assert.deepEqual(union([old, other], [now]), [now, other]);
  assert.deepEqual(without([old, other, elsewhere], [now]), [other, elsewhere]);
});
