import assert from "node:assert/strict";
import { test } from "node:test";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeApiErrorCode, StatusCause } from "@talos-operator/kube-runtime";
import { failedBy, faultOfCall } from "./fault.ts";

const refusal = (code: KubeApiErrorCode, detail: string, causes: readonly StatusCause[] = []): KubeApiError =>
  new KubeApiError(code, { call: "apply deployments web/a", detail, causes });

test("a conflict names managers and fields, the first three of them", () => {
  const causes = ["a", "b", "c", "d"].map((field) => ({
    reason: "FieldManagerConflict",
    field: `.spec.${field}`,
    message: `conflict with "helm" using apps/v1`,
  }));
  const { reason, message } = faultOfCall(refusal("APPLY_CONFLICT", "conflicts", causes), "Deployment web/a");
  assert.equal(reason, "fields-not-ours");
  assert.match(message, /^Deployment web\/a: \.spec\.a, \.spec\.b, \.spec\.c and 1 more belong to helm\./);
});

test("a refusal tells what is wrong, and no value", () => {
  const message = 'Invalid value: "hunter2 \\"and\\" more": must be no secret';
  const fault = faultOfCall(
    refusal("INVALID", `Deployment "a" is invalid: ${message}`, [{ reason: "FieldValueInvalid", field: "spec.env[0]", message }]),
    "Deployment web/a",
  );
  assert.equal(fault.message, "The cluster refuses Deployment web/a: spec.env[0]: Invalid value: must be no secret.");
  assert.doesNotMatch(faultOfCall(refusal("INVALID", `it is invalid: ${message}`), "Deployment web/a").message, /hunter2/);
});

for (const [code, reason, mayRepeat] of [
  ["NO_ANSWER", "cluster-unreachable", true],
  ["UNAUTHORIZED", "cluster-refused", true],
  ["FORBIDDEN", "api-refused", true],
  ["INVALID_CALL", "manifests-invalid", false],
  ["NOT_SERVED", "kind-not-served", true],
] as const)
  test(`${code} is ${reason}`, () => {
    const failed = failedBy(faultOfCall(refusal(code, "words"), "Deployment web/a"));
    assert.deepEqual([failed.reason, failed.mayRepeat], [reason, mayRepeat]);
  });

test("what nobody foresaw is told by its name alone", () => {
  assert.deepEqual(failedBy(new TypeError("hunter2")), {
    kind: "manifests-failed",
    reason: "failed",
    message: "The worker failed: TypeError.",
    mayRepeat: true,
  });
});
