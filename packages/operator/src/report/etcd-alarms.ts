import type { ReasonOf } from "@talos-operator/api";
import { raisedBy } from "../assess/alarmed.ts";
import { controlPlanesOf } from "../assess/etcd-view.ts";
import { controlPlaneIntent, factsOf } from "../record/facts.ts";
import { names } from "../assess/machine-state.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Said } from "../model/plans.ts";

/** What etcd raises an alarm about and what is the way out, or that a member is being defragmented; `undefined` = neither. */
export function etcdAlarms({ seen, care, etcdMembership: view }: Assessment): Said<ReasonOf<"EtcdHealthy">> | undefined {
  const facts = factsOf(seen);
  if (facts?.bootstrapDone === undefined) return undefined;
  const isAlarmed = view.kind === "unsafe" && view.code === "alarm";
  const open = controlPlaneIntent(facts);
  if (open?.what === "Defragment" && !isAlarmed) {
    const look = controlPlanesOf(seen).find(({ declared }) => declared.name === open.machine)?.look;
    const answers = look?.kind === "running" && look.etcd?.isHealthy === true && look.etcd.members !== undefined;
    if (!answers)
      return { reason: "Defragmenting", message: `${open.machine} gives free pages of etcd's file back, and answers nothing meanwhile.` };
  }
  if (!isAlarmed) return undefined;
  const corrupt = corruptData(seen);
  if (corrupt !== undefined) return { reason: "DataCorrupt", message: corrupt };
  if (care === undefined) return undefined;
  const way = care.needsPerson ? `${care.says}. See docs/runbooks/etcd-no-space.md.` : `${care.says}.`;
  return {
    reason: "NoSpace",
    message: `etcd is full (NOSPACE) and Kubernetes can write nothing; no control plane is disturbed for anything else meanwhile: ${way}`,
  };
}

const NOTHING = "Nothing is sent to any control plane meanwhile. Reboot none of them: none would come up while their data differ.";

/** Whose data differ, and what a person can do; `undefined` = nobody's. */
function corruptData(seen: Observed): string | undefined {
  const control = controlPlanesOf(seen);
  const telling = control.flatMap(({ look }) => (look.kind === "running" && look.etcd !== undefined ? [{ etcd: look.etcd }] : []));
  const wrong = new Set(raisedBy(telling).flatMap(({ kind, member }) => (kind === "corrupt" ? [member] : [])));
  if (wrong.size === 0) return undefined;
  const owners = control.filter((machine) => wrong.has(memberOf(machine)));
  const voters = Math.max(0, ...telling.map(({ etcd }) => etcd.members?.filter(({ isLearner }) => !isLearner).length ?? 0));
  const isMinority = voters >= 3 && owners.length === wrong.size && owners.length < voters / 2;
  if (isMinority)
    return `The data of etcd on ${names(owners)} are not those of the others (CORRUPT). ${NOTHING} Remove its member, wipe its EPHEMERAL partition so that it joins anew, and take the alarm back: docs/runbooks/etcd-corrupt.md.`;
  const where = owners.length === 0 ? `as ${names(control)} tell` : `told of ${names(owners)}`;
  return `The data of etcd's members differ (CORRUPT, ${where}), and no majority says whose are right. ${NOTHING} Restore the newest backup that was proved: docs/runbooks/etcd-corrupt.md.`;
}

function memberOf({ look }: SeenMachine): string {
  return (look.kind === "running" ? look.etcd?.localMember : undefined) ?? "none";
}
