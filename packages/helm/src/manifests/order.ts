/** In which order kinds are made; the way back is the order of removal. What stands nowhere, custom resources above all, comes before the webhooks. */
const FIRST = [
  "Namespace",
  "CustomResourceDefinition",
  "PriorityClass",
  "RuntimeClass",
  "NetworkPolicy",
  "ResourceQuota",
  "LimitRange",
  "PodDisruptionBudget",
  "ServiceAccount",
  "Secret",
  "ConfigMap",
  "StorageClass",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "Service",
  "DaemonSet",
  "Pod",
  "ReplicaSet",
  "Deployment",
  "HorizontalPodAutoscaler",
  "StatefulSet",
  "Job",
  "CronJob",
  "IngressClass",
  "Ingress",
  "APIService",
];

/** They may refuse what else is made before what answers them runs. */
const LAST = [
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
];

interface Kinded {
  readonly kind: string;
}

/** Each stage waits for the one before it. */
export interface Stages<T> {
  readonly namespaces: readonly T[];
  readonly definitions: readonly T[];
  readonly rest: readonly T[];
}

/** Objects in the order in which they are made; of one kind as they were given. Pure. */
export function inOrder<T extends Kinded>(objects: readonly T[]): readonly T[] {
  return objects
    .map((object, index) => ({ object, index, rank: rankOf(object) }))
    .toSorted((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ object }) => object);
}

/** Pure. */
export function stagesOf<T extends Kinded>(objects: readonly T[]): Stages<T> {
  const ordered = inOrder(objects);
  return {
    namespaces: ordered.filter(({ kind }) => kind === "Namespace"),
    definitions: ordered.filter(({ kind }) => kind === "CustomResourceDefinition"),
    rest: ordered.filter(({ kind }) => kind !== "Namespace" && kind !== "CustomResourceDefinition"),
  };
}

function rankOf({ kind }: Kinded): number {
  const first = FIRST.indexOf(kind);
  if (first >= 0) return first;
  return FIRST.length + 1 + LAST.indexOf(kind);
}
