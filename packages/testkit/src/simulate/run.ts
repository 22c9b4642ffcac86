import { crds } from "@talos-operator/api";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient, type KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime, type VirtualTime } from "@talos-operator/kube-runtime/testing";
import { createOperator } from "@talos-operator/operator";
import type { KubeTransport, Keys, Logger, LogFields, RandomSource } from "@talos-operator/ports";
import { createDatacenter, realisticTimings, type Datacenter } from "@talos-operator/simulator";
import { rerouted } from "../world/rerouted.ts";
import { createValueKeys } from "../world/value-keys.ts";
import { createSilentWorkloads } from "../world/workloads.ts";
import type { EffectId } from "./effects.ts";
import { createFaultPlan, type FaultPlan, type PlannedCrash } from "./fault.ts";
import { faultyKube, faultyTalos, mortalTimers } from "./faulty-ports.ts";
import { createInvariants, type Invariants, type Report } from "./invariants.ts";
import { createLife, type Life } from "./life.ts";
import { emptyCounts, type EffectCounts, type RunResult, type Violation } from "./report.ts";
import { addressesOf, chooseScenario, CLUSTER_NAME, manifestOf, NAMESPACE, type Scenario } from "./scenario.ts";
import { createStage, type Stage } from "./stage.ts";
import { createTrace, type Trace } from "./trace.ts";
import { makeTrouble, type TroubleKind } from "./troubles.ts";

export interface RunOptions {
  readonly seed: number;
  readonly crashes: readonly PlannedCrash[];
  readonly nuisanceRate: number;
  readonly trouble: TroubleKind | undefined;
  /** How to repeat this run, for people. */
  readonly replay: string;
  /** Virtual minutes of idleness checked after Ready. 0 skips the check. */
  readonly idleMinutes: number;
}

/** After this much virtual time nothing goes wrong any more. */
const FAULTS_END_MS = 10 * 60_000;
/** From the last fault to Ready: boots, installs, a lease that must run out, and the wait of a new leader before it disrupts. */
const GOAL_WITHIN_MS = 60 * 60_000;

/** One life of one cluster, from nothing to Ready, with everything that the plan has in store for it. */
export async function runCreate(options: RunOptions): Promise<RunResult> {
  const world = await createWorld(options);
  await world.start();
  // A broken world says nothing more that is worth the time.
  await world.time.runUntil(() => world.isBroken() || (world.isReady() && world.plan.isSpent && world.isTroubleOver()), FAULTS_END_MS);
  world.plan.stop();
  await world.time.runUntil(
    () => world.isBroken() || (world.isReady() && world.isOperatorAlive() && world.isTroubleOver()),
    GOAL_WITHIN_MS,
  );
  const reachedGoal = world.isReady() && !world.isBroken();
  if (world.isBroken()) return world.end(false);
  if (!reachedGoal) world.report("Li1", `not Ready ${GOAL_WITHIN_MS / 60_000} minutes after the last fault: ${world.waitsFor()}`);
  else await world.checkIdle(options.idleMinutes);
  await world.invariants.checkEnd(world.effectCounts());
  return world.end(reachedGoal);
}

interface World {
  readonly time: VirtualTime;
  readonly plan: FaultPlan;
  readonly invariants: Invariants;
  start(): Promise<void>;
  isReady(): boolean;
  /** An invariant was violated. */
  isBroken(): boolean;
  isOperatorAlive(): boolean;
  isTroubleOver(): boolean;
  waitsFor(): string;
  report(invariant: string, detail: string): void;
  checkIdle(minutes: number): Promise<void>;
  effectCounts(): ReadonlyMap<EffectId, EffectCounts>;
  end(reachedGoal: boolean): RunResult;
}

