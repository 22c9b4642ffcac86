import type { Look, SeenEtcd, Silent } from "../model/look.ts";

/**
 * How long a machine had been silent when it was last asked; milliseconds. Not until now: a clock that is set forward would make that long at once.
 */
export function silentForMs({ at, since }: Silent): number {
  return at - since;
}

/** etcd does not run, and nothing but a boot or a bootstrap starts it again. */
export function hasStopped({ service }: SeenEtcd): boolean {
  return service === "Finished" || service === "Failed";
}

/** True when two looks say the same about the machine; the time of the look does not count. */
export function isSameLook(a: Look, b: Look): boolean {
  return a.kind === b.kind && saidBy(a) === saidBy(b);
}

/** True when two looks differ at most in what keeps a machine that comes up from being ready: it is on the way to the same. */
export function isSameStep(a: Look, b: Look): boolean {
  return a.kind === "running" && b.kind === "running" && isSameLook({ ...a, unmet: [] }, { ...b, unmet: [] });
}

/** True for a machine that shows nothing that has to change: it runs, and so does its etcd, if it should have one. */
export function isWell(look: Look): boolean {
  if (look.kind !== "running" || look.stage !== "running" || !look.ready || look.unmet.length > 0) return false;
  const { etcd } = look;
  return etcd === undefined || (etcd.alarms === undefined && serves(etcd));
}

/** It is healthy, tells its members, and knows a leader. */
export function serves(etcd: SeenEtcd): boolean {
  return etcd.isHealthy && etcd.members !== undefined && hasLeader(etcd);
}

/** True for a member that says that it has no vote yet. */
export function isLearner({ localMember, members }: SeenEtcd): boolean {
  return members?.some((member) => member.isLearner && member.id === localMember) === true;
}

/**
 * True when a look shows less than the one before in what passes: the machine is silent, or its etcd runs on and did not tell its members or its leader, or has none.
 * Just after a promotion and under many writes a member that is well does so for seconds.
 */
export function isUnread(look: Look, before: Look): boolean {
  if (before.kind !== "running") return false;
  if (look.kind === "silent") return true;
  if (look.kind !== "running" || look.etcd?.service !== "Running" || before.etcd?.service !== "Running") return false;
  const isMissing = look.etcd.members === undefined && before.etcd.members !== undefined;
  return isMissing || (!hasLeader(look.etcd) && hasLeader(before.etcd));
}

/**
 * True for an etcd that was just started again and tells nothing: one that was taken out of its cluster runs for a second, and is started again for ever five seconds
 * later.
 */
export function isStartedAgain(look: Look, before: Look): boolean {
  if (look.kind !== "running" || before.kind !== "running" || before.etcd?.service !== "Waiting") return false;
  return look.etcd?.service === "Running" && !look.etcd.isHealthy && look.etcd.members === undefined;
}

function hasLeader({ leader }: SeenEtcd): boolean {
  return leader !== undefined && leader !== "0";
}

/** True when two looks at a control plane say the same of etcd as a whole: who its members are, and who leads. */
export function isSameMembership(a: Look, b: Look): boolean {
  return membershipOf(a) === membershipOf(b);
}

function membershipOf(look: Look): string | undefined {
  if (look.kind !== "running" || look.etcd === undefined) return undefined;
  return JSON.stringify([look.etcd.leader, look.etcd.members]);
}

/** A database grows all the time: what comes of that is told by whoever compares it with something. */
function withoutSizes(name: string, value: unknown): unknown {
  return name === "dbSizeBytes" || name === "dbInUseBytes" ? undefined : value;
}

/** Each look is compared with the one before and the one after it. */
const said = new WeakMap<Look, string>();

function saidBy(look: Look): string {
  const known = said.get(look);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...look, at: 0, since: 0, etcdUnwellSince: undefined }, withoutSizes);
  said.set(look, text);
  return text;
}
