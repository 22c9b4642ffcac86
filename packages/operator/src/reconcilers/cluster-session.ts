import { parseHost } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import type { Clock, Keys, RandomSource, ScheduledTimer, TalosDialer, Timers, WorkloadDialer } from "@talos-operator/ports";
import { createTalosSession } from "@talos-operator/talos/client";
import type { SecretsBundle } from "@talos-operator/talos";
import type { TalosSession } from "@talos-operator/talos/client";
import { elapsedMs } from "../elapsed.ts";
import { MachineConnections } from "../looking/connections.ts";
import type { ReaderCredentials } from "../looking/connections.ts";
import { lookAt, lookThrough } from "../looking/look-at.ts";
import type { LookQuestion } from "../looking/look-at.ts";
import type { LookGate } from "../looking/look-gate.ts";
import { isSameMembership } from "../looking/look.ts";
import type { Turnstile } from "../looking/turnstile.ts";
import { Pulse } from "../looking/pulse.ts";
import { Watcher } from "../looking/watcher.ts";
import { ClusterWorkload } from "../workload/cluster-workload.ts";
import type { OwnPod } from "../model/workload.ts";
import { ClusterCertificates } from "../workload/kubelet-certificates/cluster-certificates.ts";
import { AdoptionReadings } from "../procedures/import/adoption.ts";
import type { HeldBundle } from "../procedures/import/adoption.ts";
import type { StoredAccess } from "../secrets/access-store.ts";
import type { StoredBundle } from "../secrets/bundle-store.ts";
import { LiveConfigs } from "../procedures/configure/live-configs.ts";
import { Soaks } from "../procedures/configure/soaks.ts";
import { Sightings } from "../procedures/strays/sightings.ts";
import { SOAK_MS } from "../procedures/configure/config-intents.ts";
import { StepTimes } from "../observe/step-times.ts";
import { BAKE_MS } from "../procedures/upgrade/times.ts";
import { Streams } from "../effects/streams.ts";
import { OwnTimes } from "../record/own-times.ts";
import type { Look } from "../model/look.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";
import { begunBy } from "../procedures/configure/config-probe.ts";
import type { IntentFact } from "../model/record.ts";
import type { KnownAtSend, MachineNotes, Observed, Seen, SeenAccess, SeenBundle, SentEffect } from "../model/observation.ts";
import type { Trouble } from "../procedures/configure/trouble.ts";

/** A machine that is to be looked at. */
export interface LookTarget {
  readonly name: MachineName;
  readonly address: string;
  readonly role: MachineRole;
  readonly mayBeConfigured: boolean;
  /** It matters whether discovery is on. Default: it does not. */
  readonly needsDiscovery?: boolean;
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
  /** Readings of configurations under way at once; shared by all clusters. */
  readonly turnstile: Turnstile;
  /** Clusters whose keys are being made; shared by all clusters. */
  readonly makingKeys: Set<object>;
  /** To the API of the cluster itself; `undefined` = its Nodes are left alone. */
  readonly workload?:
    { readonly dialer: WorkloadDialer; readonly keys: Keys; readonly pod?: OwnPod | undefined; readonly wake: () => void } | undefined;
}

const KEY_NEWS_MS = 1_000;

/** A clock that goes back by less is being corrected, and nobody waits for that. */
const SET_BACK_MS = 1_000;

/**
 * Machines turn up within moments of each other, each with a pass of its own: the keys read for the first serve the others. No longer, for nothing is sent with
 * keys that somebody took away: what an effect asks before it sends comes on top.
 */
const KEYS_IN_HAND_MS = 3_000;

