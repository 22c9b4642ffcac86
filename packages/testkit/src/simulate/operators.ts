import { createMetricsRegistry } from "@talos-operator/kube-runtime";
import type { VirtualTime } from "@talos-operator/kube-runtime/testing";
import { createOperator } from "@talos-operator/operator";
// Loads what the operator loads late: that takes real time, which the clock of this world knows nothing of.
import "@talos-operator/operator/testing";
import type { AddonRunner, BackupRunner } from "@talos-operator/operator";
import type { Clock, FileTree, KubeRequest, KubeTransport, Keys, RandomSource } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { rerouted } from "../world/rerouted.ts";
import type { EffectId } from "./effects.ts";
import type { FaultPlan } from "./fault.ts";
import { faultyClusters, faultyKube, faultyTalos, mortalTimers, type ManagedClusters } from "./faulty-ports.ts";
import type { Invariants } from "./invariants.ts";
import type { Report } from "./violation.ts";
import { createLife, type Life } from "./life.ts";
import { textOf } from "./secret-rules.ts";
import type { EffectCounts } from "./run-result.ts";
import type { Stage } from "./stage.ts";
import type { ToldInLives } from "./told-rules/in-lives.ts";
import type { Trace } from "./trace.ts";

export interface OperatorsInput {
  readonly time: VirtualTime;
  /** The time that everybody else has. */
  readonly worldClock: Clock;
  readonly stream: (n: number) => RandomSource;
  readonly keys: Keys;
  readonly truth: KubeTransport;
  readonly datacenter: Datacenter;
  readonly managed: ManagedClusters;
  readonly plan: FaultPlan;
  readonly invariants: Invariants;
  readonly trace: Trace;
  readonly count: (effect: EffectId) => EffectCounts;
  readonly report: Report;
  readonly stage: Stage;
  readonly told: ToldInLives;
  /** Where manifests are written before they are applied; a disk that outlives every process. */
  readonly files?: FileTree;
  /** Where backups are taken: the runs as one operator sees them. */
  readonly runnerFor?: (life: Life) => BackupRunner;
  /** Where addons are installed: the runs as one operator sees them. */
  readonly addonsFor?: (life: Life) => AddonRunner;
  /** Number of the first one: nobody may be called as one who held the lease before. */
  readonly firstOperator: number;
}

/** A lease of 15 seconds that nobody released, and the tries to take it, two seconds apart. */
const FAILOVER_MS = 25_000;

/** The operators of one world, one after the other or side by side. */
export interface Operators {
  start(delayMs: number): void;
  /** The operator that acted last stands still for so long; another one is started at once. */
  pause(ms: number): void;
  /** The operator that acted last stands still until the returned function is called. */
  hold(): () => void;
  /** Calls `act` when the effect is about to be sent for the `n`-th time, after the last check; a pause that it begins holds the send back. */
  beforeSend(effect: EffectId, n: number, act: () => void): void;
  /** The clocks of all operators are wrong by so much. */
  setClock(skewMs: number): void;
  /** Resolves when the effect took place for the `n`-th time, counted from 1 and from the first one still to come, before the sender hears of it. */
  tookEffect(effect: EffectId, n: number): Promise<void>;
  /** What was asked of `beforeSend` and `tookEffect` and has not come never does. */
  forgetWaits(): void;
  /** All operators end as by a signal nobody handles, and another one starts. */
  replace(): void;
  /** All operators end so, and another one starts when the returned function is called. */
  end(): () => void;
  stop(): void;
  isAlive(): boolean;
  /** Something that was given up is still going to take place. */
  hasLateEffects(): boolean;
  /** Writes to the Kubernetes API but the lease, and mutating Talos calls, so far. */
  mutations(): number;
  lastMutation(): string;
  decisions(): number;
}

