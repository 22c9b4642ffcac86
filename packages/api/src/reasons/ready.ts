import { addressReasons } from "./address.ts";
import { addonKinds, addonReadyReasons, addonReasons } from "./addon.ts";
import { backupKinds, backupReadyReasons, backupReasons } from "./backup.ts";
import type { ConditionEntry } from "./entry.ts";

/** Reasons why an object is not ready that lie in what its author wrote. Nothing is sent to a machine while one of them holds. */
const authorReasons = {
  SpecMissing: {
    status: "False",
    release: "person",
    when: "The object has no spec, or a TalosCluster names no control plane.",
    next: "Write the spec.",
  },
  InvalidEndpoint: {
    status: "False",
    release: "person",
    when: "spec.endpoint is no plain https URL of host and port, or points to an address no cluster can have.",
    next: "Correct spec.endpoint.",
  },
  InvalidAddress: {
    status: "False",
    release: "person",
    when: "A machine's address is no canonical IP address or DNS name, or lies in a range no machine can have.",
    next: "Correct the address the message names.",
  },
  AddressInClusterRange: {
    status: "False",
    release: "person",
    when: "A machine's address lies inside the pod or service networks: etcd would wait for an address for ever.",
    next: "Move the machine, or choose other podCIDR or serviceCIDR before the cluster is made.",
  },
  DuplicateAddress: {
    status: "False",
    release: "person",
    when: "Two machines have one address, within the object, across control plane and workers or in another cluster; or spec.endpoint is a machine or the endpoint of another cluster.",
    next: "Give each machine its own address, and each cluster its own endpoint. Objects of another namespace are not named: who may list TalosMachines there finds the machine by its address.",
  },
  InvalidNetwork: {
    status: "False",
    release: "person",
    when: "podCIDR or serviceCIDR holds something that is no network, two that overlap, or one too small.",
    next: "Correct the network the message names.",
  },
  InvalidTopology: {
    status: "False",
    release: "person",
    when: "A KubernetesCluster says something that no cluster can be made of: a name, a size, a taint, two fields that differ.",
    next: "Correct the field the message names.",
  },
  UnsupportedReplicas: {
    status: "False",
    release: "person",
    when: "The number of control planes is even, zero or above seven, or the number of workers is negative or more than this release, or the ClusterRecord, holds.",
    next: "Ask for 1, 3, 5 or 7 control planes, and for no more workers than the message says.",
  },
  VersionUnsupported: {
    status: "False",
    release: "person",
    when: "The Talos version is not supported, or does not go with the Kubernetes version.",
    next: "Choose versions as the message says.",
  },
  ModeNotSupported: { status: "False", release: "person", when: "spec.mode is not supported yet.", next: "Use mode metal." },
  FieldNotSupported: {
    status: "False",
    release: "person",
    when: "A field is set that is not supported yet, and ignoring it would give another cluster than was asked for.",
    next: "Remove the field the message names.",
  },
  InvalidConfig: {
    status: "False",
    release: "person",
    when: "A patch, an additional document or the referenced config does not give a valid machine config.",
    next: "Correct the document and path the message names.",
  },
  ControlPlaneNotFound: {
    status: "False",
    release: "itself",
    when: "The referenced TalosControlPlane does not exist or is not named. Of a backup: the cluster that it names, or its etcd, is not there yet.",
    next: "Create it, or correct the reference.",
  },
  WorkerNotFound: {
    status: "False",
    release: "itself",
    when: "The referenced TalosWorker does not exist.",
    next: "Create it, or correct workerRef.",
  },
  GivenSecretsUnusable: {
    status: "False",
    release: "person",
    when: "The token and authority that somebody gave for the keys of a new cluster are absent or unusable. No keys are made.",
    next: "Correct the Secret that the message names.",
  },
  DuplicateCluster: {
    status: "False",
    release: "person",
    when: "An older KubernetesCluster of the namespace has the same clusterId or clusterName.",
    next: "Delete one of the two, and make it anew with an id of its own.",
  },
  NameConflict: {
    status: "False",
    release: "person",
    when: "An object of the name needed exists and belongs to another owner or role.",
    next: "Rename one of them, or wait until the other is gone.",
  },
  ClusterMismatch: {
    status: "False",
    release: "person",
    when: "A fixed property of the cluster (networks, a machine's role) was changed after it was made.",
    next: "Set the value back to what the message names.",
  },
} as const satisfies ConditionEntry["reasons"];