async function createWorld(options: RunOptions): Promise<World> {
  const time = createVirtualTime();
  // Independent streams: what one part draws does not shift what another part meets.
  const stream = (n: number): RandomSource => createSeededRandom((options.seed * 16 + n) >>> 0);
  const scenario = chooseScenario(stream(0));
  const trace = createTrace(() => time.now());
  const keys = createValueKeys(stream(1));
  const ports = { clock: time.clock, timers: time.timers };
  const api = await createApiServer({ store: createMemoryStore(), ...ports, random: stream(2) });
  const truth = api.transport({ name: "system:simulation", groups: ["system:masters"] });
  const { controlPlanes, workers } = addressesOf(scenario);
  const datacenter = createDatacenter({
    ...ports,
    random: stream(3),
    keys,
    machines: [...controlPlanes, ...workers].map((address) => ({ address, talosVersion: scenario.talosVersion })),
    timings: realisticTimings,
    workload: createSilentWorkloads({ ...ports, random: stream(4) }),
  });

  const violations: Violation[] = [];
  const report = (invariant: string, detail: string): void => {
    // The first of its kind tells the story; a broken world repeats itself at every step.
    if (violations.some((known) => known.invariant === invariant)) return;
    trace.add(`VIOLATION ${invariant} ${detail}`);
    violations.push({ seed: options.seed, step: trace.length, invariant, detail, replay: options.replay, trace: trace.tail(25) });
  };
  const stage = createStage();
  const invariants = createInvariants({
    truth,
    datacenter,
    stage,
    addresses: addressesOf(scenario),
    now: () => time.now(),
    describeSpki: (certificate) => keys.describeCertificate(certificate).spki,
    report,
  });
  const effects = new Map<EffectId, EffectCounts>();
  const count = (effect: EffectId): EffectCounts => {
    const known = effects.get(effect);
    if (known !== undefined) return known;
    const fresh = emptyCounts();
    effects.set(effect, fresh);
    return fresh;
  };
  const plan = createFaultPlan({
    random: stream(5),
    crashes: options.crashes,
    nuisanceRate: options.nuisanceRate,
    onFault: (effect, fault) => {
      count(effect)[fault] += 1;
      trace.add(`fault ${fault} ${effect}`);
    },
  });
  const goal = watchGoal(truth, scenario);
  let isTroubleOver = options.trouble === undefined;
  const operators = operatorStarter({ time, stream, keys, truth, datacenter, plan, invariants, trace, count, report, stage });

  return {
    time,
    plan,
    invariants,
    async start() {
      const client = createKubeClient(truth);
      for (const crd of crds) await createObject(client.transport, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
      for (const object of manifestOf(scenario)) {
        await createObject(truth, `/apis/talos.alperen.cloud/v1alpha1/namespaces/${NAMESPACE}/${pluralOf(String(object["kind"]))}`, object);
      }
      await goal.start();
      operators.start(0);
      if (options.trouble === undefined) return;
      void makeTrouble({
        client,
        kind: options.trouble,
        random: stream(15),
        timers: time.timers,
        datacenter,
        scenario,
        pauseOperator: (ms) => operators.pause(ms),
        beforeSend: (effect, n, act) => operators.beforeSend(effect, n, act),
        holdOperator: () => operators.hold(),
        startOperator: () => operators.start(0),
        setClock: (skewMs) => operators.setClock(skewMs),
        tookEffect: (effect, n) => operators.tookEffect(effect, n),
        keys,
        now: () => time.now(),
        stage,
        trace: (line) => trace.add(line),
      }).then(
        () => {
          isTroubleOver = true;
        },
        (error: unknown) => report("Own", error instanceof Error ? error.message : String(error)),
      );
    },
    isTroubleOver: () => isTroubleOver,
    isReady: () => goal.isReady(),
    isBroken: () => violations.length > 0,
    isOperatorAlive: () => operators.isAlive(),
    waitsFor: () => goal.waitsFor(),
    report,
    async checkIdle(minutes) {
      if (minutes === 0) return;
      // The minute after Ready belongs to the rollout: events and summaries settle.
      await time.advance(60_000);
      const before = operators.mutations();
      await time.advance(minutes * 60_000);
      const writes = operators.mutations() - before;
      if (writes > 0) report("Li2", `${writes} writes or mutating calls in ${minutes} idle minutes: ${operators.lastMutation()}`);
    },
    effectCounts: () => effects,
    end(reachedGoal) {
      operators.stop();
      void datacenter.close();
      api.close();
      return {
        seed: options.seed,
        violations,
        reachedGoal,
        virtualMs: time.now() - Date.UTC(2026, 0, 1),
        decisions: operators.decisions(),
        effects,
        traceHash: trace.hash(),
      };
    },
  };
}

interface OperatorStarterInput {
  readonly time: VirtualTime;
  readonly stream: (n: number) => RandomSource;
  readonly keys: Keys;
  readonly truth: KubeTransport;
  readonly datacenter: Datacenter;
  readonly plan: FaultPlan;
  readonly invariants: Invariants;
  readonly trace: Trace;
  readonly count: (effect: EffectId) => EffectCounts;
  readonly report: Report;
  readonly stage: Stage;
}

interface OperatorStarter {
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
  stop(): void;
  isAlive(): boolean;
  /** Writes to the Kubernetes API but the lease, and mutating Talos calls, so far. */
  mutations(): number;
  lastMutation(): string;
  decisions(): number;
}

/** Starts an operator, and after each crash the next one: a new process that knows what the API and the machines show, and nothing else. */
function operatorStarter({
  time,
  stream,
  keys,
  truth,
  datacenter,
  plan,
  invariants,
  trace,
  count,
  report,
  stage,
}: OperatorStarterInput): OperatorStarter {
  const random = stream(6);
  let life: Life | undefined;
  const lives: Life[] = [];
  let generation = 0;
  let mutations = 0;
  let lastMutation = "";
  let decisions = 0;
  let isStopped = false;
  let clockSkewMs = 0;
  // Timers of a process go on when somebody sets its clock.
  const clock = { now: () => time.now() + clockSkewMs };
  const waiters = new Map<string, () => void>();
  const interruptions = new Map<string, () => void>();
  let actor: Life | undefined;

  const start = (delayMs: number): void => {
    time.timers.schedule(delayMs, () => {
      if (isStopped) return;
      generation += 1;
      trace.add(`operator ${generation} starts`);
      const stop = new AbortController();
      const own = generation;
      const identity = `operator-${own}`;
      let leaseHolder: string | undefined;
      const mine = createLife(
        () => {
          trace.add(`operator ${own} crashes`);
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
        watchesGoOn: () => stage.watchesGoOn(),
        onSent: async (effect: EffectId, detail: string, address: string | undefined, request: unknown) => {
          count(effect).sent += 1;
          if (effect !== "K8") actor = mine;
          interruptions.get(`${effect} ${count(effect).sent}`)?.();
          trace.add(`send ${effect} ${detail}`);
          // What the instance last read decides: a pause between that and the send is the one gap that only harmless repetition covers.
          if (effect.startsWith("T") && leaseHolder !== identity)
            report("S32", `${identity} sends ${detail} and knows that ${leaseHolder ?? "nobody"} holds the lease`);
          await invariants.beforeSend(effect, address, request);
        },
        onEffect: async (effect: EffectId, detail: string) => {
          count(effect).tookEffect += 1;
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
          if (effect === "K1" || effect.startsWith("T")) await invariants.check();
        },
        inspect: (request: Parameters<Invariants["inspectWrite"]>[0]) => invariants.inspectWrite(request),
      };
      const operator = createOperator({
        kube: faultyKube(truth, faulty),
        talos: faultyTalos(rerouted(datacenter.dialer(clock), stage.routes), faulty),
        clock,
        timers: mortalTimers(time.timers, mine),
        random: stream(100 + generation),
        keys,
        log: inspectedLog(invariants),
        options: { allowLoopbackMachines: false, identity },
      });
      void operator.run(stop.signal).catch((error: unknown) => {
        if (mine.isAlive) trace.add(`operator ${own} gave up: ${String(error)}`);
      });
    });
  };
  return {
    start,
    pause(ms) {
      const paused = actor?.isAlive === true ? actor : life;
      if (paused?.isAlive !== true) return;
      paused.pause();
      start(0);
      time.timers.schedule(ms, () => paused.resume());
    },
    hold() {
      const held = actor ?? life;
      held?.pause();
      return () => held?.resume();
    },
    beforeSend(effect, n, act) {
      interruptions.set(`${effect} ${Math.max(n, count(effect).sent + 1)}`, act);
    },
    setClock(skewMs) {
      clockSkewMs = skewMs;
    },
    tookEffect: (effect, n) => new Promise((resolve) => waiters.set(`${effect} ${Math.max(n, count(effect).tookEffect + 1)}`, resolve)),
    stop() {
      isStopped = true;
      for (const each of lives) each.crash();
    },
    isAlive: () => lives.some((each) => each.isAlive),
    mutations: () => mutations,
    lastMutation: () => lastMutation,
    decisions: () => decisions,
  };
}

/** Every log line is read for secrets and dropped. */
function inspectedLog(invariants: Invariants): Logger {
  const look = (fields: LogFields, message: string): void =>
    invariants.inspectText("a log line", `${message} ${JSON.stringify(fields, errorsAsText)}`);
  const log: Logger = { debug: look, info: look, warn: look, error: look, child: () => log };
  return log;
}

function errorsAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.message} ${value.stack ?? ""}` : value;
}

interface Goal {
  start(): Promise<void>;
  isReady(): boolean;
  waitsFor(): string;
}

type Conditioned = KubeObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] };
};

/** Follows the applied objects by a watch, so that asking costs nothing. */
function watchGoal(truth: KubeTransport, scenario: Scenario): Goal {
  const kinds = scenario.shape === "cluster" ? ["TalosCluster"] : ["TalosControlPlane", ...(scenario.workers > 0 ? ["TalosWorker"] : [])];
  const seen = new Map<string, Conditioned>();
  const readyOf = (kind: string) => seen.get(kind)?.status?.conditions?.find((condition) => condition.type === "Ready");
  return {
    async start() {
      for (const kind of kinds) {
        const path = `/apis/talos.alperen.cloud/v1alpha1/namespaces/${NAMESPACE}/${pluralOf(kind)}`;
        const { events } = await truth.watch({ method: "GET", path, query: { watch: "true", resourceVersion: "0" } });
        void (async () => {
          for await (const { object } of events) {
            const conditioned = object as Conditioned;
            if ([CLUSTER_NAME, `${CLUSTER_NAME}-workers`].includes(conditioned.metadata?.name ?? "")) seen.set(kind, conditioned);
          }
        })();
      }
    },
    isReady: () => kinds.every((kind) => readyOf(kind)?.status === "True"),
    waitsFor: () => kinds.map((kind) => `${kind}: ${readyOf(kind)?.message ?? "no condition Ready"}`).join("; "),
  };
}

function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

async function createObject(transport: KubeTransport, path: string, body: unknown): Promise<void> {
  const answer = await transport.send({ method: "POST", path, body });
  if (answer.status >= 300)
    throw new Error(`the world could not be made: POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}
