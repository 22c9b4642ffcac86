import { raisedBy } from "../assess/alarmed.ts";
import { controlPlanesOf } from "../assess/etcd-view.ts";
import { despiteAlarms, despiteCorrupt, despiteFull } from "../assess/quorum.ts";
import { outageWord } from "../disruption/approved-outage.ts";
import { largerQuotaOf } from "../procedures/configure/larger-quota.ts";
import { intentOn } from "../record/facts.ts";
import { isUpgrade } from "../record/upgrades.ts";
import { isClusterGoing, machineOf, onControlPlanes } from "./pass.ts";
import type { DisruptiveAction, Pass, PassInvariant } from "./pass.ts";
import type { Action } from "../model/effect.ts";
import type { EtcdDoubt, EtcdQuorum } from "../model/etcd.ts";
import type { Look, SeenAlarm } from "../model/look.ts";
import type { Observed } from "../model/observation.ts";
import type { MachineName } from "../model/machine.ts";

type Removal = Extract<Action, { readonly kind: "RemoveMember" | "RemoveStray" }>;

function removals({ actions }: Pass): readonly Removal[] {
  return actions.filter((action) => action.kind === "RemoveMember" || action.kind === "RemoveStray");
}

/** What takes a member away for good, so that of two voters one may go, or is asked of the leader just before. */
const leaving: ReadonlySet<DisruptiveAction["kind"]> = new Set([
  "ResetMachine",
  "LeaveEtcd",
  "RemoveMember",
  "RemoveStray",
  "ReplaceMember",
  "ForfeitLeadership",
]);

function leaves(action: DisruptiveAction): boolean {
  return leaving.has(action.kind);
}

/** Only who cures an alarm goes on beneath it; where files that are full are all of it also who takes dead members away, and a boot that brings a larger quota. */
function readFor({ seen, etcdMembership: view, byName }: Pass["assessed"], action: DisruptiveAction): EtcdQuorum | EtcdDoubt {
  const { kind } = action;
  if (kind === "DefragmentMember") return despiteFull(view);
  if (kind === "ReplaceMember") return despiteCorrupt(view);
  const bringsSettings = kind === "RebootMachine" || (kind === "ApplyConfig" && action.mode === "staged");
  const config = bringsSettings ? byName.get(machineOf(action))?.config : undefined;
  const isForSpace = config?.kind === "known" && largerQuotaOf(config) !== undefined;
  if (kind === "RemoveMember" || kind === "RemoveStray" || isForSpace)
    return raisedIn(seen).every((alarm) => alarm.kind === "no-space") ? despiteFull(view) : view;
  return kind === "RejoinEtcd" ? despiteAlarms(view) : view;
}

/** The alarms that any control plane tells of. */
function raisedIn(seen: Observed): readonly SeenAlarm[] {
  return raisedBy(
    controlPlanesOf(seen).flatMap(({ look }) => (look.kind === "running" && look.etcd !== undefined ? [{ etcd: look.etcd }] : [])),
  );
}

/** It carries nothing of etcd: its process does not run, or it is not healthy where no other control plane is known. */
function isIdle({ seen, byName }: Pass["assessed"], name: MachineName): boolean {
  const look = byName.get(name)?.look;
  const etcd = look?.kind === "running" ? look.etcd : undefined;
  if (etcd?.service === undefined || etcd.isHealthy) return false;
  return etcd.service !== "Running" || controlPlanesOf(seen).length === 1;
}

/** Counted here once more, and otherwise than by whoever granted it. */
function quorumLost({ assessed, after }: Pass, action: DisruptiveAction): string | undefined {
  const name = machineOf(action);
  if (action.kind === "RollBackTalos" && isIdle(assessed, name)) return undefined;
  const view = readFor(assessed, action);
  if (view.kind === "unsafe") return `${action.kind} is to go to ${name}, and nobody knows etcd's quorum: ${view.message}`;
  const look = assessed.byName.get(name)?.look;
  const member = "memberId" in action ? action.memberId : look?.kind === "running" ? look.etcd?.localMember : undefined;
  const { voters } = view;
  if (member === undefined) return `${action.kind} is to go to ${name}, and nobody knows its member of etcd`;
  if (!voters.some(({ id }) => id === member)) return undefined;
  if (voters.length === 1 && !leaves(action)) return undefined;
  const left = voters.filter(({ id, isHealthy }) => id !== member && isHealthy).length;
  const isApproved = isUpgrade(intentOn(after, name)) && outageWord(assessed.seen, name).kind === "approved";
  const needed = voters.length === 2 && (leaves(action) || isApproved) ? 1 : Math.floor(voters.length / 2) + 1;
  return left >= needed
    ? undefined
    : `${action.kind} on ${name} would leave ${left} healthy of ${voters.length} voters, and ${needed} are needed`;
}

