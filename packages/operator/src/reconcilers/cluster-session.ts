import type { ClusterRecord } from "@talos-operator/api";
import type { Clock, EndpointProbe, Keys, WorkloadDialer } from "@talos-operator/ports";
import { EndpointWatch } from "../looking/endpoint-watch.ts";
import { MachineWatch } from "../looking/machine-watch.ts";
import type { LookTarget, MachineWatchPorts } from "../looking/machine-watch.ts";
import type { Turnstile } from "../looking/turnstile.ts";
import { ClusterWorkload } from "../workload/cluster-workload.ts";
import type { OwnPod } from "../model/workload.ts";
import { ClusterCertificates } from "../workload/kubelet-certificates/cluster-certificates.ts";
import { AdoptionReadings } from "../procedures/import/adoption.ts";
import type { HeldBundle } from "../procedures/import/adoption.ts";
import type { StoredAccess } from "../secrets/access-store.ts";
import { KeysInHand } from "../secrets/keys-in-hand.ts";
import { ServiceAccountKey } from "../secrets/service-account-key.ts";
import type { ServiceAccountKeyPorts } from "../secrets/service-account-key.ts";
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
import type { MachineName } from "../model/machine.ts";
import { begunBy } from "../procedures/configure/config-probe.ts";
import type { IntentFact } from "../model/record.ts";
import type { KnownAtSend, MachineNotes, Observed, Seen, SeenAccess, SeenBundle, SentEffect } from "../model/observation.ts";
import type { Trouble } from "../procedures/configure/trouble.ts";

/** A value with the time at which it was read. */
export interface Remembered<T> {
  readonly at: number;
  readonly value: T;
}

/** What a session needs from the process. */
export interface SessionPorts extends MachineWatchPorts, ServiceAccountKeyPorts {
  /** Readings of configurations under way at once; shared by all clusters. */
  readonly turnstile: Turnstile;
  /** To the API of the cluster itself; `undefined` = its Nodes are left alone. */
  readonly workload?:
    { readonly dialer: WorkloadDialer; readonly keys: Keys; readonly pod?: OwnPod | undefined; readonly wake: () => void } | undefined;
  /** Asks what answers at the cluster's endpoint; `undefined` = nobody does. */
  readonly endpoint?: { readonly probe: EndpointProbe; readonly wake: () => void } | undefined;
}

/** A clock that goes back by less is being corrected, and nobody waits for that. */
const SET_BACK_MS = 1_000;

/**
 * What this process keeps in memory about one cluster while it leads: open channels, the newest looks, and copies of what it last read.
 *
 * All of it can be lost at any moment: a new process starts with an empty session and comes to the same decisions.
 */
export class ClusterSession {
  readonly #clock: Clock;
  readonly #sent = new Map<string, SentEffect>();
  readonly #notes = new Map<MachineName, MachineNotes>();
  #order = 0;
  #noticedAt = Number.NEGATIVE_INFINITY;
  #isPaused = false;

  /** Its machines, as they are looked at. */
  readonly machines: MachineWatch;
  /** The key of its service account, while a new cluster has none. */
  readonly accountKey: ServiceAccountKey;
  /** The bundle, for effects. */
  readonly keysInHand: KeysInHand;

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
  /** Who signs the certificates of its API servers, and the bundle that this is from. No secret. */
  kubernetesAuthority: { readonly fingerprint: string; readonly certificate: string } | undefined;
  /** Boot id of the machine that was asked to bootstrap etcd, read on the connection of the call. */
  bootIdAtBootstrap: string | undefined;

