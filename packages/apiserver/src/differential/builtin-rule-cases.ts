import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource } from "./run-case.ts";

const kind = (apiVersion: string, name: string, plural: string, namespaced = true): Resource => ({
  apiVersion,
  kind: name,
  plural,
  namespaced,
});
const kinds = {
  pod: kind("v1", "Pod", "pods"),
  service: kind("v1", "Service", "services"),
  deployment: kind("apps/v1", "Deployment", "deployments"),
  job: kind("batch/v1", "Job", "jobs"),
  cronJob: kind("batch/v1", "CronJob", "cronjobs"),
  budget: kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  autoscaler: kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
  ingress: kind("networking.k8s.io/v1", "Ingress", "ingresses"),
  priority: kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false),
  claim: kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
  volume: kind("v1", "PersistentVolume", "persistentvolumes", false),
  storage: kind("storage.k8s.io/v1", "StorageClass", "storageclasses", false),
  node: kind("v1", "Node", "nodes", false),
  secret: kind("v1", "Secret", "secrets"),
  daemons: kind("apps/v1", "DaemonSet", "daemonsets"),
  set: kind("apps/v1", "StatefulSet", "statefulsets"),
  role: kind("rbac.authorization.k8s.io/v1", "Role", "roles"),
} as const;

const labels = { app: "web" };
const pod = (spec: JsonObject): JsonObject => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const container = (change: JsonObject): JsonObject => pod({ containers: [{ name: "c", image: "i", ...change }] });
const service = (spec: JsonObject): JsonObject => ({ spec: { ports: [{ port: 80 }], ...spec } });
const template = (spec: JsonObject = {}): JsonObject => ({ metadata: { labels }, ...pod(spec) });
const deployment = (spec: JsonObject): JsonObject => ({ spec: { selector: { matchLabels: labels }, template: template(), ...spec } });
const job = (spec: JsonObject): JsonObject => ({ spec: { template: template({ restartPolicy: "Never" }), ...spec } });
const nodeTerm = (expression: JsonObject): JsonObject =>
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", ...expression }] }] },
      },
    },
  });
const rule = (path: JsonObject, host = "a.b"): JsonObject => ({
  spec: {
    rules: [{ host, http: { paths: [{ pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } }, ...path }] } }],
  },
});