interface Watched {
  readonly target: LookTarget;
  readonly connections: MachineConnections;
  readonly watcher: Watcher;
  readonly pulse: Pulse;
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
  /** Machines of a cluster without keys, which are to be looked at when its turn has come. */
  #putOff: readonly LookTarget[] | undefined;
  readonly #sent = new Map<string, SentEffect>();
  readonly #notes = new Map<MachineName, MachineNotes>();
  #order = 0;
  #noticedAt = Number.NEGATIVE_INFINITY;
  /** The one connection over which a settled cluster is looked at. */
  #shared: TalosSession | undefined;
  #credentials: ReaderCredentials | undefined;
  #serviceAccount: { readonly key: string | undefined; readonly isBeingMade: boolean } = { key: undefined, isBeingMade: false };
  #keysInHand: { readonly fingerprint: string; readonly bundle: Promise<SecretsBundle>; readonly letGo: ScheduledTimer } | undefined;
  #keyMadeAt = Number.NEGATIVE_INFINITY;
  #pace: "eager" | "settled" = "eager";
  #isClosed = false;

  /** The record as last read or written; `undefined` = read it. */
  record: Remembered<ClusterRecord | "absent"> | undefined;
  bundle: Remembered<Seen<SeenBundle>> | undefined;
  /** This process made the keys of this cluster. */
  hasMadeKeys = false;
  kubeconfig: Remembered<Seen<SeenAccess>> | undefined;
  /** Keys that others left, while the cluster is verified for an import. */
  heldBundle: HeldBundle | undefined;
  /** Another operator that was seen at work, in words. */
  beside: Remembered<string> | undefined;
  /** Readings of machines that are to be taken over. */
  readonly adoption = new AdoptionReadings();
  talosconfig: Remembered<Seen<SeenAccess>> | undefined;
  /** When the reader credentials should be replaced, and the bundle they were made from. */
  credentialsFor: { readonly fingerprint: string; readonly renewAt: number } | undefined;
  /** Boot id of the machine that was asked to bootstrap etcd, read on the connection of the call. */
  bootIdAtBootstrap: string | undefined;

  /** What is done in the cluster itself; `undefined` = nothing. */
  readonly workload: ClusterWorkload | undefined;
  /** Certificates that its kubelets wait for; `undefined` = nobody looks. */
  readonly certificates: ClusterCertificates | undefined;
  /** When the record was deleted of which an event told that it stays. */
  heldRecord: string | undefined;
  /** Configurations of running machines, read back. */
  readonly configs: LiveConfigs;
  /** Whether whole configs that people wrote fit the cluster's keys, by text and keys; empty = they do. */
  readonly writtenVerdicts = new Map<string, string>();
  /** What is wrong with a machine on which a configuration is tried. */
  readonly troubles = new Map<MachineName, Trouble>();
  /** Machines that were sent something which disturbs them. */
  readonly soaks: Soaks;

  /** Members of etcd that belong to no machine. */
  readonly strays: Sightings;
  /** Pulls and installations that run beside the passes. */
  readonly streams: Streams;
  /** Machines that show what an upgrade was to bring, and are in their bake time. */
  readonly bakes: Soaks;
  /** How long steps of an upgrade have been open. */
  readonly stepTimes: StepTimes;

  /** Open intents whose times are another clock's. */
  readonly ownTimes = new OwnTimes();

  /** When this session began, milliseconds since the epoch. */
  since: number;

  constructor(ports: SessionPorts, onLook: (name: MachineName, look: Look) => void) {
    this.#ports = ports;
    this.since = ports.clock.now();
    this.configs = new LiveConfigs(ports);
    this.soaks = new Soaks(ports.timers, SOAK_MS);
    this.bakes = new Soaks(ports.timers, BAKE_MS);
    this.stepTimes = new StepTimes(ports.timers);
    this.streams = new Streams(ports.timers);
    this.strays = new Sightings(ports.timers);
    this.workload =
      ports.workload === undefined
        ? undefined
        : new ClusterWorkload({ ...ports.workload, clock: ports.clock, timers: ports.timers }, ports.workload.wake);
    this.certificates =
      ports.workload === undefined ? undefined : new ClusterCertificates({ ...ports.workload, clock: ports.clock }, ports.workload.wake);
    this.#onLook = onLook;
  }

