import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const resource = (apiVersion: string, kind: string, plural: string, namespaced = true): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced,
});
const pods = resource("v1", "Pod", "pods");
const services = resource("v1", "Service", "services");
const claims = resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
const secrets = resource("v1", "Secret", "secrets");
const endpoints = resource("v1", "Endpoints", "endpoints");
const volumes = resource("v1", "PersistentVolume", "persistentvolumes", false);
const autoscalers = resource("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
const deployments = resource("apps/v1", "Deployment", "deployments");

const container: JsonObject = { name: "c", image: "i:1" };
const podOf = (change: JsonObject): JsonObject => ({ spec: { containers: [container], ...change } });
const containing = (change: JsonObject): JsonObject => podOf({ containers: [{ ...container, ...change }] });
const holding = (env: JsonObject): JsonObject => containing({ env: [{ name: "A", valueFrom: env }] });
const field = (fieldPath: string): JsonObject => holding({ fieldRef: { fieldPath } });
const serviceOf = (change: JsonObject): JsonObject => ({ spec: { ports: [{ port: 80 }], ...change } });
const claimOf = (change: JsonObject): JsonObject => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...change },
});
const pair = (certificate: string, key: string): JsonObject => ({
  type: "kubernetes.io/tls",
  stringData: { "tls.crt": certificate, "tls.key": key },
});
const block = (type: string, body: string): string => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const sourceOf = (kind: string, more: JsonObject = {}): JsonObject => ({ kind, name: "x", ...more });
const labels = { app: "web" };

const created: readonly (readonly [name: string, of: Resource, body: JsonObject])[] = [
  ["pod with a port name twice", pods, containing({ ports: ["a", "a"].map((name, index) => ({ name, containerPort: 80 + index })) })],
  ["pod with a port name that is none", pods, containing({ ports: [{ name: "Web_1", containerPort: 80 }] })],
  ["pod with a port of the node that is none", pods, containing({ ports: [{ containerPort: 80, hostPort: 70_000 }] })],
  ["pod with a variable of an unknown field", pods, field("spec.nope")],
  ["pod with a variable of a field for files", pods, field("metadata.labels")],
  ["pod with a variable of a label", pods, field("metadata.labels['app']")],
  ["pod with a variable of a label that is none", pods, field("metadata.labels['a b']")],
  ["pod with a variable of a part of a name", pods, field("metadata.name['x']")],
  ["pod with a variable of its limits", pods, holding({ resourceFieldRef: { resource: "limits.cpu" } })],
  ["pod with a resource that nobody knows", pods, containing({ resources: { requests: { nope: "1" } } })],
  ["pod with a limit of a quota", pods, containing({ resources: { limits: { pods: "1" } } })],
  ["pod with blanks around its image", pods, containing({ image: " i" })],
  ["pod with a path upwards", pods, podOf({ volumes: [{ name: "a", hostPath: { path: "../x" } }] })],
  [
    "pod that tolerates for a time what does not end it",
    pods,
    podOf({ tolerations: [{ key: "k", effect: "NoSchedule", tolerationSeconds: 3 }] }),
  ],
  [
    "pod that no node is good enough for",
    pods,
    podOf({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } }),
  ],
  ["pod with a kernel setting that is none", pods, podOf({ securityContext: { sysctls: [{ name: "bad!", value: "1" }] } })],
  ["pod of an unknown system", pods, podOf({ os: { name: "x" } })],
  ["Service with a port name that is none", services, serviceOf({ ports: [{ port: 80, name: "A_" }] })],
  ["Service with a selector that is none", services, serviceOf({ selector: { "a b": "c", d: "e f" } })],
  ["Service with sources without a balancer", services, serviceOf({ loadBalancerSourceRanges: ["10.0.0.0/8"] })],
  ["claim of another claim", claims, claimOf({ dataSourceRef: sourceOf("PersistentVolumeClaim", { apiGroup: "" }) })],
  ["claim of a snapshot", claims, claimOf({ dataSource: sourceOf("VolumeSnapshot", { apiGroup: "snapshot.storage.k8s.io" }) })],
  ["claim of something else by the older name", claims, claimOf({ dataSource: sourceOf("Foo", { apiGroup: "other.io" }) })],
  ["claim of something else", claims, claimOf({ dataSourceRef: sourceOf("Foo", { apiGroup: "other.io" }) })],
  [
    "claim of something in another namespace",
    claims,
    claimOf({ dataSourceRef: sourceOf("Foo", { apiGroup: "other.io", namespace: "y" }) }),
  ],
  [
    "claim of two things",
    claims,
    claimOf({ dataSource: sourceOf("PersistentVolumeClaim"), dataSourceRef: { kind: "PersistentVolumeClaim", name: "z" } }),
  ],
  ["claim for one pod and for more", claims, claimOf({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] })],
  ["Secret with a key pair that is none", secrets, pair("x", "y")],
  ["Secret with a key for a certificate", secrets, pair(block("PRIVATE KEY", "MIIB"), "y")],
  ["Secret with a request for a certificate", secrets, pair(block("CERTIFICATE REQUEST", "MIIB"), "y")],
  ["Secret with a certificate without key", secrets, pair(block("CERTIFICATE", "MIIB"), "y")],
  ["Secret with a certificate for a key", secrets, pair(block("CERTIFICATE", "MIIB"), block("CERTIFICATE", "MIIB"))],
  ["Secret with something for a key", secrets, pair(block("CERTIFICATE", "MIIB"), block("EC PARAMETERS", "MIIB"))],
  ["Secret with a certificate that is none", secrets, pair(block("CERTIFICATE", "MIIB"), block("PRIVATE KEY", "MIIB"))],
  ["Secret with a block that is none", secrets, pair(block("CERTIFICATE", "..."), block("PRIVATE KEY", "MIIB"))],
  [
    "Endpoints on this machine",
    endpoints,
    { subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 0 }, { port: 80, name: "a" }] }] },
  ],
  ["volume without capacity", volumes, { spec: { accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } }],
  [
    "autoscaler of nothing",
    autoscalers,
    { spec: { maxReplicas: 1, minReplicas: -1, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "" } } },
  ],
  [
    "Deployment that waits too short",
    deployments,
    {
      spec: {
        minReadySeconds: 10,
        progressDeadlineSeconds: 5,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
  ],
];

const tolerate = (...tolerations: readonly JsonObject[]): Step => ({ do: "strategic", body: { spec: { tolerations } } });

/** Pods, what carries them and what they use: words that are refused, and what is filled in. */
export const podRuleCases: readonly DifferentialCase[] = [
  ...created.map(([name, of, body]): DifferentialCase => ({
    name,
    resource: of,
    steps: [{ do: "create", query: { dryRun: "All" }, body, ...(of === pods ? { verdictOnly: true } : {}) }],
  })),
  {
    name: "pod that tolerates more later",
    resource: pods,
    steps: [{ do: "create", body: podOf({}), verdictOnly: true }, tolerate({ key: "n", operator: "Exists" }), tolerate()],
  },
];
