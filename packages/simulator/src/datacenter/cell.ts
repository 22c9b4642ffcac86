import type { Clock, ScheduledTimer, Timers } from "@talos-operator/ports";
import { nextDue, step } from "../node/step.ts";
import type { MachineInput, MachineOutput } from "../node/inputs.ts";
import type { DefragmentTime, EtcdAlarm, Machine } from "../node/machine.ts";
import type { ReleaseFault } from "../node/releases.ts";
import type { Timings } from "../node/timings.ts";
import type { DatacenterChange, SimulatedMachine } from "./types.ts";

/** What a machine has around it. */
interface CellSurroundings {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly timings: Timings;
  readonly releases: ReadonlyMap<string, ReleaseFault>;
  readonly isClosed: boolean;
  readonly databases: { fallBehind(cell: Cell): void };
  readonly spaces: { setAlarm(cell: Cell, alarm: EtcdAlarm | undefined): void; corrupt(cell: Cell, data?: string): void };
  save(change: DatacenterChange): Promise<void> | undefined;
  machineChanged(cell: Cell): void;
  /** Does what the machine wants. */
  perform(cell: Cell, output: MachineOutput): void;
}

/**
 * Holds the current value of one machine, plays its timers and passes on what it wants.
 * Its value changes only in `dispatch`.
 */
export class Cell implements SimulatedMachine {
  readonly #world: CellSurroundings;
  #machine: Machine;
  #timer: ScheduledTimer | undefined;
  #timerAt: number | undefined;
  #holds = 0;
  #saved: Promise<void> = Promise.resolve();
  #isSaving = false;
  readonly #dropListeners = new Set<() => void>();
  readonly #changeListeners = new Set<() => void>();

  constructor(world: CellSurroundings, machine: Machine) {
    this.#world = world;
    this.#machine = machine;
  }

  get state(): Machine {
    return this.#machine;
  }

  get address(): string {
    return this.#machine.hardware.address;
  }

  get name(): string {
    return this.#machine.hardware.name;
  }

  powerOff(): void {
    this.dispatch({ kind: "power-off" });
  }

  powerOn(): void {
    this.dispatch({ kind: "power-on" });
  }

  powerCycle(): void {
    this.powerOff();
    this.powerOn();
  }

  setConnected(isConnected: boolean): void {
    this.dispatch({ kind: "connect", isConnected });
  }

  setCatchingUp(isCatchingUp: boolean): void {
    if (!isCatchingUp) this.#world.databases.fallBehind(this);
    this.dispatch({ kind: "etcd-behind", isBehind: !isCatchingUp });
  }

  replaceDisk(): void {
    this.dispatch({ kind: "disk-replaced" });
  }

  replaceCard(mac: string): void {
    this.dispatch({ kind: "card-replaced", mac });
  }

  installNetwork(): void {
    this.dispatch({ kind: "network-installed" });
  }

  setEtcdAlarm(alarm: EtcdAlarm | undefined): void {
    this.#world.spaces.setAlarm(this, alarm);
  }

  corruptEtcd(data?: string): void {
    this.#world.spaces.corrupt(this, data);
  }

  setDefragmentTime(takes: DefragmentTime | undefined): void {
    this.dispatch({ kind: "etcd-defragment-time", takes });
  }

  /** One step, with everything that follows from it inside this turn. */
  dispatch(input: MachineInput): void {
    if (this.#world.isClosed) return;
    const before = this.#machine;
    const result = step(before, input, {
      now: this.#world.clock.now(),
      timings: this.#world.timings,
      releases: this.#world.releases,
    });
    if (result.machine !== before) {
      this.#machine = result.machine;
      this.#save(result.machine);
      if (result.machine.api.epoch !== before.api.epoch) this.#notify(this.#dropListeners);
      this.#notify(this.#changeListeners);
      this.#world.machineChanged(this);
    }
    this.#schedule();
    for (const output of result.outputs) this.#world.perform(this, output);
  }

  /** Starts timers of a machine that was restored. */
  resume(): void {
    this.dispatch({ kind: "resume" });
  }

  /**
   * While held no timer of this machine fires: an answer that is on its way leaves before the machine goes on to, say, reboot.
   * @returns ends the hold; may be called once
   */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.#schedule();
    };
  }

  /** Resolves when every change so far is where `onChange` puts it. */
  settled(): Promise<void> | undefined {
    return this.#isSaving ? this.#saved : undefined;
  }

  /** Calls back when open connections break; returns the function that ends it. */
  onDrop(listener: () => void): () => void {
    this.#dropListeners.add(listener);
    return () => this.#dropListeners.delete(listener);
  }

  /** Calls back after every change of the value. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#notify(this.#dropListeners);
  }

  #notify(listeners: ReadonlySet<() => void>): void {
    for (const listener of listeners) listener();
  }

  #save(machine: Machine): void {
    const saving = this.#world.save({ kind: "machine", machine });
    if (saving === undefined) return;
    this.#isSaving = true;
    const saved = Promise.all([this.#saved, saving]).then(() => undefined);
    this.#saved = saved;
    const settle = (): void => {
      if (this.#saved === saved) this.#isSaving = false;
    };
    // A failed save is reported to the caller who waits for it; here it only must not count as unhandled.
    saved.then(settle, () => undefined);
  }

  #schedule(): void {
    const due = this.#holds > 0 || this.#world.isClosed ? undefined : nextDue(this.#machine);
    if (due === this.#timerAt && this.#timer !== undefined) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = due;
    if (due === undefined) return;
    this.#timer = this.#world.timers.schedule(Math.max(0, due - this.#world.clock.now()), () => {
      this.#timer = undefined;
      this.#timerAt = undefined;
      if (this.#holds === 0) this.dispatch({ kind: "timers" });
    });
  }
}
