import { backupKinds, backupProgress } from "./backup.ts";
import type { ConditionEntry } from "./entry.ts";

/** Whether the operator is at work on the object. */
export const progressing = {
  meaning: "The operator is changing something, or waits for a change it began.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", ...backupKinds],
  reasons: {
    Starting: {
      status: "True",
      release: "itself",
      when: "The newest spec was read, or a machine shows something else, and what follows from it is about to begin.",
      next: "-",
    },
    Composing: { status: "True", release: "itself", when: "Objects the cluster consists of are being made.", next: "-" },
    WaitingForMachines: {
      status: "True",
      release: "itself",
      when: "Machines are expected to answer.",
      next: "Boot the machines the message names, or bring them back.",
    },
    WaitingForEtcd: {
      status: "True",
      release: "itself",
      when: "Etcd is expected to have all its members, healthy.",
      next: "See the condition EtcdHealthy.",
    },
    UnderWay: {
      status: "True",
      release: "itself",
      when: "A change of a machine is open, or something that no other reason names ends by itself; the message says what.",
      next: "-",
    },
    Configuring: { status: "True", release: "itself", when: "Machines are being configured, or install and reboot after it.", next: "-" },
    Bootstrapping: { status: "True", release: "itself", when: "Etcd is being bootstrapped.", next: "-" },
    Joining: { status: "True", release: "itself", when: "Machines join the cluster.", next: "-" },
    WaitingForNodes: { status: "True", release: "itself", when: "Kubernetes nodes are expected to register and turn ready.", next: "-" },
    Removing: {
      status: "True",
      release: "itself",
      when: "Machines are being taken out of the cluster.",
      next: "See the condition Removing.",
    },
    Deleting: { status: "True", release: "itself", when: "The object is being taken down.", next: "-" },
    ChangingConfiguration: {
      status: "True",
      release: "itself",
      when: "The configuration of running machines is being changed.",
      next: "See the condition ConfigUpToDate.",
    },
    UpgradingTalos: {
      status: "True",
      release: "itself",
      when: "Machines are being brought to another Talos.",
      next: "See the condition UpgradePending.",
    },
    TendingEtcd: {
      status: "True",
      release: "itself",
      when: "A member of etcd is being defragmented or replaced, a stray member is being removed, or an alarm is being taken back.",
      next: "-",
    },
    Settled: { status: "False", release: "none", when: "Everything that the spec asks for is carried out.", next: "-" },
    UpgradePending: {
      status: "False",
      release: "person",
      when: "Everything is carried out but another version that the spec asks for.",
      next: "See the condition UpgradePending.",
    },
    Blocked: {
      status: "False",
      release: "none",
      when: "Something must change before the operator goes on.",
      next: "See the reason of the condition Ready.",
    },
    ...backupProgress,
  },
} as const satisfies ConditionEntry;

/** Whether etcd was bootstrapped: once in the life of a cluster. */
export const bootstrapped = {
  meaning: "Etcd of this cluster was bootstrapped; it is never bootstrapped again.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane"],
  reasons: {
    Bootstrapped: { status: "True", release: "none", when: "A machine showed etcd running with members of this cluster.", next: "-" },
    WaitingForControlPlanes: {
      status: "False",
      release: "itself",
      when: "Not every control plane is configured and waits for etcd to be bootstrapped.",
      next: "Boot the control planes the message names.",
    },
    ControlPlaneUnreachable: {
      status: "Unknown",
      release: "itself",
      when: "A control plane that was ever configured does not answer: it may hold etcd data, so nothing is bootstrapped.",
      next: "Bring the machine back, or give it up with talos-operator.dev/abandon-machine and its UUID.",
    },
    EtcdDataFound: {
      status: "False",
      release: "person",
      when: "etcd runs on a control plane that the record says nothing of, or has stopped with data on the one that was asked to bootstrap it.",
      next: "If etcd runs, nothing: its member list decides. If etcd has stopped, reboot the machine that the message names.",
    },
    ImportPending: {
      status: "Unknown",
      release: "none",
      when: "The running cluster is not taken over yet.",
      next: "See the condition Imported.",
    },
    IntentOpen: {
      status: "False",
      release: "itself",
      when: "The intent is written; what the machine shows decides whether the call took effect.",
      next: "Nothing; the message names the machine.",
    },
  },
} as const satisfies ConditionEntry;

