import assert from "node:assert/strict";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringsAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const long = (length: number): string => "a".repeat(length);

/** A short word for a value in the name of a case. */
function shown(value: string): string {
  return value.length > 40 ? `of ${value.length} characters` : JSON.stringify(value);
}

function createWith(w: World, metadata: JsonObject): Promise<JsonObject> {
  return w.create(w.core("configmaps"), { metadata: { name: "a", ...metadata } });
}

async function refuseWith(w: World, metadata: JsonObject, field: string): Promise<void> {
  await w.refused(w.send("POST", w.core("configmaps"), { metadata: { name: "a", ...metadata } }), {
    status: 422,
    reason: "Invalid",
    causes: [field],
  });
}

const goodNames = ["0", "a.b", "a-b.c-d", "1a", long(253)];
const badNames = ["A", "a_b", "-a", "a-", "a..b", ".a", "a.", "a b", "é", "a\u200Bb", "a\u202Eb", "a:b", long(254)];
const goodKeys = ["a", "A", "a_b.c-D", "example.com/a", `${long(63)}/${long(63)}`, "0/0"];
const badKeys = ["", "/a", "a/", "a/b/c", "-a", "a-", "Example.com/a", "exa mple.com/a", "a b", "é", long(64), `${long(254)}/a`];
const goodValues = ["", "a", "A_b.c-D", "0", long(63)];
const badValues = ["a b", "-a", "a-", "é", "a/b", "a:b", " ", long(64)];
const goodFinalizers = ["example.com/a", "kubernetes", "foregroundDeletion"];
const badFinalizers = ["a b", "", "-", "orphaned"];