/** What speaks for the data of a member that is to be replaced, counted here once more from the looks; `undefined` = nothing. */
function notProvedWrong({ assessed: { seen }, after }: Pass, machine: MachineName, memberId: string): string | undefined {
  const telling = controlPlanesOf(seen).flatMap(({ declared: { name }, look }) =>
    look.kind === "running" && look.etcd !== undefined ? [{ name, etcd: look.etcd }] : [],
  );
  const raised = raisedBy(telling);
  const wrong = new Set(raised.flatMap(({ kind, member }) => (kind === "corrupt" ? [member] : [])));
  const said = `member ${memberId} of ${machine} is to be replaced, and`;
  if (
    !(after?.intents ?? []).some((intent) => intent.what === "ReplaceMember" && intent.machine === machine && intent.memberId === memberId)
  )
    return `${said} no intent says so`;
  if (!wrong.has(memberId)) return `${said} no alarm names it`;
  if (telling.find(({ name }) => name === machine)?.etcd.localMember !== memberId)
    return `${said} it is not the one that the machine shows`;
  if (telling.some(({ etcd }) => etcd.comparesWithLeader === true)) return `${said} the leader alone may have named it`;
  const voters = telling.find(({ etcd }) => etcd.members !== undefined)?.etcd.members?.filter(({ isLearner }) => !isLearner) ?? [];
  const right = telling.filter(
    ({ etcd }) => etcd.isHealthy && voters.some(({ id }) => id === etcd.localMember) && !wrong.has(etcd.localMember ?? ""),
  ).length;
  return voters.length >= 3 && right > voters.length / 2 && raised.every(({ kind }) => kind !== "unknown")
    ? undefined
    : `${said} ${right} of ${voters.length} voters are healthy and have the same data`;
}

function showsAnother(look: Look, memberId: string): boolean {
  const own = look.kind === "running" ? look.etcd?.localMember : undefined;
  return own !== undefined && own !== "none" && own !== memberId;
}

/** Defragmentations, and alarms that are taken back: one at a time, and never where data differ or a file that is told has no room. */
function carelessWith({ assessed: { seen }, actions, after }: Pass): string | undefined {
  const care = actions.filter((action) => action.kind === "DefragmentMember" || action.kind === "DisarmAlarms");
  const [first] = care;
  if (first === undefined) return undefined;
  if (care.length > 1) return `${care.map(({ kind, machine }) => `${kind} to ${machine}`).join(" and ")} are to be sent at once`;
  const what = first.kind === "DisarmAlarms" ? "DisarmAlarms" : "Defragment";
  if (!(after?.intents ?? []).some((intent) => intent.machine === first.machine && intent.what === what))
    return `${first.kind} is to go to ${first.machine}, and no intent says so`;
  const telling = controlPlanesOf(seen).flatMap(({ declared: { name }, look }) =>
    look.kind === "running" && look.etcd !== undefined ? [{ name, etcd: look.etcd }] : [],
  );
  const listed = new Set(telling.flatMap(({ etcd }) => (etcd.members ?? []).map(({ id }) => id)));
  // An alarm of corrupt data outlives its member.
  const isOver = (member: string): boolean => !/^0*$/.test(member) && !listed.has(member);
  if (raisedBy(telling).some(({ kind, member }) => kind !== "no-space" && !(kind === "corrupt" && isOver(member))))
    return `${first.kind} is to go to ${first.machine}, and etcd's data differ`;
  const full = telling.find(({ etcd: { dbSizeBytes, quotaBytes } }) => quotaBytes !== undefined && (dbSizeBytes ?? 0) >= quotaBytes);
  return first.kind === "DisarmAlarms" && full !== undefined
    ? `alarms are to be taken back, and the file of ${full.name} is full`
    : undefined;
}

