import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadAll } from "js-yaml";
import { changesBetween } from "./changes.ts";
import { disguised, hiding, secretsIn } from "./hide.ts";
import type { ManifestObject } from "./objects-in.ts";

const page = (spec: object, metadata: object = {}): ManifestObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "page", ...metadata },
  spec,
});
const map = (name: string, data: object): ManifestObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
const secret = (field: "data" | "stringData", values: object): ManifestObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "keys" },
  [field]: values,
});
const base64 = (text: string): string => Buffer.from(text).toString("base64");

function words(
  before: readonly ManifestObject[],
  after: readonly ManifestObject[],
  { hidden = [], twin = after }: { readonly hidden?: readonly string[]; readonly twin?: readonly ManifestObject[] } = {},
): readonly string[] {
  const hide = hiding(secretsIn([...before, ...after], hidden));
  return changesBetween({ before, after, twin }, "web", hide).map(
    ({ object, change, fields }) => `${change} ${object}: ${fields.join("; ")}`,
  );
}

describe("values in disguise", () => {
  it("have the same keys, other texts and numbers of about the same length, and the same switches", () => {
    const [other] = loadAll(disguised("a: secret\nb: {c: [7777777, true, null, 'x']}\n")) as readonly { a: string; b: { c: unknown[] } }[];
    assert.deepEqual(Object.keys(other ?? {}), ["a", "b"]);
    assert.equal(other?.a.length, 6);
    assert.notEqual(other?.a, "secret");
    assert.notEqual(other?.b.c[0], 7777777);
    assert.deepEqual(other?.b.c.slice(1, 3), [true, null]);
  });
});

describe("changes between two manifests", () => {
  it("are none where only the order of keys differs", () => {
    assert.deepEqual(words([page({ replicas: 1, paused: false })], [page({ paused: false, replicas: 1 })]), []);
  });

  it("tell what is made, changed and deleted", () => {
    assert.deepEqual(words([page({ replicas: 1 }), map("old", {})], [map("new", {}), page({ replicas: 3 })]), [
      "create ConfigMap new: ",
      "change Deployment page: spec.replicas: 3",
      "delete ConfigMap old: ",
    ]);
  });

  it("follow lists by name, and others as a whole", () => {
    const spec = (image: string, args: readonly string[]) => ({
      containers: [
        { name: "side", image: "a" },
        { name: "web", image, args },
      ],
    });
    assert.deepEqual(words([page(spec("web:1", ["a", "b"]))], [page(spec("web:2", ["a"]))]), [
      "change Deployment page: spec.containers[name=web].image: web:2; spec.containers[name=web].args: without 1 that were there",
    ]);
    assert.deepEqual(words([page({ volumes: [{ name: "x" }] })], [page({ volumes: [{ name: "x" }, { name: "y" }] })]), [
      'change Deployment page: spec.volumes[name=y]: {"name":"y"}',
    ]);
  });

  it("tell of lists of texts what comes and how many go", () => {
    const spec = (...args: readonly string[]) => [page({ args })];
    const twin = spec("--a", "--new=2", "--key=else");
    assert.deepEqual(words(spec("--a", "--old=1"), spec("--a", "--new=2", "--key=word"), { twin }), [
      "change Deployment page: spec.args: with --new=2 ***, without 1 that were there",
    ]);
    assert.deepEqual(words(spec("--a", "--b"), spec("--b", "--a")), ["change Deployment page: spec.args: in another order"]);
  });

  it("take another version of a group, and a namespace that is written out, for the same object", () => {
    const beta = { ...page({ replicas: 1 }), apiVersion: "apps/v1beta1" };
    assert.deepEqual(words([beta], [page({ replicas: 1 }, { namespace: "web" })]), [
      "change Deployment web/page: apiVersion: apps/v1; metadata.namespace: web",
    ]);
  });

  it("name fields that go without what stood in them", () => {
    assert.deepEqual(words([page({ password: "hunter2" })], [page({})]), ["change Deployment page: spec.password goes"]);
  });

  it("tell no value of a Secret", () => {
    assert.deepEqual(words([secret("data", { token: base64("a") })], [secret("data", { token: base64("b"), other: base64("c") })]), [
      "change Secret keys: data.token: ***; data.other: ***",
    ]);
  });

  it("tell no value of a Secret that another object has, too, whatever its form and length", () => {
    const password = "correct horse";
    for (const text of [password, base64(password), `postgres://me:${password}@db`])
      assert.deepEqual(
        words([map("a", {})], [map("a", { url: text }), secret("stringData", { password })])[1],
        "change ConfigMap a: data.url: ***",
      );
    assert.deepEqual(
      words([map("a", {})], [map("a", { pin: "123" }), secret("data", { pin: base64("123") })])[1],
      "change ConfigMap a: data.pin: ***",
    );
    assert.deepEqual(
      words([map("a", { x: 1 }), secret("data", { pin: base64("old!") })], [map("a", { x: "old!" })])[0],
      "change ConfigMap a: data.x: ***",
    );
  });

  it("tell nothing of values that stand in Secrets, also within lists and objects", () => {
    const spec = { env: [{ name: "A", value: "top" }], args: ["--key=top-secret"] };
    assert.deepEqual(words([page({})], [page(spec)], { hidden: ["a: top\nb: top-secret"] }), [
      'change Deployment page: spec.env: [{"name":"A","value":"***"}]; spec.args: ["***"]',
    ]);
  });

  it("tell nothing that another rendering has otherwise: values, keys and names that are made of a Secret", () => {
    const before = [page({ env: [{ name: "A", value: "1" }] }), map("a", { kept: "1" })];
    const after = [
      page({
        env: [
          { name: "A", value: base64("me:word") },
          { name: "B", value: "2" },
        ],
      }),
      map("a", { kept: "2", "host-word": "3" }),
      map("of-word", {}),
    ];
    const twin = [
      page({
        env: [
          { name: "A", value: base64("me:else") },
          { name: "B", value: "2" },
        ],
      }),
      map("a", { kept: "2", "host-else": "3" }),
      map("of-else", {}),
    ];
    assert.deepEqual(words(before, after, { twin }), [
      "create ConfigMap ***: ",
      "change ConfigMap a: data.kept: 2; data.***: ***",
      'change Deployment page: spec.env[name=A].value: ***; spec.env[name=B]: {"name":"B","value":"2"}',
    ]);
  });

  it("tell no value where the chart takes no other texts than the Secret's", () => {
    assert.deepEqual(words([page({ replicas: 1 })], [page({ replicas: 2 }), map("new", {})], { twin: [] }), [
      "create ConfigMap ***: ",
      "change Deployment page: spec.replicas: ***",
    ]);
  });

  it("hide before they cut", () => {
    const long = `${"x".repeat(55)}secret-of-mine`;
    assert.deepEqual(words([map("a", {})], [map("a", { text: long })], { hidden: ["k: secret-of-mine"] }), [
      "change ConfigMap a: data.text: ***",
    ]);
  });

  it("name six fields of an object, and count the others", () => {
    const values = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`k${index}`, index]));
    const [change] = changesBetween({ before: [map("a", {})], after: [map("a", values)], twin: [map("a", values)] }, "web", (text) => text);
    assert.equal(change?.fields.length, 6);
    assert.equal(change?.more, 3);
  });
});
