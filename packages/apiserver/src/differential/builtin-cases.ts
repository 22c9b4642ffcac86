import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const resource = (apiVersion: string, kind: string, plural: string, namespaced = true): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced,
});
const configMap = resource("v1", "ConfigMap", "configmaps");
const secret = resource("v1", "Secret", "secrets");
const node = resource("v1", "Node", "nodes", false);
const lease = resource("coordination.k8s.io/v1", "Lease", "leases");
const role = resource("rbac.authorization.k8s.io/v1", "Role", "roles");
const serviceAccount = resource("v1", "ServiceAccount", "serviceaccounts");

const strategic = (body: unknown): Step => ({ do: "strategic", body });
const apply = (manager: string, body: object, force = false): Step => ({
  do: "apply",
  manager,
  body,
  query: force ? { force: "true" } : {},
});
const table: Step = { do: "table" };

const nodeStatus = {
  addresses: [
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "Hostname", address: "n" },
  ],
  conditions: [
    { type: "Ready", status: "True", reason: "KubeletReady", message: "ok" },
    { type: "DiskPressure", status: "False", reason: "Enough", message: "ok" },
  ],
  nodeInfo: {
    machineID: "m",
    systemUUID: "s",
    bootID: "b",
    kernelVersion: "6.1",
    osImage: "Talos",
    containerRuntimeVersion: "containerd://2",
    kubeletVersion: "v1.36.3",
    kubeProxyVersion: "",
    operatingSystem: "linux",
    architecture: "amd64",
  },
};

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const appliedBefore = (data: object): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { annotations: {} }, data });
const counted = (status: object): Step => ({ do: "merge", subresource: "status", body: { status } });
const containers = (named: readonly string[], order: readonly string[]): Step =>
  strategic({
    spec: {
      template: {
        spec: {
          containers: named.map((name) => ({ name, image: "i" })),
          "$setElementOrder/containers": order.map((name) => ({ name })),
        },
      },
    },
  });