/** What is done to members of etcd, and to the machines that have them. */
export const ofEtcd: readonly PassInvariant[] = [
  {
    id: "S10",
    says: "Healthy voters of etcd never fall below the majority by what is done here.",
    broken(pass) {
      if (isClusterGoing(pass) || pass.after?.bootstrapDone === undefined) return undefined;
      for (const action of onControlPlanes(pass)) {
        const lost = quorumLost(pass, action);
        if (lost !== undefined) return lost;
      }
      return undefined;
    },
  },
  {
    id: "S11",
    says: "One control plane is disturbed at a time, and only under its open intent.",
    broken(pass) {
      const open = (pass.after?.intents ?? []).filter(({ role }) => role === "controlplane");
      if (open.length > 1)
        return `the record is to hold ${open.length} open intents on control planes: ${open.map(({ machine }) => machine).join(", ")}`;
      const sent = onControlPlanes(pass);
      if (sent.length > 1) return `${sent.map((action) => `${action.kind} to ${machineOf(action)}`).join(" and ")} are to be sent at once`;
      const stray = sent.find((action) => open[0]?.machine !== machineOf(action));
      return stray === undefined ? undefined : `${stray.kind} is to go to ${machineOf(stray)} without an open intent on it`;
    },
  },
  {
    id: "S12",
    says: "No member of a machine that is wanted is removed from etcd, but one of three or more whose data are not those of a healthy majority.",
    broken(pass) {
      const replaced = pass.actions.find((action) => action.kind === "ReplaceMember");
      const trusted = replaced === undefined ? undefined : notProvedWrong(pass, replaced.machine, replaced.memberId);
      if (trusted !== undefined) return trusted;
      const { machines, former } = pass.assessed;
      for (const { kind, machine, memberId } of removals(pass)) {
        const isStray = kind === "RemoveStray";
        // What belongs to nobody is not that of a machine that leaves, either, whether it answers or not.
        const owner = (isStray ? [...machines, ...former] : machines).find(
          ({ declared, look, fact }) =>
            (look.kind === "running" && look.etcd?.localMember === memberId) ||
            (isStray ? fact?.memberId === memberId && !showsAnother(look, memberId) : declared.name === machine),
        );
        if (owner !== undefined) return `member ${memberId} is to be removed, which is that of ${owner.declared.name}`;
      }
      return undefined;
    },
  },
  {
    id: "S13",
    says: "Only the member of a machine that is written down as gone is removed from etcd, or one that was a stray member in looks that lie apart.",
    broken(pass) {
      const found = removals(pass).find(
        ({ kind, machine, memberId }) =>
          !(pass.after?.intents ?? []).some(
            ({ what, ...intent }) =>
              intent.machine === machine &&
              (kind === "RemoveStray" ? what === kind && intent.memberId === memberId : what === "Reset" || intent.memberId === memberId),
          ),
      );
      if (found !== undefined)
        return `member ${found.memberId} is to be removed ${found.kind === "RemoveStray" ? "through" : "as that of"} ${found.machine}, and no intent says so`;
      // Who goes on with what another process wrote down goes by what that one saw.
      const isBegun = (memberId: string): boolean => (pass.before?.intents ?? []).some((intent) => intent.memberId === memberId);
      const early = removals(pass).find(
        ({ kind, memberId }) => kind === "RemoveStray" && !isBegun(memberId) && pass.assessed.seen.strays?.has(memberId) !== true,
      );
      return early === undefined ? undefined : `member ${early.memberId} is to be removed, and was a stray member for too short a while`;
    },
  },
  {
    id: "S14",
    says: "One member is removed from etcd at a time.",
    broken: (pass) => (removals(pass).length > 1 ? `${removals(pass).length} members of etcd are to be removed at once` : undefined),
  },
  {
    id: "S15",
    says: "No member is removed by a list that is empty, or that nobody could read.",
    broken(pass) {
      const [first] = removals(pass);
      if (first === undefined) return undefined;
      const { machines } = pass.assessed;
      const view = readFor(pass.assessed, first);
      if (!machines.some(({ declared }) => declared.role === "controlplane"))
        return `member ${first.memberId} is to be removed, and no control plane is listed`;
      if (view.kind === "unsafe") return `member ${first.memberId} is to be removed, and etcd's members do not agree`;
      return view.members.some(({ id }) => id === first.memberId)
        ? undefined
        : `member ${first.memberId} is to be removed, and etcd does not list it`;
    },
  },
  {
    id: "S18",
    says: "Members of etcd are defragmented one at a time, and alarms taken back where every file has room, never where data differ.",
    broken: carelessWith,
  },
];
