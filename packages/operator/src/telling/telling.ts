import { eventCatalogue } from "@talos-operator/api";
import type { EventReason, MachineEventReason } from "@talos-operator/api";
import type { EventRecorder, KubeObject } from "@talos-operator/kube-runtime";
import type { ScheduledTimer, Timers } from "@talos-operator/ports";

/** Machines that do the same within this time share an event on the objects that they belong to. */
const GATHER_MS = 5_000;

/** More machines than this are counted instead of named. */
const MOST_NAMED = 20;

/** Tells people in events what happened, in the reasons of the catalogue. Best effort: nothing waits for it, and nothing fails with it. */
export interface Telling {
  tell(regarding: KubeObject, reason: EventReason, action: string, note: string): void;
  /**
   * Tells what a machine did on an object that it belongs to, together with others that do the same within five seconds.
   *
   * @param talos the version of Talos that it is about
   */
  gather(regarding: KubeObject, reason: MachineEventReason, machine: string, talos?: string): void;
  /** Tells what was gathered, waits for what is under way, and tells nothing any more. */
  close(): Promise<void>;
}

interface Gathered {
  readonly regarding: KubeObject;
  readonly reason: MachineEventReason;
  readonly talos: string | undefined;
  readonly machines: Set<string>;
  readonly timer: ScheduledTimer;
}

export function createTelling(events: EventRecorder, timers: Timers): Telling {
  const gathered = new Map<string, Gathered>();

  const tell: Telling["tell"] = (regarding, reason, action, note) =>
    events.record(regarding, { type: eventCatalogue[reason].type, reason, action, note });

  const tellGathered = (key: string): void => {
    const found = gathered.get(key);
    gathered.delete(key);
    found?.timer.cancel();
    if (found !== undefined) tell(found.regarding, found.reason, found.reason, wordsFor(found.reason, [...found.machines], found.talos));
  };

  return {
    tell,
    gather(regarding, reason, machine, talos) {
      const key = `${regarding.metadata?.uid ?? ""}/${regarding.metadata?.name ?? ""}/${reason}/${talos ?? ""}`;
      const known = gathered.get(key);
      if (known !== undefined) return void known.machines.add(machine);
      const timer = timers.schedule(GATHER_MS, () => tellGathered(key));
      gathered.set(key, { regarding, reason, talos, machines: new Set([machine]), timer });
    },
    close() {
      for (const key of gathered.keys()) tellGathered(key);
      return events.close();
    },
  };
}

/** `cp-1, cp-2 joined the cluster.`, or `cp-1 runs another Talos: v1.13.9.` */
export function wordsFor(reason: MachineEventReason, machines: readonly string[], talos?: string): string {
  const named = machines.toSorted().slice(0, MOST_NAMED).join(", ");
  const more = machines.length > MOST_NAMED ? ` and ${machines.length - MOST_NAMED} more` : "";
  return `${named}${more} ${eventCatalogue[reason].did}${talos === undefined ? "" : `: ${talos}`}.`;
}
