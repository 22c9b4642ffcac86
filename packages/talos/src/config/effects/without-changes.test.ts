import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { classifyConfigEffects } from "./classify.ts";
import { configWithoutChanges } from "./without-changes.ts";

const before = [
  "machine: {type: worker, sysctls: {a: '1'}, kernel: {modules: [{name: nbd}]}}",
  "cluster: {etcd: {extraArgs: {a: '1'}}}",
  "---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: one\n",
].join("\n");

/** Paths that a config without these changes changes. */
function left(after: string, isOut: (path: string, document: string) => boolean): readonly string[] {
  const { changes } = classifyConfigEffects(before, after, "v1.13.2");
  const out = changes.filter(({ path, document }) => isOut(path, document));
  assert.ok(out.length > 0);
  const part = configWithoutChanges(before, after, out, { contract: "1.13" });
  return classifyConfigEffects(before, part, "v1.13.2").changes.map(({ document, path }) => `${document} ${path}`);
}

describe("a config without some of its changes", () => {
  test("keeps the rest of a section", () =>
    assert.deepEqual(
      left(before.replace("a: '1'}, kernel", "a: '2'}, kernel").replace("{a: '1'}}}", "{a: '2'}}}"), (path) =>
        path.startsWith("cluster.etcd"),
      ),
      ["/v1alpha1/ machine.sysctls.a"],
    ));

  test("loses what lies in the same field", () =>
    assert.deepEqual(
      left(before.replace("a: '1'}, kernel", "a: '2', b: '3'}, kernel"), (path) => path.endsWith(".b")),
      [],
    ));

  test("keeps a field that was taken away, and lacks one that came", () => {
    assert.deepEqual(
      left(before.replace("sysctls: {a: '1'}, ", "sysfs: {b: '2'}, "), (path) => path.includes("sysctls")),
      ["/v1alpha1/ machine.sysfs.b"],
    );
    assert.deepEqual(
      left(before.replace("sysctls: {a: '1'}, ", "sysfs: {b: '2'}, "), (path) => path.includes("sysfs")),
      ["/v1alpha1/ machine.sysctls.a"],
    );
  });

  test("has whole documents as they were: changed, added and removed ones", () => {
    const added = `${before}---\napiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: block\n`.replace(
      "hostname: one",
      "hostname: two",
    );
    assert.deepEqual(
      left(added, (_, document) => document.includes("NetworkDefaultAction")),
      ["v1alpha1/HostnameConfig/ hostname"],
    );
    assert.deepEqual(
      left(added, (_, document) => document.includes("Hostname")),
      ["v1alpha1/NetworkDefaultActionConfig/ "],
    );
    const removed = before.slice(0, before.indexOf("---")).replace("a: '1'}, kernel", "a: '2'}, kernel");
    assert.deepEqual(
      left(removed, (_, document) => document.includes("Hostname")),
      ["/v1alpha1/ machine.sysctls.a"],
    );
  });
});
