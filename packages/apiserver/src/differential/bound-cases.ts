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
const debug = (...ephemeralContainers: readonly JsonObject[]): Step => ({
  do: "strategic",
  subresource: "ephemeralcontainers",
  body: { spec: { ephemeralContainers } },
});

const resized = (...containers: readonly JsonObject[]): Step => ({
  do: "strategic",
  subresource: "resize",
  body: { spec: { containers } },
});
const sized = (resources: JsonObject, name = "c"): JsonObject => ({ name, resources });
const mounted = (sources: readonly JsonObject[], serviceAccountName?: string): Step => ({
  ...tried({
    spec: { serviceAccountName, containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", projected: { sources } }] },
  }),
  verdictOnly: true,
});
const token = (change: JsonObject = {}): JsonObject => ({ serviceAccountToken: { path: "token", ...change } });

/** Quotas, limits, requests for certificates, containers for debugging, and what an older version of a kind shows. */
export const boundCases: readonly DifferentialCase[] = [
  {
    name: "quota with amounts in many notations",
    resource: quota,
    steps: [hard({ pods: 3, "requests.cpu": 0.5, "limits.memory": "1024Mi", "count/deployments.apps": "2", "requests.nvidia.com/gpu": 4 })],
  },
  { name: "quota of names that nobody knows", resource: quota, steps: [hard({ nope: "1" }), hard({ "a b": "1" }), hard({ storage: "1" })] },
  {
    name: "quota of amounts that cannot be",
    resource: quota,
    steps: [hard({ cpu: "-1" }), hard({ pods: "1500m" }), hard({ cpu: "x" }), hard({ "example.com/dongle": "0.5" })],
  },
  {
    name: "quota with scopes",
    resource: quota,
    steps: [
      hard({ pods: "1" }, { scopes: ["BestEffort"] }),
      hard({ cpu: "1" }, { scopes: ["BestEffort"] }),
      hard({ secrets: "1" }, { scopes: ["Terminating"] }),
      hard({ pods: "1" }, { scopes: ["Terminating", "NotTerminating"] }),
      hard({ pods: "1" }, { scopes: ["Nope"] }),
    ],
  },
  {
    name: "quota with a selector of scopes",
    resource: quota,
    steps: [
      hard({ pods: "1" }, { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } }),
      hard({ pods: "1" }, { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } }),
      hard({ pods: "1" }, { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists", values: ["x"] }] } }),
      hard({ pods: "1" }, { scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "In", values: ["x"] }] } }),
    ],
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
    name: "limit range in disorder",
    resource: range,
    steps: [
      limit({ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }),
      limit({ type: "Container", default: { cpu: "200m" }, max: { cpu: "100m" } }),
      limit({ type: "Container", defaultRequest: { memory: "2Gi" }, default: { memory: "1Gi" } }),
      limit({ type: "Container", maxLimitRequestRatio: { cpu: "0.5" } }),
      limit({ type: "Container", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }),
      limit({ type: "Pod", default: { cpu: "1" } }, { type: "Pod" }),
      limit({ type: "PersistentVolumeClaim", default: { storage: "1" } }),
      limit({ type: "Nope" }),
      limit({ type: "Container", max: { pods: "1" } }),
      limit({ type: "Container", default: { "example.com/dongle": "2" }, defaultRequest: { "example.com/dongle": "1" } }),
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
      { do: "merge", body: { spec: { maxReplicas: 0 } } },
    ],
  },
  {
    name: "autoscaler of the newer version, measured and not",
    resource: { ...older, apiVersion: "autoscaling/v2" },
    steps: [
      created({ maxReplicas: 3, scaleTargetRef: target }),
      { do: "get" },
      { do: "merge", body: { metadata: { labels: { a: "b" } } } },
      { do: "merge", body: { metadata: { labels: { a: "b" } } } },
      {
        do: "merge",
        subresource: "status",
        body: {
          status: {
            desiredReplicas: 1,
            currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 3, averageValue: "1" } } }],
          },
        },
      },
      { do: "merge", subresource: "status", body: { status: { currentMetrics: null } }, verdictOnly: true },
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
    name: "autoscaler of the first version with more in annotations",
    resource: older,
    steps: [
      {
        do: "create",
        body: {
          metadata: {
            annotations: {
              "autoscaling.alpha.kubernetes.io/metrics": JSON.stringify([
                { type: "Resource", resource: { name: "memory", targetAverageValue: "1Gi" } },
                { type: "Pods", pods: { metricName: "hits", targetAverageValue: "10" } },
                { type: "Object", object: { target, metricName: "queue", targetValue: "5" } },
                {
                  type: "External",
                  external: { metricName: "jobs", targetAverageValue: "3", metricSelector: { matchLabels: { a: "b" } } },
                },
              ]),
            },
          },
          spec: { maxReplicas: 3, scaleTargetRef: target },
        },
      },
      table,
    ],
  },
  {
    name: "container for debugging",
    resource: pod,
    steps: [
      { do: "create", body: { spec: { containers: [{ name: "c", image: "i" }] } } },
      debug({ name: "d", image: "b", targetContainerName: "c" }),
      debug({ name: "c", image: "b" }),
      debug({ name: "e", image: "b", targetContainerName: "nope" }),
      debug({ name: "e", image: "b", ports: [{ containerPort: 80 }] }),
      { do: "json", subresource: "ephemeralcontainers", body: [{ op: "remove", path: "/spec/ephemeralContainers" }] },
      { do: "get" },
    ],
  },
  { name: "driver of volumes", resource: driver, steps: [created({ attachRequired: false, tokenRequests: [{ audience: "a" }] }), table] },
  {
    name: "pod that is hardly meant so",
    resource: pod,
    steps: [
      tried({
        spec: {
          nodeSelector: { "beta.kubernetes.io/os": "linux" },
          terminationGracePeriodSeconds: -1,
          imagePullSecrets: [{ name: "a" }, { name: "a" }],
          hostAliases: [{ ip: "10.0.0.1" }, { ip: "10.0.0.1" }],
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: "failure-domain.beta.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" },
          ],
          affinity: {
            podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }] },
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "node-role.kubernetes.io/master", operator: "Exists" }] }],
              },
            },
          },
          containers: [
            {
              name: "c",
              image: "i",
              resources: { limits: { memory: "100m" } },
              ports: [
                { name: "x", containerPort: 80 },
                { name: "x2", containerPort: 80 },
              ],
              env: [
                { name: "A", value: "1" },
                { name: "A", value: "2" },
                { name: "A", value: "$(A)3" },
              ],
            },
            { name: "d", image: "i", ports: [{ name: "x", containerPort: 81, hostPort: 81 }] },
          ],
        },
      }),
    ],
  },
  {
    name: "template that is hardly meant so",
    resource: { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true },
    steps: [
      {
        do: "create",
        body: {
          spec: {
            selector: { matchLabels: { a: "b" } },
            template: {
              metadata: { labels: { a: "b" } },
              spec: { nodeSelector: { "beta.kubernetes.io/arch": "amd64" }, containers: [{ name: "c", image: "i" }] },
            },
          },
        },
      },
      { do: "merge", body: { metadata: { labels: { x: "y" } } } },
      { do: "merge", body: { spec: { replicas: 2 } } },
    ],
  },
  {
    name: "service with words that nobody heeds",
    resource: { apiVersion: "v1", kind: "Service", plural: "services", namespaced: true },
    steps: [
      tried({ spec: { clusterIP: "None", externalIPs: ["10.0.0.1"], ports: [{ port: 80 }] } }),
      { ...tried({ spec: { externalIPs: ["10.0.0.1"], externalName: "a.b", ports: [{ port: 80 }] } }), statusOnly: true },
      tried({ spec: { clusterIP: "None", trafficDistribution: "PreferClose", ports: [{ port: 80 }] } }),
    ],
  },
  {
    name: "claim of a part of a byte",
    resource: { apiVersion: "v1", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims", namespaced: true },
    steps: [tried({ spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1500m" } } } })],
  },
  {
    name: "job whose name is too long for its pods",
    resource: { apiVersion: "batch/v1", kind: "Job", plural: "jobs", namespaced: true },
    steps: [
      {
        ...tried({
          metadata: { name: "a.b" },
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
        }),
        statusOnly: true,
      },
    ],
  },
  {
    name: "policy of the network that leads nowhere",
    resource: { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", plural: "networkpolicies", namespaced: true },
    steps: [
      tried({ spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: "nope" } }], ports: [{ port: 0 }] }] } }),
      tried({
        spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16", "10.0.0.0/8"] } }] }] },
      }),
      tried({ spec: { podSelector: {}, ingress: [{ from: [{}, { podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] } }),
      tried({ spec: { podSelector: {}, ingress: [{ ports: [{ endPort: 5 }, { port: 9, endPort: 5 }, { port: "web", endPort: 5 }] }] } }),
    ],
  },
  {
    name: "ingress that leads nowhere",
    resource: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", plural: "ingresses", namespaced: true },
    steps: [
      tried({ spec: { tls: [{ hosts: ["a_b"] }], defaultBackend: {} } }),
      tried({ spec: { rules: [{ host: "1.2.3.4", http: { paths: [{ path: "//x/..", pathType: "Prefix", backend: {} }] } }] } }),
      tried({ spec: { defaultBackend: { service: { name: "s", port: { name: "a", number: 1 } } } } }),
      tried({ spec: { defaultBackend: { service: { name: "s" } } } }),
      tried({
        metadata: { annotations: { "kubernetes.io/ingress.class": "nginx" } },
        spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
      }),
    ],
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
    name: "pod that gets more while it runs",
    resource: pod,
    steps: [
      created({
        containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } } }],
      }),
      resized(sized({ requests: { cpu: "1500m" } })),
      resized(sized({ requests: { cpu: "5" } })),
      resized(sized({ limits: { memory: "1500Mi" } })),
      resized(sized({ requests: { "ephemeral-storage": "1Gi" } })),
      resized(sized({ limits: { "example.com/gpu": "1" } })),
      resized(sized({ requests: { cpu: "-1" } })),
      resized(sized({ limits: { cpu: null } })),
      resized({ name: "c", resources: null }),
      resized(sized({ requests: { cpu: null } })),
      resized(sized({ requests: { cpu: "1" } }, "new")),
      { do: "merge", subresource: "resize", body: { spec: { containers: [{ name: "d", image: "i" }] } } },
      resized({ name: "c", resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }),
      { do: "get", subresource: "resize" },
    ],
  },
  {
    name: "pod that keeps its quality of service",
    resource: pod,
    steps: [created({ containers: [{ name: "c", image: "i" }] }), resized(sized({ requests: { cpu: "1" } }))],
  },
  {
    name: "pod that cannot be resized",
    resource: pod,
    steps: [created({ os: { name: "windows" }, containers: [{ name: "c", image: "i" }] }), resized(sized({ requests: { cpu: "1" } }))],
  },
  {
    name: "pod with tokens in a volume",
    resource: pod,
    steps: [
      mounted([token()]),
      mounted([token()], "default"),
      mounted([token({ expirationSeconds: 5 })], "default"),
      mounted([token({ expirationSeconds: 10_000_000_000 })], "default"),
      mounted([token({ path: "" }), token({ path: "/x" }), token({ path: "../x" })], "default"),
      mounted([{ configMap: {} }, { secret: {} }, {}]),
      mounted([{ configMap: { name: "x" }, secret: { name: "y" } }]),
    ],
  },
  {
    name: "template with tokens in a volume",
    resource: { apiVersion: "v1", kind: "PodTemplate", plural: "podtemplates", namespaced: true },
    steps: [
      tried({
        template: {
          spec: { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", projected: { sources: [token()] } }] },
        },
      }),
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
];
