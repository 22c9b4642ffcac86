import type { ClusterRecord } from "@talos-operator/api";
import type { Clock, RandomSource, TalosDialer, Timers } from "@talos-operator/ports";
import { MachineConnections } from "../../looking/connections.ts";
import type { ReaderCredentials } from "../../looking/connections.ts";
import { lookAt } from "../../looking/look-at.ts";
import type { LookGate } from "../../looking/look-gate.ts";
import type { Look } from "../../looking/look.ts";
import { Watcher } from "../../looking/watcher.ts";
import type { Pace } from "../../looking/watcher.ts";
import type { StoredAccess } from "../../secrets/access-store.ts";
import type { MachineName, MachineRole, Seen, SeenAccess, SeenBundle, SentEffect } from "./model.ts";

/** A machine that is to be looked at. */
export interface LookTarget {
  readonly name: MachineName;
  readonly address: string;
  readonly role: MachineRole;
  readonly mayBeConfigured: boolean;
}

/** A value with the time at which it was read. */
export interface Remembered<T> {
  readonly at: number;
  readonly value: T;
}

/** What a session needs from the process. */
export interface SessionPorts {
  readonly dialer: TalosDialer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  /** Shared by all clusters. */
  readonly gate: LookGate;
}

interface Watched {
  readonly target: LookTarget;
  readonly connections: MachineConnections;
  readonly watcher: Watcher;
}

/**
 * What this process keeps in memory about one cluster while it leads: open channels, the newest looks, and copies of what it last read.
 *
 * All of it can be lost at any moment: a new process starts with an empty session and comes to the same decisions.
 */
export class ClusterSession {
  readonly #ports: SessionPorts;
  readonly #onLook: (name: MachineName, look: Look) => void;
  readonly #watched = new Map<MachineName, Watched>();
  readonly #sent = new Map<string, SentEffect>();
  #credentials: ReaderCredentials | undefined;
  #serviceAccount: { readonly key: string | undefined; readonly isBeingMade: boolean } = { key: undefined, isBeingMade: false };
  #pace: Pace = "eager";
  #isClosed = false;

  /** The record as last read or written; `undefined` = read it. */
  record: Remembered<ClusterRecord | "absent"> | undefined;
  bundle: Remembered<Seen<SeenBundle>> | undefined;
  kubeconfig: Remembered<Seen<SeenAccess>> | undefined;
  talosconfig: Remembered<Seen<SeenAccess>> | undefined;
  /** When the reader credentials should be replaced, and the bundle they were made from. */
  credentialsFor: { readonly fingerprint: string; readonly renewAt: number } | undefined;
  /** Boot id of the machine that was asked to found etcd, read on the connection of the call. */
  bootIdAtBootstrap: string | undefined;

  /** When this session began, milliseconds since the epoch. */
  readonly since: number;

  constructor(ports: SessionPorts, onLook: (name: MachineName, look: Look) => void) {
    this.#ports = ports;
    this.since = ports.clock.now();
    this.#onLook = onLook;
  }

  /** Watches exactly these machines. A machine whose address or state of configuration changed is asked anew at once. */
  watch(targets: readonly LookTarget[]): void {
    if (this.#isClosed) return;
    const names = new Set(targets.map((target) => target.name));
    for (const [name, watched] of this.#watched) {
      if (names.has(name)) continue;
      this.#end(watched);
      this.#watched.delete(name);
    }
    for (const target of targets) {
      const before = this.#watched.get(target.name);
      if (before !== undefined && before.target.address === target.address && before.target.role === target.role) {
        if (before.target.mayBeConfigured !== target.mayBeConfigured) {
          this.#watched.set(target.name, { ...before, target });
          before.watcher.nudge();
        }
        continue;
      }
      if (before !== undefined) this.#end(before);
      this.#watched.set(target.name, this.#begin(target));
    }
  }

  look(name: MachineName): Look {
    return this.#watched.get(name)?.watcher.last() ?? { kind: "not-asked" };
  }

  setPace(pace: Pace): void {
    this.#pace = pace;
    for (const { watcher } of this.#watched.values()) watcher.setPace(pace);
  }

  /** Look at this machine now. */
  nudge(name: MachineName): void {
    this.#watched.get(name)?.watcher.nudge();
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

  /**
   * The key of a new cluster's service account, `undefined` while it is being made: that takes a second, in a burst of new clusters minutes,
   * and no pass waits for it. `wake` is called when it is there, or when it failed and should be begun anew.
   */
  serviceAccountKey(make: () => Promise<string>, wake: () => void): string | undefined {
    const { key } = this.#serviceAccount;
    if (key !== undefined || this.#serviceAccount.isBeingMade) return key;
    this.#serviceAccount = { key: undefined, isBeingMade: true };
    void this.#makeServiceAccountKey(make, wake);
    return undefined;
  }

  isMakingKey(): boolean {
    return this.#serviceAccount.isBeingMade;
  }

  forgetServiceAccountKey(): void {
    this.#serviceAccount = { key: undefined, isBeingMade: false };
  }

  sent(): ReadonlyMap<string, SentEffect> {
    return this.#sent;
  }

  noteSent(effect: string, outcome: SentEffect["outcome"], detail: string): void {
    this.#sent.set(effect, { at: this.#ports.clock.now(), outcome, detail });
  }

  forgetSent(effect: string): void {
    this.#sent.delete(effect);
  }

  close(): void {
    this.#isClosed = true;
    for (const watched of this.#watched.values()) this.#end(watched);
    this.#watched.clear();
    this.#credentials = undefined;
    this.#serviceAccount = { key: undefined, isBeingMade: false };
  }

  async #makeServiceAccountKey(make: () => Promise<string>, wake: () => void): Promise<void> {
    let key: string | undefined;
    try {
      key = await make();
    } catch {
      // The next pass begins anew.
    }
    this.#serviceAccount = { key: this.#isClosed ? undefined : key, isBeingMade: false };
    wake();
  }

  #end({ watcher, connections }: Watched): void {
    watcher.close();
    connections.close();
    this.#ports.gate.release();
  }

  #begin(target: LookTarget): Watched {
    const connections = new MachineConnections(this.#ports.dialer, target.address);
    const watcher = new Watcher({
      timers: this.#ports.timers,
      random: this.#ports.random,
      onChange: (look) => this.#onLook(target.name, look),
      now: () => this.#ports.clock.now(),
      look: () =>
        this.#ports.gate.pass(async () => {
          const own = this.#watched.get(target.name);
          // While it waited for its turn the machine may have been let go: nobody would close what is opened now.
          if (own?.connections !== connections) return { kind: "not-asked" };
          const look = await lookAt({
            connections,
            role: target.role,
            credentials: this.#credentials,
            mayBeConfigured: own.target.mayBeConfigured,
            now: () => this.#ports.clock.now(),
          });
          if (this.#pace === "settled" && this.#ports.gate.isCrowded()) connections.close();
          return look;
        }),
    });
    this.#ports.gate.admit();
    // Not before the map holds it: the first look asks there.
    void Promise.resolve().then(() => watcher.nudge());
    return { target, connections, watcher };
  }
}

/** An access Secret as the rules see it. */
export function seenAccess(stored: StoredAccess | undefined): Seen<SeenAccess> {
  return stored === undefined ? { kind: "absent" } : { kind: "present", value: stored };
}
