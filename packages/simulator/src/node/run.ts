import { hasEtcdAddress, isControlPlane } from "./identity.ts";
import type { MachineOutput } from "./inputs.ts";
import type { EventPayload, Machine, Service, Stage, TimerName } from "./machine.ts";
import { faultOf } from "./releases.ts";
import type { ReleaseFault, ReleaseFaults } from "./releases.ts";
import { stages } from "./stages.ts";
import type { Condition, Moment } from "./stages.ts";
import type { Timings } from "./timings.ts";

/** What a step may know besides the machine and its input. */
export interface StepContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timings: Timings;
  /** What is wrong with releases of Talos; absent = nothing. */
  readonly releases?: ReleaseFaults;
}

const noFaults: ReleaseFaults = new Map();

const keptServiceEvents = 64;
const keptEvents = 200;

/** The machine under one step: small changes, collected; lives no longer than the step. */
export class Run {
  machine: Machine;
  readonly outputs: MachineOutput[] = [];
  readonly now: number;
  readonly timings: Timings;
  readonly #releases: ReleaseFaults;

  constructor(machine: Machine, context: StepContext) {
    this.machine = machine;
    this.#releases = context.releases ?? noFaults;
    this.now = context.now;
    this.timings = context.timings;
  }

  /** What is wrong with a release on this machine. */
  faultOf(version: string, schematic: string | undefined): ReleaseFault | undefined {
    return this.#releases.size === 0 ? undefined : faultOf(this.#releases, { version, schematic }, this.machine.hardware.address);
  }

  set(change: Partial<Machine>): void {
    this.machine = { ...this.machine, ...change };
  }

  output(kind: Exclude<MachineOutput["kind"], "issue-identity">): void;
  output(kind: "issue-identity", which: "maintenance" | "configured"): void;
  output(kind: MachineOutput["kind"], which: "maintenance" | "configured" = "maintenance"): void {
    this.outputs.push(kind === "issue-identity" ? { kind, which } : { kind });
  }

  stage(stage: Stage): void {
    this.set({ stage });
  }

  /** Schedules once; a timer of that name that is pending already is replaced. */
  after(name: TimerName, delayMs: number): void {
    this.cancel(name);
    this.set({ timers: [...this.machine.timers, { name, at: this.now + delayMs }] });
  }

  cancel(name: TimerName): void {
    if (this.has(name)) this.set({ timers: this.machine.timers.filter((timer) => timer.name !== name) });
  }

  has(name: TimerName): boolean {
    return this.machine.timers.some((timer) => timer.name === name);
  }

  /** Open connections break; what listens stays. */
  dropConnections(): void {
    this.set({ api: { ...this.machine.api, epoch: this.machine.api.epoch + 1 } });
  }

  /** Nothing listens any more. */
  closeApi(): void {
    this.set({ api: { kind: "down", epoch: this.machine.api.epoch + 1 } });
  }

  event(payload: EventPayload, actorId = ""): void {
    const { machine } = this;
    const event = { number: machine.eventCount + 1, at: this.now, actorId, payload };
    this.set({ eventCount: event.number, events: [...machine.events, event].slice(-keptEvents) });
  }

  service(id: string, state: Service["state"], message: string, isHealthy?: boolean): void {
    const old = this.machine.services[id];
    const entry = { state, message, at: this.now };
    const wasRunning = old?.state === "Running";
    const next: Service = {
      state,
      isHealthy: state === "Running" && wasRunning ? old.isHealthy : undefined,
      healthMessage: state === "Running" && wasRunning ? old.healthMessage : "",
      healthChanged: old?.healthChanged ?? 0,
      events: [...(old?.events ?? [{ state: "Starting" as const, message: "Starting service", at: this.now }]), entry].slice(
        -keptServiceEvents,
      ),
    };
    this.set({ services: { ...this.machine.services, [id]: next } });
    this.event({ kind: "service", service: id, message, state, isHealthy: next.isHealthy });
    if (isHealthy !== undefined) this.health(id, isHealthy, "");
  }

  health(id: string, isHealthy: boolean, message: string): void {
    const old = this.machine.services[id];
    if (old === undefined) return;
    const text = isHealthy ? "Health check successful" : `Health check failed: ${message}`;
    const next: Service = {
      ...old,
      isHealthy,
      healthMessage: isHealthy ? "" : message,
      healthChanged: this.now,
      events: [...old.events, { state: old.state, message: text, at: this.now }].slice(-keptServiceEvents),
    };
    this.set({ services: { ...this.machine.services, [id]: next } });
    this.event({ kind: "service", service: id, message: text, state: old.state, isHealthy });
  }

  /** Does what the table says for this moment. */
  play(moment: Moment): void {
    const rule = stages[moment];
    if (rule.stage !== undefined) this.stage(rule.stage);
    if (rule.sequence !== undefined) this.event({ kind: "sequence", sequence: rule.sequence.name, action: rule.sequence.action });
    for (const service of rule.services ?? []) {
      if (this.holds(service.when)) this.service(service.id, service.state, service.message, service.isHealthy);
    }
    for (const next of rule.next ?? []) {
      if (this.holds(next.when)) this.after(next.timer, this.timings[next.after]);
    }
  }

  holds(condition: Condition | undefined): boolean {
    switch (condition) {
      case undefined:
        return true;
      case "metal":
        return this.machine.hardware.platform === "metal";
      case "control-plane":
        return isControlPlane(this.machine);
      case "etcd-possible":
        return isControlPlane(this.machine) && hasEtcdAddress(this.machine);
      case "etcd-impossible":
        return isControlPlane(this.machine) && !hasEtcdAddress(this.machine);
    }
  }
}