/** Reasons that lie in the world: what machines show, or do not. */
const worldReasons = {
  WaitingForMachines: {
    status: "False",
    release: "itself",
    when: "Machines were not configured yet: they do not answer, or it is not their turn.",
    next: "Boot those that do not answer into maintenance mode.",
  },
  Composing: { status: "False", release: "itself", when: "The objects, keys or record of the cluster are being made.", next: "-" },
  Configuring: {
    status: "False",
    release: "itself",
    when: "Machines are being configured, or install Talos and reboot after it.",
    next: "-",
  },
  Booting: { status: "False", release: "itself", when: "Machines boot or reboot.", next: "-" },
  Restarting: {
    status: "False",
    release: "itself",
    when: "The operator restarts machines, for an upgrade or a change of settings. A TalosCluster or KubernetesCluster that was ready stays ready meanwhile.",
    next: "-",
  },
  MachineUnreachable: {
    status: "False",
    release: "itself",
    when: "A machine that is part of the cluster does not answer.",
    next: "Check its power and network.",
  },
  EndpointUnreachable: {
    status: "False",
    release: "person",
    when: "All machines are well, and the endpoint of the cluster does not lead to its Kubernetes API.",
    next: "Do what the condition EndpointReachable says; the endpoint is asked again at least once a minute.",
  },
  EndpointPending: {
    status: "False",
    release: "itself",
    when: "All machines are well, and the endpoint of the cluster has not answered for the first time yet.",
    next: "Nothing; it is asked within seconds.",
  },
  ...addressReasons,
  ClockSkewed: {
    status: "False",
    release: "person",
    when: "Certificates of this cluster are not in force yet, or no more, by the clock of the operator or of a machine.",
    next: "Correct the clock of the operator's host, or of the machine the message names.",
  },
  NotTalos: {
    status: "False",
    release: "person",
    when: "Something answers at a machine's address that is not Talos.",
    next: "Correct the address, or boot Talos there.",
  },
  IdentityMismatch: {
    status: "False",
    release: "person",
    when: "A machine shows another identity than was recorded: a foreign certificate, UUID or key. Nothing is sent to it.",
    next: "Find out what stands at the address. If only a verified key is missing, annotate talos-operator.dev/accept-identity with it.",
  },
  MaintenanceUnexpected: {
    status: "False",
    release: "person",
    when: "A machine that was configured answers in maintenance mode: it was wiped, or something else took its address.",
    next: "If it may be configured again, annotate talos-operator.dev/approve-reprovision with its UUID.",
  },
  ForeignCluster: {
    status: "False",
    release: "person",
    when: "A machine listed here is already configured and does not accept this cluster's certificates.",
    next: "Reset that machine into maintenance mode, or remove it from the list.",
  },
  MachineInUse: {
    status: "False",
    release: "person",
    when: "A machine with this identity already belongs to another cluster or list entry.",
    next: "Remove one of the two entries.",
  },
  InstallDiskUnclear: {
    status: "False",
    release: "person",
    when: "The disk to install on is absent, holds data, or cannot be chosen safely.",
    next: "Name an empty disk in machineSpec.installDisk, or set machineSpec.wipe.",
  },
  VersionFailed: {
    status: "False",
    release: "person",
    when: "A machine that joins would be installed with a Talos that failed on another one, and none is known that runs in its place.",
    next: "Ask for another version or image, or annotate the TalosControlPlane with talos-operator.dev/lift-quarantine and the version to try it again.",
  },
  ConfigRejected: {
    status: "False",
    release: "person",
    when: "A machine refused its configuration.",
    next: "Read the machine's answer in the message and correct the patches or settings.",
  },
  Bootstrapping: {
    status: "False",
    release: "itself",
    when: "etcd is being bootstrapped, or waits to be.",
    next: "Nothing; the condition Bootstrapped says what is waited for.",
  },
  Joining: { status: "False", release: "itself", when: "Control planes join etcd; none that is a member is away.", next: "-" },
  EtcdUnhealthy: {
    status: "False",
    release: "itself",
    when: "Etcd lacks a member or a healthy majority.",
    next: "Bring back the control planes the message names: check their power, network and disk. If one is lost for good, replace its address in metalSpec.machines.",
  },
  Removing: {
    status: "False",
    release: "itself",
    when: "Machines that the spec no longer lists are being taken out of the cluster.",
    next: "See the condition Removing of the TalosControlPlane or TalosWorker.",
  },
  NodesNotReady: {
    status: "False",
    release: "itself",
    when: "Kubernetes nodes are missing or not ready; the message names each with its unmet condition.",
    next: "If this lasts longer than a few minutes, check for a missing network plugin (CNI) or an image that cannot be pulled.",
  },
  NodeShared: {
    status: "False",
    release: "person",
    when: "Several machines report one Node: they have one host name, and their kubelets write one Node object in turns. None of them counts as ready.",
    next: "Give each machine its own host name, as with a HostnameConfig in machines[].configPatches.",
  },
  WaitingForProvider: {
    status: "False",
    release: "itself",
    when: "Machines have no address yet: whoever provides them has not fulfilled them.",
    next: "See the Machines that the message names, and the operator that provides them.",
  },
  WaitingForEndpoint: {
    status: "False",
    release: "itself",
    when: "The network is asked for the address of the Kubernetes API, and has not given one. No machine is configured before.",
    next: "See the NetworkNamespace and the ControlPlaneVirtualSharedIP that the message names, and the operator of the network.",
  },
  MachinesNotCreated: {
    status: "False",
    release: "itself",
    when: "Machines could not be made, or are not to be made yet.",
    next: "See the condition MachinesCreated.",
  },
  ControlPlaneNotReady: {
    status: "False",
    release: "none",
    when: "The control plane is not ready.",
    next: "See the conditions of the TalosControlPlane.",
  },
  WorkersNotReady: {
    status: "False",
    release: "none",
    when: "The worker pool is not ready.",
    next: "See the conditions of the TalosWorker.",
  },
  SecretsLost: {
    status: "False",
    release: "person",
    when: "The secrets bundle is gone or is not the recorded one. Everything is read-only.",
    next: "Restore the Secret the ClusterRecord names; it is never made anew.",
  },
  AdoptionRequired: {
    status: "False",
    release: "person",
    when: "A cluster of this name exists whose record belongs to an object with another UID. Everything is read-only.",
    next: "Annotate the TalosControlPlane with talos-operator.dev/adopt and the cluster.id, or use another name.",
  },
  ImportPending: {
    status: "False",
    release: "none",
    when: "A cluster that runs already is being verified or waits to be taken over. Everything is read-only.",
    next: "See the condition Imported: correct what it names, or annotate talos-operator.dev/import-approve with its hash.",
  },
  InvariantBroken: {
    status: "False",
    release: "person",
    when: "What was decided would have broken a rule that always holds, which the message names: a fault of the operator. Nothing was sent to any machine; the cluster runs on as it is.",
    next: "Report it with the message and the ClusterRecord. Take back the last edit, or run the release before, until it is mended.",
  },
  AnotherOperatorActive: {
    status: "False",
    release: "person",
    when: "Another operator was seen at work on this cluster. Nothing is done.",
    next: "Stop the other operator: scale its Deployment to 0. Ten minutes after its last write this one goes on by itself.",
  },
  RecordNewer: {
    status: "False",
    release: "person",
    when: "The ClusterRecord holds a field or an effect that only a newer release of the operator knows. Everything is read-only.",
    next: "Run the release that wrote it, or a newer one: an older one would act on half of what was decided.",
  },
  WriteRefused: {
    status: "False",
    release: "person",
    when: "The API server refuses what has to be written before anything else is done: a right, a quota, an admission rule or a size is in the way. Nothing is sent to machines without it.",
    next: "Correct what the message names.",
  },
  Paused: {
    status: "False",
    release: "person",
    when: "The annotation reconcile-mode keeps the operator from acting.",
    next: "Remove the annotation.",
  },
  Deleting: { status: "False", release: "itself", when: "The object is being deleted.", next: "See the condition Deleting." },
  Orphaned: {
    status: "False",
    release: "person",
    when: "The object that this machine belongs to is gone.",
    next: "Bring it back, or delete the machine.",
  },
} as const satisfies ConditionEntry["reasons"];

/** The summary that `kubectl wait --for=condition=Ready` waits for. */
export const ready = {
  meaning:
    "The object does what its spec asks for: machines configured, etcd healthy, nodes ready. A backup: it is stored, was read back and has its manifest. An addon: it is installed and what it runs is ready.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine", ...backupKinds, ...addonKinds],
  reasons: {
    AllReady: { status: "True", release: "none", when: "Everything that the spec asks for was observed.", next: "-" },
    ...backupReadyReasons,
    ...addonReadyReasons,
    ...authorReasons,
    ...worldReasons,
    ...backupReasons,
    ...addonReasons,
    Unobserved: {
      status: "Unknown",
      release: "itself",
      when: "Nothing was observed yet, or the last observation failed.",
      next: "Nothing; it is read again.",
    },
  },
} as const satisfies ConditionEntry;
