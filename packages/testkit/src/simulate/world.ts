import { crds, type CustomResourceDefinition } from "@talos-operator/api";
import { createApiServer, type Store, type StoreContent } from "@talos-operator/apiserver";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime, type VirtualTime } from "@talos-operator/kube-runtime/testing";
import type { KubeTransport, RandomSource } from "@talos-operator/ports";
import {
  createDatacenter,
  realisticTimings,
  type Datacenter,
  type DatacenterSnapshot,
  type EtcdDatabase,
  type Timings,
} from "@talos-operator/simulator";
import { copiedStore } from "../world/copied-store.ts";
import { storedCrds } from "../world/stored-crds.ts";
import { createValueKeys } from "../world/value-keys.ts";
import { createDialledWorkloads } from "../world/dialled-workloads.ts";
import { createAddons } from "./addons/index.ts";
import { createBackups } from "./backups/index.ts";
import { createComposed, type Composed, type ComposedContent } from "./composed.ts";
import { judgeConditions } from "./condition-rules.ts";
import type { EffectId } from "./effects.ts";
import { createFaultPlan, type FaultPlan, type PlannedCrash } from "./fault.ts";
import { createInvariants, READ_JUST_BEFORE_MS, type Invariants } from "./invariants.ts";
import { machineEffectsOf } from "./machine-effects.ts";
import { createObjectView, pathOf } from "./object-view.ts";
import { createOperators } from "./operators.ts";
import { emptyCounts, type EffectCounts, type RunResult } from "./run-result.ts";
import type { Violation } from "./violation.ts";
import {
  addressesOf,
  CLUSTER_NAME,
  firstDesired,
  isComposed,
  NAMESPACE,
  WORKERS_NAME,
  type Desired,
  type Scenario,
  sharedUuid,
} from "./scenario.ts";
import { manifestOf } from "./manifest.ts";
import { watchOver } from "./person.ts";
import { createStage } from "./stage.ts";
import { createToldRules } from "./told-rules/index.ts";
import { toldInLives } from "./told-rules/in-lives.ts";
import { createTrace } from "./trace.ts";
import { makeTrouble, type TroubleKind } from "./troubles.ts";
import { LATER_FIELD } from "./troubles/input.ts";
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

/** A world whose cluster is Ready and idle, to begin others from. */
export interface PreparedWorld {
  readonly at: number;
  readonly objects: StoreContent;
  readonly workloads: ReadonlyMap<string, StoreContent>;
  readonly datacenter: DatacenterSnapshot;
  /** What was provided for a KubernetesCluster. */
  readonly composed?: ComposedContent;
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

/** How much quicker quick machines boot, install and start. */
const QUICKER = 8;
const quickTimings: Timings = {
  ...(Object.fromEntries(Object.entries(realisticTimings).map(([name, ms]) => [name, Math.ceil(ms / QUICKER)])) as unknown as Timings),
  nodeLostMs: realisticTimings.nodeLostMs,
  // The network is the same: rounded up, its halves would take longer than the whole, and answers would come too late.
  callMs: realisticTimings.callMs,
};

/** The kinds of every world. */
const installed = crds.map(withLaterField);

/** The CRD that a newer release left behind: it knows a field more than this one. */
function withLaterField(crd: CustomResourceDefinition): CustomResourceDefinition {
  if (crd.spec.names.kind !== "ClusterRecord") return crd;
  const later = structuredClone(crd) as unknown as { spec: { versions: { schema: { openAPIV3Schema: JsonObject } }[] } };
  for (const { schema } of later.spec.versions) {
    const known = at(schema.openAPIV3Schema, "properties", "spec", "properties", "knownControlPlanes", "items", "properties");
    known[LATER_FIELD] = { type: "string", maxLength: 64 };
  }
  return later as unknown as CustomResourceDefinition;
}

type JsonObject = Record<string, unknown>;

function at(object: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce((inner, name) => inner[name] as JsonObject, object);
}

/** Makes a world; nothing happens in it before `start`. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const { scenario, from } = options;
  const time = createVirtualTime(from?.at);
  const begunAt = time.now();
  // Independent streams: what one part draws does not shift what another part meets.
  const stream = (n: number): RandomSource => createSeededRandom((options.seed * 16 + n) >>> 0);
  const trace = createTrace(() => time.now());
  const keys = createValueKeys(stream(1));
  let aheadMs = 0;
  // Timers go on as they are when everybody's clock is set.
  const clock = { now: () => time.now() + aheadMs };
  const ports = { clock, timers: time.timers };
  const store = copiedStore(from?.objects ?? (await storedCrds(installed)));
  const api = await createApiServer({ store, ...ports, random: stream(2) });
  const truth = api.transport({ name: "system:simulation", groups: ["system:masters"] });
  const client = createKubeClient(truth);
  const { controlPlanes, workers, spares } = addressesOf(scenario);
  const workloads = new Map<string, Store>([...(from?.workloads ?? [])].map(([key, content]) => [key, copiedStore(content)]));
  // Three of four worlds have quick machines: what waits for nothing but a boot shows nothing, and costs the most.
  const isQuick = Math.floor(options.seed / 2) % 4 !== 3;
  const isConnected = (address: string): boolean => isUp(datacenter, address);
  const etcd = (key: string): EtcdDatabase | undefined => datacenter.etcdDatabase(key);
  const dialled = createDialledWorkloads({ ...ports, random: stream(4), keys, isConnected, etcd }, workloads);
  const datacenter = createDatacenter({
    ...ports,
    random: stream(3),
    keys,
    machines: [...controlPlanes, ...workers, ...spares].map((address) => ({
      address,
      talosVersion: scenario.talosVersion,
      ...sharedUuid(scenario),
      ...(scenario.platform === undefined ? {} : { platform: scenario.platform }),
    })),
    timings: isQuick ? quickTimings : realisticTimings,
    workload: dialled.api,
    ...(from === undefined ? {} : { snapshot: from.datacenter }),
  });

  const workload = (): KubeClient | undefined => {
    const transport = dialled.transport();
    return transport === undefined ? undefined : createKubeClient(transport);
  };

  const violations: Violation[] = [];
  const report = (invariant: string, detail: string): void => {
    // The first of its kind tells the story; a broken world repeats itself at every step.
    if (violations.some((known) => known.invariant === invariant)) return;
    trace.add(`VIOLATION ${invariant} ${detail}`);
    violations.push({ seed: options.seed, step: trace.length, invariant, detail, replay: options.replay, trace: trace.tail(25) });
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
    workloads: dialled.dialer,
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
  /** Where each trouble stands that is not over. */
  const going = new Map(options.troubles.map((kind): [TroubleKind, "waits" | "goes-on"] => [kind, "waits"]));

