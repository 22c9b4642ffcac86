import type { KubeTransport } from "@talos-operator/ports";

const group = "rbac.authorization.k8s.io";
const rbac = `/apis/${group}/v1`;
const controller = "system:controller:node-controller";
const attacher = "system:controller:attachdetach-controller";
const disruptions = "system:controller:disruption-controller";
const signer = "system:controller:certificate-controller";

/**
 * Rights that genuine clusters have and the simulated API would not know: those of kubelets, which a genuine API server gives through its Node authorizer
 * (there each to its own Node alone), and those of the node lifecycle controller, of the attach and detach controller, of the disruption controller, and of the controller of certificate requests.
 */
const objects: readonly { readonly path: string; readonly body: Record<string, unknown> }[] = [
  {
    path: `${rbac}/clusterrolebindings`,
    body: binding("simulator:system:node", "system:node", { kind: "Group", apiGroup: group, name: "system:nodes" }),
  },
  {
    path: `${rbac}/clusterroles`,
    body: {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: controller },
      rules: [
        { apiGroups: [""], resources: ["nodes"], verbs: ["delete", "get", "list", "patch", "update", "watch"] },
        { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch", "update"] },
        { apiGroups: [""], resources: ["pods/status"], verbs: ["patch", "update"] },
        { apiGroups: [""], resources: ["pods"], verbs: ["delete", "get", "list"] },
      ],
    },
  },
  {
    path: `${rbac}/clusterrolebindings`,
    body: binding(controller, controller, { kind: "ServiceAccount", name: "node-controller", namespace: "kube-system" }),
  },
  {
    path: `${rbac}/clusterroles`,
    body: {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: attacher },
      rules: [
        { apiGroups: [""], resources: ["persistentvolumeclaims", "persistentvolumes", "pods"], verbs: ["list", "watch"] },
        { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
        { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch", "update"] },
        { apiGroups: ["storage.k8s.io"], resources: ["csidrivers", "csinodes"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"], verbs: ["create", "delete", "get", "list", "watch"] },
      ],
    },
  },
  {
    path: `${rbac}/clusterrolebindings`,
    body: binding(attacher, attacher, { kind: "ServiceAccount", name: "attachdetach-controller", namespace: "kube-system" }),
  },
  {
    path: `${rbac}/clusterroles`,
    body: {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: disruptions },
      rules: [
        { apiGroups: ["apps"], resources: ["deployments", "replicasets", "statefulsets"], verbs: ["get", "list", "watch"] },
        { apiGroups: [""], resources: ["replicationcontrollers"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["policy"], resources: ["poddisruptionbudgets/status"], verbs: ["update"] },
      ],
    },
  },
  {
    path: `${rbac}/clusterrolebindings`,
    body: binding(disruptions, disruptions, { kind: "ServiceAccount", name: "disruption-controller", namespace: "kube-system" }),
  },
  {
    path: `${rbac}/clusterroles`,
    body: {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: signer },
      rules: [
        { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["delete", "get", "list", "watch"] },
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
          verbs: ["update"],
        },
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["signers"],
          resourceNames: ["kubernetes.io/kube-apiserver-client-kubelet"],
          verbs: ["approve"],
        },
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["signers"],
          resourceNames: [
            "kubernetes.io/kube-apiserver-client",
            "kubernetes.io/kube-apiserver-client-kubelet",
            "kubernetes.io/kubelet-serving",
            "kubernetes.io/legacy-unknown",
          ],
          verbs: ["sign"],
        },
      ],
    },
  },
  {
    path: `${rbac}/clusterrolebindings`,
    body: binding(signer, signer, { kind: "ServiceAccount", name: "certificate-controller", namespace: "kube-system" }),
  },
];

/** Writes them where they are missing. */
export async function grantBuiltinRights(transport: KubeTransport): Promise<void> {
  for (const { path, body } of objects) {
    const { status } = await transport.send({ method: "POST", path, body });
    if (status >= 300 && status !== 409) throw new Error(`rights were not written: HTTP ${status}`);
  }
}

function binding(name: string, role: string, subject: Record<string, string>): Record<string, unknown> {
  return {
    apiVersion: `${group}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
    subjects: [subject],
  };
}
