import { machineFact, mayHoldConfig } from "../../record/facts.ts";
import { adopt, isOfAnother } from "../../gates/adoption.ts";
import { releasePools } from "./release-pools.ts";
import { waits } from "./waits.ts";
import { takeDown } from "./take-down.ts";
import { isPreserved, policyOf } from "./whom-to-wipe.ts";
import { dissolve } from "./dissolve.ts";
import { untaintFirst } from "./untaint-first.ts";
import { writtenDownFirst } from "./written-down-first.ts";
import { goingPools, isPoolGoing, machinesOfGoingPools } from "./going-pools.ts";
import { listed } from "../../report/listed.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { Verdict } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * Takes a cluster, or a worker pool, down.
 *
 * `preserve` leaves the machines running and keeps record and keys. `reset` wipes: workers first, then control planes one by one; each wipe is written
 * down before it is sent and counts as done only when the machine answers in maintenance mode. Record, keys and the finalizer go last.
 */
export const finishDeletion: Rule = {
  name: "finishDeletion",
  decide(assessed) {
    const { seen } = assessed;
    const isClusterGoing = seen.controlPlane.metadata.deletionTimestamp !== undefined;
    if (!isClusterGoing && goingPools(seen).size === 0) return undefined;
    if (isOfAnother(seen)) return leaveToAnother(seen);
    const first = writtenDownFirst(assessed, isClusterGoing);
    if (first !== undefined) return first.kind === "verdict" ? first.verdict : undefined;

    // What waits holds up nothing else of a cluster that stays; it is said all the same.
    if (!isClusterGoing) return (assessed.goingPools?.actions.length ?? 0) > 0 ? assessed.goingPools : undefined;
    const poolVerdict = takeDown(assessed, machinesOfGoingPools(seen), true);
    if (poolVerdict !== undefined) return poolVerdict;
    const holding = seen.workers.filter(({ metadata }) => holdsMachines(seen, metadata.name)).map(({ metadata }) => metadata.name);
    if (holding.length > 0)
      return waits(
        "WaitingForWorkers",
        seen,
        `Worker pools are removed before the control plane, and still have machines: ${listed(holding)}. Delete each TalosWorker that is not being deleted.`,
      );
    if (seen.unlisted !== undefined && seen.unlisted.length > 0)
      return waits(
        "WaitingForWorkers",
        seen,
        `The Kubernetes API lists no pool of ${seen.unlisted.join(", ")}, and there is one, or nobody could say. Nothing is wiped until its lists are whole again.`,
      );

    const tainted = untaintFirst(assessed);
    if (tainted !== undefined) return tainted;
    const own = takeDown(assessed, [...seen.machines, ...seen.former], true);
    if (own !== undefined) return own;
    // A pool outlives its control plane where somebody has to look for it: those that are deleted with it go first.
    const pools = releasePools.decide(assessed);
    if (pools !== undefined) return { ...waits("WaitingForWorkers", seen, "Worker pools without machines are being released."), ...pools };
    return dissolve(seen);
  },
};

/** What the machines of pools that are deleted wait for, while their cluster stays; `undefined` = for nothing, or there are none. */
export function waitingOfGoingPools(assessed: Assessment): Verdict | undefined {
  const { seen } = assessed;
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || goingPools(seen).size === 0) return undefined;
  if (isOfAnother(seen)) return undefined;
  const first = writtenDownFirst(assessed, false);
  if (first?.kind === "others")
    return waits(
      "Blocked",
      seen,
      `Whether the machines of ${[...goingPools(seen)].join(", ")} hold a configuration is known once the cluster has its record. The condition Ready says what that waits for.`,
    );
  if (first !== undefined) return undefined;
  return takeDown(assessed, machinesOfGoingPools(seen), false);
}

/**
 * Lets objects go that never had a machine: the cluster that the record tells of is another object's, and it stays as it is, record and keys with it. What would
 * be wiped waits until a person says whose it is.
 */
function leaveToAnother(seen: Observed): Verdict | undefined {
  const asks = adopt(seen);
  if (asks === undefined || asks.actions.length > 0) return asks;
  const { metadata } = seen.controlPlane;
  const isDone = (machine: SeenMachine): boolean => isPoolGoing(seen, machine) && isPreserved(seen, machine);
  const names = new Set([...seen.machines, ...seen.former].filter(isDone).map(({ declared }) => declared.name));
  const actions = seen.machineObjects
    .filter((object) => names.has(object.metadata.name))
    .map((object): Action => ({ kind: "DeleteMachine", name: object.metadata.name }));
  if (actions.length > 0) return { ...waits("WaitingForChildren", seen, "TalosMachines are being removed."), actions };
  if (metadata.deletionTimestamp === undefined) return undefined;
  const pools = seen.workers.filter((worker) => holdsMachines(seen, worker.metadata.name)).map((worker) => worker.metadata.name);
  if (pools.length === 0 && policyOf(seen) === "preserve") return dissolve(seen);
  const why = asks.waiting?.message ?? "";
  const said =
    pools.length > 0
      ? waits("WaitingForWorkers", seen, `Worker pools go before the control plane: ${pools.join(", ")}. ${why}`)
      : waits("Blocked", seen, why);
  return { ...said, conditions: [...(asks.conditions ?? []), ...(said.conditions ?? [])] };
}

/**
 * Whether a pool has a machine that is this cluster's, as far as can be known. One that is brought back while the control plane goes, by a TalosCluster or
 * from a repository, has none and gets none any more: whoever waits for it waits for ever.
 */
function holdsMachines(seen: Observed, pool: string): boolean {
  if (seen.record.kind !== "present") return true;
  const { facts } = seen.record.value;
  return [...seen.machines, ...seen.former].some(({ declared, look }) => {
    if (declared.owner.kind !== "TalosWorker" || declared.owner.name !== pool) return false;
    const fact = machineFact(facts, declared.name);
    if (look.kind === "running") return true;
    return fact === undefined ? look.kind !== "maintenance" : mayHoldConfig(fact);
  });
}
