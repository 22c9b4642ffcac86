import assert from "node:assert/strict";
import type { KubeResponse } from "@talos-operator/ports";
import type { JsonObject } from "../json.ts";
import { objectAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;

interface Given {
  readonly spec: JsonObject;
  readonly binding?: JsonObject;
}

const aboutConfigMaps = (operations: readonly string[] = ["CREATE", "UPDATE"]): JsonObject => ({
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources: ["configmaps"] }],
});

/** A binding that concerns the namespace of the case alone. */
const boundHere = (w: World, more: JsonObject): JsonObject => ({
  policyName: w.namespace,
  validationActions: ["Deny"],
  matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": w.namespace } } },
  ...more,
});

/** Puts a policy and its binding in force, runs what it is for, and takes both away. */
async function underPolicy(
  w: World,
  { spec, binding = {} }: Given,
  probe: () => Promise<KubeResponse>,
  run: () => Promise<void>,
): Promise<void> {
  const kind = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: w.namespace } };
  await w.create(policies, { ...kind, kind: "ValidatingAdmissionPolicy", spec: { matchConstraints: aboutConfigMaps(), ...spec } });
  await w.create(bindings, { ...kind, kind: "ValidatingAdmissionPolicyBinding", spec: boundHere(w, binding) });
  try {
    // The genuine server takes a policy into account a moment after it was made.
    for (;;) {
      const { status, headers } = await probe();
      if (status >= 400 || headers["warning"] !== undefined) break;
    }
    await run();
  } finally {
    await w.send("DELETE", `${bindings}/${w.namespace}`);
    await w.send("DELETE", `${policies}/${w.namespace}`);
  }
}

const tried = (w: World, name: string, data: JsonObject = { a: "1" }): Promise<KubeResponse> =>
  w.send("POST", w.core("configmaps"), w.configMap(name, data), { query: { dryRun: "All" } });

const two = { a: "1", b: "2" };
const denied = (w: World, why: string): RegExp =>
  new RegExp(`ValidatingAdmissionPolicy '${w.namespace}' with binding '${w.namespace}' denied request: ${why}`, "u");

