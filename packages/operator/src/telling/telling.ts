import { eventCatalogue } from "@talos-operator/api";
import type { EventReason } from "@talos-operator/api";
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
   * @param says the sentence about these machines
   */
  gather(regarding: KubeObject, reason: EventReason, machine: string, says: (machines: string) => string): void;
  /** Tells what was gathered, waits for what is under way, and tells nothing any more. */
  close(): Promise<void>;
}

interface Gathered {
  readonly machines: Set<string>;
  readonly timer: ScheduledTimer;
  tell(): void;
}

export function createTelling(events: EventRecorder, timers: Timers): Telling {
  const gathered = new Map<string, Gathered>();

  const tell: Telling["tell"] = (regarding, reason, action, note) =>
    events.record(regarding, { type: eventCatalogue[reason].type, reason, action, note });

  const tellGathered = (key: string): void => {
    const found = gathered.get(key);
    gathered.delete(key);
    found?.timer.cancel();
    found?.tell();
  };

  return {
    tell,
    gather(regarding, reason, machine, says) {
      const key = `${regarding.metadata?.uid ?? ""}/${regarding.metadata?.name ?? ""}/${reason}`;
      const known = gathered.get(key);
      if (known !== undefined) return void known.machines.add(machine);
      const machines = new Set([machine]);
      const timer = timers.schedule(GATHER_MS, () => tellGathered(key));
      gathered.set(key, { machines, timer, tell: () => tell(regarding, reason, reason, says(named([...machines]))) });
    },
    close() {
      for (const key of gathered.keys()) tellGathered(key);
      return events.close();
    },
  };
}

function named(machines: readonly string[]): string {
  const more = machines.length > MOST_NAMED ? ` and ${machines.length - MOST_NAMED} more` : "";
  return `${machines.toSorted().slice(0, MOST_NAMED).join(", ")}${more}`;
}
