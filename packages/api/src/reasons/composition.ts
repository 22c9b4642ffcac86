import type { ConditionEntry } from "./entry.ts";

/** Whether what a KubernetesCluster asks for can be made. */
export const topologyValid = {
  meaning: "The spec can be made into Machines. While it cannot, nothing is made, changed or removed, and only another spec releases it.",
  kinds: ["KubernetesCluster"],
  reasons: {
    ValidationSucceeded: { status: "True", release: "none", when: "Nothing is wrong with the spec.", next: "-" },
    ValidationFailed: {
      status: "False",
      release: "person",
      when: "Something is wrong with the spec; the message names each field.",
      next: "Correct the spec.",
    },
  },
} as const satisfies ConditionEntry;

/** The files of a KubernetesCluster. */
export const filesGenerated = {
  meaning: "The manifests of the Machines are in files below RESULTS_PATH. They are for people: the cluster goes on without them.",
  kinds: ["KubernetesCluster"],
  reasons: {
    GenerationSucceeded: { status: "True", release: "none", when: "The files are there and say what is applied.", next: "-" },
    GenerationFailed: {
      status: "False",
      release: "none",
      when: "A file could not be written, the folder is somebody else's, or its file system does not answer.",
      next: "Make RESULTS_PATH writable, bring its file system back, or move what is in the way; it is tried again.",
    },
    NotConfigured: {
      status: "Unknown",
      release: "none",
      when: "RESULTS_PATH of the operator is empty, so no files are written. Without the variable they are in hack/results.",
      next: "Give RESULTS_PATH a folder, if files are wanted.",
    },
  },
} as const satisfies ConditionEntry;

/** The Machines of a KubernetesCluster. */
export const machinesCreated = {
  meaning: "Every Machine that the cluster asks for exists. Whether a provider has fulfilled it is said in Ready.",
  kinds: ["KubernetesCluster"],
  reasons: {
    CreationSucceeded: { status: "True", release: "none", when: "Each Machine exists and belongs to the cluster.", next: "-" },
    CreationFailed: {
      status: "False",
      release: "itself",
      when: "A Machine could not be made, or one of its name belongs to somebody else.",
      next: "See the message; it is tried again.",
    },
    WaitingForPerson: {
      status: "False",
      release: "person",
      when: "The annotation pause-after-files keeps the operator from making Machines; the files show what would be made.",
      next: "Remove the annotation talos-operator.dev/pause-after-files.",
    },
  },
} as const satisfies ConditionEntry;
