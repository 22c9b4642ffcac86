import type { ConditionEntry } from "./entry.ts";

/** Kubelets that ask their cluster for the certificate they serve with. */
export const kubeletCertificatesPending = {
  meaning:
    "Kubelets with rotate-server-certificates wait for somebody to approve the certificate that they serve with; the message names Nodes, requests and since when.",
  kinds: ["TalosControlPlane"],
  reasons: {
    NobodyApproves: {
      status: "True",
      release: "none",
      when: "The newest request of a kubelet is neither approved nor denied, and the operator does not approve any.",
      next: 'Run kubectl certificate approve in the cluster, or an approver, or annotate talos-operator.dev/approve-kubelet-certificates: "true".',
    },
    BeingApproved: {
      status: "True",
      release: "none",
      when: "The operator is about to approve it, or could not write its approval yet.",
      next: "-",
    },
    Refused: {
      status: "True",
      release: "none",
      when: "The operator approves requests, and not this one: it asks for more than is known of the machine; the message says what.",
      next: "Correct what the message names, or decide in the cluster: kubectl certificate approve or deny.",
    },
  },
} as const satisfies ConditionEntry;
