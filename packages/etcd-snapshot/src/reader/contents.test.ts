import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { bytesField } from "../format/protobuf.ts";
import { type ReadSnapshotOptions, type SnapshotContents, bytesSource, readSnapshot, writeEtcdSnapshot } from "../index.ts";

const text = (number: number, value: string): Uint8Array => Buffer.concat(bytesField(number, Buffer.from(value)));
const message = (number: number, ...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(bytesField(number, Buffer.concat(parts)));

/** As kube-apiserver stores it. */
function stored(apiVersion: string, kind: string, name: string, namespace: string): Uint8Array {
  return Buffer.concat([
    Buffer.from("k8s\0"),
    message(1, text(1, apiVersion), text(2, kind)),
    message(2, message(1, text(1, name), text(3, namespace)), text(2, "s3cret of the spec")),
  ]);
}

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

function contentsOf(values: Readonly<Record<string, Uint8Array | string>>, options?: ReadSnapshotOptions): SnapshotContents {
  return readSnapshot(
    bytesSource(
      writeEtcdSnapshot({
        keys: Object.entries(values).map(([key, value], index) => ({ key, value, modRevision: index + 2 })),
        members: [],
        clusterVersion: "3.6.0",
        term: 1,
        consistentIndex: 1,
      }),
    ),
    options,
  );
}

describe("objects are listed", () => {
  test("by the kind that they name themselves, and the namespace of their path", () => {
    const { kinds, sample } = contentsOf({
      "/registry/pods/shop/a": stored("v1", "Pod", "a", "shop"),
      "/registry/minions/n": stored("v1", "Node", "n", ""),
      "/registry/example.dev/gadgets/shop/g": json({
        apiVersion: "example.dev/v1",
        kind: "Gadget",
        metadata: { name: "g", namespace: "shop" },
      }),
    });
    assert.deepEqual(
      kinds.map(({ apiVersion, kind, namespaces }) => [apiVersion, kind, namespaces]),
      [
        ["example.dev/v1", "Gadget", { shop: 1 }],
        ["v1", "Node", { "": 1 }],
        ["v1", "Pod", { shop: 1 }],
      ],
    );
    assert.deepEqual(sample, { decoded: 3, mismatched: 0 });
  });

  test("and one that names itself otherwise than its path is told", () => {
    for (const value of [
      stored("v1", "Pod", "b", "shop"),
      stored("v1", "Pod", "a", "other"),
      json({ apiVersion: "v1", kind: "Pod", metadata: { name: 7 } }),
      json({ apiVersion: "v1", kind: "Pod" }),
    ])
      assert.deepEqual(contentsOf({ "/registry/pods/shop/a": value }).sample, { decoded: 1, mismatched: 1 });
  });

  test("encrypted ones by their path", () => {
    const { encrypted, kinds } = contentsOf({ "/registry/secrets/shop/a": "k8s:enc:aescbc:v1:key1:\0\u0001\u0002" });
    assert.deepEqual(encrypted, [{ resource: "secrets", total: 1, namespaces: { shop: 1 }, others: { namespaces: 0, objects: 0 } }]);
    assert.deepEqual(kinds, []);
  });

  test("Nodes by their names, encrypted ones too, as far as there is room", () => {
    const values = {
      "/registry/minions/worker-1": stored("v1", "Node", "worker-1", ""),
      "/registry/minions/cp-1": "k8s:enc:aescbc:v1:key1:\0\u0001",
      "/registry/minions/shop/no-node": stored("v1", "Node", "no-node", "shop"),
      "/registry/example.dev/minions/other": json({ apiVersion: "example.dev/v1", kind: "Minion", metadata: { name: "other" } }),
    };
    assert.deepEqual(contentsOf(values).nodes, { names: ["cp-1", "worker-1"], others: 0 });
    assert.deepEqual(contentsOf(values, { maxNodes: 1 }).nodes.others, 1);
  });

  test("what is no object is counted", () => {
    const good = stored("v1", "Pod", "a", "shop");
    const unreadable = {
      "/registry/pods/shop/empty": "",
      "/registry/pods/shop/text": "text",
      "/registry/pods/shop/cut": good.subarray(0, good.length - 5),
      "/registry/pods/shop/prefix": "k8s\0",
      "/registry/pods/shop/json": '{"apiVersion":"v1",',
      "/registry/pods/shop/kindless": '{"apiVersion":"v1"}',
      "/registry/pods/shop/shape": json({ apiVersion: "v1", kind: "\u001b[31mRed" }),
      "/registry/pods/shop/long": json({ apiVersion: "v1", kind: "K".repeat(1000) }),
    };
    const contents = contentsOf({ ...unreadable, compact_rev_key: "7", "/registry/ranges/serviceips": good, "/registry/health": "" });
    assert.deepEqual([contents.unreadable, contents.otherKeys, contents.kinds], [8, 3, []]);
  });

  test("and nothing of a value is given out", () => {
    const contents = contentsOf({
      "/registry/pods/shop/a": stored("v1", "Pod", "a", "shop"),
      "/registry/pods/shop/b": json({ apiVersion: "v1", kind: "Pod", metadata: { name: "s3cret" }, data: "s3cret" }),
      "/registry/secrets/shop/c": "k8s:enc:s3cret",
      "/registry/secrets/shop/d": "s3cret",
    });
    assert.doesNotMatch(JSON.stringify(contents), /s3cret/);
  });
});