/** Names, labels, annotations, finalizers, owner references: what may be written there. */
export const nameCases: readonly ConformanceCase[] = [
  ...goodNames.map((name) => ({
    name: `the name ${shown(name)} is taken`,
    run: async (w: World) => {
      assert.equal(metaOf(await createWith(w, { name }))["name"], name);
    },
  })),
  ...badNames.map((name) => ({
    name: `the name ${shown(name)} is refused`,
    run: (w: World) => refuseWith(w, { name }, "metadata.name"),
  })),
  ...goodKeys.map((key) => ({
    name: `the label key ${shown(key)} is taken`,
    run: async (w: World) => {
      assert.deepEqual(metaOf(await createWith(w, { labels: { [key]: "x" } }))["labels"], { [key]: "x" });
    },
  })),
  ...badKeys.map((key) => ({
    name: `the label key ${shown(key)} is refused`,
    run: (w: World) => refuseWith(w, { labels: { [key]: "x" } }, "metadata.labels"),
  })),
  ...goodValues.map((value) => ({
    name: `the label value ${shown(value)} is taken`,
    run: async (w: World) => {
      assert.deepEqual(metaOf(await createWith(w, { labels: { k: value } }))["labels"], { k: value });
    },
  })),
  ...badValues.map((value) => ({
    name: `the label value ${shown(value)} is refused`,
    run: (w: World) => refuseWith(w, { labels: { k: value } }, "metadata.labels"),
  })),
  {
    name: "an annotation key may have capitals in its prefix",
    run: async (w) => {
      await createWith(w, { annotations: { "Example.com/A": "x" } });
    },
  },
  {
    name: "an annotation key that is no qualified name is refused",
    run: (w) => refuseWith(w, { annotations: { "a b": "x" } }, "metadata.annotations"),
  },
  {
    name: "an annotation value holds any text",
    run: async (w) => {
      const value = "\u202E<img onerror=x>\u0000\n\u{1F600} a b/c";
      assert.deepEqual(metaOf(await createWith(w, { annotations: { k: value } }))["annotations"], { k: value });
    },
  },
  ...goodFinalizers.map((finalizer) => ({
    name: `the finalizer ${shown(finalizer)} is taken`,
    run: async (w: World) => {
      assert.deepEqual(stringsAt(metaOf(await createWith(w, { finalizers: [finalizer] })), "finalizers"), [finalizer]);
      await w.ok(w.patch(w.core("configmaps", "a"), "merge", { metadata: { finalizers: null } }));
    },
  })),
  ...badFinalizers.map((finalizer) => ({
    name: `the finalizer ${shown(finalizer)} is refused`,
    run: async (w: World) => {
      await w.refused(w.send("POST", w.core("configmaps"), { metadata: { name: "a", finalizers: [finalizer] } }), {
        status: 422,
        reason: "Invalid",
        message: /metadata\.finalizers\[0\]: Invalid value: .*: name is neither a standard finalizer name nor is it fully qualified/,
      });
    },
  })),
  {
    name: "two controllers among the owners are refused",
    run: (w) => {
      const owner = (uid: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", name: "o", uid, controller: true });
      return refuseWith(w, { ownerReferences: [owner("1"), owner("2")] }, "metadata.ownerReferences");
    },
  },
  {
    name: "an Event may own nothing",
    run: (w) => refuseWith(w, { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "o", uid: "1" }] }, "metadata.ownerReferences"),
  },
  ...["apiVersion", "kind", "name", "uid"].map((missing) => ({
    name: `an owner reference without ${missing} is refused`,
    run: async (w: World) => {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "1", [missing]: "" };
      const status = await w.refused(w.send("POST", w.core("configmaps"), { metadata: { name: "a", ownerReferences: [owner] } }), {
        status: 422,
        reason: "Invalid",
      });
      for (const { field } of objectsAt(objectAt(status, "details"), "causes")) {
        assert.match(
          String(field),
          new RegExp(`^metadata\\.ownerReferences(\\[0\\])?\\.${missing === "apiVersion" ? "(apiVersion|version)" : missing}$`),
        );
      }
    },
  })),
  {
    name: "generateName longer than a label allows is cut, so that the name is one",
    run: async (w) => {
      const created = await w.create(w.core("configmaps"), { metadata: { generateName: long(70) } });
      assert.match(String(metaOf(created)["name"]), /^a{58}[a-z0-9]{5}$/);
      assert.equal(metaOf(created)["generateName"], long(70));
    },
  },
  {
    name: "a name wins over generateName",
    run: async (w) => {
      const created = await w.create(w.core("configmaps"), { metadata: { name: "chosen", generateName: "other-" } });
      assert.equal(metaOf(created)["name"], "chosen");
    },
  },
  {
    name: "generateName that no name may begin with is refused",
    run: (w) =>
      w
        .refused(w.send("POST", w.core("configmaps"), { metadata: { generateName: "A_" } }), {
          status: 422,
          reason: "Invalid",
        })
        .then(() => undefined),
  },
  {
    name: "two creates of one generateName give two names",
    run: async (w) => {
      const make = (): Promise<JsonObject> => w.create(w.widgets(), { ...w.widget(""), metadata: { generateName: "g-" } });
      assert.notEqual(metaOf(await make())["name"], metaOf(await make())["name"]);
    },
  },
  {
    name: "the name of a Service is a label",
    run: async (w) => {
      const ports = [{ port: 80 }];
      await w.refused(w.send("POST", w.core("services"), { metadata: { name: "a.b" }, spec: { ports } }), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.name"],
      });
    },
  },
  {
    name: "the name of a namespace has at most 63 characters",
    run: async (w) => {
      await w.refused(w.send("POST", "/api/v1/namespaces", { metadata: { name: long(64) } }), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.name", "metadata.labels"],
      });
    },
  },
  {
    name: "the name of a role may hold a colon",
    run: async (w) => {
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${w.namespace}/roles`;
      assert.equal(metaOf(await w.create(path, { metadata: { name: "system:A b" }, rules: [] }))["name"], "system:A b");
    },
  },
  {
    name: "the name of a role is no path",
    run: async (w) => {
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${w.namespace}/roles`;
      for (const name of ["a/b", "..", ".", "a%b"]) {
        await w.refused(w.send("POST", path, { metadata: { name }, rules: [] }), {
          status: 422,
          reason: "Invalid",
          causes: ["metadata.name"],
        });
      }
    },
  },
];