/** ValidatingAdmissionPolicies: what they match, what they say, what happens then. */
export const policyCases: readonly ConformanceCase[] = [
  {
    name: "a policy denies what breaks its expression, with its message, and lets the rest pass",
    run: (w) =>
      underPolicy(
        w,
        { spec: { validations: [{ expression: "size(object.data) <= 1", message: "one key at most" }] } },
        () => tried(w, "probe", two),
        async () => {
          const why = `ValidatingAdmissionPolicy '${w.namespace}' with binding '${w.namespace}' denied request: one key at most`;
          const refusal = await w.refused(tried(w, "a", two), {
            status: 422,
            reason: "Invalid",
            message: `configmaps "a" is forbidden: ${why}`,
          });
          assert.deepEqual(objectAt(refusal, "details"), { name: "a", kind: "configmaps", causes: [{ message: why }] });
          await w.create(w.core("configmaps"), w.configMap("a"));
          await w.refused(w.patch(w.core("configmaps", "a"), "merge", { data: two }), {
            status: 422,
            message: denied(w, "one key at most"),
          });
          await w.refused(w.patch(w.core("configmaps", "b"), "apply", w.configMap("b", two), { fieldManager: "m" }), { status: 422 });
          await w.ok(w.send("DELETE", w.core("configmaps", "a")));
        },
      ),
  },
  {
    name: "reason, variables and message expressions shape the refusal",
    run: (w) =>
      underPolicy(
        w,
        {
          spec: {
            variables: [
              { name: "count", expression: "size(object.data)" },
              { name: "twice", expression: "variables.count * 2" },
            ],
            validations: [
              { expression: "variables.twice < 4", reason: "Forbidden", messageExpression: "'twice is ' + string(variables.twice)" },
            ],
          },
        },
        () => tried(w, "probe", two),
        async () => {
          await w.refused(tried(w, "a", two), { status: 403, reason: "Forbidden", message: denied(w, "twice is 4") });
          await w.refused(tried(w, "a", { ...two, c: "3" }), { status: 403, message: denied(w, "twice is 6") });
          await w.ok(tried(w, "a"));
        },
      ),
  },
  {
    name: "an expression without message is told itself, and an error denies unless the policy says Ignore",
    run: async (w) => {
      const spec = { validations: [{ expression: "object.data.a == '1'" }] };
      await underPolicy(
        w,
        { spec },
        () => tried(w, "probe", { a: "2" }),
        async () => {
          await w.refused(tried(w, "a", { a: "2" }), { status: 422, message: denied(w, "failed expression: object.data.a == '1'$") });
          const why = "expression 'object.data.a == '1'' resulted in error: no such key: a";
          await w.refused(tried(w, "a", { b: "1" }), { status: 422, message: denied(w, why) });
        },
      );
      await underPolicy(
        w,
        { spec: { ...spec, failurePolicy: "Ignore" } },
        () => tried(w, "probe", { a: "2" }),
        async () => {
          // The policy before had the same name and may be in force a moment longer.
          while ((await tried(w, "a", { b: "1" })).status !== 201);
          await w.refused(tried(w, "a", { a: "2" }), { status: 422 });
        },
      );
    },
  },
  {
    name: "match conditions, selectors and operations decide what a policy is about",
    run: (w) =>
      underPolicy(
        w,
        {
          spec: {
            matchConstraints: {
              ...aboutConfigMaps(["CREATE"]),
              objectSelector: { matchExpressions: [{ key: "free", operator: "DoesNotExist" }] },
            },
            matchConditions: [{ name: "named", expression: "object.metadata.name.startsWith('a')" }],
            validations: [{ expression: "false" }],
          },
        },
        () => tried(w, "a-probe"),
        async () => {
          await w.refused(tried(w, "a"), { status: 422, message: denied(w, "failed expression: false") });
          await w.create(w.core("configmaps"), w.configMap("b"));
          await w.create(w.core("configmaps"), w.configMap("a", {}, { labels: { free: "yes" } }));
          await w.ok(w.patch(w.core("configmaps", "a"), "merge", { metadata: { labels: null } }));
          await w.create(w.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } });
        },
      ),
  },
  {
    name: "deletions have an old object and no new one; the request says who and what",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("kept", { keep: "yes" }));
      await w.create(w.core("configmaps"), w.configMap("free", { keep: "no" }));
      const seen =
        "request.operation == 'DELETE' && request.resource.resource == 'configmaps' && request.namespace == namespaceObject.metadata.name";
      await underPolicy(
        w,
        {
          spec: {
            matchConstraints: aboutConfigMaps(["DELETE"]),
            validations: [
              { expression: "oldObject.data.keep != 'yes'", message: "kept" },
              { expression: `object == null && ${seen} && 'system:masters' in request.userInfo.groups`, message: "not as it should be" },
            ],
          },
        },
        () => w.send("DELETE", w.core("configmaps", "kept"), undefined, { query: { dryRun: "All" } }),
        async () => {
          await w.refused(w.send("DELETE", w.core("configmaps", "kept")), { status: 422, message: denied(w, "kept") });
          await w.ok(w.send("DELETE", w.core("configmaps", "free")));
        },
      );
    },
  },
  {
    name: "a binding that warns lets pass and says so, one that audits is silent",
    run: (w) =>
      underPolicy(
        w,
        { spec: { validations: [{ expression: "false", message: "not wise" }] }, binding: { validationActions: ["Warn", "Audit"] } },
        () => tried(w, "probe"),
        async () => {
          const { status, headers } = await tried(w, "a");
          assert.equal(status, 201);
          const text = `Validation failed for ValidatingAdmissionPolicy '${w.namespace}' with binding '${w.namespace}': not wise`;
          assert.ok(headers["warning"]?.includes(text), headers["warning"]);
        },
      ),
  },
  {
    name: "parameters come from the object that the binding names",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("limits", { most: "1" }));
      await underPolicy(
        w,
        {
          spec: {
            paramKind: { apiVersion: "v1", kind: "ConfigMap" },
            validations: [{ expression: "size(object.data) <= int(params.data.most)", messageExpression: "'at most ' + params.data.most" }],
          },
          binding: { paramRef: { name: "limits", namespace: w.namespace, parameterNotFoundAction: "Deny" } },
        },
        () => tried(w, "probe", two),
        async () => {
          // Parameters, too, come a moment after the policy.
          let last = await tried(w, "a", two);
          while (!JSON.stringify(last.body).includes("at most")) last = await tried(w, "a", two);
          await w.refused(tried(w, "a", two), { status: 422, message: denied(w, "at most 1") });
          await w.ok(tried(w, "a"));
        },
      );
    },
  },
  {
    name: "the authorizer answers for the user of the request and for others",
    run: (w) =>
      underPolicy(
        w,
        {
          spec: {
            validations: [
              { expression: "authorizer.group('').resource('configmaps').namespace(request.namespace).check('delete').allowed()" },
              { expression: "authorizer.requestResource.check('create').allowed()" },
              {
                expression: "authorizer.serviceAccount('default', 'nobody').group('').resource('secrets').check('delete').allowed()",
                message: "nobody may not",
              },
            ],
          },
        },
        () => tried(w, "probe"),
        async () => {
          await w.refused(tried(w, "a"), { status: 422, message: denied(w, "nobody may not") });
        },
      ),
  },
  {
    name: "defaults are filled in, and nonsense is refused with its field",
    run: async (w) => {
      const kind = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", metadata: { name: w.namespace } };
      const dryRun = { query: { dryRun: "All" } };
      const policy = (spec: JsonObject): Promise<KubeResponse> =>
        w.send(
          "POST",
          policies,
          { ...kind, spec: { matchConstraints: aboutConfigMaps(), validations: [{ expression: "true" }], ...spec } },
          dryRun,
        );
      const stored = await w.ok(policy({}));
      assert.equal(metaOf(stored)["generation"], 1);
      assert.deepEqual(objectAt(stored, "spec")["failurePolicy"], "Fail");
      assert.deepEqual(objectAt(stored, "spec")["matchConstraints"], {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"], scope: "*" }],
      });
      await w.refused(policy({ validations: [{ expression: "object." }] }), { status: 422, causes: ["spec.validations[0].expression"] });
      await w.refused(policy({ validations: [{ expression: "'a'" }] }), { status: 422, causes: ["spec.validations[0].expression"] });
      await w.refused(policy({ validations: [] }), { status: 422, causes: ["spec.validations", "spec.auditAnnotations"] });
      await w.refused(policy({ matchConstraints: {} }), { status: 422, causes: ["spec.matchConstraints.resourceRules"] });
      await w.refused(policy({ variables: [{ name: "1a", expression: "1" }] }), { status: 422, causes: ["spec.variables[0].name"] });
      await w.refused(policy({ validations: [{ expression: "true", reason: "Nope" }] }), {
        status: 422,
        causes: ["spec.validations[0].reason"],
      });
      const binding = (spec: JsonObject): Promise<KubeResponse> =>
        w.send("POST", bindings, { ...kind, kind: "ValidatingAdmissionPolicyBinding", spec }, dryRun);
      await w.ok(binding({ policyName: "a", validationActions: ["Deny"] }));
      await w.refused(binding({ validationActions: ["Deny"] }), { status: 422, causes: ["spec.policyName"] });
      await w.refused(binding({ policyName: "a" }), { status: 422, causes: ["spec.validationActions"] });
      await w.refused(binding({ policyName: "a", validationActions: ["Deny", "Warn"] }), {
        status: 422,
        causes: ["spec.validationActions"],
      });
    },
  },
];
