import { annotations, conditionFor, quote, rfc3339 } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import { NODE_USER } from "../workload/kubelet-certificates/requests.ts";
import { approvesCertificates } from "../procedures/certificates/rule.ts";
import type { PendingCertificate } from "../model/workload.ts";
import type { Observed } from "../model/observation.ts";

/** So many are named; the others are counted. */
const MOST_NAMED = 3;

/** Kubelets that wait for the certificate they serve with; nothing is said where none does, or nobody knows. */
export function kubeletCertificates(seen: Observed): readonly ConditionInput[] {
  const pending = seen.certificates?.pending ?? [];
  if (pending.length === 0) return [];
  const said = (reason: ReasonOf<"KubeletCertificatesPending">, message: string): readonly ConditionInput[] => [
    conditionFor("KubeletCertificatesPending", reason, message, seen.controlPlane.metadata.generation),
  ];
  const consequence = "Until then logs, exec and metrics of these nodes may be refused.";
  if (!approvesCertificates(seen))
    return said(
      "NobodyApproves",
      `Kubelets wait for the certificate they serve with: ${listed(pending, sinceWords)}. ${consequence} Approve them (kubectl certificate approve), run an approver in the cluster, or annotate ${annotations.approveKubeletCertificates}: "true".`,
    );
  const refused = pending.filter(({ refusal }) => refusal !== undefined);
  if (refused.length > 0)
    return said(
      "Refused",
      `Certificates that are not approved: ${listed(refused, (one) => `${sinceWords(one)}: ${one.refusal ?? ""}`)}. Correct what is named, or decide by kubectl certificate approve or deny.`,
    );
  return said(
    "BeingApproved",
    `Kubelets wait for the certificate they serve with: ${listed(pending, sinceWords)}. They are approved next.`,
  );
}

function sinceWords({ request, since }: PendingCertificate): string {
  return `${request}, since ${rfc3339(since)}`;
}

function listed(pending: readonly PendingCertificate[], words: (one: PendingCertificate) => string): string {
  const named = pending.slice(0, MOST_NAMED).map((one) => `${nodeOf(one)} (${words(one)})`);
  const more = pending.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function nodeOf({ username }: PendingCertificate): string {
  const name = username.startsWith(NODE_USER) ? username.slice(NODE_USER.length) : username;
  return /^[a-z0-9.-]{1,253}$/u.test(name) ? name : quote(name);
}