/** Built-in kinds that the genuine server stores as given: ownership, strategic merge patches and Tables. */
export const builtinCases: readonly DifferentialCase[] = [
  {
    name: "a ConfigMap",
    resource: configMap,
    steps: [
      { do: "create", body: { data: { a: "1", b: "2" }, metadata: { labels: { x: "y" } } } },
      table,
      strategic({ data: { a: null, c: "3" } }),
      strategic({ data: { $patch: "replace", only: "1" } }),
      strategic({ metadata: { finalizers: ["example.com/a", "example.com/b"] } }),
      strategic({ metadata: { finalizers: ["example.com/c"] } }),
      strategic({ metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/c"] } }),
      strategic({ metadata: { "$setElementOrder/finalizers": ["example.com/z", "example.com/b"], finalizers: ["example.com/z"] } }),
      strategic({ metadata: { finalizers: null, labels: { $patch: "delete" } } }),
      strategic({ data: { $retainKeys: ["new"], new: "n" } }),
      strategic([]),
      apply("a", { data: { applied: "1" } }),
      apply("b", { data: { applied: "2" } }),
      apply("b", { data: { applied: "2" } }, true),
      apply("a", { data: {} }),
      apply("a", { data: { n: 1 } }),
    ],
  },
  {
    name: "a Secret",
    resource: secret,
    steps: [
      { do: "create", body: { data: { a: "YQ==" }, stringData: { b: "c" } } },
      table,
      strategic({ data: { a: "" } }),
      { do: "merge", body: { stringData: { d: "e" } } },
      apply("a", { data: { z: "eg==" } }),
      { do: "replace", manager: "r", body: { data: { z: "eg==" }, type: "Opaque" } },
    ],
  },
  {
    name: "a Node",
    resource: node,
    steps: [
      {
        do: "create",
        statusOnly: true,
        body: {
          metadata: { labels: { "node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/etcd": "" } },
          spec: { podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24"] },
        },
      },
      { do: "merge", body: { spec: { taints: null } } },
      table,
      { do: "merge", subresource: "status", manager: "kubelet", body: { status: nodeStatus } },
      table,
      {
        do: "strategic",
        subresource: "status",
        manager: "kubelet",
        body: { status: { conditions: [{ type: "Ready", status: "False", reason: "Gone", message: "no" }] } },
      },
      {
        do: "strategic",
        subresource: "status",
        manager: "kubelet",
        body: {
          status: {
            conditions: [
              { type: "DiskPressure", $patch: "delete" },
              { type: "New", status: "True" },
            ],
          },
        },
      },
      {
        do: "strategic",
        subresource: "status",
        manager: "kubelet",
        body: {
          status: { "$setElementOrder/conditions": [{ type: "New" }, { type: "Ready" }], conditions: [{ type: "New", status: "False" }] },
        },
      },
      { do: "strategic", manager: "kubectl-cordon", body: { spec: { unschedulable: true } } },
      table,
      { do: "strategic", body: { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } } },
      { do: "strategic", body: { spec: { taints: [{ key: "b", effect: "NoSchedule" }] } } },
      { do: "apply", manager: "labeller", body: { metadata: { labels: { role: "x" } } } },
      { do: "strategic", body: { spec: { unschedulable: null } } },
      { do: "strategic", body: { status: { conditions: [{ status: "no merge key" }] } }, subresource: "status" },
    ],
  },
  {
    name: "a Lease",
    resource: lease,
    steps: [
      { do: "create", body: { spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" } } },
      table,
      { do: "merge", manager: "other", body: { spec: { holderIdentity: "you", renewTime: "2026-01-01T00:00:05.123456Z" } } },
      apply("a", { spec: { holderIdentity: "a" } }),
    ],
  },
  {
    name: "a Role",
    resource: role,
    steps: [
      { do: "create", body: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] } },
      strategic({ rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] }),
    ],
  },
  {
    name: "a ServiceAccount",
    resource: serviceAccount,
    steps: [
      { do: "create", body: {} },
      table,
      strategic({ imagePullSecrets: [{ name: "a" }] }),
      strategic({ imagePullSecrets: [{ name: "b" }] }),
      apply("x", { imagePullSecrets: [{ name: "c" }] }),
    ],
  },
  {
    name: "a Service that becomes a name",
    resource: resource("v1", "Service", "services"),
    steps: [
      { do: "create", body: { spec: { clusterIP: "10.96.7.7", ports: [{ port: 80 }] } } },
      strategic({ spec: { type: "ExternalName", externalName: "a.b" } }),
      strategic({ spec: { type: "LoadBalancer", clusterIP: "10.96.7.7", externalName: null, allocateLoadBalancerNodePorts: false } }),
      { do: "merge", subresource: "status", body: { status: { loadBalancer: { ingress: [{ ip: "9.9.9.9", ipMode: "VIP" }] } } } },
      strategic({ spec: { type: "ClusterIP" } }),
    ],
  },
  {
    name: "a Node that moves",
    resource: node,
    steps: [
      { do: "create", body: { spec: { podCIDRs: ["10.1.0.0/24"], providerID: "x://1", unschedulable: true } }, statusOnly: true },
      strategic({ spec: { podCIDR: "10.2.0.0/24" } }),
      strategic({ spec: { providerID: "x://2" } }),
      { do: "merge", body: { spec: { podCIDRs: ["10.2.0.0/24"] } }, statusOnly: true },
    ],
  },
  {
    name: "a claim that grows before it is bound",
    resource: resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    steps: [
      { do: "create", body: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } }, statusOnly: true },
      { do: "merge", body: { spec: { resources: { requests: { storage: "2Gi" } } } }, statusOnly: true },
      { do: "merge", body: { spec: { volumeName: "v" } }, statusOnly: true },
    ],
  },
  {
    name: "a suspended Job with other pods",
    resource: resource("batch/v1", "Job", "jobs"),
    steps: [
      {
        do: "create",
        body: { spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } },
        statusOnly: true,
      },
      { ...strategic({ spec: { template: { spec: { containers: [{ name: "c", image: "z" }] } } } }), statusOnly: true },
      { ...strategic({ spec: { template: { spec: { nodeSelector: { a: "b" } } } } }), statusOnly: true },
    ],
  },
  {
    name: "a PriorityClass",
    resource: resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false),
    steps: [
      { do: "create", body: { value: 5 } },
      { do: "merge", body: { description: "x" } },
    ],
  },
  {
    name: "a Deployment whose status counts",
    resource: resource("apps/v1", "Deployment", "deployments"),
    steps: [
      {
        do: "create",
        body: {
          spec: {
            selector: { matchLabels: { a: "b" } },
            template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "w", image: "i" }] } },
          },
        },
      },
      counted({ replicas: 3, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }),
      containers(["w", "k"], ["k", "w"]),
      containers(["w", "k"], ["w"]),
      containers(["w"], ["k", "w"]),
      strategic({ metadata: { "$setElementOrder/finalizers": ["b.c/d"], finalizers: ["a.b/c"] } }),
    ],
  },
  {
    name: "a ConfigMap that kubectl applied on its side before",
    resource: configMap,
    steps: [
      {
        do: "create",
        manager: "kubectl-client-side-apply",
        body: { data: { a: "1", b: "2", c: "3" }, metadata: { annotations: { [lastApplied]: appliedBefore({ a: "1", b: "2", c: "3" }) } } },
      },
      { do: "merge", manager: "edit", body: { data: { b: "9" } } },
      apply("kubectl", { data: { a: "5" } }),
      apply("kubectl", { data: { b: "5" } }),
      apply("other", { data: { c: "5" } }),
      apply("kubectl", { data: { a: "<&>\u2028\u00e9" } }, true),
      { do: "merge", body: { metadata: { annotations: { [lastApplied]: "nonsense" } } } },
      apply("kubectl", { data: { c: "6" } }),
      apply("kubectl", { data: { c: "6" } }, true),
    ],
  },
];
