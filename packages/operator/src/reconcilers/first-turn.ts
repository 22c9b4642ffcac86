import { findCondition } from "@talos-operator/api";
import type { Condition, TalosControlPlane, TalosWorker } from "@talos-operator/api";

/** How much later each settled cluster has its first turn in a new process than the one before, in milliseconds, and the longest that one waits. */
const APART_MS = 50;
const LONGEST_MS = 60_000;

/**
 * How long a cluster may wait for its first turn after a takeover, in milliseconds; 0 = not at all.
 *
 * The first turn of a cluster dials every machine of it. A new leader of many clusters would do that for all of them at once, and whatever was asked of it
 * meanwhile would wait. So clusters that were settled come spread, and those that want something come first; an event ends the wait.
 *
 * @param clusters how many there are
 * @param fraction by chance, 0 to 1
 */
export function firstTurnMs(controlPlane: TalosControlPlane, workers: readonly TalosWorker[], clusters: number, fraction: number): number {
  return wasSettled(controlPlane, workers) ? Math.round(Math.min(clusters * APART_MS, LONGEST_MS) * fraction) : 0;
}

/** True when the status says so, about what the specs ask for now. Annotations may be requests, and words about pauses: they are answered at once. */
function wasSettled({ metadata, status }: TalosControlPlane, workers: readonly TalosWorker[]): boolean {
  if (Object.keys(metadata.annotations ?? {}).some((name) => /^talos-operator\.dev\/|\.alperen\.cloud\//.test(name))) return false;
  const said = (type: string): Condition | undefined => {
    const condition = findCondition(status?.conditions, type);
    return condition?.observedGeneration === metadata.generation ? condition : undefined;
  };
  return (
    metadata.deletionTimestamp === undefined &&
    said("Ready")?.status === "True" &&
    said("Progressing")?.reason === "Settled" &&
    said("ConfigUpToDate")?.status === "True" &&
    workers.every(isReadyPool)
  );
}

function isReadyPool({ metadata, status }: TalosWorker): boolean {
  const ready = findCondition(status?.conditions, "Ready");
  return metadata.deletionTimestamp === undefined && ready?.status === "True" && ready.observedGeneration === metadata.generation;
}
