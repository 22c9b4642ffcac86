import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { permissions, policyRuleOf } from "@talos-operator/operator";
import type { Permission, PolicyRule } from "@talos-operator/operator";

const namespace = "talos-operator-system";
const name = "talos-operator-controller-manager";

/** Who the operator is in a simulated world: the service account of the published manifests, with its rights and no others. */
export const operatorAccount = {
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
} as const;

/**
 * Grants the account what the table of permissions names.
 *
 * @param leaseNamespace where rights to the operator's own namespace are given
 * @param foreign rules for other kinds, as the chart's `machineRefRules`
 */
export async function grantPermissions(
  client: KubeClient,
  leaseNamespace: string,
  foreign: readonly PolicyRule[] = [],
  table: readonly Permission[] = permissions,
): Promise<void> {
  const everywhere = table.filter(({ inOwnNamespace }) => inOwnNamespace !== true).map(policyRuleOf);
  const own = table.filter(({ inOwnNamespace }) => inOwnNamespace === true).map(policyRuleOf);
  const subjects = [{ kind: "ServiceAccount", namespace, name }];
  const role = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: "talos-operator" });
  await client
    .resource(type("ClusterRole"))
    .create({ metadata: { name: "talos-operator" }, rules: [...everywhere, ...foreign] } as KubeObject);
  await client
    .resource(type("ClusterRoleBinding"))
    .create({ metadata: { name: "talos-operator" }, roleRef: role("ClusterRole"), subjects } as KubeObject);
  const metadata = { namespace: leaseNamespace, name: "talos-operator" };
  await client.resource(type("Role")).create({ metadata, rules: own } as KubeObject);
  await client.resource(type("RoleBinding")).create({ metadata, roleRef: role("Role"), subjects } as KubeObject);
}

function type(kind: "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding") {
  return {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: !kind.startsWith("Cluster"),
  };
}
