/** What rights are grouped by: a feature that is switched off takes its rights along. */
export type PermissionFeature =
  "clusters" | "compositions" | "backups" | "addons" | "secrets" | "events" | "wipe-guard" | "neighbours" | "leader-election";

/** One rule of RBAC, and why the operator needs it. */
export interface Permission {
  readonly feature: PermissionFeature;
  /** For whoever reads the role: what would not work without it. */
  readonly why: string;
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** These objects alone. */
  readonly resourceNames?: readonly string[];
  /** In the namespace that the operator runs in alone; otherwise wherever its objects are. */
  readonly inOwnNamespace?: true;
}

const talos = "talos.alperen.cloud";
const own = "talos-operator.dev";
const vitistack = "vitistack.io";

/**
 * Every right of the operator. The chart's roles and `config/rbac` are generated from it; a test holds it to the calls that are really made, both
 * ways: one rule less and a story fails, one too many and nothing uses it.
 *
 * Beside it the operator reads discovery, open to everyone, and the kinds that `machineRef` leads to, which the chart's value `machineRefRules` names.
 * `list` of kinds that are watched is for API servers that cannot stream a list (`sendInitialEvents`).
 */
export const permissions: readonly Permission[] = [
  {
    feature: "clusters",
    why: "what people ask for; TalosClusters are theirs, and only annotations and finalizers are written",
    group: talos,
    resources: ["talosclusters"],
    verbs: ["get", "list", "patch", "watch"],
  },
  {
    feature: "clusters",
    why: "pools and machines are composed from a TalosCluster and go with it",
    group: talos,
    resources: ["taloscontrolplanes", "talosworkers", "talosmachines"],
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
  },
  {
    feature: "clusters",
    why: "what is seen is reported in the status",
    group: talos,
    resources: ["talosclusters/status", "taloscontrolplanes/status", "talosworkers/status", "talosmachines/status"],
    verbs: ["patch"],
  },
  {
    feature: "clusters",
    why: "what is composed holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for",
    group: talos,
    resources: ["talosclusters/finalizers", "taloscontrolplanes/finalizers", "talosworkers/finalizers"],
    verbs: ["update"],
  },
  {
    feature: "clusters",
    why: "the memory of a cluster: intents before they are sent, facts that must not be forgotten",
    group: own,
    resources: ["clusterrecords"],
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
  },
  {
    feature: "clusters",
    why: "the record of a preserved cluster says what its deletion waits for",
    group: own,
    resources: ["clusterrecords/status"],
    verbs: ["patch"],
  },
  {
    feature: "clusters",
    why: "whole machine configs that configRef names, and releases that upgrades go through, by name; never listed or watched",
    group: "",
    resources: ["configmaps"],
    verbs: ["get"],
  },
  {
    feature: "compositions",
    why: "KubernetesClusters are people's, and only finalizers are written; read before anything is made for one",
    group: vitistack,
    resources: ["kubernetesclusters"],
    verbs: ["get", "list", "patch", "watch"],
  },
  {
    feature: "compositions",
    why: "Machines are made from a KubernetesCluster, read for their addresses, and go with it",
    group: vitistack,
    resources: ["machines"],
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
  },
  {
    feature: "compositions",
    why: "the network that a cluster asks for its shared address",
    group: vitistack,
    resources: ["networknamespaces"],
    verbs: ["get", "list"],
  },
  {
    feature: "compositions",
    why: "the shared address of the control planes, and who is behind it; it goes with its cluster",
    group: vitistack,
    resources: ["controlplanevirtualsharedips"],
    verbs: ["create", "get", "patch"],
  },
  {
    feature: "compositions",
    why: "what is seen is reported in the status; that of a Machine is its provider's",
    group: vitistack,
    resources: ["kubernetesclusters/status"],
    verbs: ["patch"],
  },
  {
    feature: "compositions",
    why: "what is composed holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for",
    group: vitistack,
    resources: ["kubernetesclusters/finalizers"],
    verbs: ["update"],
  },
  {
    feature: "backups",
    why: "backups are people's and those that a schedule makes; what retention does not keep is deleted",
    group: talos,
    resources: ["talosetcdbackups"],
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
  },
  {
    feature: "backups",
    why: "schedules are people's and those made from an EtcdBackup, which go with it",
    group: talos,
    resources: ["talosetcdbackupschedules"],
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
  },
  {
    feature: "backups",
    why: "what is stored and proved is reported in the status",
    group: talos,
    resources: ["talosetcdbackups/status", "talosetcdbackupschedules/status"],
    verbs: ["patch"],
  },
  {
    feature: "backups",
    why: "what a schedule makes holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for",
    group: talos,
    resources: ["talosetcdbackupschedules/finalizers"],
    verbs: ["update"],
  },
  {
    feature: "backups",
    why: "EtcdBackups are people's",
    group: vitistack,
    resources: ["etcdbackups"],
    verbs: ["get", "list", "watch"],
  },
  {
    feature: "backups",
    why: "what is stored is reported in the status",
    group: vitistack,
    resources: ["etcdbackups/status"],
    verbs: ["patch"],
  },
  {
    feature: "backups",
    why: "what is composed holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for",
    group: vitistack,
    resources: ["etcdbackups/finalizers"],
    verbs: ["update"],
  },
  {
    feature: "addons",
    why: "addons are people's, and only finalizers are written",
    group: talos,
    resources: ["talosclusteraddons"],
    verbs: ["get", "list", "patch", "watch"],
  },
  {
    feature: "addons",
    why: "an addon makes a release for every cluster that it selects, and takes it back",
    group: talos,
    resources: ["talosclusteraddonreleases"],
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
  },
  {
    feature: "addons",
    why: "what is installed is reported in the status",
    group: talos,
    resources: ["talosclusteraddonreleases/status", "talosclusteraddons/status"],
    verbs: ["patch"],
  },
  {
    feature: "addons",
    why: "what an addon makes holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for",
    group: talos,
    resources: ["talosclusteraddons/finalizers"],
    verbs: ["update"],
  },
  {
    feature: "addons",
    why: "values of a release come from ConfigMaps that it names",
    group: "",
    resources: ["configmaps"],
    verbs: ["get"],
  },
  {
    feature: "addons",
    why: "a Namespace says which other ones may install addons into its clusters",
    group: "",
    resources: ["namespaces"],
    verbs: ["get", "list", "watch"],
  },
  {
    feature: "secrets",
    why: "the secrets bundle, kubeconfig and talosconfig of clusters, by name; never listed or watched",
    group: "",
    resources: ["secrets"],
    verbs: ["create", "delete", "get", "update"],
  },
  { feature: "events", why: "what happened, for people", group: "events.k8s.io", resources: ["events"], verbs: ["create", "patch"] },
  {
    feature: "wipe-guard",
    why: "nothing is wiped when it goes only because its namespace goes",
    group: "",
    resources: ["namespaces"],
    verbs: ["get"],
  },
  {
    feature: "wipe-guard",
    why: "nothing is wiped when it goes only because its kind is uninstalled",
    group: "apiextensions.k8s.io",
    resources: ["customresourcedefinitions"],
    verbs: ["get"],
    resourceNames: [`taloscontrolplanes.${talos}`, `talosmachines.${talos}`, `talosworkers.${talos}`],
  },
  {
    feature: "neighbours",
    why: "a cluster is not taken over while the operator that made it holds its lease",
    group: "coordination.k8s.io",
    resources: ["leases"],
    verbs: ["list"],
  },
  {
    feature: "neighbours",
    why: "a cluster is not taken over while the operator that made it is deployed",
    group: "apps",
    resources: ["deployments"],
    verbs: ["list"],
  },
  {
    feature: "neighbours",
    why: "objects of published kinds are counted once, when a process starts that does not serve them, and named in its log",
    group: talos,
    resources: ["talosclusteraddonreleases", "talosclusteraddons"],
    verbs: ["list"],
  },
  {
    feature: "backups",
    why: "backups are taken and addons installed by Jobs beside the operator, whose ServiceAccount has no right at all",
    group: "batch",
    resources: ["jobs"],
    verbs: ["create", "delete", "get", "list"],
    inOwnNamespace: true,
  },
  {
    feature: "backups",
    why: "a Job reports its result as the termination message of its pod",
    group: "",
    resources: ["pods"],
    verbs: ["list"],
    inOwnNamespace: true,
  },
  {
    feature: "leader-election",
    why: "one process acts at a time",
    group: "coordination.k8s.io",
    resources: ["leases"],
    verbs: ["create", "get", "list", "update", "watch"],
    inOwnNamespace: true,
  },
];

/** A rule as a Role or ClusterRole holds it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A right in the words of RBAC. */
export function policyRuleOf({ group, resources, verbs, resourceNames }: Permission): PolicyRule {
  return { apiGroups: [group], resources, verbs, ...(resourceNames === undefined ? {} : { resourceNames }) };
}
