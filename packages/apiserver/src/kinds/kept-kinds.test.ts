import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { startMemoryServer } from "../testing/memory-server.ts";

/** A kind of which the embedded API keeps objects as they are written. */
interface Kept {
  readonly kind: string;
  readonly path: string;
  readonly object: JsonObject;
  /** A change of what it says. */
  readonly change: JsonObject;
  readonly columns: readonly string[];
  /** Its first cells. */
  readonly cells: readonly unknown[];
  /** True where its meaning is to refuse, to limit or to serve. */
  readonly isWarnedOf: boolean;
}

const service = { namespace: "n", name: "s" };
const hook = {
  name: "a.b.c",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  clientConfig: { service },
  // It would refuse every write, for nobody answers it.
  failurePolicy: "Fail",
  rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
};
const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const admission = "/apis/admissionregistration.k8s.io/v1";
const flow = "/apis/flowcontrol.apiserver.k8s.io/v1";

const kept: readonly Kept[] = [
  {
    kind: "HorizontalPodAutoscaler",
    path: "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    object: { metadata: { name: "a" }, spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } } },
    change: { spec: { maxReplicas: 2 } },
    columns: ["Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"],
    cells: ["a", "Deployment/d", "cpu: <unknown>/80%", "5", 3, 0],
    isWarnedOf: false,
  },
  {
    kind: "CronJob",
    path: "/apis/batch/v1/namespaces/default/cronjobs",
    object: { metadata: { name: "a" }, spec: { schedule: "whenever", jobTemplate: { spec: { template } } } },
    change: { spec: { schedule: "never" } },
    columns: ["Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age", "Containers", "Images", "Selector"],
    cells: ["a", "whenever", "<none>", "False", 0, "<none>"],
    isWarnedOf: false,
  },
  {
    kind: "ResourceQuota",
    path: "/api/v1/namespaces/default/resourcequotas",
    object: { metadata: { name: "a" }, spec: { hard: { configmaps: "0", "count/configmaps": "0" } } },
    change: { spec: { hard: { pods: "0" } } },
    columns: ["Name", "Request", "Limit", "Age"],
    cells: ["a"],
    isWarnedOf: true,
  },
  {
    kind: "LimitRange",
    path: "/api/v1/namespaces/default/limitranges",
    object: { metadata: { name: "a" }, spec: { limits: [{ type: "Container", max: { cpu: "1m" } }] } },
    change: { spec: { limits: [{ type: "Container", max: { cpu: "2m" } }] } },
    columns: ["Name", "Created At"],
    cells: ["a"],
    isWarnedOf: true,
  },
  {
    kind: "ValidatingAdmissionPolicy",
    path: `${admission}/validatingadmissionpolicies`,
    object: {
      metadata: { name: "a" },
      spec: {
        matchConstraints: { resourceRules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"] }] },
        validations: [{ expression: "false" }],
      },
    },
    change: { spec: { failurePolicy: "Ignore" } },
    columns: ["Name", "Validations", "ParamKind", "Age"],
    cells: ["a", 1, "<unset>"],
    isWarnedOf: true,
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    path: `${admission}/validatingadmissionpolicybindings`,
    object: { metadata: { name: "a" }, spec: { policyName: "p", validationActions: ["Deny"] } },
    change: { spec: { validationActions: ["Warn"] } },
    columns: ["Name", "PolicyName", "ParamRef", "Age"],
    cells: ["a", "p", "<unset>"],
    isWarnedOf: true,
  },
  {
    kind: "ValidatingWebhookConfiguration",
    path: `${admission}/validatingwebhookconfigurations`,
    object: { metadata: { name: "a" }, webhooks: [hook] },
    change: { webhooks: [{ ...hook, timeoutSeconds: 1 }] },
    columns: ["Name", "Webhooks", "Age"],
    cells: ["a", 1],
    isWarnedOf: true,
  },
  {
    kind: "MutatingWebhookConfiguration",
    path: `${admission}/mutatingwebhookconfigurations`,
    object: { metadata: { name: "a" }, webhooks: [hook] },
    change: { webhooks: [{ ...hook, timeoutSeconds: 1 }] },
    columns: ["Name", "Webhooks", "Age"],
    cells: ["a", 1],
    isWarnedOf: true,
  },
  {
    kind: "APIService",
    path: "/apis/apiregistration.k8s.io/v1/apiservices",
    object: {
      metadata: { name: "v1.metrics.example.com" },
      spec: { group: "metrics.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 100, service },
    },
    change: { spec: { versionPriority: 50 } },
    columns: ["Name", "Service", "Available", "Age"],
    cells: ["v1.metrics.example.com", "n/s", "Unknown"],
    isWarnedOf: true,
  },
  {
    kind: "FlowSchema",
    path: `${flow}/flowschemas`,
    object: { metadata: { name: "a" }, spec: { priorityLevelConfiguration: { name: "b" } } },
    change: { spec: { matchingPrecedence: 7 } },
    columns: ["Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"],
    cells: ["a", "b", 1000, "<none>"],
    isWarnedOf: true,
  },
  {
    kind: "PriorityLevelConfiguration",
    path: `${flow}/prioritylevelconfigurations`,
    object: { metadata: { name: "a" }, spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } },
    change: { spec: { limited: { nominalConcurrencyShares: 1 } } },
    columns: ["Name", "Type", "NominalConcurrencyShares", "Queues", "HandSize", "QueueLengthLimit", "Age"],
    cells: ["a", "Limited", 30],
    isWarnedOf: true,
  },
];

describe("what is kept and does nothing", () => {
  for (const { kind, path, object, change, columns, cells, isWarnedOf } of kept)
    it(`${kind} is accepted, stored and listed with its columns${isWarnedOf ? ", and says that it does not act" : ""}`, async () => {
      const { world } = await startMemoryServer();
      const isWarned = (headers: Readonly<Record<string, string>>): boolean => /the embedded API keeps/u.test(headers["warning"] ?? "");
      const created = await world.send("POST", path, object);
      assert.deepEqual([created.status, isWarned(created.headers)], [201, isWarnedOf], JSON.stringify(created.body));
      const stored = await world.ok(world.get(`${path}/${String(cells[0])}`));
      assert.equal(stored["kind"], kind);
      const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
      const { body: table } = await world.send("GET", path, undefined, { headers });
      assert.deepEqual(
        objectsAt(table, "columnDefinitions").map(({ name }) => name),
        columns,
      );
      const [row = {}] = objectsAt(table, "rows");
      assert.deepEqual((row["cells"] as readonly unknown[]).slice(0, cells.length), cells);
      const labelled = await world.patch(`${path}/${String(cells[0])}`, "merge", { metadata: { labels: { a: "b" } } });
      assert.deepEqual([labelled.status, isWarned(labelled.headers)], [200, false]);
      const changed = await world.patch(`${path}/${String(cells[0])}`, "merge", change);
      assert.deepEqual([changed.status, isWarned(changed.headers)], [200, isWarnedOf], JSON.stringify(changed.body));
    });

  it("binds nobody", async () => {
    const { world } = await startMemoryServer();
    for (const { path, object } of kept) await world.create(path, object);
    await world.create(world.core("configmaps"), { metadata: { name: "free" } });
    const pod = await world.create(world.core("pods"), { metadata: { name: "p" }, spec: template.spec });
    assert.deepEqual(objectsAt(objectAt(pod, "spec"), "containers")[0]?.["resources"], {});
    assert.equal((await world.get("/apis/metrics.example.com/v1")).status, 404);
  });

  it("is not what an APIService of the server itself is, which is there at once", async () => {
    const { world } = await startMemoryServer();
    const { headers, body } = await world.send("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
      metadata: { name: "v1.apps" },
      spec: { group: "apps", version: "v1", groupPriorityMinimum: 100, versionPriority: 100 },
    });
    assert.equal(headers["warning"], undefined);
    assert.deepEqual(
      objectsAt(objectAt(body, "status"), "conditions").map(({ type, status }) => `${String(type)} ${String(status)}`),
      ["Available True"],
    );
  });
});

it("an autoscaler is shown by both versions, which share the use of CPU", async () => {
  const { world } = await startMemoryServer();
  const path = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
  await world.create(path("v1"), { metadata: { name: "a" }, spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef } });
  const { spec } = await world.ok(world.get(`${path("v2")}/a`));
  const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };
  assert.deepEqual(spec, { minReplicas: 1, maxReplicas: 3, scaleTargetRef, metrics: [cpu] });
  const older = await world.ok(world.get(`${path("v1")}/a`));
  assert.deepEqual(older["spec"], { minReplicas: 1, maxReplicas: 3, scaleTargetRef, targetCPUUtilizationPercentage: 50 });
});
