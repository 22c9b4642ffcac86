import type { ReasonOf } from "@talos-operator/api";
import { alarmedMember } from "../assess/alarmed.ts";
import { controlPlanesOf, keepsOldData } from "../assess/etcd-view.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import { importWaits } from "./import-waits.ts";
import { isContainer } from "../procedures/remove/container-end.ts";
import { isJoining, mayPass } from "../assess/joining.ts";
import { names, stateOf } from "../assess/machine-state.ts";
import { countOf } from "./listed.ts";
import type { EtcdMember, SeenEtcd } from "../model/look.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Said } from "../model/plans.ts";

/**
 * How etcd is, as its members tell it: each one asked for its own list.
 *
 * @param stray what is the case with a member that belongs to no machine, without a full stop
 */
export function etcdHealth(seen: Observed, stray?: string): Said<ReasonOf<"EtcdHealthy">> {
  const facts = factsOf(seen);
  const pending = importWaits(seen);
  if (pending !== undefined) {
    const telling = controlPlanesOf(seen).flatMap(tellingOf);
    const told = telling.map(({ machine, members }) => `${machine.declared.name} lists ${countOf(members.length, "member")}`).join(", ");
    return { reason: pending.reason, message: told === "" ? pending.message : `${pending.message} ${told}.` };
  }
  if (facts?.bootstrapDone === undefined) return { reason: "NotBootstrapped", message: "etcd is not bootstrapped yet." };
  const declared = seen.machines.filter((machine) => machine.declared.role === "controlplane");
  const former = seen.former.filter((machine) => machine.declared.role === "controlplane");
  const [staying, going] = [declared.flatMap(tellingOf), former.flatMap(tellingOf)];
  // Where all control planes are replaced, those that leave are etcd until the first of the others has joined.
  const answering = staying.length > 0 ? staying : going;
  const lost = quorumLost(seen, facts);
  if (lost !== undefined) return lost;
  if (answering.length === 0) return { reason: "NoAnswer", message: noAnswer(declared) };
  const silent = declared.filter((machine) => !staying.some((one) => one.machine === machine));
  const [first] = answering;
  const learner = first?.members.find((member) => member.isLearner);
  // Those that wait to be configured wait for the learner: it is what concerns people.
  if (silent.length > 0 && (learner === undefined || silent.some(({ look }) => look.kind !== "maintenance")))
    return missingMembers(silent, facts, first, servedBy(going, staying.length));
  const list = idsOf(first?.members ?? []);
  const differing = answering.find((one) => idsOf(one.members) !== list);
  if (differing !== undefined)
    return {
      reason: "MemberUnhealthy",
      message: `${differing.machine.declared.name} lists other members than ${first?.machine.declared.name}.`,
    };
  if (learner !== undefined) {
    const owner = answering.find(({ etcd }) => etcd.localMember === learner.id)?.machine.declared.name;
    const waiting = silent.length === 0 ? "" : ` Waiting for it: ${names(silent)}.`;
    return {
      reason: "MemberMissing",
      message:
        `${owner ?? `Member ${learner.name} (${learner.id}) belongs to no machine that answers, and`} is still a learner of etcd: it has no vote before it has caught up, and nothing else is done to etcd meanwhile.${waiting} ` +
        `Talos promotes it by itself. If it stays so, look at its disk and network, or take its machine off the list; see docs/runbooks/stuck-learner.md.`,
    };
  }
  const impossible = impossibleMember(answering, stray);
  if (impossible !== undefined) return impossible;
  const owned = new Set(answering.map((one) => one.etcd.localMember));
  const twin = answering.find((one, index) => answering.findIndex((other) => other.etcd.localMember === one.etcd.localMember) < index);
  if (twin !== undefined)
    return {
      reason: "MemberMissing",
      message: `${twin.machine.declared.name} shows the etcd member of another machine, and has none of its own.`,
    };
  const leaving = leavingMembers(seen, facts);
  const foreign = first?.members.find((member) => !owned.has(member.id) && !leaving.has(member.id));
  if (foreign !== undefined) return unexpected(foreign, stray);
  const unhealthy = unhealthyMember(answering, facts);
  if (unhealthy !== undefined) return unhealthy;
  const alarmed = alarmedMember(answering.map(({ machine, etcd }) => ({ machine: machine.declared.name, etcd })));
  if (alarmed !== undefined)
    return {
      reason: "MemberUnhealthy",
      message:
        `etcd on ${alarmed.machine} raises an alarm (${alarmed.alarms}); no control plane is disturbed meanwhile. ` +
        `Free its space with talosctl etcd defrag, or replace the member whose data is corrupt, then talosctl etcd alarm disarm.`,
    };
  const leaderless = answering.find(
    (one) => one.etcd.leader === undefined || !(owned.has(one.etcd.leader) || leaving.has(one.etcd.leader)),
  );
  if (leaderless !== undefined)
    return { reason: "MemberUnhealthy", message: `${leaderless.machine.declared.name} knows no leader among the members.` };
  const more = (first?.members ?? []).filter(({ id, isLearner }) => !isLearner && !owned.has(id)).length;
  const untilGone = more === 0 ? "" : ` ${more} of them vote${more === 1 ? "s" : ""} until ${more === 1 ? "it leaves" : "they leave"}.`;
  const voting = countOf(answering.length + more, "voting member");
  return { reason: "AllMembersHealthy", message: `${voting}, one leader, all healthy.${untilGone}` };
}

