import { elapsedMs } from "../../elapsed.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { deleteNode } from "../../effects/delete-node.ts";
import { uncordon } from "../../effects/uncordon.ts";
import { awaitsNodesOfRun, upgradeTaints } from "./upgrade-taints.ts";
import { factsOf } from "../../record/facts.ts";
import { nodeCalled } from "../../workload/seen-node.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Rule } from "../../model/decision.ts";
import type { Assessment } from "../../model/assessment.ts";

/** Between two looks at the Nodes while something is left to do there; growing with the time it has been left. */
const LEFTOVER_LOOK_MS = { shortest: 10_000, longest: 30 * 60_000 } as const;

/** After Nodes that could not be listed. */
const TRY_AGAIN_MS = 30_000;

/** Between two looks at a Node that a person has to remove. */
const UNPROVEN_LOOK_MS = 5 * 60_000;

/** So long after a machine was released its Node is looked at soon again. */
const TENDED_MS = 5 * 60_000;

/** What a new leader finds cordoned may be about to be disturbed: whoever wants that asks within this time. */
const FOUND_CORDON_MS = 60_000;

/**
 * Takes our own cordons off Nodes whose machines are ready again and that nothing is about to happen to, puts the taint of upgrades on Nodes and takes it off,
 * and deletes the Nodes of machines that were let go, or have another one by now. Works from the marks on the Nodes and from the record: a new leader goes on where
 * the one before stopped.
 */
export const tendNodes: Rule = {
  name: "tendNodes",
  decide(assessed) {
    const { seen } = assessed;
    const facts = factsOf(seen);
    if (seen.nodes === undefined || facts?.bootstrapDone === undefined) return undefined;
    if (seen.controlPlane.metadata.deletionTimestamp !== undefined) return undefined;
    // Whatever an earlier leader is about, a Node without kubelet and machine is of use to nobody: it goes though leaders change all the time.
    const actions = [...(seen.mayDisturb ? [...uncordons(assessed), ...upgradeTaints(assessed)] : []), ...deletions(assessed)];
    if (actions.length > 0) return { actions };
    return isLookDue(assessed, facts) ? { actions: [{ kind: "LookAtNodes" }] } : undefined;
  },
};

/** True for some minutes after machines were released, or got another name, while their Nodes are to be looked at or deleted. */
export function hasNodesToTend(assessed: Assessment): boolean {
  const { seen } = assessed;
  const { nodes } = seen;
  if (seen.record.kind !== "present" || nodes === undefined) return false;
  const { facts } = seen.record.value;
  const isRecent = ({ releasedAt }: MachineFact): boolean => releasedAt !== undefined && elapsedMs(releasedAt, seen.now) < TENDED_MS;
  return (
    facts.machines.some((fact) => isRecent(fact) && (fact.releasedAt ?? 0) >= nodes.at) ||
    assessed.leftNodes.some(({ fact, renamedTo }) => renamedTo !== undefined || isRecent(fact)) ||
    isRenameUnlisted(assessed)
  );
}

function uncordons(assessed: Assessment): readonly Action[] {
  const { seen } = assessed;
  if (elapsedMs(seen.watchedSince, seen.now) < FOUND_CORDON_MS && seen.nodes?.cordoned.size === 0) return [];
  return assessed.idleCordons.flatMap(({ fact, node, isReady, up }): readonly Action[] =>
    up === undefined || isReady === false || !mayAskAgain(seen, uncordon, fact.name)
      ? []
      : [{ kind: "Uncordon", machine: fact.name, node, address: up.declared.address, ifUuid: fact.uuid }],
  );
}

function deletions({ seen, leftNodes }: Assessment): readonly Action[] {
  return leftNodes.flatMap(({ fact, node, renamedTo }): readonly Action[] =>
    node.isReady || !mayAskAgain(seen, deleteNode, fact.name)
      ? []
      : [{ kind: "DeleteNode", machine: fact.name, node: node.name, ...(renamedTo === undefined ? {} : { renamedTo }) }],
  );
}

/** The Nodes are listed once by every leader that finds the cluster founded, when an upgrade began, when machines were released, and while something is left to do: never as a routine. */
function isLookDue(assessed: Assessment, facts: ClusterFacts): boolean {
  const { seen } = assessed;
  const { nodes } = seen;
  if (nodes === undefined || nodes.isAsking) return false;
  if (awaitsNodesOfRun(assessed)) return true;
  const age = elapsedMs(nodes.at, seen.now);
  const released = Math.max(Number.NEGATIVE_INFINITY, ...facts.machines.map((fact) => fact.releasedAt ?? Number.NEGATIVE_INFINITY));
  // Of a cluster that this very leader founded no Node is left before it disturbed or released a machine.
  const isFoundedHere = (facts.bootstrapIntent?.at ?? Number.NEGATIVE_INFINITY) >= seen.watchedSince;
  const isRenamed = isRenameUnlisted(assessed);
  const isUntouched = nodes.at === Number.NEGATIVE_INFINITY && nodes.cordoned.size === 0 && released === Number.NEGATIVE_INFINITY;
  if (isFoundedHere && isUntouched && !isRenamed) return false;
  if (nodes.nodes === undefined) return age >= TRY_AGAIN_MS;
  if (isRenamed) return age >= LEFTOVER_LOOK_MS.shortest;
  const since = [
    ...assessed.leftNodes.map(({ fact, renamedTo }) => (renamedTo === undefined ? elapsedMs(fact.releasedAt ?? seen.now, seen.now) : 0)),
    ...assessed.formerNames.map(({ isProven }) => (isProven ? 0 : UNPROVEN_LOOK_MS * 4)),
  ];
  const idle = assessed.idleCordons;
  const isLeft = since.length > 0 || idle.length > 0;
  if (nodes.isStale || released >= nodes.at) return age >= LEFTOVER_LOOK_MS.shortest;
  // Listed before the kubelet said so: the next machine may be waiting for this one's cordon to go.
  if (idle.some(({ isReady, up }) => isReady === false && up !== undefined)) return age >= TRY_AGAIN_MS;
  return (
    isLeft &&
    age >= Math.min(LEFTOVER_LOOK_MS.longest, Math.max(LEFTOVER_LOOK_MS.shortest, Math.min(...since, Number.POSITIVE_INFINITY) / 4))
  );
}

/** A machine got another name while this process watched, and was not listed by it since as it is: ready. */
function isRenameUnlisted({ seen, machines }: Assessment): boolean {
  return machines.some(({ look, isReady }) => {
    if (!isReady || look.kind !== "running" || look.nodeNameBefore === undefined) return false;
    return nodeCalled(seen.nodes?.nodes ?? [], look.nodeName)?.isReady !== true;
  });
}
