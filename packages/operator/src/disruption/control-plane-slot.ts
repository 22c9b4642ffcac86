import { controlPlaneIntent, snapshotStands } from "../record/facts.ts";
import { elapsedMs } from "../elapsed.ts";
import { isReadyNode } from "../assess/machine-state.ts";
import { besideFull, despiteCorrupt, despiteFull, projectWithout, settled } from "../assess/quorum.ts";
import { outageWord } from "./approved-outage.ts";
import { rankOf } from "./reasons.ts";
import type { Disruption } from "./reasons.ts";
import type { Projection } from "../assess/quorum.ts";
import type { Assessment } from "../model/assessment.ts";
import type { EtcdDoubt, EtcdQuorum } from "../model/etcd.ts";
import type { MachineName } from "../model/machine.ts";
import type { BeforeRisk } from "../model/plans.ts";
import type { ClusterFacts, IntentFact, IntentKind } from "../model/record.ts";

/** Who asks for the one place that a cluster has for a disturbed control plane, and for what. */
export interface SlotBid {
  readonly machine: MachineName;
  readonly why: Disruption;
  /** Its member of etcd; `none` = it is known to have none, or none is disturbed, `undefined` = nobody knows. Of no interest where the whole cluster goes. */
  readonly member: string | undefined;
  /** The open intent that it goes on with; absent: it begins. */
  readonly under?: IntentFact;
}

/** Who or what holds the place, as data. {@link whyHeld} and {@link releaseOf} say it. */
export type SlotHolder =
  /** Effects of the leader before may still take place. */
  | { readonly kind: "takeover" }
  /** The one intent on control planes that is open. */
  | { readonly kind: "effect"; readonly machine: MachineName; readonly what: IntentKind }
  | { readonly kind: "snapshot"; readonly machine: MachineName; readonly backup: string; readonly until: number }
  /** A snapshot from before this one leaves is waited for; `take`: it is to be asked for. */
  | { readonly kind: "before-risk"; readonly machine: MachineName; readonly snapshot: BeforeRisk }
  /** Another control plane is emptied of its pods, for something that is at least as urgent. */
  | { readonly kind: "drain"; readonly machine: MachineName }
  /** etcd is not bootstrapped, and who holds data of it is not known. */
  | { readonly kind: "founding" }
  /** What etcd's members say is no number to rely on. `isSettling`: a member that joins is all that is in the way. */
  | { readonly kind: "etcd"; readonly doubt: EtcdDoubt; readonly isSettling: boolean }
  /** The machine does not tell which member is its own. */
  | { readonly kind: "unreported"; readonly machine: MachineName }
  | { readonly kind: "quorum"; readonly machine: MachineName; readonly projection: Projection };

/** Whether a control plane may be disturbed now, and if not, what is in the way. */
export type Slot = { readonly kind: "granted" } | { readonly kind: "held"; readonly holder: SlotHolder };

/**
 * Whether this control plane may be disturbed now, for this reason: the only place that knows it, asked by whoever removes, resets, boots or configures one,
 * before the intent is written and again before each repetition under it.
 *
 * One control plane at a time, whatever for: the open intent and a snapshot that is being taken hold the place, and so does one that is drained for something
 * at least as urgent; a drain for something less urgent is given up. A running voter leaves after a snapshot was taken, as far as people ask for one. And never below quorum, with the member counted as gone until it is proved back. Of
 * those who ask in one pass the more urgent is asked about first.
 */
export function controlPlaneSlot(assessed: Assessment, facts: ClusterFacts, bid: SlotBid): Slot {
  const holder =
    heldBySomebody(assessed, facts, bid) ??
    (bid.why === "delete" ? undefined : (heldByEtcd(assessed, facts, bid) ?? heldBySnapshot(assessed, bid)));
  return holder === undefined ? granted : { kind: "held", holder };
}

const granted: Slot = { kind: "granted" };

function heldBySomebody(assessed: Assessment, facts: ClusterFacts, bid: SlotBid): SlotHolder | undefined {
  const { seen } = assessed;
  if (!seen.mayDisturb) return { kind: "takeover" };
  const open = controlPlaneIntent(facts);
  if (open !== undefined && !(open.machine === bid.machine && open.what === bid.under?.what))
    return { kind: "effect", machine: open.machine, what: open.what };
  if (snapshotStands(facts, seen.now)) {
    const { machine, backup, deadline } = facts.snapshot;
    return { kind: "snapshot", machine, backup, until: deadline };
  }
  return bid.under === undefined ? (heldByRejoining(assessed, facts, bid) ?? heldByDrain(assessed, bid)) : undefined;
}

/**
 * One that joined etcd anew boots, and its intent has ended before it is back: while the alarm of its former data stands no kubelet can say that its Node is ready.
 */
