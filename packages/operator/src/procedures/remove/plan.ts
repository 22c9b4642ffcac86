import { annotations, rfc3339 } from "@talos-operator/api";
import { silentForMs } from "../../looking/look.ts";
import { controlPlaneIntent } from "../../record/facts.ts";
import { wordFor } from "../../assess/identity.ts";
import { orGivenUp } from "./gives-way.ts";
import { ghostsOf, pursueRemoval, removeMember } from "./plan-member-removal.ts";
import { beginReset, pursueReset } from "./plan-reset.ts";
import { planWorkerRemovals } from "./plan-worker-removals.ts";
import { configMayArriveUntil, isAbandoned, isWiped, leaversOf, memberListed, released, unreachable, waits } from "./removal.ts";
import type { Leaver } from "./removal.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Removal, RemovalStep } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** A machine that nobody lists any more counts as gone after so long without an answer; until then it may only be rebooting. Milliseconds. */
const SILENT_GRACE_MS = 60_000;

/**
 * Plans how machines leave a cluster that stays. At most one control plane is under way, and none while it would cost the quorum:
 *
 * 1. whoever stands in the record with an open intent comes first;
 * 2. what answers in maintenance mode is released, once etcd lists no member of it;
 * 3. the member of a machine that is gone is removed, so that a replacement can join;
 * 4. a control plane that runs is reset gracefully after every listed one has joined and leads no more.
 *
 * Workers leave beside that, within the budget of their pool.
 */
export function planMembership(assessed: Assessment, facts: ClusterFacts): RemovalStep {
  const { seen } = assessed;
  const given = abandon(seen, facts);
  if (given !== undefined) return given;
  const controlPlanes = planControlPlane(assessed, facts);
  const workers = planWorkerRemovals(assessed, controlPlanes.facts);
  return {
    facts: workers.facts,
    actions: [...controlPlanes.actions, ...workers.actions],
    removals: [...controlPlanes.removals, ...workers.removals],
  };
}

/** A person's word lets a machine go without proof of a wipe. */
function abandon(seen: Observed, facts: ClusterFacts): RemovalStep | undefined {
  const leaver = [...leaversOf(seen, facts, "controlplane"), ...leaversOf(seen, facts, "worker")].find(({ fact }) =>
    isAbandoned(seen, facts, fact.name),
  );
  if (leaver === undefined) return undefined;
  const { fact } = leaver;
  const word = wordFor(facts, fact.name, undefined);
  const answer = `${fact.name} is released without proof of a wipe, as ${annotations.abandonMachine} said; the annotation acts once and is removed.`;
  return {
    facts: released(seen, facts, fact, "AbandonedByPerson", `${fact.name} is released without proof of a wipe.`),
    actions: [{ kind: "AnswerAnnotation", annotation: annotations.abandonMachine, value: word, answer }],
    removals: [],
  };
}

function planControlPlane(assessed: Assessment, facts: ClusterFacts): RemovalStep {
  const { seen } = assessed;
  const open = controlPlaneIntent(facts);
  if (open?.what === "Reset") return orGivenUp(assessed, facts, open, pursueReset(assessed, facts, open));
  if (open?.what === "RemoveMember") return orGivenUp(assessed, facts, open, pursueRemoval(assessed, facts, open));
  const leavers = leaversOf(seen, facts, "controlplane");
  if (leavers.length === 0 && ghostsOf(assessed, facts).length === 0) return nothing(facts);
  return choose(assessed, facts, leavers);
}

/** No removal is under way: who leaves next, and what keeps the others. */
function choose(assessed: Assessment, facts: ClusterFacts, leavers: readonly Leaver[]): RemovalStep {
  const { seen } = assessed;
  const wiped = leavers.find(
    (leaver) =>
      isWiped(facts, leaver) && memberListed(assessed, facts, leaver.fact) === false && configMayArriveUntil(seen, leaver) === undefined,
  );
  if (wiped !== undefined)
    return {
      facts: released(
        seen,
        facts,
        wiped.fact,
        "AnswersInMaintenance",
        `${wiped.fact.name} answers in maintenance mode and is no member of etcd.`,
      ),
      actions: [],
      removals: [],
    };
  const steps = [
    ...ghostsOf(assessed, facts).map((fact) => () => removeMember(assessed, facts, fact)),
    ...leavers
      .filter((leaver) => isGone(leaver))
      .map(
        ({ fact }) =>
          () =>
            removeMember(assessed, facts, fact),
      ),
    ...ordered(assessed, leavers).map((leaver) => () => beginReset(assessed, facts, leaver)),
  ];
  const removals = leavers.flatMap((leaver): Removal[] => {
    const { machine, fact } = leaver;
    if (isGone(leaver) && memberListed(assessed, facts, fact) === false) return [unreachable(facts, machine, fact)];
    const until = configMayArriveUntil(seen, leaver);
    return until === undefined ? unheard(leaver) : [waits(fact, "Resetting", mayStillTake(fact.name, until))];
  });
  for (const step of steps) {
    const { facts: next, actions, removals: said } = step();
    removals.push(...said);
    // One node is drained at a time.
    if (actions.length === 0 && said.some(({ reason }) => reason === "Draining")) break;
    // The first that can be done is done; what is in the way of one is often in the way of all.
    if (next !== facts || actions.length > 0) return { facts: next, actions, removals };
  }
  return { facts, actions: [], removals };
}

/** Running control planes that leave: those without a member first, the leader last, then by name so that the same one is chosen again. */
function ordered(assessed: Assessment, leavers: readonly Leaver[]): readonly Leaver[] {
  const view = assessed.etcdMembership;
  const weight = ({ machine: { look } }: Leaver): number => {
    const member = look.kind === "running" ? look.etcd?.localMember : undefined;
    if (view.kind === "unsafe" || member === undefined) return 1;
    const voter = view.voters.find(({ id }) => id === member);
    return voter === undefined ? 0 : view.leader === member ? 3 : voter.isHealthy ? 2 : 1;
  };
  return leavers
    .filter((leaver) => leaver.machine.look.kind === "running")
    .toSorted((a, b) => weight(a) - weight(b) || (a.fact.name < b.fact.name ? -1 : 1));
}

function mayStillTake(name: MachineName, until: number): string {
  return `${name} waits in maintenance mode, and the configuration that was sent to it may still arrive. It is released at ${rfc3339(until)}, or wiped when it takes it.`;
}

/** What leaves and was not heard yet, or only just went silent, is waited for like what may be disturbed later. */
function unheard(leaver: Leaver): Removal[] {
  const { fact, machine } = leaver;
  const { look } = machine;
  if (look.kind === "not-asked") return [waits(fact, "WaitingForTurn", `${fact.name} leaves; it is looked at first.`)];
  if (look.kind !== "silent" || isGone(leaver)) return [];
  const message = `${fact.name} was removed from the spec and has not answered since ${rfc3339(look.since)}. Its etcd member is removed a minute later. Bring the machine back to have it wiped.`;
  return [waits(fact, "RemovingMember", message)];
}

/** Nobody answers as this machine, and it is not only rebooting. */
function isGone(leaver: Leaver): boolean {
  const { look } = leaver.machine;
  if (look.kind === "running" || look.kind === "not-asked") return false;
  if (look.kind === "silent") return silentForMs(look) >= SILENT_GRACE_MS;
  return true;
}

function nothing(facts: ClusterFacts): RemovalStep {
  return { facts, actions: [], removals: [] };
}
