import type { PlannedCrash } from "./fault.ts";
import type { RunResult } from "./run-result.ts";
import type { Scenario } from "./scenario.ts";
import type { TroubleKind } from "./troubles.ts";
import type { Step, Workload } from "./workload.ts";
import { createWorld, type World } from "./world.ts";
import type { PreparedWorld } from "./surroundings.ts";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";

/** What one run is. */
export interface RunOptions {
  readonly seed: number;
  readonly workload: Workload;
  /** Default: drawn from the seed. */
  readonly scenario?: Scenario;
  readonly crashes: readonly PlannedCrash[];
  readonly nuisanceRate: number;
  /** At once, each in its own time. */
  readonly troubles: readonly TroubleKind[];
  /** How to repeat this run, for people. */
  readonly replay: string;
  /** Virtual minutes of idleness checked after the goal. 0 skips the check. */
  readonly idleMinutes: number;
  /** `ready`: the edits begin on a cluster that is Ready; `birth`: the whole life is played, and the first edit may come before Ready. */
  readonly begin: "ready" | "birth";
  /** How often each effect takes place when nothing goes wrong; more than that and the faults is a violation. */
  readonly clean?: RunResult["effects"];
}

/** After this much virtual time nothing goes wrong any more. */
const FAULTS_END_MS = 10 * 60_000;
/** After an edit was reached, faults get this long to come late. */
const AFTER_GOAL_MS = 60_000;
/** From the last fault to the goal: boots, installs, a lease that must run out, and the wait of a new leader before it disrupts. */
const GOAL_WITHIN_MS = 60 * 60_000;
/** Latest begin of an edit that comes while the cluster is made; creations take about four minutes. */
const INTERRUPT_MS = 5 * 60_000;

/** The scenario of a run. */
function scenarioOf({ seed, workload, scenario }: Pick<RunOptions, "seed" | "workload" | "scenario">): Scenario {
  return scenario ?? workload.choose(createSeededRandom((seed * 16) >>> 0));
}

/** One life of one cluster, with everything that the plan has in store for it. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, workload } = options;
  const scenario = scenarioOf(options);
  const random = createSeededRandom((seed * 16 + 13) >>> 0);
  const steps = workload.steps(scenario, random);
  const from = steps.length > 0 && options.begin === "ready" && workload.isEarly !== true ? await prepared(scenario) : undefined;
  const world = await createWorld({ ...options, scenario, ...(from === undefined ? {} : { from }) });
  await world.start();
  const whole: readonly Step[] = from === undefined ? [birth, ...steps] : steps;
  const interruptAfter = workload.mayInterrupt === true && from === undefined ? Math.floor(random.fraction() * INTERRUPT_MS) : undefined;
  world.beginFaults();
  const reachedGoal = await play(world, whole, interruptAfter);
  if (world.isBroken() || !reachedGoal) return world.end(false);
  if (workload.endsDeleted !== true) await world.checkIdle(options.idleMinutes);
  await world.judgeBackups();
  await world.invariants.checkEnd(world.effectCounts(), options.clean);
  return world.end(!world.isBroken());
}

/** The first step of a life that begins with nothing: it was made by the start. */
const birth: Step = {
  what: "create",
  make: async () => undefined,
  isReached: (world) => world.isReady(),
};

/** What was given up may still come, and must not undo what an edit reached. A creation is too far ahead of it to be undone. */
function isLate(world: World, step: Step): boolean {
  return step !== birth && world.hasLateEffects();
}

/** @returns whether every step was reached; what was not is a violation */
async function play(world: World, steps: readonly Step[], interruptAfter: number | undefined): Promise<boolean> {
  const faultsEndAt = world.now() + FAULTS_END_MS * Math.max(1, steps.length);
  for (const [index, step] of steps.entries()) {
    if (step !== birth) world.trace(`step ${step.what}`);
    try {
      await step.make(world);
    } catch (thrown) {
      world.report("Own", `"${step.what}" could not be done: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      return false;
    }
    if (step === birth && interruptAfter !== undefined) {
      await world.time.runUntil(() => world.isBroken() || world.isReady(), interruptAfter);
      continue;
    }
    const isLast = index === steps.length - 1;
    // A broken world says nothing more that is worth the time.
    const isDone = (): boolean =>
      world.isBroken() || (step.isReached(world) && (!isLast || step !== birth || (world.plan.isSpent && world.isTroubleOver())));
    if (await world.time.runUntil(isDone, Math.max(0, faultsEndAt - world.now()))) {
      if (world.isBroken()) return false;
      if (step === birth) world.stage.wasReady = true;
      if (!isLast) continue;
      await world.time.runUntil(() => world.isBroken() || (world.plan.isSpent && world.isTroubleOver()), AFTER_GOAL_MS);
    }
    world.endFaults();
    await world.time.runUntil(
      () => world.isBroken() || (step.isReached(world) && world.isOperatorAlive() && world.isTroubleOver() && !isLate(world, step)),
      GOAL_WITHIN_MS,
    );
    if (world.isBroken()) return false;
    if (step.isReached(world)) continue;
    world.report("Li1", `"${step.what}" was not reached ${GOAL_WITHIN_MS / 60_000} minutes after the last fault: ${world.waitsFor()}`);
    return false;
  }
  return true;
}

const preparations = new Map<string, Promise<PreparedWorld>>();

/** A cluster that is Ready and idle, made once for each scenario of this process: the same one whatever ran before. */
function prepared(scenario: Scenario): Promise<PreparedWorld> {
  const key = JSON.stringify(scenario);
  const known = preparations.get(key);
  if (known !== undefined) return known;
  const made = prepare(scenario);
  preparations.set(key, made);
  return made;
}

async function prepare(scenario: Scenario): Promise<PreparedWorld> {
  const world = await createWorld({ seed: 7, scenario, crashes: [], nuisanceRate: 0, troubles: [], replay: "" });
  await world.start();
  await world.time.runUntil(() => world.isBroken() || world.isReady());
  // Nodes, events and summaries settle.
  await world.time.advance(60_000);
  if (!world.isReady() || world.isBroken()) {
    const broken = world.end(false).violations.map(({ invariant, detail }) => `${invariant} ${detail}`);
    throw new Error(`a cluster without any fault did not become Ready: ${[...broken, world.waitsFor()].join("; ")}`);
  }
  const snapshot = world.snapshot();
  world.end(true);
  return snapshot;
}
