export { API_VERSION, OPERATOR_GROUP, TALOS_GROUP, VITISTACK_GROUP } from "./groups.ts";
export { annotations, annotationsOfOperator, finalizers, labels, reconcileModeOf, snapshotPolicyOf, unknownReconcileMode } from "./keys.ts";
export type { ReconcileMode, SnapshotPolicy } from "./keys.ts";
export {
  MAX_NAME_LENGTH,
  addonReleaseName,
  appliedTemplateSecretName,
  bundleSecretName,
  derivedName,
  kubeconfigSecretName,
  labelValueFor,
  machineNameFor,
  talosconfigKey,
  talosconfigSecretName,
} from "./names.ts";
export type { MachineSource } from "./names.ts";

export { talosClusterResource } from "./kinds/talos-cluster.ts";
export type { PxeServerSpec, TalosCluster, TalosClusterSpec, TalosClusterStatus } from "./kinds/talos-cluster.ts";
export { controlPlaneStates, talosControlPlaneResource } from "./kinds/talos-control-plane.ts";
export type { Cni } from "./kinds/cni.ts";
export type { ControlPlaneState, TalosControlPlane, TalosControlPlaneSpec, TalosControlPlaneStatus } from "./kinds/talos-control-plane.ts";
export { talosWorkerResource, workerStates } from "./kinds/talos-worker.ts";
export type { TalosWorker, TalosWorkerSpec, TalosWorkerStatus, WorkerState } from "./kinds/talos-worker.ts";
export { machineStates, talosMachineResource } from "./kinds/talos-machine.ts";
export type { FailureKind } from "./kinds/failure-kinds.ts";
export type { RemovalStatus } from "./kinds/removals.ts";
export type { MachineUpgradeStatus, UpgradeStage, UpgradeStatus } from "./kinds/upgrade-progress.ts";
export type { MachineIdentityStatus, MachineState, TalosMachine, TalosMachineSpec, TalosMachineStatus } from "./kinds/talos-machine.ts";
export { backupDefaults, talosEtcdBackupResource } from "./kinds/talos-etcd-backup.ts";
export type { TalosEtcdBackup, TalosEtcdBackupSpec, TalosEtcdBackupStatus } from "./kinds/talos-etcd-backup.ts";
export { talosClusterAddonResource } from "./kinds/talos-cluster-addon.ts";
export type { LabelSelector, TalosClusterAddon, TalosClusterAddonSpec, TalosClusterAddonStatus } from "./kinds/talos-cluster-addon.ts";
export { talosClusterAddonReleaseResource } from "./kinds/talos-cluster-addon-release.ts";
export type {
  TalosClusterAddonRelease,
  TalosClusterAddonReleaseSpec,
  TalosClusterAddonReleaseStatus,
} from "./kinds/talos-cluster-addon-release.ts";
export type { ManifestsSpec } from "./kinds/manifests-spec.ts";
export type { AddonChart, AddonDrift, AddonPreview, AddonRevision, AddonRun } from "./kinds/addon-fields.ts";
export type { HelmOptionsSpec, HelmSpec } from "./kinds/helm-spec.ts";
export { talosEtcdBackupScheduleResource } from "./kinds/talos-etcd-backup-schedule.ts";
export type {
  TalosEtcdBackupSchedule,
  TalosEtcdBackupScheduleSpec,
  TalosEtcdBackupScheduleStatus,
} from "./kinds/talos-etcd-backup-schedule.ts";
export type { BackupProof, BackupRun, BackupSource } from "./kinds/backup-facts.ts";
export { DEFAULT_BACKUP_PREFIX } from "./kinds/backup-storage.ts";
export type { BackupStorage, DirectoryStorage, S3Storage } from "./kinds/backup-storage.ts";
export {
  MAX_ACCEPTED_HAZARDS,
  MAX_FORMER_ENDPOINTS,
  MAX_DECISIONS,
  MAX_KNOWN_MACHINES,
  MAX_QUARANTINED,
  beyondThisRelease,
  clusterRecordResource,
} from "./kinds/cluster-record.ts";
export type {
  AppliedTemplate,
  BootstrapFact,
  BootstrapIntent,
  ClusterRecord,
  ClusterRecordSpec,
  ClusterRecordStatus,
  KnownMachine,
  MachineIdentity,
  OpenIntent,
  OpenOperation,
  OpenSnapshot,
  QuarantinedVersion,
  RecordedDecision,
} from "./kinds/cluster-record.ts";
export type {
  ConfigMapKeySelector,
  DeletionPolicy,
  LocalObjectReference,
  Mode,
  ObjectReference,
  SecretKeySelector,
} from "./kinds/fields.ts";
export type { Machine, MetalSpec } from "./kinds/metal-spec.ts";
export type { DiskSelector, MachineMeta, MachineSpec, PxeClientSpec } from "./kinds/machine-spec.ts";
export type { RolloutStrategy } from "./kinds/rollout-strategy.ts";

