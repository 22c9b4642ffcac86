import { parseHost } from "@talos-operator/api";
import type { Clock, RandomSource, TalosDialer, Timers } from "@talos-operator/ports";
import { createTalosSession } from "@talos-operator/talos/client";
import type { TalosSession } from "@talos-operator/talos/client";
import { MachineConnections } from "./connections.ts";
import type { ReaderCredentials } from "./connections.ts";
import { isSameMembership } from "./look.ts";
import { lookAt, lookThrough } from "./look-at.ts";
import type { LookQuestion } from "./look-at.ts";
import type { LookGate } from "./look-gate.ts";
import { NodeNames } from "./node-names.ts";
import { Pulse } from "./pulse.ts";
import { Watcher } from "./watcher.ts";
import type { Look } from "../model/look.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";

/** A machine that is to be probed. */
export interface LookTarget {
  readonly name: MachineName;
  readonly address: string;
  readonly role: MachineRole;
  readonly mayBeConfigured: boolean;
  /** It matters whether discovery is on. Default: it does not. */
  readonly needsDiscovery?: boolean;
  /** It matters which addresses it has beside its own. Default: it does not. */
  readonly needsAddresses?: boolean;
}

interface Watched {
  readonly target: LookTarget;
  readonly connections: MachineConnections;
  readonly watcher: Watcher;
  readonly pulse: Pulse;
}

/** What a watch of machines needs from the process. */
export interface MachineWatchPorts {
  readonly dialer: TalosDialer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  /** Shared by all clusters. */
  readonly gate: LookGate;
}

/** The machines of one cluster that are probed: how each was last seen, how often it is probed, and over which connection. */
export class MachineWatch {
  readonly #ports: MachineWatchPorts;
  readonly #onLook: (name: MachineName, look: Look) => void;
  readonly #watched = new Map<MachineName, Watched>();
  readonly #nodeNames = new NodeNames();
  /** Whom {@link putOff} left for later. */
  #putOff: readonly LookTarget[] | undefined;
  /** The one connection over which a settled cluster is probed. */
  #shared: TalosSession | undefined;
  #credentials: ReaderCredentials | undefined;
  #pace: "eager" | "settled" = "eager";
  #isClosed = false;

  constructor(ports: MachineWatchPorts, onLook: (name: MachineName, look: Look) => void) {
    this.#ports = ports;
    this.#onLook = onLook;
  }

