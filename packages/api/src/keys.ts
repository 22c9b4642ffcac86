import { OPERATOR_GROUP, TALOS_GROUP } from "./groups.ts";

/**
 * Finalizers. Those with the published group are the published ones; existing objects carry them already.
 * Each guards something outside the object: machines to reset, keys to keep.
 */
export const finalizers = {
  talosCluster: `taloscluster.${TALOS_GROUP}/finalizer`,
  talosControlPlane: `taloscontrolplane.${TALOS_GROUP}/finalizer`,
  talosWorker: `talosworker.${TALOS_GROUP}/finalizer`,
  talosMachine: `talosmachine.${TALOS_GROUP}/finalizer`,
  /** On a backup whose deletion removes what is stored, and while a run of it is open. */
  talosEtcdBackup: `talosetcdbackup.${TALOS_GROUP}/finalizer`,
  talosEtcdBackupSchedule: `talosetcdbackupschedule.${TALOS_GROUP}/finalizer`,
  talosClusterAddon: `talosclusteraddon.${TALOS_GROUP}/finalizer`,
  /** On a release, while something of it may be in the cluster. */
  talosClusterAddonRelease: `talosclusteraddonrelease.${TALOS_GROUP}/finalizer`,
  /** On the bundle Secret: keys must not go before the machines that trust them. */
  bundle: `${OPERATOR_GROUP}/bundle`,
  /** On the ClusterRecord: the memory must not go before the machines. */
  clusterRecord: `${OPERATOR_GROUP}/cluster-record`,
} as const;

