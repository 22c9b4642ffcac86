import type { PrinterColumn } from "../schema/crd.ts";
import { integer, string } from "../schema/field.ts";

/** What runs, as it was last seen: for people and for the columns of `kubectl get`. */
export const runningFields = {
  observedVersion: string({
    description: "Talos version that runs; where machines differ every version, oldest first, with commas between.",
  }),
  wantedMachines: integer({ description: "Machines that the spec lists." }),
  readyMachines: integer({ description: "Of these, the ones that are ready Kubernetes nodes." }),
  machines: string({ description: "readyMachines/wantedMachines, for people." }),
  activity: string({
    description:
      "What goes on, as one word: the reason of Progressing while that is True, else why it is not ready or waits for a person, else Settled.",
    maxLength: 64,
  }),
};

/** What patches of a pool are written for. */
export const configContractField = string({
  description:
    "Talos version contract that the configurations of these machines are written for, for example 1.13: the oldest of theirs. It stays as Talos is upgraded, and machines that join get it too.",
  maxLength: 16,
});

/** Kubernetes that runs. */
export const observedKubeVersionField = string({ description: "Kubernetes version that runs on the control plane." });

export const readyColumn: PrinterColumn = { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
/** Why it is ready or not. */
export const reasonColumn: PrinterColumn = { name: "Status", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' };
/** What goes on, of clusters and pools. */
export const statusColumn: PrinterColumn = { name: "Status", type: "string", jsonPath: ".status.activity" };
/** Ready nodes of the machines that the spec lists. */
export const machinesColumn: PrinterColumn = { name: "Machines", type: "string", jsonPath: ".status.machines" };
