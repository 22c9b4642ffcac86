import { addonKinds } from "./addon.ts";
import { backupKinds } from "./backup.ts";
import type { ConditionEntry } from "./entry.ts";

/** For tools that follow the rules of kstatus: the object is on its way to what its spec asks for. Absent otherwise. */
export const reconciling = {
  meaning:
    "Something that changes machines, or a run of a backup, is open, or the spec is not carried out and gets there without a person. Absent otherwise, and never beside Stalled.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine", ...backupKinds, ...addonKinds],
  reasons: {
    Progressing: {
      status: "True",
      release: "none",
      when: "An effect is open, or something is waited for that ends by itself; the message says what.",
      next: "-",
    },
  },
} as const satisfies ConditionEntry;

/** For the same tools: nothing goes on before a person does something. Absent otherwise. */
export const stalled = {
  meaning:
    "The spec is not carried out, nothing that changes machines is open, and only a person releases it. Absent otherwise, and never beside Reconciling.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine", ...backupKinds, ...addonKinds],
  reasons: {
    PersonNeeded: {
      status: "True",
      release: "none",
      when: "A condition has a reason that only a person releases; the message says which and what.",
      next: "See the message.",
    },
    Paused: {
      status: "True",
      release: "none",
      when: "The annotation reconcile-mode was set before the spec was carried out, or spec.paused of a schedule is true.",
      next: "Remove the annotation, or set spec.paused to false.",
    },
  },
} as const satisfies ConditionEntry;
