import assert from "node:assert/strict";
import { objectAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase } from "./world.ts";

const group = "admissionregistration.k8s.io/v1";
const dryRun = { query: { dryRun: "All" } };
const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const filled = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {}, resourceRules: [{ ...rule, scope: "*" }] };

/** ValidatingAdmissionPolicies and their bindings, as they are stored. */
export const policyCases: readonly ConformanceCase[] = [
  {
    name: "the defaults of a policy and its binding are filled in",
    run: async (w) => {
      const policy = await w.ok(
        w.send(
          "POST",
          `/apis/${group}/validatingadmissionpolicies`,
          {
            apiVersion: group,
            kind: "ValidatingAdmissionPolicy",
            metadata: { name: w.namespace },
            spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] },
          },
          dryRun,
        ),
      );
      assert.equal(metaOf(policy)["generation"], 1);
      assert.equal(objectAt(policy, "spec")["failurePolicy"], "Fail");
      assert.deepEqual(objectAt(policy, "spec")["matchConstraints"], filled);
      const binding = await w.ok(
        w.send(
          "POST",
          `/apis/${group}/validatingadmissionpolicybindings`,
          {
            apiVersion: group,
            kind: "ValidatingAdmissionPolicyBinding",
            metadata: { name: w.namespace },
            spec: { policyName: w.namespace, validationActions: ["Deny"], matchResources: { resourceRules: [rule] } },
          },
          dryRun,
        ),
      );
      assert.deepEqual(objectAt(binding, "spec")["matchResources"], filled);
    },
  },
];
