import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  appliedTemplateSecretName,
  bundleSecretName,
  derivedName,
  kubeconfigSecretName,
  labelValueFor,
  machineNameFor,
  reconcileModeOf,
  unknownReconcileMode,
  talosconfigKey,
  talosconfigSecretName,
} from "./index.ts";

describe("machineNameFor", () => {
  const cases = [
    { name: "an IPv4 address as published", source: { kind: "address", address: "10.0.0.11" }, want: "demo-10.0.0.11" },
    { name: "a reference by the referenced name", source: { kind: "machineRef", name: "rack-1" }, want: "demo-rack-1" },
    { name: "an IPv6 address by its hash", source: { kind: "address", address: "fd00::11" }, want: "demo-7de88cd0" },
    { name: "an IPv6 address alike in any spelling", source: { kind: "address", address: "FD00:0:0:0::0011" }, want: "demo-7de88cd0" },
    { name: "a DNS name by its hash", source: { kind: "address", address: "node.example.com" }, want: "demo-0b3adeaa" },
    { name: "a DNS name alike in any letter case", source: { kind: "address", address: "Node.Example.COM" }, want: "demo-0b3adeaa" },
  ] as const;
  for (const { name, source, want } of cases) it(`names ${name}`, () => assert.equal(machineNameFor("demo", source), want));
});

describe("derived names", () => {
  it("follow the published patterns", () => {
    assert.equal(bundleSecretName("demo", 1), "demo-bundle-1");
    assert.equal(kubeconfigSecretName("demo"), "demo-kubeconfig");
    assert.equal(talosconfigSecretName("demo"), "demo-talosconfig");
    assert.equal(talosconfigKey("demo"), "demo.talosconfig");
    assert.equal(appliedTemplateSecretName("demo", "worker", "abc"), "demo-worker-applied-abc");
  });

  it("are cut at 253 characters exactly when longer", () => {
    const fits = derivedName("a".repeat(243), "10.0.0.11");
    assert.equal(fits, `${"a".repeat(243)}-10.0.0.11`);
    const cut = derivedName("a".repeat(250), "10.0.0.11");
    assert.match(cut, /^a{244}-[0-9a-f]{8}$/);
    assert.equal(cut.length, 253);
  });

  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?$/);

  it("stay within 253 characters, begin and end as Kubernetes wants, and never meet by being cut", () => {
    fc.assert(
      fc.property(label, label, label, (owner, suffix, other) => {
        const name = derivedName(owner, suffix);
        assert.ok(name.length <= 253);
        assert.match(name, /^[a-z0-9].*[a-z0-9]$/);
        if (suffix !== other) assert.notEqual(name, derivedName(owner, other));
      }),
    );
  });

  it("fit into a label value, long ones told apart by a hash", () => {
    fc.assert(
      fc.property(label, (name) => {
        const value = labelValueFor(name);
        assert.match(value, /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/);
        assert.equal(value === name, name.length <= 63);
      }),
    );
    assert.notEqual(labelValueFor(`${"a".repeat(70)}1`), labelValueFor(`${"a".repeat(70)}2`));
  });
});

describe("unknownReconcileMode", () => {
  for (const [value, want] of [
    [undefined, undefined],
    ["", undefined],
    [" Reconcile ", undefined],
    ["DRYRUN", undefined],
    ["sleepy", "sleepy"],
    ["x".repeat(100), "x".repeat(64)],
  ] as const)
    it(`finds ${JSON.stringify(want)} in ${JSON.stringify(value)}`, () =>
      assert.equal(
        unknownReconcileMode(value === undefined ? {} : { annotations: { "talos.alperen.cloud/reconcile-mode": value } }),
        want,
      ));
});

describe("reconcileModeOf", () => {
  const cases = [
    { value: undefined, want: "reconcile" },
    { value: "Disable", want: "disable" },
    { value: "DRYRUN", want: "dryrun" },
    { value: " import ", want: "import" },
    { value: "pause", want: "reconcile" },
  ] as const;
  for (const { value, want } of cases)
    it(`reads ${String(value)} as ${want}`, () => {
      assert.equal(reconcileModeOf(value === undefined ? {} : { annotations: { "talos.alperen.cloud/reconcile-mode": value } }), want);
    });
});
