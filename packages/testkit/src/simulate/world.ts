import type { VirtualTime } from "@talos-operator/kube-runtime/testing";
import { createAddons } from "./addons/index.ts";
import { createBackups } from "./backups/index.ts";
import { createComposed, type Composed } from "./composed.ts";
import { judgeConditions } from "./condition-rules.ts";
import { createEdits } from "./edits.ts";
import type { EffectId } from "./effects.ts";
import { createFaultPlan, type FaultPlan, type PlannedCrash } from "./fault.ts";
import { createInvariants, READ_JUST_BEFORE_MS, type Invariants } from "./invariants.ts";
import { createLifeTroubles } from "./life-troubles.ts";
import { machineEffectsOf } from "./machine-effects.ts";
import { createObjectView } from "./object-view.ts";
import { createOperators } from "./operators.ts";
import { watchOver } from "./person.ts";
import { emptyCounts, type EffectCounts, type RunResult } from "./run-result.ts";
import { CLUSTER_NAME, firstDesired, isComposed, NAMESPACE, WORKERS_NAME, type Desired, type Scenario } from "./scenario.ts";
import { createStage } from "./stage.ts";
import { createSurroundings, type PreparedWorld } from "./surroundings.ts";
import { createToldRules } from "./told-rules/index.ts";
import { toldInLives } from "./told-rules/in-lives.ts";
import { createTrace } from "./trace.ts";
import type { TroubleKind } from "./troubles.ts";
import type { Violation } from "./violation.ts";
import type { EditableWorld } from "./workload.ts";

/** What a world is made of. */
export interface WorldOptions {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly crashes: readonly PlannedCrash[];
  readonly nuisanceRate: number;
  /** At once, each in its own time. */
  readonly troubles: readonly TroubleKind[];
  /** How to repeat this run, for people. */
  readonly replay: string;
  /** A cluster that is Ready already; otherwise it is made from nothing. */
  readonly from?: PreparedWorld;
}

/** One cluster's world, with everything that the plan has in store for it. */
export interface World extends EditableWorld {
  readonly time: VirtualTime;
  readonly plan: FaultPlan;
  readonly invariants: Invariants;
  /** Applies the first objects where there is no cluster yet, and starts an operator. */
  start(): Promise<void>;
  /** From now on faults and trouble come. */
  beginFaults(): void;
  /** From now on nothing goes wrong any more; a trouble that has not begun never does. */
  endFaults(): void;
  /** An invariant was violated. */
  isBroken(): boolean;
  isOperatorAlive(): boolean;
  /** Something that was sent and given up is still going to take place. */
  hasLateEffects(): boolean;
  isTroubleOver(): boolean;
  waitsFor(): string;
  report(invariant: string, detail: string): void;
  trace(line: string): void;
  /** Virtual idleness: nothing is written and no machine is sent anything. */
  checkIdle(minutes: number): Promise<void>;
  /** What is stored, once nobody works on it any more. */
  judgeBackups(): Promise<void>;
  effectCounts(): ReadonlyMap<EffectId, EffectCounts>;
  snapshot(): PreparedWorld;
  end(reachedGoal: boolean): RunResult;
}

/** An object that contains others says what they say some seconds later, and repeats of an event are counted for a minute. */
const SETTLES_MS = 130_000;

/** Creations with realistic machines take about four minutes: a trouble begins in that time. */
const LATEST_TROUBLE_MS = 200_000;

