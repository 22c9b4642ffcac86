import { machineFact } from "../record/facts.ts";
import { keepsOldData } from "./etcd-view.ts";
import { comingUpOf } from "./machine-state.ts";
import { isLearner, serves, silentForMs } from "../looking/look.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

/** All that etcd lacks are control planes that are about to become its voters: none that was one is away. */
export function isOnlyJoining(seen: Observed, facts: ClusterFacts): boolean {
  const missing = seen.machines.filter((machine) => machine.declared.role === "controlplane" && !isVoter(machine));
  return missing.length > 0 && missing.every((machine) => isJoining(machine, facts));
}

/** For as long trouble of a control plane may pass by itself: a health check of etcd follows the one before after twenty seconds, and a boot takes a minute. Milliseconds. */
const MAY_PASS_MS = 60_000;

/** What is seen of a control plane may pass by itself: nobody is to replace a machine for it. */
export function mayPass({ look }: SeenMachine): boolean {
  if (look.kind === "silent") return look.stopped === undefined && silentForMs(look) < MAY_PASS_MS;
  if (look.kind !== "running") return look.kind === "not-asked";
  const { at, etcdUnwellSince = at } = look;
  return at - etcdUnwellSince < MAY_PASS_MS;
}

/** Some control planes do not serve etcd, and each of those may by itself. */
export function isOnlyPassing({ machines }: Observed): boolean {
  const unwell = machines.filter(({ declared, look }) => {
    const etcd = look.kind === "running" ? look.etcd : undefined;
    return declared.role === "controlplane" && (etcd === undefined || !serves(etcd));
  });
  return unwell.length > 0 && unwell.every(mayPass);
}

/** On its way into etcd: it was never a voter, and it runs, or comes up, or was not asked yet. */
export function isJoining(machine: SeenMachine, facts: ClusterFacts): boolean {
  const fact = machineFact(facts, machine.declared.name);
  // One that left the cluster and is listed again is no voter that is lost.
  const wasVoter = fact?.memberId !== undefined && fact.releasedAt === undefined && !hasNoVote(machine);
  const { kind } = machine.look;
  return !wasVoter && (kind === "not-asked" || kind === "running" || kind === "maintenance" || comingUpOf(machine, facts) !== undefined);
}

/** Talos's health check of a member passes seconds after its promotion. */
function isVoter(machine: SeenMachine): boolean {
  const etcd = machine.look.kind === "running" ? machine.look.etcd : undefined;
  return etcd?.members !== undefined && etcd.isHealthy && !hasNoVote(machine);
}

/** It says itself that it is no voter of etcd yet. With the data of a member it is none that joins. */
function hasNoVote({ look }: SeenMachine): boolean {
  const etcd = look.kind === "running" ? look.etcd : undefined;
  return etcd !== undefined && ((etcd.localMember === "none" && !keepsOldData(etcd)) || isLearner(etcd));
}
