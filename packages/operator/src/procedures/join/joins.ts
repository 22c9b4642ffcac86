import { silentForMs } from "../../looking/look.ts";
import { besideFull, settled } from "../../assess/quorum.ts";
import { stateOf } from "../../assess/machine-state.ts";
import { controlPlaneIntent, machineFact, mayHoldConfig } from "../../record/facts.ts";
import { whyTooSmall } from "../configure/etcd-quota.ts";
import { onceFounderShows } from "../bootstrap/hidden-founder.ts";
import { memberOf } from "../remove/removal.ts";
import { compareIdentity } from "../../observe/proven-look.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { EtcdDoubt, EtcdQuorum, EtcdVoter } from "../../model/etcd.ts";
import type { Assessment } from "../../model/assessment.ts";

/** A control plane that took its configuration installs and reboots meanwhile; one that is silent for longer holds up nobody. Milliseconds. */
const JOIN_TAKES_MS = 10 * 60_000;

/**
 * Why a machine in maintenance mode must not be configured now, or `undefined`.
 *
 * Once etcd is bootstrapped control planes join one at a time: etcd takes one learner, and none while a voter is away. Before that workers wait until a control
 * plane shows itself. Whoever began goes on.
 */
export function joinHindrance(assessed: Assessment, facts: ClusterFacts, machine: SeenMachine): string | undefined {
  const { seen } = assessed;
  const { name, role } = machine.declared;
  if (hasBegun(facts, machine)) return undefined;
  if (role === "worker") return controlPlaneMissing(seen, facts, name);
  const even = evenByHand(seen, machine);
  if (even !== undefined) return even;
  if (facts.bootstrapDone === undefined) {
    const awaited = onceFounderShows(seen, facts, name);
    return awaited === undefined ? undefined : `${name} joins ${awaited}`;
  }
  const open = controlPlaneIntent(facts);
  if (open !== undefined) return `${name} joins after ${open.machine} is done (${open.what}).`;
  const all = besideFull(assessed.etcdMembership);
  // Whoever runs then joins nothing, and nobody joins before there is a quorum.
  if (all.kind === "unsafe" && all.code === "no-quorum")
    return `${name} joins once etcd has its quorum: ${all.message}.${beyondSight(seen, facts, all, machine)}`;
  const before = seen.machines.find((other) => other.declared.name !== name && isJoining(seen, facts, all, other));
  if (before !== undefined) return `${name} joins after ${before.declared.name} (${stateOf(before)}) has joined.`;
  const view = settled(curedFirst(all) ? assessed.etcdMembership : all);
  if (view.kind === "unsafe") return `${name} joins once etcd is settled: ${view.message}.`;
  // A machine that was wiped replaces its own dead member by itself; which one that is a record that was made anew may not say.
  const own = memberOf(seen, view.members, facts, machineFact(facts, name) ?? machine.declared)?.id;
  const away = view.voters.filter((voter) => !voter.isHealthy && voter.id !== own);
  if (away.length === 0) return withoutRoom(seen, name) ?? (own === undefined ? evenForLong(seen, facts, view, name) : undefined);
  const unknown = away.filter((voter) => isNobodys(facts, voter));
  // etcd calls its members by host name; what is listed, and what is told elsewhere, are machines.
  const machineOf = (voter: EtcdVoter): MachineName =>
    voter.machine ?? facts.machines.find(({ memberId }) => memberId === voter.id)?.name ?? voter.name;
  const goesByItself = (voter: EtcdVoter): boolean =>
    assessed.strays?.some(({ member, mayBeOf, isForgotten }) => member.id === voter.id && mayBeOf === undefined && isForgotten !== true) ===
    true;
  const waysOut = unknown.map((voter) =>
    goesByItself(voter)
      ? ` The member ${voter.name || voter.id} belongs to no machine, and is removed when that is still so minutes later.`
      : ` No machine that is known has the member ${voter.name}: list its machine again, in the place of ${name} until it is known. If that one is gone for good, remove it with talosctl etcd remove-member ${voter.id}.`,
  );
  return `${name} joins once every member of etcd is there, for it takes no new one before: ${away.map(machineOf).join(", ")} is away. Bring it back, or take its machine out of the list.${waysOut.join("")}`;
}

/** No machine that answers shows the member as its own, and the record knows it of none. */
function isNobodys(facts: ClusterFacts, { id, machine }: EtcdVoter): boolean {
  return machine === undefined && facts.machines.every(({ memberId }) => memberId !== id);
}

/**
 * What a person can do where voters that belong to no machine count as missing, and may well vote: a member list is read from a quorum, and here is one. What is certainly gone
 * is the former member of a machine that was wiped; without it those that are seen are enough. Empty where that is not the case.
 */
function beyondSight(seen: Observed, facts: ClusterFacts, { counted }: EtcdDoubt, { declared, look }: SeenMachine): string {
  const fact = machineFact(facts, declared.name);
  // Other hardware in its place proves nothing of the member that it had.
  if (counted === undefined || fact === undefined || look.kind !== "maintenance" || compareIdentity(facts, fact, look) !== "same")
    return "";
  const own = memberOf(seen, counted.members, facts, fact);
  const unseen = counted.voters.filter((voter) => voter.id !== own?.id && isNobodys(facts, voter));
  if (own === undefined || unseen.length === 0) return "";
  const named = unseen.map(({ id, name }) => (name === "" ? id : `${name} (${id})`)).join(", ");
  return ` No machine that is known has ${named}, so nobody sees whether it votes. The former member of ${declared.name}, which was wiped, is certainly gone: remove it with talosctl etcd remove-member ${own.id}.`;
}

