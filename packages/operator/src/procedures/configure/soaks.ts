import type { ScheduledTimer, Timers } from "@talos-operator/ports";
import type { MachineName } from "../../model/machine.ts";

/**
 * How long machines have had what was sent to them, counted by timers: a clock that is set forward makes a machine that was looked at for a moment look like
 * one that was looked at for long.
 */
export class Soaks {
  readonly #timers: Timers;
  readonly #ms: number;
  /** `undefined` = it has had it for long enough. */
  readonly #soaking = new Map<MachineName, ScheduledTimer | undefined>();

  /** @param ms that a machine is to be looked at */
  constructor(timers: Timers, ms: number) {
    this.#timers = timers;
    this.#ms = ms;
  }

  /** Something was sent to the machine: it is looked at from now on. */
  begin(machine: MachineName): void {
    this.#soaking.get(machine)?.cancel();
    const timer = this.#timers.schedule(this.#ms, () => this.#soaking.set(machine, undefined));
    this.#soaking.set(machine, timer);
  }

  /**
   * Those of these machines that are to be looked at for longer; the others are forgotten. One of which nothing is known was sent something by another process:
   * it is looked at from now on.
   */
  of(machines: readonly MachineName[]): ReadonlySet<MachineName> {
    for (const [machine, timer] of this.#soaking) {
      if (machines.includes(machine)) continue;
      timer?.cancel();
      this.#soaking.delete(machine);
    }
    for (const machine of machines) if (!this.#soaking.has(machine)) this.begin(machine);
    return new Set(machines.filter((machine) => this.#soaking.get(machine) !== undefined));
  }

  close(): void {
    this.of([]);
  }
}