/** Starts an operator, and after each crash the next one: a new process that knows what the API and the machines show, and nothing else. */
export function createOperators({
  time,
  worldClock,
  stream,
  keys,
  truth,
  datacenter,
  managed,
  plan,
  invariants,
  trace,
  count,
  report,
  stage,
  told,
  files,
  runnerFor,
  addonsFor,
  firstOperator,
}: OperatorsInput): Operators {
  const random = stream(6);
  let life: Life | undefined;
  const lives: Life[] = [];
  let generation = firstOperator - 1;
  let mutations = 0;
  let lastMutation = "";
  let decisions = 0;
  let late = 0;
  let isStopped = false;
  let clockSkewMs = 0;
  // Timers of a process go on when somebody sets its clock.
  const clock = { now: () => worldClock.now() + clockSkewMs };
  const waiters = new Map<string, () => void>();
  /** When lives that stood still went on. */
  const wokeAt = new WeakMap<Life, number>();
  const interruptions = new Map<string, () => void>();
  let actor: Life | undefined;
  let restsSince = 0;
  let leaseFaults = 0;
  let wasInterfered = false;

  /** Whoever leads, or is about to, was disturbed: from now on it is counted again. */
  const disturbed = (): void => {
    restsSince = time.now();
    told.disturbed();
  };

  /** Li6: as long as somebody is there and the API tells the truth, the lease is written. Who cannot fill its caches does not run for it. */
  const judgeFailover = ({ isAlive }: Life): void => {
    const { C0, C1, C2, C3, D, R, L, E, X } = count("K8");
    const faults = C0 + C1 + C2 + C3 + D + R + L + E + X;
    const ledAfterMs = time.now() - restsSince;
    if (isAlive && faults === leaseFaults && !wasInterfered && !stage.wereWatchesFrozen && ledAfterMs > FAILOVER_MS)
      report("Li6", `nobody wrote the lease for ${ledAfterMs} ms, though an operator was there`);
    leaseFaults = faults;
    restsSince = time.now();
  };

  const onInvariantBroken = (invariant: string, detail: string): void => {
    report(invariant, `a pass would have broken it: ${detail}`);
    throw new Error(`${invariant}: ${detail}`);
  };

  const start = (delayMs: number): void => {
    time.timers.schedule(delayMs, () => {
      if (isStopped) return;
      generation += 1;
      trace.add(`operator ${generation} starts`);
      disturbed();
      const stop = new AbortController();
      const own = generation;
      const identity = `operator-${own}`;
      let leaseHolder: string | undefined;
      const metrics = createMetricsRegistry();
      const mine = createLife(
        () => {
          invariants.secrets.inspectText("the figures", metrics.text());
          trace.add(`operator ${own} crashes`);
          disturbed();
          stop.abort(new Error("crashed"));
          // Of two instances one goes on.
          if (lives.some((other) => other !== mine && other.isAlive)) return;
          start(Math.floor(random.fraction() * 20_000));
        },
        () => report("Cost", `${identity} sends requests without end`),
      );
      life = mine;
      lives.push(mine);
      const faulty = {
        life: mine,
        plan,
        random: stream(7 + generation),
        timers: time.timers,
        onLeaseRead: (holder: string | undefined) => {
          leaseHolder = holder;
        },
        lie: (path: string) => stage.lie(path),
        interference: {
          get kube() {
            const { kube } = stage.interference;
            // One who reads no lease has none to write.
            return kube === undefined
              ? undefined
              : (request: KubeRequest) => {
                  const lie = kube(request);
                  wasInterfered ||= lie !== undefined;
                  return lie;
                };
          },
          get talos() {
            return stage.interference.talos;
          },
          get store() {
            return stage.interference.store;
          },
          get watch() {
            return stage.interference.watch;
          },
        },
        onLie: (effect: EffectId, fault: "E" | "X") => {
          count(effect)[fault] += 1;
          told.disturbed();
          trace.add(`lie ${fault} ${effect}`);
        },
        watchesGoOn: () => stage.watchesGoOn(),
        onSent: async (effect: EffectId, detail: string, address: string | undefined, request: unknown) => {
          count(effect).sent += 1;
          wasInterfered ||= stage.interference.kube !== undefined || stage.interference.watch !== undefined;
          if (effect !== "K8") actor = mine;
          interruptions.get(`${effect} ${count(effect).sent}`)?.();
          trace.add(`send ${effect} ${detail}`);
          // What the instance last read decides: a pause between that and the send is the one gap that only harmless repetition covers.
          if ((effect.startsWith("T") || effect === "WL1") && leaseHolder !== identity)
            report("S32", `${identity} sends ${detail} and knows that ${leaseHolder ?? "nobody"} holds the lease`);
          await invariants.beforeSend(effect, address, request, wokeAt.get(mine) === time.now(), detail);
        },
        onAsked: (isAnswered: boolean) => invariants.afterAsking(isAnswered),
        onRead: (path: string) => invariants.afterRead(path),
        onLate: (change: 1 | -1) => {
          late += change;
          if (change === -1) told.cameLate();
        },
        onEffect: async (effect: EffectId, detail: string, address: string | undefined, request: unknown) => {
          count(effect).tookEffect += 1;
          if (effect === "K8") {
            judgeFailover(mine);
            if (clockSkewMs === 0) told.leads();
            else told.disturbed();
          }
          invariants.afterEffect(effect, address, request, detail);
          trace.add(`effect ${effect} ${detail}`);
          if (effect === "K2") {
            decisions += 1;
            await invariants.afterRecordWrite();
          }
          waiters.get(`${effect} ${count(effect).tookEffect}`)?.();
          if (effect !== "K8") {
            mutations += 1;
            lastMutation = `${effect} ${detail}`;
          }
          if (effect === "K1" || effect.startsWith("T") || (effect === "K7" && stage.desired === undefined)) await invariants.check();
        },
        inspect: (request: KubeRequest) => invariants.secrets.inspectWrite(request),
      };
      const operator = createOperator({
        kube: faultyKube(truth, faulty),
        ...faultyClusters(managed, faulty),
        talos: faultyTalos(rerouted(datacenter.dialer(clock), stage.routes), faulty),
        clock,
        timers: mortalTimers(time.timers, mine),
        random: stream(100 + generation),
        keys: invariants.secrets.keys(keys),
        log: invariants.secrets.log,
        ...(files === undefined ? {} : { files: invariants.secrets.files(files) }),
        metrics,
        ...(runnerFor === undefined ? {} : { backups: { runner: runnerFor(mine), backupDirectory: "/backups" } }),
        ...(addonsFor === undefined ? {} : { addons: { runner: addonsFor(mine) } }),
        options: {
          allowLoopbackMachines: false,
          identity,
          onInvariantBroken,
          ...(stage.operatorPod === undefined ? {} : { pod: stage.operatorPod }),
        },
      });
      void operator.run(stop.signal).catch((error: unknown) => {
        invariants.secrets.inspectText("an error", error instanceof Error ? textOf(error) : String(error));
        if (mine.isAlive) trace.add(`operator ${own} gave up: ${String(error)}`);
      });
    });
  };
  const crashAll = (): void => {
    for (const each of lives) each.crash();
  };
  return {
    start,
    pause(ms) {
      const paused = actor?.isAlive === true ? actor : life;
      if (paused?.isAlive !== true) return;
      paused.pause();
      disturbed();
      start(0);
      time.timers.schedule(ms, () => {
        disturbed();
        paused.resume();
        wokeAt.set(paused, time.now());
      });
    },
    hold() {
      const held = actor ?? life;
      held?.pause();
      disturbed();
      return () => {
        disturbed();
        held?.resume();
        if (held !== undefined) wokeAt.set(held, time.now());
      };
    },
    beforeSend(effect, n, act) {
      interruptions.set(`${effect} ${Math.max(n, count(effect).sent + 1)}`, act);
    },
    setClock(skewMs) {
      disturbed();
      clockSkewMs = skewMs;
    },
    tookEffect: (effect, n) => new Promise((resolve) => waiters.set(`${effect} ${Math.max(n, count(effect).tookEffect + 1)}`, resolve)),
    forgetWaits() {
      waiters.clear();
      interruptions.clear();
    },
    replace: crashAll,
    end() {
      isStopped = true;
      crashAll();
      return () => {
        isStopped = false;
        start(0);
      };
    },
    stop() {
      isStopped = true;
      crashAll();
    },
    isAlive: () => lives.some((each) => each.isAlive),
    hasLateEffects: () => late > 0,
    mutations: () => mutations,
    lastMutation: () => lastMutation,
    decisions: () => decisions,
  };
}