/** Annotations, set by a person unless said otherwise. Those of ours act once, are bound to the value they name, and are answered by an event. */
export const annotations = {
  /** `reconcile` (default), `disable`, `dryrun` or `import`, in any letter case. Parse with {@link reconcileModeOf}. */
  reconcileMode: `${TALOS_GROUP}/reconcile-mode`,
  /** Value: the object's name. Allows the wipe although the namespace or the CRD is going away; on a TalosWorker, although it lists no machine any more. */
  confirmReset: `${OPERATOR_GROUP}/confirm-reset`,
  /** Value: a machine's UUID. Lets the machine go without proof of a wipe. */
  abandonMachine: `${OPERATOR_GROUP}/abandon-machine`,
  /**
   * Value: the UID of the TalosControlPlane that it stands on. No machine holds anything of this cluster any more, so that nothing is waited for once its record and
   * keys are gone. Set by the operator at the end of a deletion.
   */
  machinesWiped: `${OPERATOR_GROUP}/machines-wiped`,
  /** Value: the UID of the TalosControlPlane that new keys were made for. On a bundle Secret. Set by the operator. */
  madeFor: `${OPERATOR_GROUP}/made-for`,
  /** Value: a machine's UUID. Lets a machine that was installed and answers in maintenance mode be configured again. */
  approveReprovision: `${OPERATOR_GROUP}/approve-reprovision`,
  /** Value: the SHA-256 of a maintenance key, base64. Somebody vouches for it: with `--require-maintenance-fingerprint` only such a machine is configured. */
  acceptIdentity: `${OPERATOR_GROUP}/accept-identity`,
  /** Value: a machine's UUID. The machine is disturbed although its Node is not drained. */
  proceedWithoutDrain: `${OPERATOR_GROUP}/proceed-without-drain`,
  /** Value: the name of a control plane's TalosMachine. Its member of etcd is defragmented as soon as that disturbs nothing. On a TalosControlPlane. */
  defragment: `${OPERATOR_GROUP}/defragment`,
  /** `Wait` (default), `Proceed` or `Skip`: what happens when the drain of a Node does not end. On a TalosControlPlane or TalosWorker; does not act once. */
  drainPolicy: `${OPERATOR_GROUP}/drain-policy`,
  /** A duration such as `30m`, default `10m`: when {@link annotations.drainPolicy} takes effect. */
  drainTimeout: `${OPERATOR_GROUP}/drain-timeout`,
  /**
   * `preferred` (default), `required` or `off`, in any letter case: whether a snapshot of etcd is taken before what can cost its quorum or its data. On a
   * TalosControlPlane, or on the TalosCluster that makes it; does not act once. Parse with {@link snapshotPolicyOf}.
   */
  snapshotBeforeRisk: `${OPERATOR_GROUP}/snapshot-before-risk`,
  /**
   * Value: `outside`. On a TalosControlPlane, or on the TalosCluster that makes it: the operator is not where clients are, and does not ask the endpoint; the
   * cluster may be ready all the same. Does not act once.
   */
  endpointReachableFrom: `${OPERATOR_GROUP}/endpoint-reachable-from`,
  /** Value: names of machines, separated by commas. On a TalosEtcdBackup that is taken before they are disturbed. Set by the operator. */
  takenBefore: `${OPERATOR_GROUP}/taken-before`,
  /**
   * Value: a TalosMachine's name. Sends it once more the settings that it took back or refused, although they did not change, or those that this release
   * would write otherwise than it has them.
   */
  retryConfig: `${OPERATOR_GROUP}/retry-config`,
  /**
   * Value: `true`. On a TalosControlPlane whose machines' kubelets rotate their serving certificates: the operator approves the requests of its own machines, for
   * their own names and addresses. Any other value, and none, approves nothing. Does not act once.
   */
  approveKubeletCertificates: `${OPERATOR_GROUP}/approve-kubelet-certificates`,
  /** Value: the name of a Secret with the secrets bundle of the running cluster that is to be imported. */
  importBundle: `${OPERATOR_GROUP}/import-bundle`,
  /**
   * Value: the name of a Secret with `token`, `ca.crt` and `ca.key`: the token and the authority of the Talos API that a new cluster is made with, read once,
   * when its keys are made. On a TalosControlPlane; does not act once.
   */
  givenSecrets: `${OPERATOR_GROUP}/given-secrets`,
  /** Value: the hash in the condition Imported. Takes over the running cluster with exactly the differences that it stands for. */
  importApprove: `${OPERATOR_GROUP}/import-approve`,
  /** Any value. On a TalosEtcdBackup or a TalosEtcdBackupSchedule: it, or its newest backup, is proved once for each value; `status.provedNow` answers. */
  proveNow: `${OPERATOR_GROUP}/prove-now`,
  /** Value: the time in UTC that a schedule made the backup for (`20261123T020000Z`). Set by the operator on backups of a schedule. */
  backupSlot: `${OPERATOR_GROUP}/backup-slot`,
  /** Value: names of namespaces, separated by commas, whose TalosClusterAddons may install into the clusters of this one; `*` = all. On a Namespace; does not act once. */
  addonsFrom: `${OPERATOR_GROUP}/addons-from`,
  /** Value: the UID of the TalosClusterAddon that made a TalosClusterAddonRelease. Set by the operator. */
  addonUid: `${OPERATOR_GROUP}/addon-uid`,
  /** Value: `published`. On a TalosClusterAddonRelease that the operator that published these kinds made: its addon keeps it although its selector is empty. Set by the operator. */
  addonAdopted: `${OPERATOR_GROUP}/addon-adopted`,
  /** Value: `true`. On a TalosClusterAddonRelease whose cluster its addon does not select any more: it stays as it is. Set and taken away by the operator. */
  addonNotSelected: `${OPERATOR_GROUP}/addon-not-selected`,
  /** Value: the number of a revision. On a TalosClusterAddonRelease: goes back to it, once; an edit ends it. */
  rollbackTo: `${OPERATOR_GROUP}/rollback-to`,
  /** Value: names of system extensions, separated by commas. On a TalosControlPlane: machines may get images that lack them. Does not act once. */
  allowExtensionLoss: `${OPERATOR_GROUP}/allow-extension-loss`,
  /** Value: names of kernel arguments, separated by commas. On a TalosControlPlane: machines may get images that lack them. Does not act once. */
  allowKernelArgumentLoss: `${OPERATOR_GROUP}/allow-kernel-argument-loss`,
  /**
   * Value: a version of Talos or Kubernetes. On a TalosControlPlane: machines may go back to exactly that Talos, and plans to that Kubernetes. Removed once every
   * machine that is to run that Talos does and none runs a newer one.
   */
  allowDowngrade: `${OPERATOR_GROUP}/allow-downgrade`,
  /**
   * Value: the version of Talos that the spec asks for. On a TalosControlPlane whose etcd has two voters: it may lose its quorum while one of them boots into that
   * Talos. Removed once every control plane runs it.
   */
  approveOutage: `${OPERATOR_GROUP}/approve-outage`,
  /** Value: a version of Talos. On a TalosControlPlane: a version that failed on a machine may be tried again. */
  liftQuarantine: `${OPERATOR_GROUP}/lift-quarantine`,
  /**
   * Value: codes of hazards, separated by commas. On the TalosControlPlane or TalosWorker that lists the machines: their configurations are sent although they have
   * them. Bound to the settings of now.
   */
  acceptHazard: `${OPERATOR_GROUP}/accept-hazard`,
  /**
   * Value: the Talos cluster.id. On the ClusterRecord of a cluster that was deleted with `deletionPolicy: preserve`, once the record is being deleted: record and keys
   * go, and nobody administers the machines with them any more.
   */
  releaseKeys: `${OPERATOR_GROUP}/release-keys`,
  /** Value: the Talos cluster.id. Takes over a cluster whose record belongs to an object with another UID. */
  adopt: `${OPERATOR_GROUP}/adopt`,
} as const;