export { kubernetesClusterResource } from "./vitistack/kubernetes-cluster.ts";
export type { ClusterData, KubernetesCluster, KubernetesClusterSpec, WorkerGroup } from "./vitistack/kubernetes-cluster.ts";
export type { ClusterState, KubernetesClusterStatus } from "./vitistack/cluster-status.ts";
export type { Topology, TopologyGroup } from "./vitistack/topology.ts";
export type { TalosOptionsSpec } from "./vitistack/talos-options.ts";
export { vitistackMachineResource } from "./vitistack/machine.ts";
export type { VitistackMachine, VitistackMachineStatus } from "./vitistack/machine.ts";
export type { MachineDisk, MachineTemplateSpec, VitistackMachineSpec } from "./vitistack/machine-spec.ts";
export { machineClassResource } from "./vitistack/machine-class.ts";
export type { MachineClass } from "./vitistack/machine-class.ts";
export { networkConfigurationResource } from "./vitistack/network-configuration.ts";
export type { NetworkConfiguration } from "./vitistack/network-configuration.ts";
export { networkNamespaceResource } from "./vitistack/network-namespace.ts";
export type { NetworkNamespace } from "./vitistack/network-namespace.ts";
export { controlPlaneVirtualSharedIPResource } from "./vitistack/shared-address.ts";
export type { ControlPlaneVirtualSharedIP } from "./vitistack/shared-address.ts";
export { etcdBackupPhases, etcdBackupResource } from "./vitistack/etcd-backup.ts";
export type { EtcdBackup, EtcdBackupSpec, EtcdBackupStatus } from "./vitistack/etcd-backup.ts";
export { storageOfEtcdBackup } from "./vitistack/etcd-backup-storage.ts";
export type { EtcdBackupStorage } from "./vitistack/etcd-backup-storage.ts";
export { askedAs, isCompleteVersion } from "./vitistack/complete-version.ts";
export { DEFAULT_MACHINE_PROVIDER, normaliseCluster } from "./vitistack/normalise-cluster.ts";
export { DEFAULT_DNS_DOMAIN, DEFAULT_INSTALL_DISK } from "./vitistack/shared-options.ts";
export { CONTROL_PLANE_GROUP, clusterMachineIndex, clusterMachineName, isDnsLabel } from "./vitistack/cluster-names.ts";
export type {
  ClusterDefaults,
  ClusterEndpoint,
  GivenSecrets,
  ClusterGroup,
  ClusterModel,
  InertField,
  InstallOptions,
  Inventory,
  KubeletOptions,
  NodeTaint,
  NormalisedCluster,
  ReadVersions,
  ResolvedVersion,
  VersionConflict,
  VersionOf,
} from "./vitistack/cluster-model.ts";

export { findCondition, isConditionTrue, removeCondition, rfc3339, setCondition } from "./meta/condition.ts";
export { saidOnce, spelledOut } from "./meta/said-once.ts";
export type { Condition, ConditionInput } from "./meta/condition.ts";
export { controllerOf, controllerReference } from "./meta/object-meta.ts";
export type { ObjectMeta, OwnerReference } from "./meta/object-meta.ts";
export { apiVersionOf } from "./meta/resource.ts";
export type { Resource } from "./meta/resource.ts";
export { conditionCatalogue, conditionFor, releaseOf, statusOf } from "./reasons/catalogue.ts";
export type { ConditionReason, ConditionType, ReadyReason, ReasonOf } from "./reasons/catalogue.ts";
export type { ConditionEntry, ConditionKind, ReasonEntry, Release } from "./reasons/entry.ts";
export { eventCatalogue } from "./reasons/events.ts";
export type { EventEntry, EventReason } from "./reasons/events.ts";

export { validateAddress, validateAddresses } from "./validation/addresses.ts";
export type { AddressOptions, MachineAddress } from "./validation/addresses.ts";
export { isAgeRecipient } from "./validation/age-recipient.ts";
export { oneOfBoth, validateClusterAddonSpec } from "./validation/cluster-addon.ts";
export { AWS_ENDPOINT, identityRefusal, mayUseIdentity } from "./validation/backup-bounds.ts";
export type { BackupBounds } from "./validation/backup-bounds.ts";
export { validateBackupScheduleSpec, validateBackupSpec, validateBackupStorage, validateEtcdBackupSpec } from "./validation/backups.ts";
export type { BackupOptions } from "./validation/backups.ts";
export { byteSize, quantityUnits } from "./validation/byte-size.ts";
export { durationMs } from "./validation/duration.ts";
export { parseEndpoint } from "./validation/endpoint.ts";
export type { Endpoint } from "./validation/endpoint.ts";
export { findingsMessage } from "./validation/finding.ts";
export type { Finding } from "./validation/finding.ts";
export { canonicalAddress, deniedHost, parseHost, quote } from "./validation/host.ts";
export type { Host, HostProblem } from "./validation/host.ts";
export type { HostOptions } from "./validation/host.ts";
export { DEFAULT_POD_NETWORKS, DEFAULT_SERVICE_NETWORKS, clusterNetworks, holdsAddress, validateNetworks } from "./validation/networks.ts";
export type { ClusterNetwork, NetworkSpec } from "./validation/networks.ts";
export { MAX_CONTROL_PLANES, machineAddresses, validateControlPlaneSpec, validateWorkerSpec } from "./validation/pools.ts";
export type { NamedSpec, PoolOptions } from "./validation/pools.ts";

export { companionCrds, crds, withSpecDefaults } from "./crds.ts";
export type { CustomResourceDefinition, CustomResourceVersion, PrinterColumn } from "./schema/crd.ts";
export type { JsonSchema, ValidationRule } from "./schema/json-schema.ts";
