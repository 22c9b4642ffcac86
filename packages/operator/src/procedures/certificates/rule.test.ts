import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TalosControlPlane } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { controlPlane, facts, founded, NOW, observed } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { kubeletCertificates } from "../../report/kubelet-certificates.ts";
import { tendCertificates } from "./rule.ts";
import type { SeenCertificates } from "../../model/workload.ts";

const annotation = "talos-operator.dev/approve-kubelet-certificates";
const due: SeenCertificates = { at: NOW - 60_000, isAsking: false, pending: [] };
const annotated = (value: string): TalosControlPlane => {
  const plain = controlPlane();
  return { ...plain, metadata: { ...plain.metadata, annotations: { [annotation]: value } } };
};
const going = { ...controlPlane(), metadata: { ...controlPlane().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };

describe("certificate requests of kubelets", () => {
  const cases: readonly (readonly [what: string, world: World, expect: boolean | undefined])[] = [
    ["are listed once a minute", { certificates: due }, false],
    ["are not listed within a minute", { certificates: { ...due, at: NOW - 59_999 } }, undefined],
    ["are listed after the clock was set back", { certificates: { ...due, at: NOW + 1 } }, false],
    ["are not listed twice at a time", { certificates: { ...due, isAsking: true } }, undefined],
    ["are not listed where no kubelet asks", {}, undefined],
    ["are not listed by a new leader while the one before may still act", { certificates: due, mayDisturb: false }, undefined],
    ["are not listed of a cluster that goes", { certificates: due, controlPlane: going }, undefined],
    ["are approved while a person says so", { certificates: due, controlPlane: annotated("true") }, true],
    ["are not approved by another word", { certificates: due, controlPlane: annotated("True") }, false],
    ["are not approved by an empty word", { certificates: due, controlPlane: annotated("") }, false],
  ];
  for (const [what, world, expect] of cases)
    it(what, () => {
      const verdict = tendCertificates.decide(assess(observed({ facts: facts({ bootstrapDone: founded }), ...world })));
      assert.deepEqual(verdict?.actions, expect === undefined ? undefined : [{ kind: "TendCertificates", approves: expect }]);
    });
  it("are not listed before there is a cluster", () =>
    assert.equal(tendCertificates.decide(assess(observed({ certificates: due, facts: facts() }))), undefined));
});

describe("the condition KubeletCertificatesPending", () => {
  const one = { request: "csr-1", username: "system:node:a", since: Date.parse("2026-01-02T03:04:05Z") };
  const told = (world: World): readonly (readonly [string, string])[] =>
    kubeletCertificates(observed({ facts: facts({ bootstrapDone: founded }), ...world })).map(({ reason, message }) => [reason, message]);
  const waiting = { certificates: { ...due, pending: [one] } };

  it("names Node, request and since when, and what releases it", () => {
    const [[reason, message] = ["", ""]] = told(waiting);
    assert.equal(reason, "NobodyApproves");
    assert.match(message, /: a \(csr-1, since 2026-01-02T03:04:05Z\)\. /);
    assert.match(message, /kubectl certificate approve/);
    assert.match(message, new RegExp(annotation));
  });
  it("is not there while nobody waits, or nobody knows", () => {
    assert.deepEqual(told({ certificates: due }), []);
    assert.deepEqual(told({ certificates: { ...due, pending: undefined } }), []);
    assert.deepEqual(told({}), []);
  });
  it("tells what is refused, and why", () => {
    const pending = [one, { ...one, request: "csr-2", username: "system:node:b", refusal: "there is no Node b" }];
    const [[reason, message] = ["", ""]] = told({ certificates: { ...due, pending }, controlPlane: annotated("true") });
    assert.equal(reason, "Refused");
    assert.match(message, /: b \(csr-2, since 2026-01-02T03:04:05Z: there is no Node b\)\./);
  });
  it("tells what is approved next", () =>
    assert.deepEqual(
      told({ ...waiting, controlPlane: annotated("true") }).map(([reason]) => reason),
      ["BeingApproved"],
    ));
  it("counts what it does not name", () => {
    const pending = Array.from({ length: 10 }, (_, index) => ({ ...one, username: `system:node:n${index}` }));
    assert.match(told({ certificates: { ...due, pending } })[0]?.[1] ?? "", /n2 \([^)]*\), and 7 more\./);
  });
});