  let lastApplied: { readonly desired: Desired | undefined; readonly manifest: ReturnType<typeof manifestOf> } | undefined;
  /** Asked after every timer; what is desired is replaced and never changed. */
  const applied = (): ReturnType<typeof manifestOf> => {
    const { desired } = stage;
    if (lastApplied === undefined || lastApplied.desired !== desired)
      lastApplied = { desired, manifest: manifestOf(scenario, desired ?? firstDesired(scenario)) };
    return lastApplied.manifest;
  };
  const send = async (method: "DELETE" | "PATCH", path: string, body?: unknown): Promise<void> => {
    const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const answer = await truth.send({ method, path, body, headers });
    if (answer.status >= 300)
      throw new Error(`an edit failed: ${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };

  const letGo = async (): Promise<void> => {
    for (const takeAway of stage.beforeLettingGo) await takeAway();
  };

  const world: World = {
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
    async start() {
      if (from === undefined) for (const { plural, body } of applied()) await createObject(truth, pathOf(plural), body);
      await objects.start();
      operators.start(0);
    },
    beginFaults() {
      plan.begin();
      if (options.troubles.length === 0) return;
      watchOver({
        objects,
        client,
        datacenter,
        keys,
        now: () => clock.now(),
        timers: time.timers,
        stage,
        apply: async (desired) => {
          for (const { plural, name, body } of manifestOf(scenario, desired)) await send("PATCH", pathOf(plural, name), body);
        },
        trace: (line) => trace.add(line),
      });
      for (const [index, kind] of options.troubles.entries())
        void makeTrouble({
          client,
          kind,
          latestMs: isQuick ? LATEST_TROUBLE_MS / QUICKER : LATEST_TROUBLE_MS,
          random: stream(15 + 16_000 * index),
          timers: time.timers,
          datacenter,
          scenario,
          pauseOperator: (ms) => operators.pause(ms),
          beforeSend: (effect, n, act) => operators.beforeSend(effect, n, act),
          holdOperator: () => operators.hold(),
          startOperator: () => operators.start(0),
          setClock: (skewMs) => operators.setClock(skewMs),
          setWorldClock: (ms) => {
            aheadMs = ms;
          },
          plan,
          tookEffect: (effect, n) => operators.tookEffect(effect, n),
          keys,
          now: () => clock.now(),
          stage,
          failHelm: (isFailing) => addons?.fail(isFailing),
          garbleStore: (isGarbling) => backups?.garble(isGarbling),
          tamperBackup: () => backups?.tamper(stream(13)),
          trace: (line) => {
            if (line.startsWith("trouble") && going.has(kind)) going.set(kind, "goes-on");
            trace.add(line);
          },
        }).then(
          () => {
            going.delete(kind);
          },
          (error: unknown) => report("Own", error instanceof Error ? error.message : String(error)),
        );
    },
    endFaults() {
      plan.stop();
      // A life from the beginning meets every effect that a trouble waits for.
      const waiting = [...going].filter(([, state]) => state === "waits");
      if (waiting.length === 0 || from === undefined) return;
      operators.forgetWaits();
      for (const [kind] of waiting) going.delete(kind);
    },
    async edit(change) {
      const before = new Map(applied().map((one) => [one.plural, one]));
      const desired: Desired = { ...(stage.desired ?? firstDesired(scenario)), ...change };
      const stays = new Set([...desired.controlPlanes, ...desired.workers]);
      if ([...(stage.desired?.controlPlanes ?? []), ...(stage.desired?.workers ?? [])].some((one) => !stays.has(one))) await letGo();
      const wanted = new Set([...(stage.desired?.controlPlanes ?? []), ...(stage.desired?.workers ?? [])]);
      stage.mayConfigure += [...desired.controlPlanes, ...desired.workers].filter((address) => !wanted.has(address)).length;
      stage.desired = desired;
      if ("mode" in change) stage.pausedSince = undefined;
      for (const address of desired.controlPlanes) stage.everControlPlanes.add(address);
      for (const address of [...desired.controlPlanes, ...desired.workers]) stage.everMachines.add(address);
      composed?.follow();
      trace.add(`edit ${JSON.stringify(change)}`);
      const after = applied();
      for (const { plural, name } of before.values())
        if (!after.some((one) => one.plural === plural)) await send("DELETE", pathOf(plural, name));
      for (const { plural, name, body } of after) {
        if (!before.has(plural)) await createObject(truth, pathOf(plural), body);
        else await send("PATCH", pathOf(plural, name), mergePatch(before.get(plural)?.body, body));
      }
    },
    async remove() {
      const names = applied();
      await letGo();
      stage.desired = undefined;
      trace.add("edit: delete");
      for (const { plural, name } of names) await send("DELETE", pathOf(plural, name));
      stage.deletedSince = time.now();
    },
    async applyAgain(change, isNew) {
      const desired = { ...firstDesired(scenario), ...change };
      stage.desired = desired;
      stage.pausedSince = undefined;
      stage.deletedSince = undefined;
      for (const address of [...desired.controlPlanes, ...desired.workers]) stage.everMachines.add(address);
      if (isNew) {
        stage.generation += 1;
        stage.keysNeverMade = stage.mayMakeKeys - world.took("K1");
        stage.mayMakeKeys += 1;
        stage.mayConfigure += desired.controlPlanes.length + desired.workers.length;
        stage.wasReady = false;
        // It makes keys of its own; those of the one before are nobody's any more.
        stage.bundleGoneSince = undefined;
      }
      trace.add(`apply again ${JSON.stringify(change)}`);
      for (const { plural, body } of applied()) await createObject(truth, pathOf(plural), body);
    },
    endOperators: () => operators.end(),
    isReady: () => stage.desired !== undefined && applied().every(({ plural, name }) => objects.isReady(plural, name)),
    took: (effect) => effects.get(effect)?.tookEffect ?? 0,
    replaceOperator: () => operators.replace(),
    isTroubleOver: () => going.size === 0,
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
      return {
        at: time.now(),
        objects: store.load(),
        workloads: new Map([...workloads].map(([key, one]) => [key, one.load()])),
        datacenter: datacenter.snapshot(),
        ...(composed === undefined ? {} : { composed: composed.content() }),
      };
    },
    judgeBackups: async () => backups?.judge((ms) => time.advance(ms)),
    end(reachedGoal) {
      operators.stop();
      backups?.stop();
      composed?.close();
      void datacenter.close();
      api.close();
      return {
        seed: options.seed,
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
  return world;
}

/** What is wanted when a world begins: of provided machines those that were given. */
function beginning(scenario: Scenario, from: PreparedWorld | undefined): Desired {
  const desired = firstDesired(scenario);
  const given = [...(from?.composed?.given ?? [])];
  const addresses = (isControlPlane: boolean): readonly string[] =>
    given.filter(([key]) => key.startsWith(`${NAMESPACE}/${CLUSTER_NAME}-cp-`) === isControlPlane).map(([, address]) => address);
  return given.length === 0 ? desired : { ...desired, controlPlanes: addresses(true), workers: addresses(false) };
}

/** The machine at an address is on and on the network; whatever is no machine, as a virtual address, is there. */
function isUp(datacenter: Datacenter, address: string): boolean {
  const state = datacenter.machines().find((machine) => machine.address === address)?.state;
  return state === undefined || (state.power === "on" && state.isConnected);
}

/** A merge patch that turns one object into another: what is not in the second becomes `null`. */
function mergePatch(before: unknown, after: unknown): unknown {
  if (!isPlain(before) || !isPlain(after)) return after;
  const gone = Object.keys(before).filter((key) => !(key in after));
  return {
    ...Object.fromEntries(gone.map((key) => [key, null])),
    ...Object.fromEntries(Object.entries(after).map(([key, value]) => [key, mergePatch(before[key], value)])),
  };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function createObject(transport: KubeTransport, path: string, body: unknown): Promise<void> {
  const answer = await transport.send({ method: "POST", path, body });
  if (answer.status >= 300)
    throw new Error(`the world could not be made: POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}