/**
 * An etcd that is full is cured first wherever one of its voters may be down for it. Where none may, one voter more is what its cure waits for, and to join writes nothing.
 */
function curedFirst(view: EtcdQuorum | EtcdDoubt): boolean {
  return view.kind === "unsafe" || view.voters.length === 1 || view.healthy > view.needed;
}

/** Why its member would be full as soon as it has the data of the others, and stop the writes of all: with the quota that is asked for by now. */
function withoutRoom({ machines, configs }: Observed, name: MachineName): string | undefined {
  for (const machine of machines.filter(({ declared }) => declared.role === "controlplane")) {
    const config = configs?.get(machine.declared.name);
    const why = config?.kind === "known" ? whyTooSmall(machine, config) : undefined;
    if (why !== undefined) return `${name} does not join: ${why}.`;
  }
  return undefined;
}

/** Pools list odd numbers only; a TalosMachine that a person makes beside them could make one even. */
function evenByHand({ machines }: Observed, { declared: { name, isHandMade } }: SeenMachine): string | undefined {
  if (isHandMade !== true) return undefined;
  const count = machines.filter(({ declared }) => declared.role === "controlplane").length;
  if (count % 2 === 1) return undefined;
  const lost = count === 2 ? "with one of two lost, etcd stops" : `etcd survives no more losses with ${count} than with ${count - 1}`;
  return `${name} joins once the control planes are an odd number: ${lost}. Make another TalosMachine of a control plane, or delete this one.`;
}

/**
 * Why a control plane waits that would leave etcd with an even number of voters, since no other can follow it: with one more to lose and one more needed for
 * quorum etcd stops sooner than without it. Where it takes the place of one that leaves, their number stays what it was.
 */
function evenForLong(seen: Observed, facts: ClusterFacts, { voters }: EtcdQuorum, name: MachineName): string | undefined {
  const listed = seen.machines.filter(({ declared }) => declared.role === "controlplane");
  const isVoter = ({ declared }: SeenMachine): boolean =>
    voters.some(({ id, machine }) => machine === declared.name || id === machineFact(facts, declared.name)?.memberId);
  const staying = listed.filter(isVoter).length;
  if (voters.length % 2 === 0 || staying % 2 === 0) return undefined;
  const others = listed.filter((machine) => machine.declared.name !== name && !isVoter(machine));
  const mayFollow = ({ declared, look }: SeenMachine): boolean =>
    declared.problem === undefined && (look.kind === "maintenance" || look.kind === "running");
  if (others.length === 0 || others.some(mayFollow)) return undefined;
  const missing = others.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(", ");
  return `${name} joins once another control plane can follow it, for ${voters.length + 1} members of etcd survive no more losses than ${voters.length}; missing: ${missing}. Boot one of them into maintenance mode, or take them out of the list together with ${name}.`;
}

/** Talos gives a worker its certificate through a control plane: configured before there is one it answers nobody, and could not even be wiped. */
function controlPlaneMissing(seen: Observed, facts: ClusterFacts, name: MachineName): string | undefined {
  if (facts.bootstrapDone !== undefined) return undefined;
  const isThere = seen.machines.some(
    ({ declared, look }) =>
      declared.role === "controlplane" && (look.kind === "running" || mayHoldConfig(machineFact(facts, declared.name))),
  );
  return isThere ? undefined : `${name} waits for the first control plane.`;
}

/** Its configuration may have been sent: it is sent again, whatever the others do. */
function hasBegun(facts: ClusterFacts, { declared, look }: SeenMachine): boolean {
  const fact = machineFact(facts, declared.name);
  const wasSent = mayHoldConfig(fact);
  return wasSent && look.kind === "maintenance" && fact.spki === look.spki;
}

/** On its way to become a voter: it took its configuration, and may still be installing. */
function isJoining(seen: Observed, facts: ClusterFacts, view: EtcdQuorum | EtcdDoubt, { declared, look }: SeenMachine): boolean {
  const fact = machineFact(facts, declared.name);
  if (declared.role !== "controlplane" || !mayHoldConfig(fact)) return false;
  const isVoter = view.kind === "known" && view.voters.some(({ id, machine }) => machine === declared.name || id === fact.memberId);
  if (isVoter) return false;
  if (look.kind === "silent") return silentForMs(look) < JOIN_TAKES_MS;
  // Ours but for its dates: the clock of one of the two is wrong, and it may be on its way all the same.
  if (look.kind === "foreign" && look.isByTime === true) return true;
  // One odd answer of a machine that has just taken its configuration proves nothing.
  if (look.kind === "foreign" || look.kind === "not-talos") return Math.abs(seen.now - fact.configuredAt) < JOIN_TAKES_MS;
  return look.kind === "running" || look.kind === "not-asked" || (look.kind === "maintenance" && look.spki === fact.spki);
}