function heldByRejoining({ seen, machines }: Assessment, { decisions }: ClusterFacts, { machine, why }: SlotBid): SlotHolder | undefined {
  if (rankOf(why) <= rankOf("cure")) return undefined;
  const booting = machines.find((one) => {
    const { name, role } = one.declared;
    if (role !== "controlplane" || name === machine || isReadyNode(one)) return false;
    const joined = decisions.findLast((decision) => decision.machine === name && decision.action === "CloseReplaceMember");
    return joined?.reason === "Joined" && elapsedMs(joined.at, seen.now) < COMES_BACK_MS;
  });
  return booting === undefined ? undefined : { kind: "effect", machine: booting.declared.name, what: "ReplaceMember" };
}

/** From when a machine has joined etcd anew until its Node is ready; one that takes longer holds up nobody any more. Milliseconds. */
const COMES_BACK_MS = 20 * 60_000;

/** A control plane that is listed is drained for a boot, into another Talos or not, one that is not because it leaves. */
function heldByDrain({ seen, machines, former }: Assessment, { machine, why }: SlotBid): SlotHolder | undefined {
  if (seen.drains === undefined || seen.drains.size === 0 || why === "delete") return undefined;
  const isDrained = seen.drains.has(machine);
  const own = rankOf(why);
  const before = [...machines, ...former].find(({ declared: { name, role }, look, drain, isListed, fact }) => {
    if (role !== "controlplane" || name === machine || drain === undefined || look.kind !== "running") return false;
    const rank = rankOf(isListed ? (fact?.installed === undefined ? "boot" : "upgrade") : "remove");
    return rank < own || (rank === own && (!isDrained || name < machine));
  });
  return before === undefined ? undefined : { kind: "drain", machine: before.declared.name };
}

function heldByEtcd(assessed: Assessment, facts: ClusterFacts, { machine, why, member }: SlotBid): SlotHolder | undefined {
  const leaves = why === "replace" || why === "renew" || why === "remove";
  if (facts.bootstrapDone === undefined) return leaves && member === "none" ? undefined : { kind: "founding" };
  const all = readFor(why, assessed.etcdMembership);
  if (all.kind === "unsafe") return { kind: "etcd", doubt: all, isSettling: false };
  if (leaves && member === undefined) return { kind: "unreported", machine };
  // Who has no vote takes none along: it may leave beside one that joins.
  if (leaves && !isVoter(all, member)) return undefined;
  // A dead member goes whoever joins: nobody may join before it has gone. Who takes an alarm back disturbs no member.
  const view = why === "replace" || (why === "cure" && member === "none") ? all : settled(all);
  if (view.kind === "unsafe") return { kind: "etcd", doubt: view, isSettling: true };
  if (member === undefined) return { kind: "unreported", machine };
  // A control plane of a single machine has no quorum to keep.
  if (!leaves && view.voters.length === 1 && isVoter(view, member)) return undefined;
  if (why === "upgrade" && isApprovedPair(assessed, view, machine)) return undefined;
  const projection = projectWithout(view, member, leaves ? "leaves" : "is-down");
  return projection.isSafe ? undefined : { kind: "quorum", machine, projection };
}

/** Of two voters one boots by a person's word alone. Both are well: with one that is not there is no quorum, and nothing is known. */
function isApprovedPair({ seen }: Assessment, { voters }: EtcdQuorum, machine: MachineName): boolean {
  return voters.length === 2 && outageWord(seen, machine).kind === "approved";
}

/** Last of all: it is not asked for while anything else is in the way. What was begun goes on, and a dead member is replaced without it. */
function heldBySnapshot(
  { beforeRisk: ofRemovals, beforeUpgrade, etcdMembership }: Assessment,
  { machine, why, member, under }: SlotBid,
): SlotHolder | undefined {
  const beforeRisk = why === "remove" || why === "renew" ? ofRemovals : why === "upgrade" ? beforeUpgrade : undefined;
  if (under !== undefined || beforeRisk?.holds !== true) return undefined;
  const view = readFor(why, etcdMembership);
  // Who has no vote is missed by nobody.
  const hasVote = view.kind === "known" && isVoter(view, member);
  return hasVote ? { kind: "before-risk", machine, snapshot: beforeRisk } : undefined;
}

/**
 * Only who cures an alarm goes on beneath it; and while files are full who takes dead members away, whose number may be what the cure waits for, and who boots a member
 * for a larger quota.
 */
function readFor(why: Disruption, view: EtcdQuorum | EtcdDoubt): EtcdQuorum | EtcdDoubt {
  if (why === "replace") return besideFull(view);
  if (why === "enlarge") return besideFull(view);
  return why === "cure" ? despiteFull(view) : why === "renew" ? despiteCorrupt(view) : view;
}

function isVoter({ voters }: EtcdQuorum, member: string | undefined): boolean {
  return voters.some(({ id }) => id === member);
}
