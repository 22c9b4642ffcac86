import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const quota: Resource = { apiVersion: "v1", kind: "ResourceQuota", plural: "resourcequotas", namespaced: true };
const range: Resource = { apiVersion: "v1", kind: "LimitRange", plural: "limitranges", namespaced: true };
const older: Resource = {
  apiVersion: "autoscaling/v1",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
};
const request: Resource = {
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
};
const pod: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
const driver: Resource = { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", plural: "csidrivers", namespaced: false };

/** Dry runs: nothing of what is tried here shall bind the objects of other cases. */
const tried = (body: JsonObject): Step => ({ do: "create", body, query: { dryRun: "All" } });
const hard = (amounts: JsonObject, more: JsonObject = {}): Step => tried({ spec: { hard: amounts, ...more } });
const limit = (...limits: readonly JsonObject[]): Step => tried({ spec: { limits } });
const created = (spec: JsonObject): Step => ({ do: "create", body: { spec } });
const made = (body: JsonObject): Step => ({ do: "create", body, verdictOnly: true });
const patched = (body: JsonObject): Step => ({ do: "merge", body, query: { dryRun: "All" }, verdictOnly: true });
const podOf = (spec: JsonObject): JsonObject => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const jobOf = (spec: JsonObject): JsonObject => ({
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } }, ...spec },
});
const table: Step = { do: "table" };
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

