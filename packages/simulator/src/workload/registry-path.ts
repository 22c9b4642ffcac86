/** API groups whose kinds kube-apiserver brings itself: their keys in etcd name no group. */
const builtinGroups: ReadonlySet<string> = new Set([
  "",
  "admissionregistration.k8s.io",
  "apps",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
]);

/** Kinds that are stored under another name than the one they are asked for by. */
const storedNames: Readonly<Record<string, string>> = {
  "/endpoints": "services/endpoints",
  "/nodes": "minions",
  "/replicationcontrollers": "controllers",
  "/services": "services/specs",
  "networking.k8s.io/ingresses": "ingress",
};

/**
 * Where kube-apiserver keeps an object in etcd.
 *
 * @param resource `<group>/<plural>`
 * @param key `<namespace>/<name>`, for kinds without a namespace `/<name>`
 * @see kubernetes/kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go` and the `DefaultQualifiedResource` of each registry
 */
export function registryPathOf(resource: string, key: string): string {
  const slash = resource.indexOf("/");
  const group = resource.slice(0, slash);
  const plural = resource.slice(slash + 1);
  const folder = storedNames[resource] ?? (builtinGroups.has(group) ? plural : `${group}/${plural}`);
  return `/registry/${folder}/${key.replace(/^\//, "")}`;
}