  /**
   * Told the time at the beginning of each pass. Where the clock was set back meanwhile, what was noted before lies in the future: it is moved along, so that
   * what was just done is not waited for until the clock gets there, and is not taken for long ago either.
   */
  noticeTime(now: number): void {
    const setBackMs = this.#noticedAt - now;
    this.#noticedAt = now;
    if (setBackMs < SET_BACK_MS) return;
    const moved = (at: number): number => (at > now ? at - setBackMs : at);
    for (const [key, effect] of this.#sent) this.#sent.set(key, { ...effect, at: moved(effect.at) });
    for (const [name, { heldBack }] of this.#notes)
      if (heldBack !== undefined) this.#note(name, { heldBack: { ...heldBack, at: moved(heldBack.at) } });
    this.since = moved(this.since);
    this.#keyMadeAt = moved(this.#keyMadeAt);
    // Read again, and made again: both are dated.
    this.configs.forgetAll();
    this.credentialsFor = undefined;
  }

  /**
   * The same for a cluster without keys. Keys are made one after another: while others wait for theirs nobody is looked at, unless {@link watchPutOff} says that
   * it is no matter of keys. What a look shows now would be asked again when the keys are there.
   */
  watchInTurn(targets: readonly LookTarget[]): void {
    this.#putOff = undefined;
    const isItsTurn = this.#serviceAccount.key !== undefined || this.#ports.makingKeys.size === 0;
    if (isItsTurn || this.#watched.size > 0) this.watch(targets);
    else this.#putOff = targets;
  }

  /** Looks at whom {@link watchInTurn} left for later. */
  watchPutOff(): void {
    if (this.#putOff !== undefined) this.watch(this.#putOff);
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
    }
    for (const target of targets) {
      const before = this.#watched.get(target.name);
      if (before !== undefined && before.target.address === target.address && before.target.role === target.role) {
        if (before.target.needsDiscovery !== target.needsDiscovery) this.#watched.set(target.name, { ...before, target });
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

  /** Some of the machines have not been looked at yet, neither with nor without an answer. */
  isMeetingMachines(): boolean {
    return [...this.#watched.values()].some(({ watcher }) => watcher.last().kind === "not-asked");
  }

  look(name: MachineName): Look {
    return this.#watched.get(name)?.watcher.last() ?? { kind: "not-asked" };
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

  /**
   * The key of a new cluster's service account, `undefined` while it is being made: that takes a second, in a burst of new clusters minutes,
   * and no pass waits for it. `wake` is called when it is there, or when it failed and should be begun anew.
   */
  serviceAccountKey(make: () => Promise<string>, wake: () => void): string | undefined {
    const { key } = this.#serviceAccount;
    if (key !== undefined || this.#serviceAccount.isBeingMade) return key;
    this.#serviceAccount = { key: undefined, isBeingMade: true };
    this.#ports.makingKeys.add(this);
    void this.#makeServiceAccountKey(make, wake);
    return undefined;
  }

  isMakingKey(): boolean {
    return this.#serviceAccount.isBeingMade;
  }

  /** A key is being made, or was a moment ago: what was read before is about to be read again by the effect that uses it. */
  isAboutToMakeBundle(): boolean {
    return this.isMakingKey() || elapsedMs(this.#keyMadeAt, this.#ports.clock.now()) < KEY_NEWS_MS;
  }

  forgetServiceAccountKey(): void {
    this.#serviceAccount = { key: undefined, isBeingMade: false };
  }

  /** The bundle with this fingerprint, for effects: read now, or held for a moment since the last reading. */
  keys(fingerprint: string, read: () => Promise<SecretsBundle>): Promise<SecretsBundle> {
    if (this.#keysInHand?.fingerprint === fingerprint) return this.#keysInHand.bundle;
    this.#letKeysGo();
    const bundle = read();
    const held = { fingerprint, bundle, letGo: this.#ports.timers.schedule(KEYS_IN_HAND_MS, () => this.#letKeysGo()) };
    this.#keysInHand = held;
    bundle.catch(() => {
      if (this.#keysInHand === held) this.#letKeysGo();
    });
    return bundle;
  }

  /** What an effect, or a reading of configurations, just read of the bundle: the next pass need not read it again. */
  noteBundle(value: Seen<SeenBundle>): void {
    this.bundle = { at: this.#ports.clock.now(), value };
  }

  #letKeysGo(): void {
    this.#keysInHand?.letGo.cancel();
    this.#keysInHand = undefined;
  }

  sent(): ReadonlyMap<string, SentEffect> {
    return this.#sent;
  }

  /** @param detail for people */
  noteSent(effect: string, outcome: SentEffect["outcome"], detail: string, known: KnownAtSend = {}): void {
    this.#sent.set(effect, { ...known, at: this.#ports.clock.now(), order: this.#nextOrder(), outcome, detail });
  }

  /** All of it, as a pass sees it. */
  remembered(): Pick<Observed, "sent" | "notes" | "strays"> {
    return { sent: this.#sent, notes: this.#notes, ...(this.strays.count === 0 ? {} : { strays: this.strays.long() }) };
  }

  /** Before an intent is written down: what is sent later was sent under it. */
  noteBegun(intent: IntentFact): void {
    this.#note(intent.machine, { begun: { ...begunBy(intent), order: this.#nextOrder() } });
  }

  /** After the maintenance key of a machine was written down. */
  notePinned(machine: MachineName, spki: string): void {
    this.#note(machine, { pinned: spki });
  }

  /** @param why for people */
  noteHeldBack(machine: MachineName, why: string): void {
    this.#note(machine, { heldBack: { at: this.#ports.clock.now(), order: this.#nextOrder(), why } });
  }

  #note(machine: MachineName, news: MachineNotes): void {
    this.#notes.set(machine, { ...this.#notes.get(machine), ...news });
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  forgetSent(effect: string): void {
    this.#sent.delete(effect);
  }

  close(): void {
    this.#isClosed = true;
    this.workload?.close();
    this.certificates?.close();
    for (const watched of this.#watched.values()) this.#end(watched);
    this.#watched.clear();
    this.#shared?.close();
    this.#shared = undefined;
    this.#credentials = undefined;
    this.heldBundle = undefined;
    this.configs.close();
    this.soaks.close();
    this.strays.close();
    this.bakes.close();
    this.stepTimes.close();
    this.streams.close();
    this.#letKeysGo();
    this.#ports.makingKeys.delete(this);
    this.#serviceAccount = { key: undefined, isBeingMade: false };
  }

  async #makeServiceAccountKey(make: () => Promise<string>, wake: () => void): Promise<void> {
    let key: string | undefined;
    try {
      key = await make();
    } catch {
      // The next pass begins anew.
    }
    this.#ports.makingKeys.delete(this);
    this.#serviceAccount = { key: this.#isClosed ? undefined : key, isBeingMade: false };
    this.#keyMadeAt = this.#ports.clock.now();
    wake();
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

  /** By name, so that every look takes the same one. */
  runningControlPlanes(): readonly { readonly address: string }[] {
    const running = [...this.#watched.values()].filter(({ target, watcher }) => {
      const look = watcher.last();
      return target.role === "controlplane" && look.kind === "running" && look.stage === "running";
    });
    return running.map(({ target }) => target).toSorted((a, b) => (a.name < b.name ? -1 : 1));
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
        this.#onLook(target.name, look);
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

/** A bundle as the rules see it. */
export function seenBundle(stored: StoredBundle | undefined): Seen<SeenBundle> {
  if (stored === undefined) return { kind: "absent" };
  const { fingerprint, clusterId, isOurs, isDeleting } = stored;
  return { kind: "present", value: { fingerprint, clusterId, isOurs, isDeleting } };
}

/** An access Secret as the rules see it. */
export function seenAccess(stored: StoredAccess | undefined): Seen<SeenAccess> {
  return stored === undefined ? { kind: "absent" } : { kind: "present", value: stored };
}
