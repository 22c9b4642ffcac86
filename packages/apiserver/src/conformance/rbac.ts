import assert from "node:assert/strict";
import type { KubeRequest, KubeResponse } from "@talos-operator/ports";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const roles = (w: World): string => `${rbac}/namespaces/${w.namespace}/roles`;
const roleBindings = (w: World): string => `${rbac}/namespaces/${w.namespace}/rolebindings`;

/** Someone whom no other case knows. */
const jane = (w: World): string => `jane-${w.namespace}`;
const user = (name: string): JsonObject => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name });
const group = (name: string): JsonObject => ({ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name });
const roleRef = (name: string, kind = "Role"): JsonObject => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
const rule = (verbs: readonly string[], resources: readonly string[], more: JsonObject = {}): JsonObject => ({
  apiGroups: [""],
  resources,
  verbs,
  ...more,
});

function as(
  w: World,
  name: string,
  method: KubeRequest["method"],
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<KubeResponse> {
  return w.send(method, path, body, { headers: { "impersonate-user": name, ...headers } });
}

async function grant(w: World, rules: readonly JsonObject[], subjects: readonly JsonObject[] = [user(jane(w))]): Promise<void> {
  const name = `r${(nextRole += 1)}`;
  await w.create(roles(w), { metadata: { name }, rules });
  await w.create(roleBindings(w), { metadata: { name }, roleRef: roleRef(name), subjects });
}
let nextRole = 0;

/** Waits until the authorizer of a genuine server, which reads from a cache, has seen what was written. */
async function allowed(w: World, name: string, path: string, headers: Record<string, string> = {}): Promise<JsonObject> {
  for (;;) {
    const response = await as(w, name, "GET", path, undefined, headers);
    if (response.status !== 403) return w.ok(Promise.resolve(response));
    // Each turn is one request over the wire.
  }
}

async function review(w: World, spec: JsonObject): Promise<JsonObject> {
  const answer = await w.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec,
  });
  return objectAt(answer, "status");
}

/** As `review`, as soon as it is allowed. */
async function reviewUntilAllowed(w: World, spec: JsonObject): Promise<JsonObject> {
  for (;;) {
    const status = await review(w, spec);
    if (status["allowed"] === true) return status;
  }
}

const attributes = (w: World, verb: string, resource: string, more: JsonObject = {}): JsonObject => ({
  user: jane(w),
  resourceAttributes: { namespace: w.namespace, verb, resource, ...more },
});