  /** What is done in the cluster itself; `undefined` = nothing. */
  readonly workload: ClusterWorkload | undefined;
  /** What answers at its endpoint; `undefined` = nobody asks. */
  readonly endpoint: EndpointWatch | undefined;
  /** What answers at the endpoint that it is to have; `undefined` = nobody asks. */
  readonly nextEndpoint: EndpointWatch | undefined;
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
    this.#clock = ports.clock;
    this.since = ports.clock.now();
    this.machines = new MachineWatch(ports, onLook);
    this.accountKey = new ServiceAccountKey(ports);
    this.keysInHand = new KeysInHand(ports.timers);
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
    const { endpoint } = ports;
    const watch = (): EndpointWatch | undefined =>
      endpoint === undefined ? undefined : new EndpointWatch({ ...ports, endpoints: endpoint.probe, onChange: endpoint.wake });
    this.endpoint = watch();
    this.nextEndpoint = watch();
    this.certificates =
      ports.workload === undefined ? undefined : new ClusterCertificates({ ...ports.workload, clock: ports.clock }, ports.workload.wake);
  }

  /** Told of each pass at its beginning. @param isPaused nothing is read, judged or done */
  noticePass(now: number, isPaused: boolean): void {
    this.#noticeTime(now);
    this.#noticePause(now, isPaused);
  }

  /**
   * Where the clock was set back meanwhile, what was noted before lies in the future: it is moved along, so that
   * what was just done is not waited for until the clock gets there, and is not taken for long ago either.
   */
  #noticeTime(now: number): void {
    const setBackMs = this.#noticedAt - now;
    this.#noticedAt = now;
    if (setBackMs < SET_BACK_MS) return;
    const moved = (at: number): number => (at > now ? at - setBackMs : at);
    for (const [key, effect] of this.#sent) this.#sent.set(key, { ...effect, at: moved(effect.at) });
    for (const [name, { heldBack }] of this.#notes)
      if (heldBack !== undefined) this.#note(name, { heldBack: { ...heldBack, at: moved(heldBack.at) } });
    this.since = moved(this.since);
    this.accountKey.moveTimes(moved);
    // Read again, and made again: both are dated.
    this.configs.forgetAll();
    this.credentialsFor = undefined;
  }

  /** Nobody judges open steps during a pause: whoever goes on after it knows as little of them as a new process does, and gives them time to be seen. */
  #noticePause(now: number, isPaused: boolean): void {
    const isResumed = this.#isPaused && !isPaused;
    this.#isPaused = isPaused;
    if (!isResumed) return;
    this.since = now;
    this.stepTimes.close();
    this.configs.forgetAll();
  }

  /**
   * Watches the machines of a cluster without keys. Keys are made one after another: while others wait for theirs nobody is looked at, unless its pass says that
   * it is no matter of keys (`machines.watchPutOff`). What a look shows now would be asked again when the keys are there.
   */
  watchInTurn(targets: readonly LookTarget[]): void {
    if (this.accountKey.isItsTurn()) this.machines.watch(targets);
    else this.machines.putOff(targets);
  }

  /** What an effect, or a reading of configurations, just read of the bundle: the next pass need not read it again. */
  noteBundle(value: Seen<SeenBundle>): void {
    this.bundle = { at: this.#clock.now(), value };
  }

  sent(): ReadonlyMap<string, SentEffect> {
    return this.#sent;
  }

  /** @param detail for people */
  noteSent(effect: string, outcome: SentEffect["outcome"], detail: string, known: KnownAtSend = {}): void {
    this.#sent.set(effect, { ...known, at: this.#clock.now(), order: this.#nextOrder(), outcome, detail });
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
    this.#note(machine, { heldBack: { at: this.#clock.now(), order: this.#nextOrder(), why } });
  }

  #note(machine: MachineName, news: MachineNotes): void {
    this.#notes.set(machine, { ...this.#notes.get(machine), ...news });
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  /** Somebody else changed the record: the next pass reads it. A write under way is still compared with the copy that it was made from. */
  recordChanged(): void {
    if (this.record !== undefined) this.record = { ...this.record, at: 0 };
  }

  forgetSent(effect: string): void {
    this.#sent.delete(effect);
  }

  close(): void {
    this.machines.close();
    this.workload?.close();
    this.endpoint?.close();
    this.nextEndpoint?.close();
    this.certificates?.close();
    this.heldBundle = undefined;
    this.configs.close();
    this.soaks.close();
    this.strays.close();
    this.bakes.close();
    this.stepTimes.close();
    this.streams.close();
    this.keysInHand.forget();
    this.accountKey.close();
  }
}

/** A bundle as the rules see it. */
export function seenBundle(stored: StoredBundle | undefined): Seen<SeenBundle> {
  if (stored === undefined) return { kind: "absent" };
  const { bundle: _keys, ...told } = stored;
  return { kind: "present", value: told };
}

/** An access Secret as the rules see it. */
export function seenAccess(stored: StoredAccess | undefined): Seen<SeenAccess> {
  return stored === undefined ? { kind: "absent" } : { kind: "present", value: stored };
}