/** Control planes that serve no etcd. @param served who serves it, a sentence after a space */
function missingMembers(
  silent: readonly SeenMachine[],
  facts: ClusterFacts,
  told: Telling | undefined,
  served: string,
): Said<ReasonOf<"EtcdHealthy">> {
  const named = silent.map((machine) => `${machine.declared.name} (${etcdStateOf(machine)})`).join(", ");
  const what = silent.every((machine) => isJoining(machine, facts)) ? "Joining etcd" : "Not a serving member of etcd";
  const way = withOldData(silent, facts, told);
  return { reason: "MemberMissing", message: `${what}: ${named}.${served}${way}`, ...(way === "" ? {} : ({ saysRemedy: true } as const)) };
}

/** Members that answer and are not healthy: those that have just been promoted are joining. */
function unhealthyMember(answering: readonly Telling[], facts: ClusterFacts): Said<ReasonOf<"EtcdHealthy">> | undefined {
  const unhealthy = answering.filter((one) => !one.etcd.isHealthy).map(({ machine }) => machine);
  if (unhealthy.length > 0 && unhealthy.every((machine) => isJoining(machine, facts) && mayPass(machine)))
    return { reason: "MemberMissing", message: `Joining etcd: ${names(unhealthy)}, with a vote and before the first health check.` };
  const [ill] = unhealthy;
  return ill === undefined ? undefined : { reason: "MemberUnhealthy", message: `etcd on ${ill.declared.name} is not healthy.` };
}

/**
 * What a person can do where a member has left the list and its machine still has its data; empty where none has. It is a person's to do: whatever empties etcd's folder
 * empties what workloads keep below /var as well, or is out of reach.
 */
function withOldData(missing: readonly SeenMachine[], facts: ClusterFacts, told: Telling | undefined): string {
  const machine = missing.find(({ declared, look }) => {
    const memberId = machineFact(facts, declared.name)?.memberId;
    const isListed = told?.members.some(({ id }) => id === memberId) !== false;
    return memberId !== undefined && !isListed && look.kind === "running" && look.etcd !== undefined && keepsOldData(look.etcd);
  });
  if (machine === undefined || mayPass(machine)) return "";
  const { name, address } = machine.declared;
  const state = `The member of ${name} was removed from etcd, and ${name} cannot join with its old data.`;
  // A container takes the reset, stops, and has its data when it is started again.
  return isContainer(machine.look, machineFact(facts, name))
    ? ` ${state} Stop its container, empty /var/lib/etcd in its volume, and start it again: it joins as a new member.`
    : ` ${state} To have it join as a new member: talosctl -n ${address} reset --graceful=false --reboot --system-labels-to-wipe EPHEMERAL.`;
}

/** Members on their way out are the condition Removing's. */
function leavingMembers(seen: Observed, facts: ClusterFacts): ReadonlySet<string> {
  const listed = new Set(seen.machines.map((machine) => machine.declared.name));
  const leaving = new Set(facts.machines.flatMap(({ name, memberId }) => (listed.has(name) ? [] : (memberId ?? []))));
  for (const { look } of seen.former)
    if (look.kind === "running" && look.etcd?.localMember !== undefined) leaving.add(look.etcd.localMember);
  return leaving;
}

function unexpected({ id, name }: EtcdMember, stray: string | undefined): Said<"MemberUnexpected"> {
  const message =
    stray === undefined
      ? `Member ${name === "" ? id : `${name} (${id})`} belongs to no machine of this cluster.`
      : `Of etcd, ${stray}. See docs/runbooks/stray-member.md.`;
  return { reason: "MemberUnexpected", message };
}

/** A control plane that tells the members of etcd. */
interface Telling {
  readonly machine: SeenMachine;
  readonly etcd: SeenEtcd;
  readonly members: readonly EtcdMember[];
}