/** Whether etcd serves with all its members. */
export const etcdHealthy = {
  meaning: "Every control plane is a started voter of etcd, and they agree on members and leader.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane"],
  reasons: {
    AllMembersHealthy: { status: "True", release: "none", when: "Every control plane is a healthy voter.", next: "-" },
    NotBootstrapped: { status: "False", release: "itself", when: "Etcd is not bootstrapped yet.", next: "See the condition Bootstrapped." },
    ImportPending: {
      status: "Unknown",
      release: "none",
      when: "The running cluster is not taken over yet.",
      next: "See the condition Imported.",
    },
    MemberMissing: {
      status: "False",
      release: "itself",
      when: "A control plane is no serving member of etcd, or is a learner still.",
      next: "Look at the machine the message names.",
    },
    MemberUnhealthy: {
      status: "False",
      release: "itself",
      when: "A member is unhealthy, has not started, raises an alarm, knows no leader, or lists other members than the others.",
      next: "Look at the machine the message names.",
    },
    MemberRestarting: {
      status: "False",
      release: "itself",
      when: "The operator restarts the machine of a member, for an upgrade or a change of settings. The others serve.",
      next: "-",
    },
    MemberUnexpected: {
      status: "False",
      release: "itself",
      when: "A member belongs to no machine of this cluster. It is removed when that is still so minutes later and no machine may be it.",
      next: "What the message says; the runbook stray-member says more.",
    },
    NoSpace: {
      status: "False",
      release: "itself",
      when: "Etcd's files have reached their quota (NOSPACE): Kubernetes can write nothing.",
      next: "Nothing; the message says what is done or waited for. The runbook etcd-no-space says more.",
    },
    NoSpaceStopped: {
      status: "False",
      release: "person",
      when: "Etcd's files have reached their quota (NOSPACE), and what the operator may do does not free them: Kubernetes can write nothing.",
      next: "Free space, or raise the quota: see the runbook etcd-no-space.",
    },
    ReplacingMember: {
      status: "False",
      release: "itself",
      when: "The data of one member are not those of the majority (CORRUPT): it leaves etcd and joins anew, after a snapshot of another member. Nothing is written meanwhile.",
      next: "Nothing; reboot no control plane before. The runbook etcd-corrupt says more.",
    },
    DataCorrupt: {
      status: "False",
      release: "person",
      when: "The data of etcd's members differ (CORRUPT), and the wrong ones cannot be replaced: nothing is written, and nothing is done to any control plane.",
      next: "Follow the runbook etcd-corrupt; reboot no control plane before.",
    },
    Defragmenting: {
      status: "False",
      release: "itself",
      when: "A member gives free pages of its file back, and answers nothing meanwhile.",
      next: "Nothing.",
    },
    QuorumLost: {
      status: "False",
      release: "itself",
      when: "Fewer than a majority of etcd's members serve: nothing can be written, and nothing is done to any member.",
      next: "Bring back the machines the message names; the runbook lost-quorum says what to do when they are gone for good.",
    },
    NoAnswer: { status: "Unknown", release: "itself", when: "No control plane could be asked.", next: "See the condition MachinesReady." },
  },
} as const satisfies ConditionEntry;

/** Whether all machines of an object are configured and answer. */
export const machinesReady = {
  meaning: "Every machine of the object is configured and answers with its recorded identity.",
  kinds: ["TalosControlPlane", "TalosWorker"],
  reasons: {
    AllMachinesReady: { status: "True", release: "none", when: "Every machine answers.", next: "-" },
    MachinesNotReady: {
      status: "False",
      release: "itself",
      when: "Some machines do not answer or are not configured yet.",
      next: "See the TalosMachines the message names.",
    },
    NoMachines: { status: "False", release: "none", when: "The object lists no machine.", next: "List machines, or delete the object." },
    Unobserved: { status: "Unknown", release: "itself", when: "No machine was read yet.", next: "-" },
  },
} as const satisfies ConditionEntry;

/** Whether all machines are ready Kubernetes nodes. */
export const nodesReady = {
  meaning: "Every machine is registered as a Kubernetes node and ready.",
  kinds: ["TalosControlPlane", "TalosWorker"],
  reasons: {
    AllNodesReady: { status: "True", release: "none", when: "Every node is ready.", next: "-" },
    NodesNotReady: {
      status: "False",
      release: "itself",
      when: "Nodes are missing or not ready; the message names each with its unmet condition.",
      next: "Look at the nodes named.",
    },
    NoNetworkPlugin: {
      status: "False",
      release: "itself",
      when: "No Node is Ready, nothing else is amiss, and the configuration says cni none: nobody has installed a network plugin (CNI) yet. Reported on a TalosControlPlane.",
      next: "Install one with a TalosClusterAddon, which waits for no Node, or by hand.",
    },
    NotBootstrapped: {
      status: "False",
      release: "itself",
      when: "There is no Kubernetes yet: etcd is not bootstrapped.",
      next: "See the condition Bootstrapped.",
    },
    ImportPending: {
      status: "Unknown",
      release: "none",
      when: "The running cluster is not taken over yet.",
      next: "See the condition Imported.",
    },
    Unobserved: { status: "Unknown", release: "itself", when: "No node was read yet.", next: "-" },
  },
} as const satisfies ConditionEntry;

/** Whether each machine has one Node of its own. */
export const nodesUnique = {
  meaning: "Each machine has one Node, and each Node one machine. Reported while that is not so.",
  kinds: ["TalosControlPlane"],
  reasons: {
    NodeShared: {
      status: "False",
      release: "none",
      when: "Several machines report one Node: they have one host name. None of them counts as ready.",
      next: "Give each machine its own host name, as with a HostnameConfig in machines[].configPatches.",
    },
    NodeLeft: {
      status: "False",
      release: "none",
      when: "A Node that is not ready stands at the address of a machine that has another Node: the one of an earlier host name. It is deleted by itself where its UUID proves whose it was.",
      next: "Delete the Node that the message names, unless it belongs to another machine.",
    },
  },
} as const satisfies ConditionEntry;