/** Annotations that the operator sets itself, and nobody else has a reason to. */
export const annotationsOfOperator: ReadonlySet<string> = new Set([
  annotations.machinesWiped,
  annotations.madeFor,
  annotations.takenBefore,
  annotations.backupSlot,
  annotations.addonUid,
  annotations.addonAdopted,
  annotations.addonNotSelected,
]);

/** Labels on objects the operator makes. Never trusted as identity. */
export const labels = {
  /** Name of the control plane the object serves. */
  cluster: `${OPERATOR_GROUP}/cluster`,
  /** `controlplane` or `worker`, on TalosMachines. */
  role: `${OPERATOR_GROUP}/role`,
  /** Name of the TalosWorker that lists the machine, on TalosMachines of workers. */
  pool: `${OPERATOR_GROUP}/pool`,
  /** `true` on the ClusterRecord of a cluster that was deleted with `deletionPolicy: preserve`. */
  preserved: `${OPERATOR_GROUP}/preserved`,
  /** What a Secret holds: `bundle`, `kubeconfig`, `talosconfig` or `applied-template`. */
  secretKind: `${OPERATOR_GROUP}/secret`,
  /** `manager` on the Deployments of this operator, whose image has the name that a published operator's had; `backup` and `addon` on the Jobs of workers, their pods and Secrets. */
  component: `${OPERATOR_GROUP}/component`,
  /** Name of the TalosEtcdBackupSchedule that made a TalosEtcdBackup, as published; a name of more than 63 characters is cut by `labelValueFor`. */
  backupSchedule: `${TALOS_GROUP}/etcd-backup-schedule`,
  /** Name of the TalosControlPlane, on a TalosEtcdBackup that is taken before something that can cost its quorum or its data; cut by `labelValueFor`. */
  beforeRisk: `${OPERATOR_GROUP}/before-risk`,
  /** Name and namespace of the TalosClusterAddon that made a TalosClusterAddonRelease, `<namespace>.<name>`; cut by `labelValueFor`. */
  addon: `${OPERATOR_GROUP}/addon`,
  /** `true` on a Secret with the keys of a store, set by a person: backups may use it. */
  backupStore: `${OPERATOR_GROUP}/backup-store`,
  /** What a Job, its pod and its Secret are for: the UID of the TalosEtcdBackup. */
  backupUid: `${OPERATOR_GROUP}/backup-uid`,
  /** What a backup Job does: `take`, `prove` or `remove`. */
  backupTask: `${OPERATOR_GROUP}/backup-task`,
  /** What a Job, its pod and its Secret are for: the UID of the TalosClusterAddonRelease. */
  addonUid: `${OPERATOR_GROUP}/addon-release-uid`,
  /** What a Job of an addon does: `apply`, `rollback`, `uninstall` or `render`. */
  addonTask: `${OPERATOR_GROUP}/addon-task`,
  /** `state` on the state Secrets of the operator that published these kinds. */
  publishedType: `${TALOS_GROUP}/type`,
} as const;

/** How far the operator may go with an object. */
export type ReconcileMode = "reconcile" | "disable" | "dryrun" | "import";

/** The mode an object asks for: letter case is ignored, an absent or unknown value is `reconcile`, as published. */
export function reconcileModeOf(metadata: { readonly annotations?: Readonly<Record<string, string>> }): ReconcileMode {
  const value = metadata.annotations?.[annotations.reconcileMode]?.trim().toLowerCase();
  return value === "disable" || value === "dryrun" || value === "import" ? value : "reconcile";
}

/** The value of the annotation when it is none of the known words, cut to 64 characters; `undefined` when there is nothing to object to. */
export function unknownReconcileMode(metadata: { readonly annotations?: Readonly<Record<string, string>> }): string | undefined {
  const value = metadata.annotations?.[annotations.reconcileMode]?.trim() ?? "";
  return value === "" || value.toLowerCase() === "reconcile" || reconcileModeOf(metadata) !== "reconcile" ? undefined : value.slice(0, 64);
}

/** Whether a snapshot is taken before what can cost a cluster its quorum or its data. */
export type SnapshotPolicy = "required" | "preferred" | "off";

/**
 * What a word of the annotation {@link annotations.snapshotBeforeRisk} asks for. None and an empty one are `preferred`; one that is no known value counts as
 * `required`: whoever wrote it wanted something, and what waits can still be done. `unknown`: that word, cut to 64 characters.
 */
export function snapshotPolicyOf(word: string | undefined): { readonly policy: SnapshotPolicy; readonly unknown?: string } {
  const value = word?.trim() ?? "";
  const known = value.toLowerCase();
  if (known === "" || known === "preferred") return { policy: "preferred" };
  if (known === "required" || known === "off") return { policy: known };
  return { policy: "required", unknown: value.slice(0, 64) };
}
