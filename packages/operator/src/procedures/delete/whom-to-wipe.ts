import { annotations } from "@talos-operator/api";
import { machineFact, mayHoldConfig } from "../../record/facts.ts";
import { wordFor } from "../../assess/identity.ts";
import { comesBackBy, isMadeAnew } from "../../observe/reported-machines.ts";
import type { DeletionPolicy } from "@talos-operator/api";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";

/** False for a machine that never got a configuration, was released, or is to be left running. */
export function hasToBeWiped(seen: Observed, machine: SeenMachine, facts: ClusterFacts | undefined): boolean {
  return !isPreserved(seen, machine) && mayHoldConfig(machineFact(facts, machine.declared.name));
}

/** That a pool is not there is no wish to wipe what it had. */
export function isPreserved(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  const object = owner.kind === "TalosWorker" ? seen.workers.find(({ metadata }) => metadata.name === owner.name) : seen.controlPlane;
  return object === undefined || (object.spec?.deletionPolicy ?? "reset") === "preserve";
}

/**
 * Until when it has to be seen whether a machine runs with this cluster's keys that a record does not know which was made after they were, `undefined` = it
 * does not. Milliseconds since the epoch.
 */
export function mayShowUntil(seen: Observed, machine: SeenMachine, facts: ClusterFacts | undefined): number | undefined {
  if (facts === undefined || !isMadeAnew(facts) || machineFact(facts, machine.declared.name) !== undefined || isPreserved(seen, machine))
    return undefined;
  return comesBackUntil(seen, machine, facts.bundle.foundAt);
}

/** Until when a machine of which nothing is known may come back with a configuration, `undefined` = no longer, or it answers. */
export function comesBackUntil(seen: Observed, { declared, look }: SeenMachine, foundAt?: number): number | undefined {
  const until = comesBackBy(seen.watchedSince, foundAt);
  // Its look is never older than this moment: nobody is asked.
  if (declared.address === "") return seen.now < until ? until : undefined;
  if (look.kind === "not-asked") return until;
  if (look.kind !== "silent") return undefined;
  const by = comesBackBy(look.since, foundAt);
  // By the last look, and not by now: a clock that is set forward makes no silence long.
  return look.at < by ? by : undefined;
}

export function policyOf(seen: Observed): DeletionPolicy {
  return seen.controlPlane.spec?.deletionPolicy ?? "reset";
}

/** Unknown counts as going away: nothing is wiped on a guess. */
export function mayWipe(seen: Observed): boolean {
  return (
    seen.namespaceIsTerminating === false ||
    seen.controlPlane.metadata.annotations?.[annotations.confirmReset] === seen.controlPlane.metadata.name
  );
}

export function isAbandoned(seen: Observed, { declared }: SeenMachine, facts: ClusterFacts | undefined): boolean {
  const named = seen.controlPlane.metadata.annotations?.[annotations.abandonMachine];
  return named !== undefined && named !== "" && named === wordFor(facts, declared.name, undefined);
}