/** Makes a world; nothing happens in it before `start`. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed, scenario, from } = options;
  const surroundings = await createSurroundings(seed, scenario, from);
  const { time, clock, stream, keys, truth, client, datacenter, workload } = surroundings;
  const ports = { clock, timers: time.timers };
  const begunAt = time.now();
  const trace = createTrace(() => time.now());
  const violations: Violation[] = [];
  const report = (invariant: string, detail: string): void => {
    // The first of its kind tells the story; a broken world repeats itself at every step.
    if (violations.some((known) => known.invariant === invariant)) return;
    trace.add(`VIOLATION ${invariant} ${detail}`);
    violations.push({ seed, step: trace.length, invariant, detail, replay: options.replay, trace: trace.tail(25) });
  };
  const stage = createStage(beginning(scenario, from), scenario.deletionPolicy, from === undefined);
  const objects = createObjectView(truth, {
    isComposed: isComposed(scenario),
    hasBackups: scenario.hasBackups === "controllers",
    hasAddons: scenario.hasAddons === true,
  });
  const composed: Composed | undefined = !isComposed(scenario)
    ? undefined
    : createComposed({
        ...ports,
        client,
        objects,
        datacenter,
        stage,
        mood: scenario.provider ?? "prompt",
        random: stream(12),
        ...(from?.composed === undefined ? {} : { from: from.composed }),
      });
  const effects = new Map<EffectId, EffectCounts>();
  const count = (effect: EffectId): EffectCounts => {
    const known = effects.get(effect);
    if (known !== undefined) return known;
    const fresh = emptyCounts();
    effects.set(effect, fresh);
    return fresh;
  };
  const invariants = createInvariants({
    truth,
    datacenter,
    stage,
    composed,
    objects,
    workload,
    now: () => clock.now(),
    steadyNow: () => time.now(),
    describeSpki: (certificate) => keys.describeCertificate(certificate).spki,
    report,
  });
  const routes = stage.routes;
  const told = toldInLives(
    createToldRules({ objects, datacenter, routes }, () => time.now(), report),
    stage,
    () => time.now(),
  );
  const plan = createFaultPlan({
    random: stream(5),
    crashes: options.crashes,
    nuisanceRate: options.nuisanceRate,
    onFault: (effect, fault) => {
      count(effect)[fault] += 1;
      told.disturbed();
      trace.add(`fault ${fault} ${effect}`);
    },
  });
  const backups =
    scenario.hasBackups === undefined
      ? undefined
      : createBackups({
          ...ports,
          objects: scenario.hasBackups === "controllers" ? objects : undefined,
          client,
          stream,
          keys: invariants.secrets.keys(keys),
          datacenter,
          plan,
          secrets: invariants.secrets,
          stage,
          trace,
          count,
          report,
        });
  const asked = backups?.asked;
  const isPaused = (): boolean => stage.pausedSince !== undefined && clock.now() - stage.pausedSince > READ_JUST_BEFORE_MS;
  const addons =
    scenario.hasAddons === undefined
      ? undefined
      : createAddons({ ...ports, objects, stream, plan, secrets: invariants.secrets, trace, count, report, isPaused });
  const operators = createOperators({
    time,
    worldClock: clock,
    stream,
    keys,
    truth,
    datacenter,
    managed: surroundings.managed,
    plan,
    invariants,
    trace,
    count,
    report,
    stage,
    told,
    ...(composed === undefined ? {} : { files: composed.files }),
    ...(asked === undefined ? {} : { runnerFor: (life) => asked.runnerFor(life) }),
    ...(addons === undefined ? {} : { addonsFor: (life) => addons.runnerFor(life) }),
    firstOperator: from === undefined ? 1 : 1001,
  });
  const edits = createEdits({
    scenario,
    stage,
    truth,
    composed,
    trace,
    now: () => time.now(),
    keysMade: () => effects.get("K1")?.tookEffect ?? 0,
  });
  const troubles = createLifeTroubles(
    options.troubles,
    (kind, index) => ({
      client,
      kind,
      latestMs: LATEST_TROUBLE_MS / surroundings.quicker,
      random: stream(15 + 16_000 * index),
      timers: time.timers,
      datacenter,
      scenario,
      pauseOperator: (ms) => operators.pause(ms),
      beforeSend: (effect, n, act) => operators.beforeSend(effect, n, act),
      holdOperator: () => operators.hold(),
      startOperator: () => operators.start(0),
      setClock: (skewMs) => operators.setClock(skewMs),
      setWorldClock: (ms) => surroundings.setClock(ms),
      plan,
      tookEffect: (effect, n) => operators.tookEffect(effect, n),
      keys,
      now: () => clock.now(),
      stage,
      failHelm: (isFailing) => addons?.fail(isFailing),
      garbleStore: (isGarbling) => backups?.garble(isGarbling),
      tamperBackup: () => backups?.tamper(stream(13)),
      trace: (line) => trace.add(line),
    }),
    report,
  );

  return {
    scenario,
    time,
    datacenter,
    client,
    objects,
    composed,
    backups: backups?.standIn,
    askedBackups: asked,
    addons,
    stage,
    timers: time.timers,
    random: stream(14),
    plan,
    invariants,
    now: () => time.now(),
    workload,
    edit: (change) => edits.edit(change),
    remove: () => edits.remove(),
    applyAgain: (change, isNew) => edits.applyAgain(change, isNew),
    async start() {
      if (from === undefined) await edits.create();
      await objects.start();
      operators.start(0);
    },
    beginFaults() {
      plan.begin();
      watchOver({
        objects,
        client,
        datacenter,
        keys,
        now: () => clock.now(),
        timers: time.timers,
        stage,
        apply: (desired) => edits.overwrite(desired),
        trace: (line) => trace.add(line),
        isUntroubled: options.troubles.length === 0,
      });
      if (options.troubles.length > 0) troubles.begin();
    },
    endFaults() {
      plan.stop();
      // A life from the beginning meets every effect that a trouble waits for.
      if (from !== undefined && troubles.forgetWaiting()) operators.forgetWaits();
    },
    endOperators: () => operators.end(),
    isReady: () => stage.desired !== undefined && edits.applied().every(({ plural, name }) => objects.isReady(plural, name)),
    took: (effect) => effects.get(effect)?.tookEffect ?? 0,
    replaceOperator: () => operators.replace(),
    isTroubleOver: () => troubles.areOver(),
    isBroken: () => violations.length > 0,
    isOperatorAlive: () => operators.isAlive(),
    hasLateEffects: () => operators.hasLateEffects(),
    waitsFor: () =>
      [
        ["kubernetesclusters", CLUSTER_NAME],
        ["talosclusters", CLUSTER_NAME],
        ["taloscontrolplanes", CLUSTER_NAME],
        ["talosworkers", WORKERS_NAME],
      ]
        .filter(([plural = "", name = ""]) => objects.get(plural, name) !== undefined)
        .map(([plural = "", name = ""]) => `${plural}: ${objects.waitsFor(plural, name)}`)
        .concat(asked?.waitsFor() ?? [], addons?.waitsFor() ?? [])
        .join("; "),
    report,
    trace: (line) => trace.add(line),
    async checkIdle(minutes) {
      if (minutes === 0) return;
      // The time after Ready belongs to the rollout: summaries settle, and how often an event was repeated is written a minute after it.
      await time.advance(SETTLES_MS);
      const before = operators.mutations();
      await time.advance(minutes * 60_000);
      const writes = operators.mutations() - before;
      judgeConditions(objects, report);
      if (writes > 0) report("Li2", `${writes} writes or mutating calls in ${minutes} idle minutes: ${operators.lastMutation()}`);
    },
    effectCounts: () => effects,
    snapshot() {
      operators.stop();
      return { ...surroundings.content(), ...(composed === undefined ? {} : { composed: composed.content() }) };
    },
    judgeBackups: async () => backups?.judge((ms) => time.advance(ms)),
    end(reachedGoal) {
      operators.stop();
      backups?.stop();
      composed?.close();
      surroundings.close();
      return {
        seed,
        violations,
        reachedGoal,
        virtualMs: time.now() - begunAt,
        decisions: operators.decisions(),
        effects,
        traceHash: trace.hash(),
        machineEffects: machineEffectsOf(trace.lines()),
      };
    },
  };
}

/** What is wanted when a world begins: of provided machines those that were given. */
function beginning(scenario: Scenario, from: PreparedWorld | undefined): Desired {
  const desired = firstDesired(scenario);
  const given = [...(from?.composed?.given ?? [])];
  const addresses = (isControlPlane: boolean): readonly string[] =>
    given.filter(([key]) => key.startsWith(`${NAMESPACE}/${CLUSTER_NAME}-cp-`) === isControlPlane).map(([, address]) => address);
  return given.length === 0 ? desired : { ...desired, controlPlanes: addresses(true), workers: addresses(false) };
}
