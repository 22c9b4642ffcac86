{{- /* Generated from packages/operator/src/permissions.ts by `npm run generate`. Do not edit. */ -}}
{{- define "talos-operator.clusterRules" -}}
# what people ask for; TalosClusters are theirs, and only annotations and finalizers are written
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusters]
  verbs: [get, list, patch, watch]
# pools and machines are composed from a TalosCluster and go with it
- apiGroups: [talos.alperen.cloud]
  resources: [taloscontrolplanes, talosworkers, talosmachines]
  verbs: [create, delete, get, list, patch, watch]
# what is seen is reported in the status
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusters/status, taloscontrolplanes/status, talosworkers/status, talosmachines/status]
  verbs: [patch]
# what is composed holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusters/finalizers, taloscontrolplanes/finalizers, talosworkers/finalizers]
  verbs: [update]
# the memory of a cluster: intents before they are sent, facts that must not be forgotten
- apiGroups: [talos-operator.dev]
  resources: [clusterrecords]
  verbs: [create, delete, get, list, patch, watch]
# the record of a preserved cluster says what its deletion waits for
- apiGroups: [talos-operator.dev]
  resources: [clusterrecords/status]
  verbs: [patch]
# whole machine configs that configRef names, and releases that upgrades go through, by name; never listed or watched
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get]
# KubernetesClusters are people's, and only finalizers are written; read before anything is made for one
- apiGroups: [vitistack.io]
  resources: [kubernetesclusters]
  verbs: [get, list, patch, watch]
# Machines are made from a KubernetesCluster, read for their addresses, and go with it
- apiGroups: [vitistack.io]
  resources: [machines]
  verbs: [create, delete, get, list, patch, watch]
# the network that a cluster asks for its shared address
- apiGroups: [vitistack.io]
  resources: [networknamespaces]
  verbs: [get, list]
# the shared address of the control planes, and who is behind it; it goes with its cluster
- apiGroups: [vitistack.io]
  resources: [controlplanevirtualsharedips]
  verbs: [create, get, patch]
# what is seen is reported in the status; that of a Machine is its provider's
- apiGroups: [vitistack.io]
  resources: [kubernetesclusters/status]
  verbs: [patch]
# what is composed holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for
- apiGroups: [vitistack.io]
  resources: [kubernetesclusters/finalizers]
  verbs: [update]
# backups are people's and those that a schedule makes; what retention does not keep is deleted
- apiGroups: [talos.alperen.cloud]
  resources: [talosetcdbackups]
  verbs: [create, delete, get, list, patch, watch]
# schedules are people's and those made from an EtcdBackup, which go with it
- apiGroups: [talos.alperen.cloud]
  resources: [talosetcdbackupschedules]
  verbs: [create, delete, get, list, patch, watch]
# what is stored and proved is reported in the status
- apiGroups: [talos.alperen.cloud]
  resources: [talosetcdbackups/status, talosetcdbackupschedules/status]
  verbs: [patch]
# what a schedule makes holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for
- apiGroups: [talos.alperen.cloud]
  resources: [talosetcdbackupschedules/finalizers]
  verbs: [update]
# EtcdBackups are people's
- apiGroups: [vitistack.io]
  resources: [etcdbackups]
  verbs: [get, list, watch]
# what is stored is reported in the status
- apiGroups: [vitistack.io]
  resources: [etcdbackups/status]
  verbs: [patch]
# what is composed holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for
- apiGroups: [vitistack.io]
  resources: [etcdbackups/finalizers]
  verbs: [update]
# addons are people's, and only finalizers are written
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusteraddons]
  verbs: [get, list, patch, watch]
# an addon makes a release for every cluster that it selects, and takes it back
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusteraddonreleases]
  verbs: [create, delete, get, list, patch, watch]
# what is installed is reported in the status
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusteraddonreleases/status, talosclusteraddons/status]
  verbs: [patch]
# what an addon makes holds up the deletion of its owner, which OwnerReferencesPermissionEnforcement asks this right for
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusteraddons/finalizers]
  verbs: [update]
# values of a release come from ConfigMaps that it names
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get]
# a Namespace says which other ones may install addons into its clusters
- apiGroups: ['']
  resources: [namespaces]
  verbs: [get, list, watch]
# the secrets bundle, kubeconfig and talosconfig of clusters, by name; never listed or watched
- apiGroups: ['']
  resources: [secrets]
  verbs: [create, delete, get, update]
# what happened, for people
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
# nothing is wiped when it goes only because its namespace goes
- apiGroups: ['']
  resources: [namespaces]
  verbs: [get]
# nothing is wiped when it goes only because its kind is uninstalled
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get]
  resourceNames: [taloscontrolplanes.talos.alperen.cloud, talosmachines.talos.alperen.cloud, talosworkers.talos.alperen.cloud]
{{- if .Values.rbac.detectOtherOperators }}
# a cluster is not taken over while the operator that made it holds its lease
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [list]
{{- end }}
{{- if .Values.rbac.detectOtherOperators }}
# a cluster is not taken over while the operator that made it is deployed
- apiGroups: [apps]
  resources: [deployments]
  verbs: [list]
{{- end }}
{{- if .Values.rbac.detectOtherOperators }}
# objects of published kinds are counted once, when a process starts that does not serve them, and named in its log
- apiGroups: [talos.alperen.cloud]
  resources: [talosclusteraddonreleases, talosclusteraddons]
  verbs: [list]
{{- end }}
{{- end }}

{{- define "talos-operator.ownNamespaceRules" -}}
# backups are taken and addons installed by Jobs beside the operator, whose ServiceAccount has no right at all
- apiGroups: [batch]
  resources: [jobs]
  verbs: [create, delete, get, list]
# a Job reports its result as the termination message of its pod
- apiGroups: ['']
  resources: [pods]
  verbs: [list]
# one process acts at a time
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create, get, list, update, watch]
{{- end }}
