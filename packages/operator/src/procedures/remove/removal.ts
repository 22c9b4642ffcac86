import { annotations } from "@talos-operator/api";
import type { DeletionPolicy, TalosWorker } from "@talos-operator/api";
import { machineFact, mayHoldConfig, withDecisions, withMachine, withoutIntent } from "../../record/facts.ts";
import { stateOf } from "../../assess/machine-state.ts";
import { wordFor } from "../../assess/identity.ts";
import { besideFull } from "../../assess/quorum.ts";
import { compareIdentity } from "../../observe/proven-look.ts";
import type { EtcdMember, Look } from "../../model/look.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../../model/record.ts";
import type { MachineName, MachineRole } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { Removal, RemovalStep } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** From the wish to wipe a machine until it has to answer in maintenance mode; only after this it is missed. Milliseconds. */
const WIPE_TAKES_MS = 10 * 60_000;

/** How long a call may take effect after nobody waits for it any more. Milliseconds. */
export const LATE_MS = 10 * 60_000;

/** For clocks that do not agree. Milliseconds. */
const LATE_MARGIN_MS = 60_000;

/** A machine that nobody declares any more, with what the record knows of it. */
export interface Leaver {
  readonly machine: SeenMachine;
  readonly fact: MachineFact;
}

/** Machines of one role that nobody declares any more and that were not released; those of a pool that is deleted are the deletion's. */
export function leaversOf(seen: Observed, facts: ClusterFacts, role: MachineRole): readonly Leaver[] {
  return seen.former.flatMap((machine) => {
    const fact = machineFact(facts, machine.declared.name);
    if (machine.declared.role !== role || !mayHoldConfig(fact)) return [];
    return poolOf(seen, machine)?.metadata.deletionTimestamp === undefined ? [{ machine, fact }] : [];
  });
}

/** The pool that a worker belongs to; `undefined` for a control plane, and when the pool is gone. */
export function poolOf(seen: Observed, { declared }: SeenMachine): TalosWorker | undefined {
  return declared.owner.kind === "TalosWorker" ? seen.workers.find((worker) => worker.metadata.name === declared.owner.name) : undefined;
}

/** The machine answers in maintenance mode: nothing is left on it. Another machine at its address proves nothing about it. */
export function isWiped(facts: ClusterFacts, { machine: { look }, fact }: Leaver): boolean {
  return look.kind === "maintenance" && compareIdentity(facts, fact, look) !== "other";
}

/**
 * Until when a configuration that was sent may still reach a machine that waits with the very key it was sent to, `undefined` when none can: a machine
 * that was wiped shows another key, and refuses what was meant for the one before. Milliseconds since the epoch.
 */
export function configMayArriveUntil(seen: Observed, { machine: { declared, look }, fact }: Leaver): number | undefined {
  if (look.kind !== "maintenance" || look.spki !== fact.spki) return undefined;
  const isSent = seen.sent.has(`Configure/${declared.name}`);
  // This process wrote the key down, and has sent nothing since: the deletion came in between.
  if (!isSent && seen.notes?.get(declared.name)?.pinned === fact.spki) return undefined;
  // An earlier process stopped sending when this one began at the latest.
  const sentAt = Math.max(fact.configuredAt ?? 0, seen.sent.get(`Configure/${declared.name}`)?.at ?? seen.watchedSince);
  const until = sentAt + LATE_MS + LATE_MARGIN_MS;
  return seen.now < until ? until : undefined;
}

/** A person gave this machine up by name. */
export function isAbandoned(seen: Observed, facts: ClusterFacts, name: MachineName): boolean {
  const named = seen.controlPlane.metadata.annotations?.[annotations.abandonMachine];
  return named !== undefined && named !== "" && named === wordFor(facts, name, undefined);
}

/** What is written down before a machine is wiped. */
export function resetIntent(seen: Observed, { machine, fact }: Leaver, why: string): IntentFact {
  const { name, address, role } = machine.declared;
  return { what: "Reset", role, machine: name, address, uuid: fact.uuid, at: seen.now, deadline: seen.now + WIPE_TAKES_MS, why };
}

/** The facts with the machine released, and its intent closed. */
export function released(seen: Observed, facts: ClusterFacts, fact: MachineFact, reason: string, message: string): ClusterFacts {
  const next = withoutIntent(withMachine(facts, { ...fact, releasedAt: seen.now }), fact.name);
  return withDecisions(next, { at: seen.now, action: "Release", reason, machine: fact.name, message });
}

/** A machine that has to be wiped and does not answer: everything else goes on without it. */
export function unreachable(facts: ClusterFacts, machine: SeenMachine, fact: MachineFact): Removal {
  const word = wordFor(facts, fact.name, undefined);
  return waits(
    fact,
    "MachineUnreachable",
    `${fact.name} left the list, must be wiped, and does not answer as a machine of this cluster (${stateOf(machine)}). Bring it back, or annotate the TalosControlPlane with ${annotations.abandonMachine}: ${word}.`,
  );
}

