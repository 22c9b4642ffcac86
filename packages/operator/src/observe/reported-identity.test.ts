import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Condition, TalosMachine } from "@talos-operator/api";
import { configured } from "../testing/builders.ts";
import { identityWords, pinnedWords } from "../report/identity.ts";
import { identityStatus, keptIdentity, reportedIdentity } from "./reported-identity.ts";
import type { IdentityKind } from "../model/assessment.ts";

const fact = { ...configured("10.0.0.1"), uuid: "u", macs: ["a", "b"], spki: "k" };
const object = (status: TalosMachine["status"]): TalosMachine => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosMachine",
  metadata: { name: "demo-10.0.0.1" },
  ...(status === undefined ? {} : { status }),
});
const at = { status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
const words = (kind: IdentityKind): readonly Condition[] => [
  ...[identityWords(kind, fact) ?? []].flat().map((said) => ({ ...at, type: "IdentityUnique", ...said })),
  { ...at, type: "MaintenanceIdentityPinned", ...pinnedWords(fact) },
];

const told: readonly (readonly [IdentityKind, ReturnType<typeof reportedIdentity>])[] = [
  ["own", { uuid: "u", macs: [], maintenanceKey: "k" }],
  ["shared", { uuid: "u", macs: ["a", "b"], maintenanceKey: "k" }],
  ["vendor", { uuid: "u", macs: ["a", "b"], maintenanceKey: "k" }],
  ["none", { uuid: "", macs: [], maintenanceKey: "k" }],
];

describe("who a TalosMachine says that its machine is", () => {
  for (const [kind, want] of told) {
    test(`is read from its identity (${kind})`, () => {
      const identity = identityStatus(kind, fact);
      assert.ok(identity !== undefined);
      assert.deepEqual(reportedIdentity(object({ identity })), want);
    });
    test(`is the same for one that the release before wrote (${kind})`, () =>
      assert.deepEqual(reportedIdentity(object({ conditions: words(kind) })), want));
    test(`is kept as data while there is no record, whoever wrote it (${kind})`, () => {
      const identity = keptIdentity(object({ conditions: words(kind) }));
      assert.ok(identity !== undefined);
      assert.deepEqual(reportedIdentity(object({ identity })), want);
      assert.equal(keptIdentity(object({ identity, conditions: words("shared") })), identity);
    });
  }

  test("is nothing for one that says nothing", () => {
    const nothing = { uuid: "", macs: [], maintenanceKey: undefined };
    assert.deepEqual(reportedIdentity(object(undefined)), nothing);
    assert.equal(keptIdentity(object(undefined)), undefined);
    assert.equal(identityStatus("none", { ...fact, spki: undefined }), undefined);
  });

  test("is what its identity says, whatever stands in its sentences", () => {
    const identity = { uuid: "other" };
    assert.deepEqual(reportedIdentity(object({ identity, conditions: words("shared") })), {
      uuid: "other",
      macs: [],
      maintenanceKey: undefined,
    });
    assert.deepEqual(reportedIdentity(object({ identity: {}, conditions: words("shared") })).uuid, "");
  });

  test("names no hardware address where the machine tells none", () => {
    assert.deepEqual(identityStatus("shared", { ...fact, macs: [] }), { uuid: "u", kind: "shared", maintenanceKey: "k" });
  });
});
