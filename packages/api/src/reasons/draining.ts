import type { ConditionEntry } from "./entry.ts";

/** Nodes that are emptied before their machines are disturbed. */
export const draining = {
  meaning: "A Node is cordoned and its pods are evicted before its machine is disturbed; the message names machine, pods and budgets.",
  kinds: ["TalosControlPlane"],
  reasons: {
    PodsLeaving: {
      status: "True",
      release: "itself",
      when: "Pods were evicted and are not gone yet, or are about to be evicted.",
      next: "-",
    },
    VolumesAttached: {
      status: "True",
      release: "itself",
      when: "The pods have left, and volumes that they used are still attached to the Node.",
      next: "See that the CSI driver of the volumes runs and detaches them, or annotate talos-operator.dev/proceed-without-drain with the machine's UUID.",
    },
    BudgetBlocks: {
      status: "True",
      release: "itself",
      when: "A PodDisruptionBudget forbids the eviction of a pod.",
      next: "Give the workload healthy replicas elsewhere or the budget room, or annotate talos-operator.dev/proceed-without-drain with the machine's UUID.",
    },
    ApiUnreachable: {
      status: "True",
      release: "itself",
      when: "No control plane's Kubernetes API answers.",
      next: "See that the operator reaches port 6443 of the control planes; after the drain timeout the machine is disturbed all the same.",
    },
    Refused: {
      status: "True",
      release: "person",
      when: "The API refuses evictions, or the Node under the machine's name reports another machine's UUID.",
      next: "Correct what the message names, or annotate talos-operator.dev/proceed-without-drain with the machine's UUID.",
    },
    Drained: { status: "True", release: "itself", when: "The Node is cordoned and empty; its machine is disturbed next.", next: "-" },
  },
} as const satisfies ConditionEntry;
