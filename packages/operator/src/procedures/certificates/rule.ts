import { annotations } from "@talos-operator/api";
import { elapsedMs } from "../../elapsed.ts";
import { factsOf } from "../../record/facts.ts";
import type { Observed } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";

/** Between two looks at the certificate requests of a cluster. Milliseconds. */
const CERTIFICATES_EVERY_MS = 60_000;

/**
 * Looks at the certificates that kubelets wait for, once a minute while any machine's configuration has its kubelet ask for one, and never otherwise. Requests
 * are approved only while a person says so.
 */
export const tendCertificates: Rule = {
  name: "tendCertificates",
  decide(assessed) {
    const { seen } = assessed;
    const { certificates, controlPlane } = seen;
    if (certificates === undefined || factsOf(seen)?.bootstrapDone === undefined || !seen.mayDisturb) return undefined;
    if (controlPlane.metadata.deletionTimestamp !== undefined || certificates.isAsking) return undefined;
    if (elapsedMs(certificates.at, seen.now) < CERTIFICATES_EVERY_MS) return undefined;
    return { actions: [{ kind: "TendCertificates", approves: approvesCertificates(seen) }] };
  },
};

/** Whether a person lets requests of our own machines be approved. Any other word than `true` does not. */
export function approvesCertificates({ controlPlane }: Pick<Observed, "controlPlane">): boolean {
  return controlPlane.metadata.annotations?.[annotations.approveKubeletCertificates] === "true";
}
