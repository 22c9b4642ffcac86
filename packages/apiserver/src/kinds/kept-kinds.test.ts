import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startMemoryServer } from "../testing/memory-server.ts";

const service = { namespace: "n", name: "s" };
const hook = {
  name: "a.b.c",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  clientConfig: { service },
  failurePolicy: "Fail",
  rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
};
const kept: readonly (readonly [kind: string, path: string, object: object])[] = [
  [
    "APIService",
    "/apis/apiregistration.k8s.io/v1/apiservices",
    {
      metadata: { name: "v1.metrics.example.com" },
      spec: { group: "metrics.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 100, service },
    },
  ],
  [
    "ValidatingWebhookConfiguration",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    { metadata: { name: "a" }, webhooks: [hook] },
  ],
  [
    "MutatingWebhookConfiguration",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    { metadata: { name: "a" }, webhooks: [hook] },
  ],
  [
    "FlowSchema",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    { metadata: { name: "a" }, spec: { priorityLevelConfiguration: { name: "b" } } },
  ],
  [
    "PriorityLevelConfiguration",
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    { metadata: { name: "a" }, spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } },
  ],
];

describe("what is kept and does nothing says so to whoever creates it", () => {
  for (const [kind, path, object] of kept)
    it(kind, async () => {
      const { transport: kube } = await startMemoryServer();
      const created = await kube.send({ method: "POST", path, body: object });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      assert.match(created.headers["warning"] ?? "", /the embedded API keeps/u);
      const name = (created.body as { metadata: { name: string } }).metadata.name;
      const headers = { "content-type": "application/merge-patch+json" };
      const labels = { metadata: { labels: { a: "b" } } };
      const changed = await kube.send({ method: "PATCH", path: `${path}/${name}`, headers, body: labels });
      assert.deepEqual([changed.status, changed.headers["warning"]], [200, undefined]);
      // A webhook that fails where it cannot be reached would refuse this.
      const written = await kube.send({
        method: "POST",
        path: "/api/v1/namespaces/default/configmaps",
        body: { metadata: { name: "free" } },
      });
      assert.equal(written.status, 201);
      assert.equal((await kube.send({ method: "GET", path: "/apis/metrics.example.com/v1" })).status, 404);
    });

  it("but an APIService of the server itself, which is there at once", async () => {
    const { transport: kube } = await startMemoryServer();
    const { headers, body } = await kube.send({
      method: "POST",
      path: "/apis/apiregistration.k8s.io/v1/apiservices",
      body: { metadata: { name: "v1.apps" }, spec: { group: "apps", version: "v1", groupPriorityMinimum: 100, versionPriority: 100 } },
    });
    assert.equal(headers["warning"], undefined);
    const { conditions } = (body as { status: { conditions: readonly { type: string; status: string }[] } }).status;
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type} ${status}`),
      ["Available True"],
    );
  });
});
