import { apiVersionOf, clusterRecordResource, findCondition } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { Logger } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import { judgedStatus, pausedStatus, startingConditions } from "../controllers/shared/kstatus.ts";
import type { Telling } from "../telling/telling.ts";
import { runningFieldsOf } from "../controllers/shared/running-fields.ts";
import type { ListedMachine } from "../controllers/shared/running-fields.ts";
import type { StatusWriter, WantedStatus } from "../controllers/shared/status-writer.ts";
import { isReadyNode } from "../assess/machine-state.ts";
import { deletionHeld } from "./deletion-held.ts";
import { machinesInChange, machinesToChange } from "./open-effects.ts";
import { FIRST_LOOKS_MS } from "../decide.ts";
import { poolContract } from "../spec/pool-contract.ts";
import { machineFact } from "../record/facts.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Decision } from "../model/decision.ts";
import type { Observed } from "../model/observation.ts";

/** While a cluster changes fast, its status is written at most this often, in milliseconds; what stays is always written. */
const STATUS_EVERY_MS = 500;

/**
 * Tells people how the cluster is, in the status of its TalosControlPlane; the plan of a dry run also as an event.
 *
 * @returns when to tell it again because it was held back, in milliseconds; `undefined` = it is told
 */
export async function tell(
  object: TalosControlPlane,
  seen: Observed,
  decision: Decision,
  facts: ClusterFacts | undefined,
  statuses: StatusWriter<TalosControlPlane>,
  events: Telling,
): Promise<number | undefined> {
  const looksDueMs = firstLooksDueMs(object, seen);
  if (looksDueMs > 0) return looksDueMs;
  if (seen.mode !== "reconcile") {
    const told = findCondition(object.status?.conditions, "DryRun")?.message;
    const written = await statuses.write(object, pausedStatus(object, decision.conditions));
    const plan = decision.conditions.find((condition) => condition.type === "DryRun");
    if (plan !== undefined && plan.status !== "Unknown" && plan.message !== told) events.tell(object, "DryRun", "DryRun", plan.message);
    return written;
  }
  return statuses.write(object, statusOf(object, seen, decision, facts), STATUS_EVERY_MS);
}

/**
 * Reports that something is about to be changed, before the first call to a machine: whoever reads the status then would take the object for finished.
 * The next pass says more.
 *
 * @returns false when the API server did not take it: a cluster needs no status, and its changes wait for one only so long
 */
export async function reportStart(
  object: TalosControlPlane,
  seen: Observed,
  decision: Decision,
  facts: ClusterFacts | undefined,
  statuses: StatusWriter<TalosControlPlane>,
  log: Logger,
): Promise<boolean> {
  const conditions = startingConditions(decision.conditions, object.metadata.generation);
  try {
    await statuses.write(object, statusOf(object, seen, { ...decision, conditions }, facts));
    return true;
  } catch (thrown) {
    if (!(thrown instanceof KubeApiError)) throw thrown;
    log.warn({ err: thrown }, "Cannot write the status before a change");
    return false;
  }
}

function statusOf(object: TalosControlPlane, seen: Observed, decision: Decision, facts: ClusterFacts | undefined): WantedStatus {
  const kubernetes = facts?.bootstrapDone === undefined ? undefined : facts.kubernetesVersion;
  const fields = {
    ...(facts?.importedAt === undefined ? {} : { imported: true }),
    state: decision.state,
    removals: decision.removals,
    upgrade: decision.upgrade,
    configContract:
      facts === undefined ? object.status?.configContract : poolContract(facts, { kind: "TalosControlPlane", name: object.metadata.name }),
    etcdLeader: decision.etcdLeader,
    ...runningFieldsOf(ownMachines(seen, facts)),
    observedKubeVersion: kubernetes === "" ? undefined : kubernetes,
  };
  const hasOpenEffect = decision.isBusy === true || machinesInChange(seen).size + machinesToChange(decision, seen).size > 0;
  return judgedStatus(object, fields, { conditions: decision.conditions, hasOpenEffect });
}

/** Machines of the control plane itself. A second entry that leads to one of them is none. */
function ownMachines({ machines }: Observed, facts: ClusterFacts | undefined): readonly ListedMachine[] {
  const isOwn = (name: string): boolean => facts === undefined || machineFact(facts, name) !== undefined;
  return machines
    .filter(({ declared }) => declared.owner.kind === "TalosControlPlane")
    .map((machine) => ({
      isReady: isReadyNode(machine) && isOwn(machine.declared.name),
      version: machine.look.kind === "running" ? machine.look.version : undefined,
    }));
}

/** Who deletes a ClusterRecord by hand, and waits, looks there: an event says why it stays. Once in a process for each deletion. */
export function tellHeldRecord(seen: Observed, session: ClusterSession, events: Telling): void {
  if (seen.record.kind !== "present" || seen.mode !== "reconcile") return;
  const { metadata } = seen.record.value;
  const held = deletionHeld(seen);
  if (held?.reason !== "RecordDeleted" || session.heldRecord === metadata.deletionTimestamp) return;
  session.heldRecord = metadata.deletionTimestamp;
  const regarding = { apiVersion: apiVersionOf(clusterRecordResource), kind: clusterRecordResource.kind, metadata };
  events.tell(regarding, "DeletionHeld", "HoldDeletion", held.message);
}

/** What an earlier process told stays until this one has looked at every machine: that an operator starts is no news of the cluster. */
function firstLooksDueMs({ metadata, status }: TalosControlPlane, seen: Observed): number {
  const isTold = findCondition(status?.conditions, "Ready")?.observedGeneration === metadata.generation;
  const isLooking = seen.machines.some(({ look }) => look.kind === "not-asked");
  return isTold && isLooking ? FIRST_LOOKS_MS - elapsedMs(seen.watchedSince, seen.now) : 0;
}
