import type { ScheduledTimer, Timers } from "@talos-operator/ports";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";
import { ARRIVES_MS } from "./times.ts";

interface Counted {
  readonly timer: ScheduledTimer;
  isOver: boolean;
}

/**
 * Whose step of an upgrade has had its time, counted by timers: a clock that is set forward by hours makes a machine that boots look like one that never came back,
 * and its Talos like one that does not work.
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
  overdue({ machines, now }: Pick<Observed, "machines" | "now">, intents: readonly UpgradeIntent[]): ReadonlySet<MachineName> {
    const unseen = new Set(
      machines.flatMap(({ declared, look }) => (look.kind === "foreign" && look.isByTime === true ? [declared.name] : [])),
    );
    const open = new Map(intents.flatMap((intent) => (unseen.has(intent.machine) ? [] : [[keyOf(intent), intent] as const])));
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
    this.overdue({ machines: [], now: 0 }, []);
  }

  #count(key: string, { at, deadline }: UpgradeIntent, now: number): Counted {
    const known = this.#counted.get(key);
    if (known !== undefined) return known;
    const wholeMs = Math.max(0, deadline - at);
    const leftMs = Math.min(wholeMs, Math.max(deadline - now, ARRIVES_MS));
    const counted: Counted = { isOver: false, timer: this.#timers.schedule(leftMs, () => void (counted.isOver = true)) };
    this.#counted.set(key, counted);
    return counted;
  }
}

/** True when a step has had its time. Who counts nothing, as a forecast, takes the clock. */
export function isOver({ overdue, now }: Pick<Observed, "overdue" | "now">, { machine, deadline }: UpgradeIntent): boolean {
  return overdue?.has(machine) ?? now > deadline;
}

/** Whatever clock the times of the step are read by. */
function keyOf({ what, machine, at, deadline, recorded }: UpgradeIntent): string {
  return JSON.stringify([what, machine, recorded?.at ?? at, recorded?.deadline ?? deadline]);
}
