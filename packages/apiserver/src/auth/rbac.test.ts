import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeRequest, KubeResponse } from "@talos-operator/ports";
import type { ApiServer } from "../index.ts";
import { startMemoryServer } from "../testing/memory-server.ts";
import { allows, uncovered } from "./policy-rule.ts";
import type { PolicyRule, WantedAccess } from "./policy-rule.ts";

const none: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const pods: PolicyRule = { ...none, verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const wantPod: WantedAccess = { verb: "get", group: "", resource: "pods", subresource: "", name: "a", path: "" };

describe("a policy rule", () => {
  const cases: readonly { name: string; rule: PolicyRule; wanted: WantedAccess; want: boolean }[] = [
    { name: "allows its verb on its resource", rule: pods, wanted: wantPod, want: true },
    { name: "allows no other verb", rule: pods, wanted: { ...wantPod, verb: "list" }, want: false },
    { name: "allows no other group", rule: pods, wanted: { ...wantPod, group: "apps" }, want: false },
    { name: "allows no subresource", rule: pods, wanted: { ...wantPod, subresource: "log" }, want: false },
    {
      name: "allows a subresource that it names",
      rule: { ...pods, resources: ["pods/log"] },
      wanted: { ...wantPod, subresource: "log" },
      want: true,
    },
    { name: "with a subresource does not allow the object", rule: { ...pods, resources: ["pods/log"] }, wanted: wantPod, want: false },
    {
      name: "allows everything with stars",
      rule: { ...pods, verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      wanted: { ...wantPod, verb: "x", group: "g", subresource: "s" },
      want: true,
    },
    { name: "with names does not allow a list", rule: { ...pods, resourceNames: ["a"] }, wanted: { ...wantPod, name: "" }, want: false },
    {
      name: "for paths allows what begins so",
      rule: { ...none, verbs: ["get"], nonResourceURLs: ["/api/*"] },
      wanted: { ...wantPod, resource: "", path: "/api/v1" },
      want: true,
    },
    {
      name: "for paths allows no other path",
      rule: { ...none, verbs: ["get"], nonResourceURLs: ["/api/*"] },
      wanted: { ...wantPod, resource: "", path: "/api" },
      want: false,
    },
    {
      name: "for resources allows no path",
      rule: { ...pods, verbs: ["*"], resources: ["*"] },
      wanted: { ...wantPod, resource: "", path: "/x" },
      want: false,
    },
  ];
  for (const { name, rule, wanted, want } of cases) it(name, () => assert.equal(allows(rule, wanted), want));

  it("is covered by rules that give each of its parts", () => {
    const wanted = { ...pods, verbs: ["get", "list"], resources: ["pods", "secrets"] };
    assert.deepEqual(
      uncovered(
        [
          { ...pods, verbs: ["*"] },
          { ...wanted, resources: ["secrets"] },
        ],
        [wanted],
      ),
      [],
    );
    assert.deepEqual(uncovered([pods], [{ ...pods, verbs: ["get", "list"] }]), [{ ...pods, verbs: ["list"] }]);
    assert.deepEqual(uncovered([{ ...pods, resourceNames: ["a"] }], [pods]), [pods]);
  });
});

const rbac = "/apis/rbac.authorization.k8s.io/v1";

async function start(): Promise<{ api: ApiServer; send: (request: KubeRequest) => Promise<KubeResponse> }> {
  const { api, transport } = await startMemoryServer();
  return { api, send: (request) => transport.send(request) };
}

describe("aggregated ClusterRoles", () => {
  const rules = [{ verbs: ["get"], apiGroups: ["example.com"], resources: ["things"] }];

  it("hold the rules of the roles that they choose, also those that were gathered themselves", async () => {
    const { send } = await start();
    const rulesOf = async (name: string): Promise<readonly unknown[]> => {
      const { body } = await send({ method: "GET", path: `${rbac}/clusterroles/${name}` });
      return (body as { rules: readonly unknown[] }).rules;
    };
    const before = await rulesOf("admin");
    assert.ok(before.length > 20);
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    await send({ method: "POST", path: `${rbac}/clusterroles`, body: { metadata: { name: "things", labels }, rules } });
    for (const name of ["view", "edit", "admin"]) assert.deepEqual((await rulesOf(name)).at(-1) === undefined, false, name);
    assert.equal((await rulesOf("admin")).length, before.length + 1);
    await send({ method: "DELETE", path: `${rbac}/clusterroles/things` });
    assert.deepEqual(await rulesOf("admin"), before);
  });

  it("are made by those alone who may do everything", async () => {
    const { api, send } = await start();
    const maker = [{ verbs: ["create"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"] }];
    await send({ method: "POST", path: `${rbac}/clusterroles`, body: { metadata: { name: "maker" }, rules: maker } });
    const body = {
      metadata: { name: "maker" },
      roleRef: { kind: "ClusterRole", name: "maker" },
      subjects: [{ kind: "User", name: "jane" }],
    };
    await send({ method: "POST", path: `${rbac}/clusterrolebindings`, body });
    const refused = await api.transport({ name: "jane", groups: [] }).send({
      method: "POST",
      path: `${rbac}/clusterroles`,
      body: { metadata: { name: "all" }, aggregationRule: { clusterRoleSelectors: [{}] } },
    });
    assert.equal(refused.status, 403);
    assert.match((refused.body as { message: string }).message, /must have cluster-admin privileges to use the aggregationRule/);
  });
});

describe("rights in a namespace", () => {
  /** Jane, who may do this to these resources in the whole cluster, or in the namespace `team-b` alone. */
  async function jane(resources: readonly string[], verbs: readonly string[], namespace?: string) {
    const { api, send } = await start();
    const roles = namespace === undefined ? `${rbac}/clusterroles` : `${rbac}/namespaces/${namespace}/roles`;
    const rules = [{ verbs, apiGroups: ["", "rbac.authorization.k8s.io"], resources }];
    for (const name of ["team", "team-b"]) await send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
    await send({ method: "POST", path: roles, body: { metadata: { name: "jane" }, rules } });
    const body = {
      metadata: { name: "jane" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: namespace === undefined ? "ClusterRole" : "Role", name: "jane" },
      subjects: [{ kind: "User", name: "jane" }],
    };
    const made = await send({ method: "POST", path: roles.replace(/roles$/, "rolebindings"), body });
    assert.equal(made.status, 201);
    return api.transport({ name: "jane", groups: [] });
  }

  it("do not count in one whose name begins alike", async () => {
    const user = await jane(["secrets"], ["list"], "team-b");
    assert.equal((await user.send({ method: "GET", path: "/api/v1/namespaces/team-b/secrets" })).status, 200);
    assert.equal((await user.send({ method: "GET", path: "/api/v1/namespaces/team/secrets" })).status, 403);
  });

  it("to change ClusterRoles do not let one gather the rules of all others", async () => {
    const user = await jane(["clusterroles"], ["create", "get", "update"]);
    const path = `${rbac}/clusterroles`;
    const made = await user.send({ method: "POST", path, body: { metadata: { name: "mine" }, rules: [] } });
    assert.equal(made.status, 201);
    const body = { ...(made.body as object), aggregationRule: { clusterRoleSelectors: [{}] } };
    assert.equal((await user.send({ method: "PUT", path: `${path}/mine`, body })).status, 403);
  });
});

describe("impersonation", () => {
  const ask = {
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  } as const;
  const cases: readonly { name: string; headers: Record<string, string>; status: number; message: RegExp }[] = [
    {
      name: "of a user",
      headers: { "impersonate-user": "root" },
      status: 403,
      message: /^users "root" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope$/,
    },
    {
      name: "of a service account",
      headers: { "impersonate-user": "system:serviceaccount:n:a" },
      status: 403,
      message:
        /^serviceaccounts "a" is forbidden: User "jane" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "n"$/,
    },
    {
      name: "of groups without a user",
      headers: { "impersonate-group": "g" },
      status: 400,
      message: /without impersonating a user name/,
    },
  ];
  for (const { name, headers, status, message } of cases) {
    it(`${name} is refused to those who may not`, async () => {
      const { api } = await start();
      const answer = await api.transport({ name: "jane", groups: [] }).send({ ...ask, headers });
      assert.equal(answer.status, status);
      assert.match((answer.body as { message: string }).message, message);
    });
  }

  it("asks for every group by itself", async () => {
    const { api, send } = await start();
    const rules = [{ verbs: ["impersonate"], apiGroups: [""], resources: ["users"] }];
    await send({ method: "POST", path: `${rbac}/clusterroles`, body: { metadata: { name: "actor" }, rules } });
    const body = {
      metadata: { name: "actor" },
      roleRef: { kind: "ClusterRole", name: "actor" },
      subjects: [{ kind: "User", name: "jane" }],
    };
    await send({ method: "POST", path: `${rbac}/clusterrolebindings`, body });
    const jane = api.transport({ name: "jane", groups: [] });
    assert.equal((await jane.send({ ...ask, headers: { "impersonate-user": "bob" } })).status, 201);
    const refused = await jane.send({ ...ask, headers: { "impersonate-user": "bob", "impersonate-group": "a\nsystem:masters" } });
    assert.equal(refused.status, 403);
    assert.match((refused.body as { message: string }).message, /^groups "a" is forbidden/);
  });
});
