import type { ScheduledTimer, Timers } from "@talos-operator/ports";
import { isUpgrade } from "../record/upgrades.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, IntentFact } from "../model/record.ts";

/** Who comes when a step seems to be over gives it so long to be seen. Milliseconds. */
const SEEN_MS = 60_000;

interface Counted {
  readonly timer: ScheduledTimer;
  isOver: boolean;
}

/** Open steps whose time is counted: those of upgrades, and boots for settings. */
function timedIntents({ intents }: Pick<ClusterFacts, "intents">): readonly IntentFact[] {
  return intents.filter((intent) => intent.what === "Reboot" || isUpgrade(intent));
}

/**
 * Whose boot, or step of an upgrade, has had its time, counted by timers: a clock that is set forward by hours makes a machine that boots look like one that never came back,
 * and its Talos, or its settings, like those that do not work.
 *
 * The clock is asked once, when this process first sees the step: how much of its time is left. Who comes when it seems to be over gives it a minute to be seen.
 */
export class StepTimes {
  readonly #timers: Timers;
  readonly #counted = new Map<string, Counted>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Machines whose open step is over; what is counted of others is forgotten. Of one that cannot be seen for the dates of certificates nothing is counted. */
  overdue({ machines, now }: Pick<Observed, "machines" | "now">, facts: Pick<ClusterFacts, "intents">): ReadonlySet<MachineName> {
    const unseen = new Set(
      machines.flatMap(({ declared, look }) => (look.kind === "foreign" && look.isByTime === true ? [declared.name] : [])),
    );
    const open = new Map(timedIntents(facts).flatMap((intent) => (unseen.has(intent.machine) ? [] : [[keyOf(intent), intent] as const])));
    for (const [key, { timer }] of this.#counted) {
      if (open.has(key)) continue;
      timer.cancel();
      this.#counted.delete(key);
    }
    const over = new Set<MachineName>();
    for (const [key, intent] of open) if (this.#count(key, intent, now).isOver) over.add(intent.machine);
    return over;
  }

  close(): void {
    this.overdue({ machines: [], now: 0 }, { intents: [] });
  }

  #count(key: string, { at, deadline }: IntentFact, now: number): Counted {
    const known = this.#counted.get(key);
    if (known !== undefined) return known;
    const wholeMs = Math.max(0, deadline - at);
    const leftMs = Math.min(wholeMs, Math.max(deadline - now, SEEN_MS));
    const counted: Counted = { isOver: false, timer: this.#timers.schedule(leftMs, () => void (counted.isOver = true)) };
    this.#counted.set(key, counted);
    return counted;
  }
}

/** True when what was begun has had its time: where that is counted by timers, and else by the clock. Who counts nothing, as a forecast, takes the clock. */
export function isOver({ overdue, now }: Pick<Observed, "overdue" | "now">, intent: IntentFact): boolean {
  const isTimed = overdue !== undefined && timedIntents({ intents: [intent] }).length > 0;
  return isTimed ? overdue.has(intent.machine) : now > intent.deadline;
}

/** Whatever clock the times of the step are read by. */
function keyOf({ what, machine, at, deadline, recorded }: IntentFact): string {
  return JSON.stringify([what, machine, recorded?.at ?? at, recorded?.deadline ?? deadline]);
}