const tried: readonly (readonly [name: string, resource: keyof typeof kinds, body: JsonObject])[] = [
  ["a variable with an equals sign", "pod", container({ env: [{ name: "=x" }] })],
  [
    "a variable with a value and a source",
    "pod",
    container({ env: [{ name: "a", value: "b", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
  ],
  ["a volume of two kinds", "pod", pod({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] })],
  ["a volume without the name of its ConfigMap", "pod", pod({ volumes: [{ name: "v", configMap: {} }] })],
  ["two volumes of a name", "pod", pod({ volumes: [{ name: "v" }, { name: "v" }] })],
  ["a volume with capitals", "pod", pod({ volumes: [{ name: "V" }] })],
  ["more asked than allowed", "pod", container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } })],
  ["a quantity that is none", "pod", container({ resources: { requests: { cpu: "x" } } })],
  ["a negative quantity", "pod", container({ resources: { requests: { cpu: "-1" } } })],
  ["half a device", "pod", container({ resources: { limits: { "example.com/gpu": "1.5" } } })],
  ["a probe without handler", "pod", container({ livenessProbe: {} })],
  ["a probe with two handlers", "pod", container({ livenessProbe: { exec: { command: ["x"] }, tcpSocket: { port: 1 } } })],
  ["a probe of port 0", "pod", container({ livenessProbe: { httpGet: { port: 0 } } })],
  ["a probe that succeeds twice", "pod", container({ livenessProbe: { exec: { command: ["x"] }, successThreshold: 2 } })],
  ["a probe that never waits", "pod", container({ readinessProbe: { exec: { command: ["x"] }, timeoutSeconds: -1 } })],
  ["a toleration of existence with a value", "pod", pod({ tolerations: [{ key: "a", operator: "Exists", value: "b" }] })],
  ["a toleration of every key with a value", "pod", pod({ tolerations: [{ operator: "Equal", value: "b" }] })],
  ["a node term without values", "pod", nodeTerm({ operator: "In" })],
  ["a node term of existence with values", "pod", nodeTerm({ operator: "Exists", values: ["b"] })],
  ["a node term that compares with two", "pod", nodeTerm({ operator: "Gt", values: ["1", "2"] })],
  [
    "another port on the node's network",
    "pod",
    pod({ hostNetwork: true, containers: [{ name: "c", image: "i", ports: [{ containerPort: 80, hostPort: 81 }] }] }),
  ],
  ["a negative user", "pod", pod({ securityContext: { runAsUser: -1, fsGroup: -2 } })],
  ["a negative group of a container", "pod", container({ securityContext: { runAsGroup: -1 } })],
  ["no DNS and no configuration of it", "pod", pod({ dnsPolicy: "None" })],
  ["no DNS and no server of it", "pod", pod({ dnsPolicy: "None", dnsConfig: {} })],
  ["an alias of no address", "pod", pod({ hostAliases: [{ ip: "x" }] })],
  ["a selector of nodes by no key", "pod", pod({ nodeSelector: { "a b": "c" } })],
  ["no time to run", "pod", pod({ activeDeadlineSeconds: 0 })],
  [
    "a spread without key",
    "pod",
    pod({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "DoNotSchedule" }] }),
  ],
  ["a service account with capitals", "pod", pod({ serviceAccountName: "Bad_" })],
  ["a subdomain with dots", "pod", pod({ subdomain: "a.b", hostname: "A" })],
  ["a gate with a blank", "pod", pod({ schedulingGates: [{ name: "x y" }] })],
  [
    "a port twice",
    "service",
    service({
      ports: [
        { port: 80, name: "a" },
        { port: 80, name: "b" },
      ],
    }),
  ],
  [
    "the name of a port twice",
    "service",
    service({
      ports: [
        { port: 80, name: "a" },
        { port: 81, name: "a" },
      ],
    }),
  ],
  ["a target port that is no name", "service", service({ ports: [{ port: 80, targetPort: "-http_--" }] })],
  ["a node port without type", "service", service({ ports: [{ port: 80, nodePort: 30_080 }] })],
  ["another name that is missing", "service", service({ type: "ExternalName" })],
  ["an address outside", "service", service({ clusterIP: "1.2.3.4" })],
  ["an address that is none", "service", service({ clusterIP: "nope" })],
  [
    "a source range that is none",
    "service",
    service({ type: "LoadBalancer", loadBalancerSourceRanges: ["x", "10.0.0.0/8", "10.0.0.0/33"] }),
  ],
  [
    "a node port twice",
    "service",
    service({
      type: "NodePort",
      ports: [
        { port: 80, name: "a", nodePort: 30_555 },
        { port: 81, name: "b", nodePort: 30_555 },
      ],
    }),
  ],
  ["an external address that is none", "service", service({ externalIPs: ["x"] })],
  ["a family that is not there", "service", service({ ipFamilies: ["IPv6"] })],
  ["two families that are not there", "service", service({ ipFamilyPolicy: "RequireDualStack" })],
  ["a traffic policy without outside", "service", service({ externalTrafficPolicy: "Local" })],
  ["recreation that rolls", "deployment", deployment({ strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } })],
  ["rolling without room", "deployment", deployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } })],
  ["rolling by a word", "deployment", deployment({ strategy: { rollingUpdate: { maxSurge: "abc", maxUnavailable: "101%" } } })],
  ["negative numbers", "deployment", deployment({ minReadySeconds: -1, revisionHistoryLimit: -1, replicas: -1 })],
  ["a template without labels", "deployment", deployment({ template: pod({}) })],
  ["negative pods", "job", job({ completions: -1, parallelism: -1, backoffLimit: -1 })],
  ["a time zone that is none", "cronJob", { spec: { schedule: "@daily", timeZone: "Mars/X", jobTemplate: job({}) } }],
  ["more than all", "budget", { spec: { minAvailable: "101%" } }],
  ["less than nothing", "budget", { spec: { maxUnavailable: -1 } }],
  ["a target without group", "autoscaler", { spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } } }],
  ["a host that is none", "ingress", rule({ path: "/" }, "a_b")],
  ["a path that begins nowhere", "ingress", rule({ path: "x" })],
  ["a path of any kind", "ingress", rule({ pathType: "ImplementationSpecific" }, "*.a.b")],
  ["a name of the system that is none", "priority", { value: 5, metadata: { name: "system-tries" } }],
  ["a value of the system", "priority", { value: 2_000_000_000 }],
  ["a negative size", "claim", { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "-1" } } } }],
  ["no source", "volume", { spec: { capacity: { storage: "1Gi" } } }],
  ["no provisioner", "storage", { provisioner: "" }],
  ["a taint with a key that is none", "node", { spec: { taints: [{ key: "a b", effect: "NoSchedule" }] } }],
  ["a taint without a key", "node", { spec: { taints: [{ effect: "NoSchedule" }] } }],
  ["a taint without effect", "node", { spec: { taints: [{ key: "a" }] } }],
  ["a taint of an unknown effect and a bad value", "node", { spec: { taints: [{ key: "a", value: "b c", effect: "x" }] } }],
  [
    "a taint twice",
    "node",
    {
      spec: {
        taints: [
          { key: "a", effect: "NoExecute" },
          { key: "a", value: "b", effect: "NoExecute" },
        ],
      },
    },
  ],
  ["a network that is none", "node", { spec: { podCIDR: "10.1.0.0" } }],
  ["two networks of a family", "node", { spec: { podCIDRs: ["10.1.0.0/24", "10.2.0.0/24"] } }],
  ["credentials that are a list", "secret", { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "[]" } }],
  ["credentials that are empty", "secret", { type: "kubernetes.io/dockercfg", stringData: { ".dockercfg": "" } }],
  ["an annotation with a bad prefix", "secret", { metadata: { annotations: { "Bad_/x": "1" } } }],
  ["addresses without the first", "service", service({ clusterIPs: ["10.96.9.9"] })],
  ["another first address", "service", service({ clusterIP: "None", clusterIPs: ["10.96.9.9"] })],
  ["another name and addresses", "service", { spec: { type: "ExternalName", externalName: "a.b", clusterIPs: ["10.96.9.9"] } }],
  ["another name and a policy inside", "service", { spec: { type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "Local" } }],
  ["rolling without room", "daemons", deployment({ updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } })],
  ["rolling in two ways", "daemons", deployment({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } })],
  [
    "a mount of a claim",
    "set",
    deployment({
      serviceName: "s",
      template: { metadata: { labels }, ...container({ volumeMounts: [{ name: "data", mountPath: "/d" }] }) },
      volumeClaimTemplates: [
        { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
      ],
    }),
  ],
  [
    "a mount of nothing",
    "set",
    deployment({
      serviceName: "s",
      template: { metadata: { labels }, ...container({ volumeMounts: [{ name: "data", mountPath: "/d" }] }) },
    }),
  ],
  ["a rule without verbs", "role", { rules: [{ apiGroups: [""], resources: ["pods"] }] }],
  ["a rule without groups", "role", { rules: [{ resources: ["pods"], verbs: ["get"] }] }],
];

/** Built-in kinds with one thing wrong each, tried as dry runs. */
export const builtinRuleCases: readonly DifferentialCase[] = tried.map(([name, resource, body]) => ({
  name: `${kinds[resource].kind} with ${name}`,
  resource: kinds[resource],
  steps: [{ do: "create", query: { dryRun: "All" }, body }],
}));
