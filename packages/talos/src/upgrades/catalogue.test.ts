import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, constantFrom, oneof, property, record, string } from "fast-check";
import { ConfigError } from "../config/errors.ts";
import { defaultClusterImages } from "../versions/component-images.ts";
import { compareVersions } from "../versions/version.ts";
import { builtInCatalogue, extendCatalogue } from "./catalogue.ts";

const sixteen = `talos:
  - release: v1.16.0
    kubernetes: { oldest: v1.34, newest: 1.40 }
    replaces: { oldest: v1.14, newest: v1.17 }
    etcd: v3.7
kubernetes: [v1.38.2, 1.36.4]
`;

test("what is built in agrees with the images of each release, and grows from minor to minor", () => {
  let before = { kubernetes: 0, etcd: 0 };
  for (const [minor, { etcd, kubernetes, newest }] of builtInCatalogue.talos) {
    if (minor >= 6) assert.match(defaultClusterImages(`v1.${minor}.0`).etcd, new RegExp(`:v?3\\.${etcd}\\.`));
    if (newest !== undefined) assert.match(newest, new RegExp(`^1\\.${minor}\\.\\d+$`));
    assert.ok(kubernetes[1] >= before.kubernetes && etcd >= before.etcd);
    before = { kubernetes: kubernetes[1], etcd };
  }
  for (const [minor, release] of builtInCatalogue.kubernetes) assert.match(release, new RegExp(`^1\\.${minor}\\.\\d+$`));
});

test("a text adds minors, and names other releases of known ones", () => {
  const { talos, kubernetes } = extendCatalogue(builtInCatalogue, sixteen);
  assert.deepEqual(talos.get(16), { kubernetes: [34, 40], oldestHost: 14, refusedHost: 18, etcd: 7, newest: "1.16.0" });
  assert.deepEqual([kubernetes.get(38), kubernetes.get(36), kubernetes.get(35)], ["1.38.2", "1.36.4", "1.35.4"]);
  assert.deepEqual(talos.get(13), builtInCatalogue.talos.get(13));
  assert.ok(!builtInCatalogue.talos.has(16), "what is built in stays as it is");
  const known = extendCatalogue(builtInCatalogue, "talos: [{ release: 1.13.4, kubernetes: { oldest: v1.31, newest: v1.36 }, etcd: v3.6 }]");
  assert.equal(known.talos.get(13)?.newest, "1.13.4", "an own registry may hold that one alone");
});

test("nothing is added by a text that says nothing", () => {
  for (const text of ["talos: []", "{}", "talos:\nkubernetes:\n", "---\n"])
    assert.deepEqual(extendCatalogue(builtInCatalogue, text), builtInCatalogue);
});

const refused: readonly { readonly name: string; readonly text: string; readonly says: RegExp; readonly code?: string }[] = [
  { name: "no version", text: "talos: [{ release: latest }]", says: /"latest" is no version/ },
  { name: "two parts", text: "talos: [{ release: v1.13 }]", says: /"v1\.13" is no version/ },
  { name: "IN39: a command behind a version", text: 'talos: [{ release: "v1.13.6-rc.0; rm -rf" }]', says: /is no version/ },
  { name: "a pre-release", text: "talos: [{ release: v1.14.0-rc.1 }]", says: /is no release/ },
  { name: "another major", text: "kubernetes: [v2.0.0]", says: /of another major version/ },
  { name: "a minor twice", text: "talos: [{ release: v1.13.4 }, { release: v1.13.5 }]", says: /1\.13 is named twice/ },
  { name: "a minor of Kubernetes twice", text: "kubernetes: [v1.36.3, v1.36.4]", says: /1\.36 is named twice/ },
  { name: "no release", text: "talos: [{ etcd: v3.7 }, { release: }]", says: /release is missing.*release is missing/s },
  { name: "a gap", text: sixteen.replace("1.16.0", "1.17.0"), says: /nothing is known of Talos 1\.16/ },
  {
    name: "a new minor without its tables",
    text: "talos: [{ release: v1.16.0 }]",
    says: /Talos 1\.16 is new, and takes kubernetes, replaces and etcd too/,
  },
  { name: "other tables of a known minor", text: "talos: [{ release: v1.13.9, etcd: v3.7 }]", says: /Talos 1\.13 is known/ },
  {
    name: "another range of a known minor",
    text: "talos: [{ release: v1.13.9, kubernetes: { oldest: v1.20, newest: v1.36 } }]",
    says: /is known/,
  },
  { name: "a range upside down", text: sixteen.replace("v1.34", "v1.41"), says: /oldest is newer than newest/ },
  { name: "half a range", text: sixteen.replace("oldest: v1.34, ", ""), says: /it takes oldest and newest/ },
  { name: "an older Kubernetes than the minor before", text: sixteen.replace("1.40", "v1.37"), says: /runs no older Kubernetes or etcd/ },
  { name: "an older etcd than the minor before", text: sixteen.replace("v3.7", "v3.6"), says: /runs no older Kubernetes or etcd/ },
  { name: "a minor that replaces no older one", text: sixteen.replace("v1.14", "v1.16"), says: /replaces the minor before it/ },
  { name: "an etcd of another major", text: sixteen.replace("v3.7", "v4.0"), says: /"v4\.0" is no minor, such as v3\.7/ },
  {
    name: "a field that is none",
    text: "talos: [{ release: v1.13.9, channel: beta }]",
    says: /field channel not found/,
    code: "UNKNOWN_FIELD",
  },
  { name: "a list that is none", text: "talos: v1.13.9", says: /cannot construct/, code: "WRONG_TYPE" },
  { name: "too many", text: `kubernetes: [${"v1.30.0, ".repeat(101)}]`, says: /101 releases are too many/ },
];

for (const { name, text, says, code = "INVALID_VALUE" } of refused) {
  test(`a catalogue is refused: ${name}`, () => {
    assert.throws(
      () => extendCatalogue(builtInCatalogue, text),
      (thrown) => {
        assert.ok(thrown instanceof ConfigError, String(thrown));
        assert.equal(thrown.code, code);
        assert.match(thrown.detail, says);
        return true;
      },
    );
  });
}

test("no text breaks the reader otherwise, and every release it takes is of its minor", () => {
  const row = record(
    { release: constantFrom("v1.13.4", "v1.16.0", "v1.17.1", "", "x"), etcd: constantFrom("v3.7", 3.7, null, "z") },
    { requiredKeys: [] },
  );
  const text = oneof(
    string(),
    record({
      talos: array(row, { maxLength: 3 }),
      kubernetes: array(constantFrom("v1.36.9", "1.40.0", null), { maxLength: 3 }),
    }).map((value) => JSON.stringify(value)),
  );
  check(
    property(text, (one) => {
      try {
        const { talos } = extendCatalogue(builtInCatalogue, one);
        for (const [minor, { newest = `1.${minor}.0` }] of talos)
          assert.ok(compareVersions(newest, `1.${minor}.0`) >= 0 && newest.startsWith(`1.${minor}.`));
      } catch (thrown) {
        assert.ok(thrown instanceof ConfigError, String(thrown));
      }
    }),
  );
});
