import { isConditionTrue } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { controlPlanesOf } from "../assess/etcd-view.ts";
import { controlPlaneIntent, factsOf, machineFact } from "../record/facts.ts";
import { listed } from "./listed.ts";
import { names } from "../assess/machine-state.ts";
import { NO_MAJORITY } from "../assess/corrupt.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Assessment } from "../model/assessment.ts";
import type { CareStep, Said } from "../model/plans.ts";
import type { ClusterFacts } from "../model/record.ts";

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
  if (isCorrupt(seen)) return corruptData(seen, view, care);
  if (care === undefined) return undefined;
  const way = care.needsPerson ? `${care.says}. See docs/runbooks/etcd-no-space.md.` : `${care.says}.`;
  return {
    reason: care.needsPerson ? "NoSpaceStopped" : "NoSpace",
    message: `etcd is full (NOSPACE ${whoseFilesAreFull(seen, facts)}) and Kubernetes can write nothing; no control plane is disturbed for anything else meanwhile: ${way}`,
  };
}

/** Whose members raised the alarm, be it that they do not answer any more; else who reports it. */
function whoseFilesAreFull(seen: Observed, facts: ClusterFacts): string {
  const machines = controlPlanesOf(seen);
  const reporting = machines.filter(({ look }) => look.kind === "running" && look.etcd?.raised?.some(({ kind }) => kind === "no-space"));
  const raised = reporting.flatMap(({ look }) => (look.kind === "running" ? (look.etcd?.raised ?? []) : []));
  const ids = new Set(raised.flatMap(({ kind, member }) => (kind === "no-space" ? [member] : [])));
  const owners = machines.filter(
    (machine) => ids.has(memberOf(machine)) || ids.has(machineFact(facts, machine.declared.name)?.memberId ?? "none"),
  );
  const named = (owners.length === 0 ? reporting : owners).map(({ declared }) => declared.name);
  return `${owners.length === 0 ? "reported by" : "on"} ${listed(named, ", ", 3)}`;
}

/** A member tells that data differ, or did. */
function isCorrupt(seen: Observed): boolean {
  return controlPlanesOf(seen).some(
    ({ look }) => look.kind === "running" && look.etcd?.raised?.some(({ kind }) => kind === "corrupt") === true,
  );
}

const NOTHING = "Nothing is sent to any control plane meanwhile. Reboot none of them: none would come up while their data differ.";

/** Whose data differ, and what is done or what a person can do. */
function corruptData(seen: Observed, view: Assessment["etcdMembership"], care: CareStep | undefined): Said<ReasonOf<"EtcdHealthy">> {
  const corrupt = view.kind === "unsafe" ? view.corrupt : undefined;
  const owners = controlPlanesOf(seen).filter((machine) => corrupt?.members.includes(memberOf(machine)) === true);
  const whose = owners.length === 0 ? "" : ` on ${names(owners)}`;
  if (care !== undefined && !care.needsPerson)
    return {
      reason: "ReplacingMember",
      message: `The data of etcd${whose} are not those of the others (CORRUPT), and Kubernetes can write nothing: ${care.says}.`,
    };
  if (care !== undefined && care.says !== NO_MAJORITY)
    return {
      reason: "DataCorrupt",
      message: `The data of etcd${whose} are not those of the ${corrupt?.isByLeader === true ? "leader" : "others"} (CORRUPT): ${care.says}. ${NOTHING} See docs/runbooks/etcd-corrupt.md.`,
    };
  const where = owners.length === 0 ? `as ${names(controlPlanesOf(seen))} report` : `reported of ${names(owners)}`;
  return {
    reason: "DataCorrupt",
    message: `The data of etcd's members differ (CORRUPT, ${where}), and ${NO_MAJORITY}. ${NOTHING} ${newestProved(seen)}: docs/runbooks/etcd-corrupt.md.`,
  };
}

/** The backup to restore, without a full stop. */
function newestProved({ snapshots }: Observed): string {
  const proved = snapshots?.backups.find(({ status }) => isConditionTrue(status?.conditions, "Proved"));
  if (proved === undefined) return "Restore the newest backup that was proved, of which none is known here";
  const at = proved.status?.startTime ?? proved.metadata.creationTimestamp ?? "";
  return `Restore the newest backup that was proved, TalosEtcdBackup ${proved.metadata.name} of ${at}`;
}

function memberOf({ look }: SeenMachine): string {
  return (look.kind === "running" ? look.etcd?.localMember : undefined) ?? "none";
}