/** Made by openssl for CN=jane, O=dev; and with O=system:masters. */
const plainRequest =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWU1IOENBUUF3SFRFTU1Bb0dBMVVFQ2d3RFpHVjJNUTB3Q3dZRFZRUUREQVJxWVc1bE1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUV5SHJqVUptZnhFeFloR29hTW4xOHdNQXJmUWhyeE9Icnljb051MmdGCit0OER4dTdMMmlORXRRWk44RGNVS01LSWhNaVBNeGJLNmNDVklER0t6WlQwcnFBQU1Bb0dDQ3FHU000OUJBTUMKQTBrQU1FWUNJUURackJvVHFkaWxJdHpTQ210VFlacEtMR2hJVll4T3R3ZUJmTVlwVG0yMVVBSWhBSVFST2ZuVQpiM1JRR2F3bXdzNHBOYzNyTFVrc1N2V3d4ejBXL3lrZTlDSXEKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
const masterRequest =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIaU1JR0tBZ0VBTUNneEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVEwd0N3WURWUVFEREFScQpZVzVsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFeUhyalVKbWZ4RXhZaEdvYU1uMTh3TUFyCmZRaHJ4T0hyeWNvTnUyZ0YrdDhEeHU3TDJpTkV0UVpOOERjVUtNS0loTWlQTXhiSzZjQ1ZJREdLelpUMHJxQUEKTUFvR0NDcUdTTTQ5QkFNQ0EwY0FNRVFDSUd5LytCQy9JTWJVSGpYajArNmNCWTRqMG5FWmZWN1BtQURsM2RhaAo5dC9ZQWlBaGFFd0RRQlRrajZBdHVjMXA1Q0pIdG4zU2NYTG1lbnNncmFDeXhzblZFQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
const signing = (change: JsonObject = {}): JsonObject => ({
  spec: { request: plainRequest, signerName: "example.com/signer", usages: ["client auth"], ...change },
});
const decide = (...conditions: readonly JsonObject[]): Step => ({ do: "merge", subresource: "approval", body: { status: { conditions } } });
const condition = (type: string, status = "True"): JsonObject => ({
  type,
  status,
  reason: "Tested",
  lastUpdateTime: "2026-01-01T00:00:00Z",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
/** Quotas and limits as they are kept, requests for certificates, what of a pod or Job stays, and what an older version of a kind shows. */
export const boundCases: readonly DifferentialCase[] = [
  {
    name: "quota with amounts in many notations",
    resource: quota,
    steps: [hard({ pods: 3, "requests.cpu": 0.5, "limits.memory": "1024Mi", "count/deployments.apps": "2", "requests.nvidia.com/gpu": 4 })],
  },
  {
    name: "limit range with everything",
    resource: range,
    steps: [
      limit(
        { type: "Container", default: { cpu: "200m" }, max: { memory: "1Gi" }, min: { cpu: "50m", "ephemeral-storage": "1Gi" } },
        { type: "Pod", max: { cpu: 2 }, maxLimitRequestRatio: { memory: "1.5" } },
        { type: "PersistentVolumeClaim", min: { storage: "1Gi" } },
        { type: "example.com/thing", max: { storage: 1 } },
      ),
    ],
  },
  {
    name: "request for a certificate, from its making to its approval",
    resource: request,
    steps: [
      { do: "create", body: signing({ expirationSeconds: 3600 }), statusOnly: true },
      { do: "merge", body: { spec: { signerName: "example.com/other" } }, statusOnly: true },
      { ...table, statusOnly: true },
      decide(condition("Nope", "Maybe")),
      decide(condition("Approved", "False")),
      { ...decide(condition("Approved")), statusOnly: true },
      decide(condition("Approved"), condition("Denied")),
      decide(),
      { do: "merge", subresource: "status", body: { status: { conditions: [condition("Approved"), condition("Denied")] } } },
      { ...table, statusOnly: true },
    ],
  },
  {
    name: "request for a certificate that is none",
    resource: request,
    steps: [
      tried(signing({ signerName: "nope" })),
      tried(signing({ signerName: "nope/x" })),
      tried(signing({ signerName: "Example.com/x_y" })),
      tried(signing({ usages: ["client auth", "client auth", "world domination"] })),
      tried(signing({ expirationSeconds: 10 })),
      tried(signing({ signerName: "kubernetes.io/kube-apiserver-client", request: masterRequest })),
      tried(signing({ usages: [] })),
    ],
  },
  {
    name: "autoscaler of the first version",
    resource: older,
    steps: [
      created({ maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 50 }),
      { do: "get" },
      { do: "merge", body: { spec: { targetCPUUtilizationPercentage: 60 } } },
      table,
    ],
  },
  {
    name: "autoscaler of the first version that is only tried",
    resource: older,
    steps: [tried({ spec: { maxReplicas: 3, scaleTargetRef: target } })],
  },
  {
    name: "autoscaler of the first version without a target",
    resource: older,
    steps: [created({ maxReplicas: 3, scaleTargetRef: target }), table],
  },
  {
    name: "driver of volumes",
    resource: driver,
    steps: [{ ...created({ attachRequired: false, tokenRequests: [{ audience: "a" }] }), statusOnly: true }, table],
  },
  {
    name: "pod of a priority that nobody knows",
    resource: pod,
    steps: [
      tried({ spec: { priorityClassName: "nobody-knows", containers: [{ name: "c", image: "i" }] } }),
      tried({ spec: { priorityClassName: "system-cluster-critical", containers: [{ name: "c", image: "i" }] } }),
    ],
  },
  {
    name: "volume on a path of its node",
    resource: { apiVersion: "v1", kind: "PersistentVolume", plural: "persistentvolumes", namespaced: false },
    // The answer tells since when the volume has been in its phase.
    steps: [
      { ...created({ capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } }), statusOnly: true },
      table,
    ],
  },
  {
    name: "event in another namespace than what it is about",
    resource: { apiVersion: "v1", kind: "Event", plural: "events", namespaced: true },
    steps: [
      tried({ involvedObject: { kind: "Pod", name: "p", namespace: "elsewhere" }, reason: "R", type: "Normal" }),
      tried({ involvedObject: { kind: "Node", name: "n" }, reason: "R", type: "Normal" }),
    ],
  },
  {
    name: "event of the newer group",
    resource: { apiVersion: "events.k8s.io/v1", kind: "Event", plural: "events", namespaced: true },
    steps: [
      {
        do: "create",
        body: {
          regarding: { kind: "Pod", name: "p", namespace: "default" },
          reason: "R",
          type: "Normal",
          note: "n",
          action: "A",
          eventTime: "2020-01-01T00:00:00.000000Z",
          reportingController: "c.example.com/x",
          reportingInstance: "i",
        },
      },
    ],
  },
  {
    name: "strategic patch that is null",
    resource: { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
    steps: [
      { do: "create", body: { data: { a: "1" } } },
      { do: "strategic", body: null },
    ],
  },
  {
    name: "map of more than a mebibyte",
    resource: { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
    steps: [tried({ data: { a: "x".repeat(1_048_577) } })],
  },
  {
    name: "pod of which little may change",
    resource: pod,
    steps: [
      made(podOf({ activeDeadlineSeconds: 100 })),
      { ...patched({ spec: { terminationGracePeriodSeconds: 1 } }), statusOnly: true },
      { ...patched({ spec: { nodeSelector: { a: "b" } } }), statusOnly: true },
    ],
  },
  {
    name: "job with limits by index, and with a policy of failures",
    resource: { apiVersion: "batch/v1", kind: "Job", plural: "jobs", namespaced: true },
    steps: [
      {
        do: "create",
        body: jobOf({
          completionMode: "Indexed",
          completions: 3,
          backoffLimitPerIndex: 1,
          manualSelector: true,
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
        }),
      },
      patched({ spec: { completions: 5 } }),
      patched({ spec: { completions: 5, parallelism: 5 } }),
      patched({ spec: { podReplacementPolicy: "Failed" } }),
    ],
  },
];
