import { machineFact } from "../record/facts.ts";
import { comingUpOf } from "./machine-state.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

/** All that etcd lacks are control planes that are about to become its voters: none that was one is away. */
export function isOnlyJoining(seen: Observed, facts: ClusterFacts): boolean {
  const missing = seen.machines.filter((machine) => machine.declared.role === "controlplane" && !isVoter(machine));
  return missing.length > 0 && missing.every((machine) => isJoining(machine, facts));
}

/** On its way into etcd: it was never a voter, and it runs, or comes up, or was not asked yet. */
export function isJoining(machine: SeenMachine, facts: ClusterFacts): boolean {
  const fact = machineFact(facts, machine.declared.name);
  // One that left the cluster and is listed again is no voter that is lost.
  const wasVoter = fact?.memberId !== undefined && fact.releasedAt === undefined && !hasNoVote(machine);
  const { kind } = machine.look;
  return !wasVoter && (kind === "not-asked" || kind === "running" || kind === "maintenance" || comingUpOf(machine, facts) !== undefined);
}

function isVoter(machine: SeenMachine): boolean {
  return machine.look.kind === "running" && machine.look.etcd?.members !== undefined && !hasNoVote(machine);
}

/** It says itself that it is no voter of etcd yet. */
function hasNoVote({ look }: SeenMachine): boolean {
  const etcd = look.kind === "running" ? look.etcd : undefined;
  return etcd?.localMember === "none" || etcd?.members?.some((member) => member.isLearner && member.id === etcd.localMember) === true;
}