/** Roles, bindings, reviews and impersonation. */
export const rbacCases: readonly ConformanceCase[] = [
  {
    name: "who has no role may not list",
    run: async (w) => {
      await w.refused(as(w, jane(w), "GET", w.core("configmaps")), {
        status: 403,
        reason: "Forbidden",
        message: `configmaps is forbidden: User "${jane(w)}" cannot list resource "configmaps" in API group "" in the namespace "$NS"`,
      });
    },
  },
  {
    name: "a refusal at cluster scope says so",
    run: async (w) => {
      await w.refused(as(w, jane(w), "GET", "/api/v1/nodes/n"), {
        status: 403,
        message: `nodes "n" is forbidden: User "${jane(w)}" cannot get resource "nodes" in API group "" at the cluster scope`,
      });
    },
  },
  {
    name: "a refusal names the subresource and the group",
    run: async (w) => {
      await w.refused(as(w, jane(w), "PUT", `/apis/apps/v1/namespaces/${w.namespace}/deployments/d/scale`, {}), {
        status: 403,
        message: `deployments.apps "d" is forbidden: User "${jane(w)}" cannot update resource "deployments/scale" in API group "apps" in the namespace "$NS"`,
      });
    },
  },
  {
    name: "a refusal of a path that is no resource says so",
    run: async (w) => {
      await w.refused(as(w, jane(w), "GET", "/metrics"), {
        status: 403,
        reason: "Forbidden",
        message: `forbidden: User "${jane(w)}" cannot get path "/metrics"`,
      });
    },
  },
  {
    name: "whoever is authenticated may discover, anonymous users may not",
    run: async (w) => {
      await w.ok(as(w, jane(w), "GET", "/apis"));
      await w.ok(as(w, jane(w), "GET", "/api/v1"));
      await w.ok(as(w, "system:anonymous", "GET", "/version"));
      await w.refused(as(w, "system:anonymous", "GET", "/apis"), {
        status: 403,
        message: 'forbidden: User "system:anonymous" cannot get path "/apis"',
      });
    },
  },
  {
    name: "a Role gives its verbs in its namespace and no other",
    run: async (w) => {
      await grant(w, [rule(["get", "list"], ["configmaps"])]);
      await allowed(w, jane(w), w.core("configmaps"));
      await w.refused(as(w, jane(w), "POST", w.core("configmaps"), w.configMap("a")), { status: 403 });
      await w.refused(as(w, jane(w), "GET", "/api/v1/configmaps"), {
        status: 403,
        message: `configmaps is forbidden: User "${jane(w)}" cannot list resource "configmaps" in API group "" at the cluster scope`,
      });
      await w.refused(as(w, jane(w), "GET", "/api/v1/namespaces/default/configmaps"), { status: 403 });
    },
  },
  {
    name: "resource names narrow a rule to single objects",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("mine"));
      await grant(w, [rule(["get", "list"], ["configmaps"], { resourceNames: ["mine"] })]);
      await allowed(w, jane(w), w.core("configmaps", "mine"));
      await w.refused(as(w, jane(w), "GET", w.core("configmaps", "other")), { status: 403 });
      await w.refused(as(w, jane(w), "GET", w.core("configmaps")), { status: 403 });
    },
  },
  {
    name: "a rule for an object does not reach its subresources",
    run: async (w) => {
      await grant(w, [rule(["*"], ["pods"])]);
      assert.equal((await reviewUntilAllowed(w, attributes(w, "delete", "pods")))["allowed"], true);
      assert.equal((await review(w, attributes(w, "create", "pods", { subresource: "eviction" })))["allowed"], false);
    },
  },
  {
    name: "a rule may name a subresource of every resource",
    run: async (w) => {
      await grant(w, [rule(["get"], ["*/status"])]);
      await reviewUntilAllowed(w, attributes(w, "get", "pods", { subresource: "status" }));
      assert.equal((await review(w, attributes(w, "get", "pods")))["allowed"], false);
      assert.equal((await review(w, attributes(w, "get", "pods", { subresource: "log" })))["allowed"], false);
    },
  },
  {
    name: "a review says which binding allows it",
    run: async (w) => {
      await w.create(roles(w), { metadata: { name: "reader" }, rules: [rule(["get"], ["pods"])] });
      await w.create(roleBindings(w), { metadata: { name: "readers" }, roleRef: roleRef("reader"), subjects: [user(jane(w))] });
      const status = await reviewUntilAllowed(w, attributes(w, "get", "pods"));
      assert.equal(status["reason"], `RBAC: allowed by RoleBinding "readers/${w.namespace}" of Role "reader" to User "${jane(w)}"`);
    },
  },
  {
    name: "a ClusterRole bound in a namespace counts there only",
    run: async (w) => {
      await w.create(roleBindings(w), {
        metadata: { name: "viewers" },
        roleRef: roleRef("cluster-admin", "ClusterRole"),
        subjects: [user(jane(w))],
      });
      await allowed(w, jane(w), w.core("secrets"));
      await w.refused(as(w, jane(w), "GET", "/api/v1/namespaces/default/secrets"), { status: 403 });
    },
  },
  {
    name: "a binding to a group reaches its members",
    run: async (w) => {
      const team = `team-${w.namespace}`;
      await grant(w, [rule(["list"], ["pods"])], [group(team)]);
      await allowed(w, jane(w), w.core("pods"), { "impersonate-group": team });
      await w.refused(as(w, jane(w), "GET", w.core("pods")), { status: 403 });
    },
  },
  {
    name: "a binding to a ServiceAccount reaches its user name",
    run: async (w) => {
      await grant(w, [rule(["list"], ["pods"])], [{ kind: "ServiceAccount", name: "robot", namespace: w.namespace }]);
      await allowed(w, `system:serviceaccount:${w.namespace}:robot`, w.core("pods"));
      await w.refused(as(w, `system:serviceaccount:default:robot`, "GET", w.core("pods")), { status: 403 });
    },
  },
  {
    name: "a binding to the group of all ServiceAccounts of a namespace reaches them",
    run: async (w) => {
      await grant(w, [rule(["list"], ["pods"])], [group(`system:serviceaccounts:${w.namespace}`)]);
      await allowed(w, `system:serviceaccount:${w.namespace}:any`, w.core("pods"));
    },
  },
  {
    name: "a refusal tells of a role that does not exist",
    run: async (w) => {
      await w.create(roleBindings(w), { metadata: { name: "lost" }, roleRef: roleRef("nowhere"), subjects: [user(jane(w))] });
      for (;;) {
        const { body } = await as(w, jane(w), "GET", w.core("pods"));
        const message = String((body as JsonObject)["message"]);
        if (!message.includes("RBAC")) continue;
        assert.ok(
          message.endsWith('in the namespace "' + w.namespace + '": RBAC: role.rbac.authorization.k8s.io "nowhere" not found'),
          message,
        );
        break;
      }
    },
  },
  {
    name: "a rule without verbs is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", roles(w), { metadata: { name: "r" }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] }), {
        status: 422,
        reason: "Invalid",
        message: 'Role.rbac.authorization.k8s.io "r" is invalid: rules[0].verbs: Required value: verbs must contain at least one value',
      });
    },
  },
  {
    name: "a Role has no paths in its rules",
    run: async (w) => {
      await w.refused(w.send("POST", roles(w), { metadata: { name: "r" }, rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] }), {
        status: 422,
        message:
          'Role.rbac.authorization.k8s.io "r" is invalid: rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      });
    },
  },
  {
    name: "a rule names groups and resources",
    run: async (w) => {
      await w.refused(w.send("POST", roles(w), { metadata: { name: "r" }, rules: [{ verbs: ["get"] }] }), {
        status: 422,
        causes: ["rules[0].apiGroups", "rules[0].resources"],
      });
    },
  },
  {
    name: "a binding fills in the group of roles and people",
    run: async (w) => {
      const made = await w.create(roleBindings(w), {
        metadata: { name: "b" },
        roleRef: { kind: "Role", name: "r" },
        subjects: [
          { kind: "User", name: "u" },
          { kind: "ServiceAccount", name: "s" },
        ],
      });
      assert.deepEqual(made["roleRef"], roleRef("r"));
      assert.deepEqual(made["subjects"], [user("u"), { kind: "ServiceAccount", name: "s" }]);
    },
  },
  {
    name: "the role of a binding is immutable",
    run: async (w) => {
      await w.create(roleBindings(w), { metadata: { name: "b" }, roleRef: roleRef("r") });
      await w.refused(w.patch(`${roleBindings(w)}/b`, "merge", { roleRef: { name: "x" } }), {
        status: 422,
        reason: "Invalid",
        message:
          'RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"x"}: cannot change roleRef',
      });
    },
  },
  {
    name: "a binding needs a role of a known kind",
    run: async (w) => {
      await w.refused(w.send("POST", roleBindings(w), { metadata: { name: "b" }, roleRef: { kind: "Rolle", name: "r" } }), {
        status: 422,
        message:
          'RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef.kind: Unsupported value: "Rolle": supported values: "Role", "ClusterRole"',
      });
    },
  },
  {
    name: "a subject is a User, a Group or a ServiceAccount",
    run: async (w) => {
      const subjects = [
        { kind: "Person", name: "p" },
        { kind: "User", apiGroup: "rbac.authorization.k8s.io" },
      ];
      await w.refused(w.send("POST", roleBindings(w), { metadata: { name: "b" }, roleRef: roleRef("r"), subjects }), {
        status: 422,
        message: /subjects\[0\]\.kind: Unsupported value: "Person": supported values: "ServiceAccount", "User", "Group"/,
        causes: ["subjects[0].kind", "subjects[1].name"],
      });
    },
  },
  {
    name: "the ServiceAccount of a ClusterRoleBinding needs a namespace",
    run: async (w) => {
      const binding = {
        metadata: { name: w.namespace },
        roleRef: roleRef("r", "ClusterRole"),
        subjects: [{ kind: "ServiceAccount", name: "s" }],
      };
      await w.refused(w.send("POST", `${rbac}/clusterrolebindings`, binding), { status: 422, causes: ["subjects[0].namespace"] });
    },
  },
  {
    name: "nobody grants what he does not have",
    run: async (w) => {
      await grant(w, [rule(["create", "list"], ["roles"], { apiGroups: ["rbac.authorization.k8s.io"] }), rule(["get"], ["pods"])]);
      await allowed(w, jane(w), roles(w));
      await w.ok(as(w, jane(w), "POST", roles(w), { metadata: { name: "fine" }, rules: [rule(["get"], ["pods"])] }));
      await w.refused(
        as(w, jane(w), "POST", roles(w), { metadata: { name: "more" }, rules: [rule(["list", "get"], ["pods", "secrets"])] }),
        {
          status: 403,
          reason: "Forbidden",
          message: `roles.rbac.authorization.k8s.io "more" is forbidden: user "${jane(w)}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["list"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["list" "get"]}`,
        },
      );
    },
  },
  {
    name: "nobody binds a role that he does not have",
    run: async (w) => {
      await w.create(roles(w), { metadata: { name: "strong" }, rules: [rule(["delete"], ["secrets"])] });
      await grant(w, [rule(["create", "list"], ["rolebindings"], { apiGroups: ["rbac.authorization.k8s.io"] })]);
      await allowed(w, jane(w), roleBindings(w));
      const bind = (name: string): Promise<KubeResponse> =>
        as(w, jane(w), "POST", roleBindings(w), { metadata: { name: "b" }, roleRef: roleRef(name), subjects: [user(jane(w))] });
      await w.refused(bind("strong"), {
        status: 403,
        message: `rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "${jane(w)}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["secrets"], Verbs:["delete"]}`,
      });
      await w.refused(bind("nowhere"), { status: 404, reason: "NotFound" });
      await grant(w, [rule(["bind"], ["roles"], { apiGroups: ["rbac.authorization.k8s.io"], resourceNames: ["strong"] })]);
      while ((await bind("strong")).status !== 201) {
        // A genuine server decides from a cache.
      }
    },
  },
  {
    name: "the verb escalate lifts that for roles",
    run: async (w) => {
      await grant(w, [rule(["create", "list", "escalate"], ["roles"], { apiGroups: ["rbac.authorization.k8s.io"] })]);
      await allowed(w, jane(w), roles(w));
      await w.ok(as(w, jane(w), "POST", roles(w), { metadata: { name: "more" }, rules: [rule(["*"], ["*"])] }));
    },
  },
  {
    name: "a SelfSubjectRulesReview lists what one may do",
    run: async (w) => {
      await grant(w, [rule(["get"], ["pods"], { resourceNames: ["x"] })]);
      await reviewUntilAllowed(w, attributes(w, "get", "pods", { name: "x" }));
      const answer = await w.ok(
        as(w, jane(w), "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectRulesReview",
          spec: { namespace: w.namespace },
        }),
      );
      const status = objectAt(answer, "status");
      assert.equal(status["incomplete"], false);
      assert.ok(
        objectsAt(status, "resourceRules").some(
          (found) =>
            JSON.stringify(found) === JSON.stringify({ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["x"] }),
        ),
        JSON.stringify(status),
      );
      assert.ok(objectsAt(status, "nonResourceRules").some((found) => JSON.stringify(found["nonResourceURLs"]).includes("/openapi")));
    },
  },
  {
    name: "a SelfSubjectAccessReview answers for the one who asks",
    run: async (w) => {
      const answer = await w.ok(
        as(w, jane(w), "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectAccessReview",
          spec: { nonResourceAttributes: { path: "/apis", verb: "get" } },
        }),
      );
      assert.equal(objectAt(answer, "status")["allowed"], true);
    },
  },
  {
    name: "a SubjectAccessReview asks about one thing",
    run: async (w) => {
      const send = (spec: JsonObject): Promise<KubeResponse> =>
        w.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec,
        });
      await w.refused(send({ user: "u" }), { status: 422, reason: "Invalid", causes: ["spec.resourceAttributes"] });
      await w.refused(send({ resourceAttributes: { verb: "get", resource: "pods" } }), { status: 422, causes: ["spec.user"] });
    },
  },
  {
    name: "a LocalSubjectAccessReview stays in its namespace",
    run: async (w) => {
      const path = `/apis/authorization.k8s.io/v1/namespaces/${w.namespace}/localsubjectaccessreviews`;
      const body = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "LocalSubjectAccessReview",
        metadata: { namespace: w.namespace },
        spec: { user: "u", resourceAttributes: { namespace: "other", verb: "get", resource: "pods" } },
      };
      await w.refused(w.send("POST", path, body), { status: 422, causes: ["spec.resourceAttributes.namespace"] });
    },
  },
  {
    name: "a request acts as the impersonated user with groups, uid and extra",
    run: async (w) => {
      const answer = await w.ok(
        as(
          w,
          jane(w),
          "POST",
          "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
          { "impersonate-group": "a,b", "impersonate-uid": "u-1", "impersonate-extra-scopes.example.com%2fk": "v" },
        ),
      );
      assert.deepEqual(objectAt(answer, "status")["userInfo"], {
        username: jane(w),
        uid: "u-1",
        groups: ["a,b", "system:authenticated"],
        extra: { "scopes.example.com/k": ["v"] },
      });
    },
  },
  {
    name: "an impersonated ServiceAccount has its groups",
    run: async (w) => {
      const answer = await w.ok(
        as(w, `system:serviceaccount:${w.namespace}:x`, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
          apiVersion: "authentication.k8s.io/v1",
          kind: "SelfSubjectReview",
        }),
      );
      assert.deepEqual(objectAt(objectAt(answer, "status"), "userInfo")["groups"], [
        "system:serviceaccounts",
        `system:serviceaccounts:${w.namespace}`,
        "system:authenticated",
      ]);
    },
  },
  {
    name: "a Role in a namespace may give the namespace itself",
    run: async (w) => {
      const path = `/api/v1/namespaces/${w.namespace}`;
      const name = jane(w);
      await w.refused(as(w, name, "GET", path), {
        status: 403,
        message: `namespaces "$NS" is forbidden: User "${name}" cannot get resource "namespaces" in API group "" in the namespace "$NS"`,
      });
      await grant(w, [rule(["get"], ["namespaces"])]);
      assert.equal(metaOf(await allowed(w, name, path))["name"], w.namespace);
      await w.refused(as(w, name, "GET", "/api/v1/namespaces/default"), { status: 403 });
      await w.refused(as(w, name, "GET", "/api/v1/namespaces"), { status: 403 });
    },
  },
  {
    name: "the roles of a new cluster are there",
    run: async (w) => {
      const admin = await w.ok(w.get(`${rbac}/clusterroles/cluster-admin`));
      assert.deepEqual(admin["rules"], [
        { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
        { verbs: ["*"], nonResourceURLs: ["*"] },
      ]);
      assert.deepEqual(objectAt(metaOf(admin), "labels"), { "kubernetes.io/bootstrapping": "rbac-defaults" });
      const view = await w.ok(w.get(`${rbac}/clusterroles/view`));
      assert.deepEqual(view["aggregationRule"], {
        clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } }],
      });
      const binding = await w.ok(w.get(`${rbac}/clusterrolebindings/cluster-admin`));
      assert.deepEqual(binding["subjects"], [group("system:masters")]);
    },
  },
];