  /** Watches exactly these machines. A machine whose address or state of configuration changed is asked anew at once. */
  watch(targets: readonly LookTarget[]): void {
    this.#putOff = undefined;
    if (this.#isClosed) return;
    const names = new Set(targets.map((target) => target.name));
    for (const [name, watched] of this.#watched) {
      if (names.has(name)) continue;
      this.#end(watched);
      this.#watched.delete(name);
      this.#sayAgain(this.#nodeNames.forget(name));
    }
    for (const target of targets) {
      const before = this.#watched.get(target.name);
      if (before !== undefined && before.target.address === target.address && before.target.role === target.role) {
        if (before.target.needsDiscovery !== target.needsDiscovery || before.target.needsAddresses !== target.needsAddresses)
          this.#watched.set(target.name, { ...before, target });
        if (before.target.mayBeConfigured !== target.mayBeConfigured) {
          this.#watched.set(target.name, { ...before, target });
          // Of one that waits it is only written down that it may be configured: whoever sends that has it looked at afterwards.
          if (before.watcher.last().kind !== "maintenance") before.watcher.nudge();
        }
        continue;
      }
      if (before !== undefined) this.#end(before);
      this.#watched.set(target.name, this.#begin(target));
    }
  }

  /** The same for machines that need not be probed before {@link watchPutOff}, unless some of them are watched already. */
  putOff(targets: readonly LookTarget[]): void {
    if (this.#watched.size > 0) this.watch(targets);
    else this.#putOff = targets;
  }

  /** Looks at whom {@link putOff} left for later. */
  watchPutOff(): void {
    if (this.#putOff !== undefined) this.watch(this.#putOff);
  }

  /** Some of the machines have not been probed yet, neither with nor without an answer. */
  isMeetingMachines(): boolean {
    return [...this.#watched.values()].some(({ watcher }) => watcher.last().kind === "not-asked");
  }

  look(name: MachineName): Look {
    const look = this.#watched.get(name)?.watcher.last();
    return look === undefined ? { kind: "not-asked" } : this.#nodeNames.with(name, look);
  }

  pace(): "eager" | "settled" {
    return this.#pace;
  }

  /** @param expected machines of which something is expected by themselves: the others are looked at as they are beside them */
  setPace(pace: "eager" | "settled", expected: ReadonlySet<MachineName>): void {
    const isNew = pace !== this.#pace;
    this.#pace = pace;
    if (pace === "eager") {
      this.#shared?.close();
      this.#shared = undefined;
    }
    for (const [name, { watcher, pulse }] of this.#watched) {
      watcher.setPace(pace === "settled" || expected.has(name) ? pace : "beside");
      // The others are looked at often enough.
      if (pace === "settled") pulse.begin();
      else pulse.stop();
    }
    if (isNew && pace === "settled") this.#hangUp();
  }

  /** From now on the machines are looked at through one of them, and their next look may be a minute away. */
  #hangUp(): void {
    for (const { watcher, connections } of this.#watched.values()) if (!watcher.isLooking()) connections.close();
  }

  /** Look at this machine now. */
  nudge(name: MachineName): void {
    this.#watched.get(name)?.watcher.nudge();
  }

  /** A configuration may have been sent to this machine: look at it now, with our certificate. */
  lookForConfigured(name: MachineName): void {
    const watched = this.#watched.get(name);
    if (watched === undefined) return;
    this.#watched.set(name, { ...watched, target: { ...watched.target, mayBeConfigured: true } });
    watched.watcher.nudge();
  }

  credentials(): ReaderCredentials | undefined {
    return this.#credentials;
  }

  setCredentials(credentials: ReaderCredentials | undefined): void {
    this.#credentials = credentials;
    for (const { watcher, target } of this.#watched.values()) if (target.mayBeConfigured) watcher.nudge();
  }

  /** Channels to one machine, for a live question before an effect. */
  connections(name: MachineName): MachineConnections | undefined {
    return this.#watched.get(name)?.connections;
  }

  /** By name, so that every look takes the same one. */
  runningControlPlanes(): readonly { readonly address: string }[] {
    const running = [...this.#watched.values()].filter(({ target, watcher }) => {
      const look = watcher.last();
      return target.role === "controlplane" && look.kind === "running" && look.stage === "running";
    });
    return running.map(({ target }) => target).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  close(): void {
    this.#isClosed = true;
    for (const watched of this.#watched.values()) this.#end(watched);
    this.#watched.clear();
    this.#shared?.close();
    this.#shared = undefined;
    this.#credentials = undefined;
  }

  #end({ watcher, pulse, connections }: Watched): void {
    watcher.close();
    pulse.stop();
    connections.close();
    this.#ports.gate.release();
  }

  /**
   * A settled cluster is looked at over one connection, through a control plane of its own that runs; `undefined` where that does not show the machine as it
   * should be, or was not tried. While something is expected of the cluster each machine is dialled.
   */
  async #lookThroughOthers({ target, watcher }: Watched, question: LookQuestion): Promise<Look | undefined> {
    const credentials = this.#credentials;
    // A control plane would look the name up by itself, where nobody checks what it finds.
    if (isName(target.address)) return undefined;
    if (this.#pace !== "settled" || credentials === undefined || !target.mayBeConfigured || watcher.last().kind !== "running")
      return undefined;
    // Another machine could only wait for it, too.
    if (watcher.isDoubted()) return undefined;
    const endpoints = this.runningControlPlanes();
    this.#shared ??= createTalosSession({ ...this.#ports, endpoints, credentials });
    this.#shared.setEndpoints(endpoints);
    this.#shared.setCredentials(credentials);
    return lookThrough(this.#shared.look(target.address), { ...question, signal: watcher.untilDoubted() });
  }

  /** Nothing new was seen of these machines, and something else is to be said of them. */
  #sayAgain(machines: readonly MachineName[]): void {
    for (const name of machines) if (this.#watched.has(name)) this.#onLook(name, this.look(name));
  }

  /** etcd changed: the other control planes may show it already. */
  #glanceAtOthers(name: MachineName): void {
    for (const { target, watcher } of this.#watched.values()) if (target.role === "controlplane" && target.name !== name) watcher.glance();
  }

  #begin(target: LookTarget): Watched {
    const connections = new MachineConnections(this.#ports.dialer, target.address);
    const watcher = new Watcher({
      timers: this.#ports.timers,
      random: this.#ports.random,
      onChange: (look, before) => {
        if (target.role === "controlplane" && !isSameMembership(before, look)) this.#glanceAtOthers(target.name);
        const others = this.#nodeNames.saw(target.name, look);
        this.#onLook(target.name, this.look(target.name));
        this.#sayAgain(others);
      },
      now: () => this.#ports.clock.now(),
      isCrowded: () => this.#ports.gate.isCrowded(),
      look: () =>
        this.#ports.gate.pass(async () => {
          const own = this.#watched.get(target.name);
          // While it waited for its turn the machine may have been released: nobody would close what is opened now.
          if (own?.connections !== connections) return { kind: "not-asked" };
          const question = {
            connections,
            role: target.role,
            credentials: this.#credentials,
            mayBeConfigured: own.target.mayBeConfigured,
            needsDiscovery: own.target.needsDiscovery === true,
            needsAddresses: own.target.needsAddresses === true,
            now: () => this.#ports.clock.now(),
          };
          const forwarded = await this.#lookThroughOthers(own, question);
          if (forwarded !== undefined) {
            // Dialled again when it does not show what it should.
            connections.close();
            return forwarded;
          }
          const look = await lookAt(question);
          if (this.#pace === "settled" && this.#ports.gate.isCrowded()) connections.close();
          return look;
        }, watcher.last().kind === "silent"),
    });
    this.#ports.gate.admit();
    // Not before the map holds it: the first look asks there.
    void Promise.resolve().then(() => watcher.nudge());
    const pulse = new Pulse({
      timers: this.#ports.timers,
      random: this.#ports.random,
      clock: this.#ports.clock,
      hold: (options) => this.#ports.dialer.hold({ address: target.address }, options),
      reaches: (timeoutMs) => this.#ports.dialer.reaches({ address: target.address }, timeoutMs),
      onLost: () => watcher.doubt(),
      onBack: () => watcher.nudge(),
    });
    return { target, connections, watcher, pulse };
  }
}

function isName(address: string): boolean {
  const host = parseHost(address);
  return "kind" in host && host.kind === "name";
}
