import { annotations } from "@talos-operator/api";
import { outageWord } from "../../disruption/approved-outage.ts";
import { ownMachine } from "../../disruption/own-node.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";

/** What the boot of a machine costs the cluster as a whole. */
export type Outage =
  /** etcd goes on without it. */
  | { readonly kind: "none" }
  /** etcd and the Kubernetes API are away until it is back; `says` is told before it begins. A sentence. */
  | { readonly kind: "announced"; readonly says: string }
  /** The same, and nobody approved it: what a person can do, without a full stop. */
  | { readonly kind: "unapproved"; readonly why: string };

/** A control plane of one or two voters of etcd has nobody to go on with while one of them boots. The word of a person is asked for where two were to keep that from happening. */
export function outageOf(assessed: Assessment, { declared: { name, role, version }, look }: AssessedMachine): Outage {
  const own = ownMachine(assessed);
  const isAlone =
    own.kind === "here" && own.machine === name && !assessed.machines.some((one) => one.isMember && one.declared.name !== name);
  const view = assessed.etcdMembership;
  const member = look.kind === "running" ? look.etcd?.localMember : undefined;
  if (role === "worker" || view.kind !== "known" || view.voters.length > 2) return { kind: "none" };
  if (!view.voters.some(({ id }) => id === member)) return { kind: "none" };
  const isOnly = view.voters.length === 1;
  const is = isAlone
    ? "is the only node of the cluster that this operator runs in"
    : isOnly
      ? "is the only voter of etcd"
      : "is one of two voters of etcd";
  const happens = `${name} ${is}: while it boots, etcd${isAlone ? ", this operator" : ""} and the Kubernetes API of this cluster are away`;
  const snapshot = assessed.beforeUpgrade?.message;
  const word = outageWord(assessed.seen, name);
  if ((isOnly && !isAlone) || word.kind === "approved")
    return { kind: "announced", says: `${happens}.${snapshot === undefined ? "" : ` ${snapshot}`}` };
  const said = word.kind === "none" ? "" : ` (it says ${JSON.stringify(word.value)}, which approves nothing of that version)`;
  return {
    kind: "unapproved",
    why: `${happens}. That has to be approved: annotate the TalosControlPlane with ${annotations.approveOutage}: ${version}${said}`,
  };
}