/** What is said of one machine that leaves. */
export function waits(fact: MachineFact, reason: Removal["reason"], message: string): Removal {
  return { machine: fact.name, role: fact.role, reason, message };
}

/** Why this machine is not wiped now although it has to go, or `undefined`. */
export function wipeForbidden(seen: Observed, { machine }: Leaver): string | undefined {
  const { name, role } = machine.declared;
  if (seen.unknownMode !== undefined)
    return `The annotation ${annotations.reconcileMode} says ${JSON.stringify(seen.unknownMode)}, which is no known value, so ${name} is not wiped. Correct or remove it.`;
  const isConfirmed = seen.controlPlane.metadata.annotations?.[annotations.confirmReset] === seen.controlPlane.metadata.name;
  // Unknown counts as going away: nothing is wiped on a guess.
  if (seen.namespaceIsTerminating !== false && !isConfirmed)
    return `The namespace or a CRD is going away, or nobody could say, so ${name} is not wiped. Annotate the TalosControlPlane with ${annotations.confirmReset}: ${seen.controlPlane.metadata.name} if it may be.`;
  if (role === "controlplane") {
    if (policyOf(seen.controlPlane.spec) !== "preserve") return undefined;
    return `${name} was removed from the spec, and deletionPolicy is preserve: it is not wiped and stays a member. Unwiped it would join etcd again at its next boot. Set deletionPolicy to reset, or list it again.`;
  }
  const pool = poolOf(seen, machine);
  const word = `Annotate the TalosControlPlane with ${annotations.abandonMachine} and its UUID to release it as it is.`;
  if (pool === undefined)
    return `The worker pool of ${name} (${machine.declared.owner.name || "not known"}) is not there, which is no wish to wipe it. Bring the pool back. ${word}`;
  if (seen.unsoundPools?.includes(pool.metadata.name) === true)
    return `${name} left the list of ${pool.metadata.name}, whose spec has something wrong in it, so it is not wiped. Correct the spec; see the conditions of the pool.`;
  return undefined;
}

/** What happens to the machines of a pool that are taken away. Default: they are wiped. */
export function policyOf(spec: { readonly deletionPolicy?: DeletionPolicy } | undefined): DeletionPolicy {
  return spec?.deletionPolicy ?? "reset";
}

/**
 * The member of etcd that belongs to a machine that may not show it now: the one it showed last, or the only one that is reached at its address, was never
 * another machine's and is shown by no other one: a machine may have joined anew since its member was written down, and died as a learner.
 */
export function memberOf(
  seen: Observed,
  members: readonly EtcdMember[],
  facts: ClusterFacts,
  fact: Pick<MachineFact, "name" | "address" | "memberId">,
): EtcdMember | undefined {
  const known = members.find((member) => member.id === fact.memberId);
  if (known !== undefined) return known;
  const others = [...seen.machines, ...seen.former].filter(({ declared }) => declared.name !== fact.name);
  const [own, ...more] = members.filter(
    (member) =>
      !facts.machines.some((other) => other.name !== fact.name && other.memberId === member.id) &&
      !others.some(({ declared, look }) => declared.address === fact.address || isShownBy(look, member.id)) &&
      member.peerUrls.length > 0 &&
      member.peerUrls.every((url) => hostOf(url) === fact.address),
  );
  return more.length === 0 ? own : undefined;
}

/** The machine answers and shows this member as its own. */
function isShownBy(look: Look, memberId: string): boolean {
  return look.kind === "running" && look.etcd?.localMember === memberId;
}

export function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : undefined;
}

/** Whether etcd lists a member of this machine; `undefined` when nobody can say. Before etcd is bootstrapped there is none. */
export function memberListed(assessed: Assessment, facts: ClusterFacts, fact: MachineFact): boolean | undefined {
  const { seen } = assessed;
  if (facts.bootstrapDone === undefined) return false;
  const view = besideFull(assessed.etcdMembership);
  return view.kind === "unsafe" ? undefined : memberOf(seen, view.members, facts, fact) !== undefined;
}

/** etcd lists this member. */
export function listed(view: EtcdQuorum, memberId: string): boolean {
  return view.members.some(({ id }) => id === memberId);
}

/** A machine that answers shows this member as its own. */
export function isShown(seen: Observed, memberId: string): boolean {
  return [...seen.machines, ...seen.former].some(({ look }) => isShownBy(look, memberId));
}

/** What was begun is done with, one way or the other: its intent leaves the record. */
export function closed(seen: Observed, facts: ClusterFacts, intent: IntentFact, reason: string, message: string): RemovalStep {
  const next = withDecisions(withoutIntent(facts, intent.machine, intent.what), {
    at: seen.now,
    action: `Close${intent.what}`,
    reason,
    machine: intent.machine,
    message,
  });
  return { facts: next, actions: [], removals: [] };
}