function tellingOf(machine: SeenMachine): readonly Telling[] {
  const { look } = machine;
  return look.kind === "running" && look.etcd?.members !== undefined ? [{ machine, etcd: look.etcd, members: look.etcd.members }] : [];
}

/** What is the case with a list as a healthy etcd shows none; a member that never started and is nobody's is told of as that. */
function impossibleMember(answering: readonly Telling[], stray: string | undefined): Said<ReasonOf<"EtcdHealthy">> | undefined {
  const nobodys = answering.flatMap(({ members }) => members).find(({ id, name }) => name === "" && stray?.includes(id) === true);
  if (nobodys !== undefined) return unexpected(nobodys, stray);
  const [message] = answering.flatMap(impossibleList);
  return message === undefined ? undefined : { reason: "MemberUnhealthy", message };
}

/** A list of members as a healthy etcd shows none: without who shows it, with a member twice, or with one that never started. */
function impossibleList({ machine, etcd, members }: Telling): readonly string[] {
  const { name } = machine.declared;
  if (etcd.localMember !== "none" && members.every(({ id }) => id !== etcd.localMember))
    return [`${name} is not in its own list of etcd's members.`];
  const twice = members.find(({ id }, index) => members.findIndex((other) => other.id === id) < index);
  if (twice !== undefined) return [`${name} lists etcd's member ${twice.id} twice.`];
  const unstarted = members.find((member) => member.name === "");
  return unstarted === undefined ? [] : [`etcd's member ${unstarted.id} has not started: ${name} lists it without a name.`];
}

/** Nobody tells of etcd: where no control plane answers at all, their return is the only way that keeps the data, and another machine in the list is none. */
function noAnswer(declared: readonly SeenMachine[]): string {
  const named = declared.map((machine) => `${machine.declared.name} (${etcdStateOf(machine)})`).join(", ");
  const isGone = declared.every(({ look }) => look.kind === "silent");
  if (!isGone) return `No control plane answers for etcd: ${named}.`;
  return `No control plane answers: ${named}. Bring back the control planes, ${majorityOf(declared.length)} at least; etcd goes on by itself. If they are gone for good, see docs/runbooks/lost-quorum.md.`;
}

function majorityOf(count: number): number {
  return Math.floor(count / 2) + 1;
}

/** Members that leave serve on until others are there: without this word etcd would look as if it were gone. */
function servedBy(going: readonly Telling[], staying: number): string {
  if (going.length === 0) return "";
  const leaving = names(going.map(({ machine }) => machine));
  return staying === 0
    ? ` etcd is served by ${countOf(going.length, "member")} that will leave when others have joined: ${leaving}.`
    : ` etcd is served by ${countOf(staying, "other")}, and by ${leaving} until they leave.`;
}

/**
 * A majority of the voters that were written down does not serve, and those that answer say that they have no leader; `undefined` while that is not so.
 *
 * Nothing is done about it here: whatever is left of the data is on these machines.
 */
function quorumLost(seen: Observed, facts: ClusterFacts): Said<"QuorumLost"> | undefined {
  const voters = controlPlanesOf(seen).filter(({ declared }) => machineFact(facts, declared.name)?.memberId !== undefined);
  const needed = majorityOf(voters.length);
  const serving = voters.filter(({ look }) => look.kind === "running" && look.etcd?.members !== undefined);
  const stuck = voters.filter(
    ({ look }) =>
      look.kind === "running" && look.etcd?.service === "Running" && look.etcd.members === undefined && (look.etcd.leader ?? "0") === "0",
  );
  if (stuck.length === 0 || serving.length > 0 || voters.length < 2) return undefined;
  const missing = voters.filter((machine) => !stuck.includes(machine));
  if (stuck.length >= needed) return undefined;
  return {
    reason: "QuorumLost",
    message:
      `etcd has lost its quorum: of ${voters.length} members only ${names(stuck)} ${stuck.length === 1 ? "runs" : "run"}, and ${needed} are needed. ` +
      `Nothing is changed or wiped meanwhile. Bring back the control plane ${missing.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(" or ")}; etcd goes on by itself. ` +
      `If they are gone for good, see docs/runbooks/lost-quorum.md.`,
  };
}

function etcdStateOf(machine: SeenMachine): string {
  return machine.look.kind === "running" ? `etcd ${machine.look.etcd?.service ?? "state unknown"}` : stateOf(machine);
}

function idsOf(members: readonly EtcdMember[]): string {
  return members
    .map((member) => member.id)
    .toSorted()
    .join(",");
}
