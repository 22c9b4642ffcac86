import { annotations, bundleSecretName } from "@talos-operator/api";
import { firstFacts } from "../join/first-facts.ts";
import { withUnknownRunning } from "../join/plan.ts";
import { saysConfigured, signOfEarlierLife, wasNeverRecorded } from "../../observe/reported-machines.ts";
import { waits } from "./waits.ts";
import { comesBackUntil, isAbandoned, isPreserved } from "./whom-to-wipe.ts";
import { isSaidWiped } from "./dissolve.ts";
import { isGoing, machinesOfGoingPools } from "./going-pools.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Verdict } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * What comes before anything is released: a record that knows the machines that run with this cluster's keys. `undefined` = there is nothing to write down.
 *
 * Where the record is gone and the keys are not, it is made anew; `others` = that is for the rules that keep the record of a cluster that stays. Where both
 * are gone nothing can be wiped, and a machine that is said to be configured is not released by that.
 */
export function writtenDownFirst(
  assessed: Assessment,
  isClusterGoing: boolean,
): { readonly kind: "verdict"; readonly verdict: Verdict } | { readonly kind: "others" } | undefined {
  const { seen } = assessed;
  const { record, bundle, controlPlane } = seen;
  const write = (facts: ClusterFacts, ifResourceVersion: string | undefined, why: string): ReturnType<typeof writtenDownFirst> => ({
    kind: "verdict",
    verdict: {
      ...waits("WaitingForChildren", seen, "What runs with this cluster's keys is written down."),
      actions: [{ kind: "WriteRecord", ifResourceVersion, facts, why }],
      requeueAfterMs: 1_000,
    },
  });
  const blocked = (message: string): ReturnType<typeof writtenDownFirst> =>
    isClusterGoing ? { kind: "verdict", verdict: waits("Blocked", seen, message) } : { kind: "others" };
  if (record.kind === "unknown") return undefined;
  if (record.kind === "present") {
    const { facts, resourceVersion } = record.value;
    const next = withUnknownRunning(seen, facts);
    return next === facts ? undefined : write(next, resourceVersion, "MetRunning");
  }
  if (bundle.kind === "present" && bundle.value.isOurs && seen.keysElsewhere?.kind !== "present") {
    if (seen.keysElsewhere?.kind === "unknown")
      return blocked(`Whether another cluster has the keys in the bundle Secret cannot be read: ${seen.keysElsewhere.detail}.`);
    if (!isClusterGoing)
      return machinesOfGoingPools(seen).some((machine) => mayHoldFoundKeys(seen, machine)) ? { kind: "others" } : undefined;
    const secret = bundleSecretName(controlPlane.metadata.name, 1);
    return write(firstFacts(assessed, secret, bundle.value), undefined, "FirstRecord");
  }
  if (bundle.kind === "unknown") return blocked(`The bundle Secret cannot be read: ${bundle.detail}.`);
  // Keys of another cluster are none of ours, and neither is what runs with them.
  const holder = bundle.kind === "present" ? undefined : mayHoldLostKeys(seen);
  if (holder === undefined) return undefined;
  if (!isClusterGoing) return { kind: "others" };
  return {
    kind: "verdict",
    verdict: waits(
      "MachineUnreachable",
      seen,
      `${holder} may hold a configuration of this cluster, and neither the ClusterRecord nor the keys to wipe it with are there. Restore both from a backup, or wipe it by hand. To give it up, annotate the TalosControlPlane with ${annotations.abandonMachine}: ${holder}, or set deletionPolicy to preserve.`,
    ),
  };
}

/**
 * A machine that has to be wiped, may be configured, and does not wait in maintenance mode. Its TalosMachine says so; where somebody deleted that one, too, the
 * status of a cluster that was bootstrapped speaks for all of its machines.
 */
function mayHoldLostKeys(seen: Observed): string | undefined {
  if (isSaidWiped(seen)) return undefined;
  const isFounded = signOfEarlierLife(seen) !== undefined;
  return [...seen.machines, ...seen.former].find((machine) => {
    const { declared, look } = machine;
    const object = seen.machineObjects.find(({ metadata }) => metadata.name === declared.name);
    const mayBeConfigured = isFounded || (object !== undefined && saysConfigured(object));
    if (!mayBeConfigured || look.kind === "maintenance") return false;
    return !isPreserved(seen, machine) && !isAbandoned(seen, machine, undefined) && isGoing(seen, machine);
  })?.declared.name;
}

/**
 * A machine that may be configured though there is no record: keys that this process made were sent to nobody before it is written. Keys that were found may be
 * those of a record that was lost.
 */
function mayHoldFoundKeys(seen: Observed, { declared, look }: SeenMachine): boolean {
  const object = seen.machineObjects.find(({ metadata }) => metadata.name === declared.name);
  if (look.kind === "running" || signOfEarlierLife(seen) !== undefined || (object !== undefined && saysConfigured(object))) return true;
  if (seen.sent.get("CreateBundle")?.outcome === "answered" || wasNeverRecorded(seen) || look.kind === "maintenance") return false;
  return comesBackUntil(seen, { declared, look }) !== undefined;
}
