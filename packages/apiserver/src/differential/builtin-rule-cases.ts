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
  budget: kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  ingress: kind("networking.k8s.io/v1", "Ingress", "ingresses"),
  node: kind("v1", "Node", "nodes", false),
  secret: kind("v1", "Secret", "secrets"),
  set: kind("apps/v1", "StatefulSet", "statefulsets"),
  role: kind("rbac.authorization.k8s.io/v1", "Role", "roles"),
} as const;

const labels = { app: "web" };
const pod = (spec: JsonObject): JsonObject => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const container = (change: JsonObject): JsonObject => pod({ containers: [{ name: "c", image: "i", ...change }] });
const service = (spec: JsonObject): JsonObject => ({ spec: { ports: [{ port: 80 }], ...spec } });
const template = (spec: JsonObject = {}): JsonObject => ({ metadata: { labels }, ...pod(spec) });
const deployment = (spec: JsonObject): JsonObject => ({ spec: { selector: { matchLabels: labels }, template: template(), ...spec } });
const rule = (path: JsonObject, host = "a.b"): JsonObject => ({
  spec: {
    rules: [{ host, http: { paths: [{ pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } }, ...path }] } }],
  },
});

const tried: readonly (readonly [name: string, resource: keyof typeof kinds, body: JsonObject])[] = [
  ["two volumes of a name", "pod", pod({ volumes: [{ name: "v" }, { name: "v" }] })],
  ["a volume with capitals", "pod", pod({ volumes: [{ name: "V" }] })],
  ["a quantity that is none", "pod", container({ resources: { requests: { cpu: "x" } } })],
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
  ["a node port without type", "service", service({ ports: [{ port: 80, nodePort: 30_080 }] })],
  ["another name that is missing", "service", service({ type: "ExternalName" })],
  ["an address that is none", "service", service({ clusterIP: "nope" })],
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
  ["recreation that rolls", "deployment", deployment({ strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } })],
  ["rolling without room", "deployment", deployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } })],
  ["rolling by a word", "deployment", deployment({ strategy: { rollingUpdate: { maxSurge: "abc", maxUnavailable: "101%" } } })],
  ["a template without labels", "deployment", deployment({ template: pod({}) })],
  ["more than all", "budget", { spec: { minAvailable: "101%" } }],
  ["less than nothing", "budget", { spec: { maxUnavailable: -1 } }],
  ["a path of any kind", "ingress", rule({ pathType: "ImplementationSpecific" }, "*.a.b")],
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
  ["an annotation with a bad prefix", "secret", { metadata: { annotations: { "Bad_/x": "1" } } }],
  ["addresses without the first", "service", service({ clusterIPs: ["10.96.9.9"] })],
  ["another first address", "service", service({ clusterIP: "None", clusterIPs: ["10.96.9.9"] })],
  ["another name and addresses", "service", { spec: { type: "ExternalName", externalName: "a.b", clusterIPs: ["10.96.9.9"] } }],
  ["another name and a policy inside", "service", { spec: { type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "Local" } }],
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
