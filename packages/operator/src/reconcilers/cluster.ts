import { isDeepStrictEqual } from "node:util";
import { talosControlPlaneResource } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { createController, keyText, toOwner, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, KubeApiError, KubeClient, ObjectKey, ReconcileContext, ReconcileResult } from "@talos-operator/kube-runtime";
import { elapsedMs } from "../elapsed.ts";
import { isEffectError } from "../errors.ts";
import { findBundles } from "../procedures/import/found-bundles.ts";
import { agreedBundle } from "../procedures/import/import-sources.ts";
import { LookGate } from "../looking/look-gate.ts";
import { Turnstile } from "../looking/turnstile.ts";
import { createAccessStore } from "../secrets/access-store.ts";
import { createBundleStore } from "../secrets/bundle-store.ts";
import { commonOptions } from "../controllers/shared/controller-ports.ts";
import { specOrMetadataChanged } from "../controllers/shared/predicates.ts";
import { isRefusedWrite, withRefusal } from "../controllers/shared/refused-write.ts";
import { createStatusWriter } from "../controllers/shared/status-writer.ts";
import { ANSWERS_AGAIN_MS, areStale } from "./answers.ts";
import { FIELD_MANAGER } from "./brain.ts";
import type { Brain, BrainOptions } from "./brain.ts";
import { carryOut, isExpected } from "./carry-out.ts";
import { clusterFigures, Clusters } from "./clusters.ts";
import type { Cluster } from "./clusters.ts";
import { upgradeStatusOf, upgradesUnderWay } from "../report/upgrade-progress.ts";
import { stoppedMachines } from "../procedures/join/plan.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { assess } from "../assess/assess.ts";
import { decide, defaultRules } from "../decide.ts";
import { firstTurnMs } from "./first-turn.ts";
import { machinesToChange } from "../report/open-effects.ts";
import { poolCompositions } from "../procedures/compose/pool-composition.ts";
import { poolStates } from "../report/pool-state.ts";
import { LateRecords } from "../record/late-records.ts";
import { objectsActedOn } from "../effects/objects-acted-on.ts";
import { planPools } from "../planning/pool-plans.ts";
import { see, subjectOf } from "../observe/see.ts";
import type { Sight, Subject } from "../observe/see.ts";
import { ClusterSession } from "./cluster-session.ts";
import { lookAhead } from "./look-ahead.ts";
import { Surroundings } from "../observe/surroundings.ts";
import { snapshotWatches } from "../disruption/snapshot-watches.ts";
import { tellDecided } from "../report/tell-decided.ts";
import { tell, tellHeldRecord } from "../report/tell.ts";
import type { Decision } from "../model/decision.ts";
import type { MachineName } from "../model/machine.ts";
import type { Assessment } from "../model/assessment.ts";

/** A pass that acted says nothing, for the next one follows at once; one that took so long does. Milliseconds. */
const SLOW_PASS_MS = 5_000;

/** How often a pass that only does again what the one before did to the same objects is repeated. Milliseconds. */
const CACHE_BEHIND_MS = 1_000;

/** After a failure that the next look answers, it is looked again so soon. Milliseconds. */
const AFTER_FAILURE_MS = 100;

/** Machines of a cluster that is new to this process answer within moments of each other: what is sent to them is written down once for all. Milliseconds. */
const FIRST_LOOKS_TOGETHER_MS = 25;

/** Configurations that are read back at once in the whole process; each takes a connection and some milliseconds of work. */
const CONFIG_READINGS = 16;

/** Starts the brain: each pass sees, decides, acts and tells, about one cluster, from nothing but what it finds. */
export function createBrain(options: BrainOptions): Brain {
  const { client, clock, controlPlanes, workers, machines, random } = options;
  const access = createAccessStore(client, options.keys, FIELD_MANAGER);
  const bundles = createBundleStore(client);
  const statuses = createStatusWriter<TalosControlPlane>(client, talosControlPlaneResource, clock, FIELD_MANAGER, options.events);
  const surroundings = new Surroundings(options);
  const rules = options.rules ?? defaultRules;
  const openSession = sessionOpener(options, (key, afterMs) => controller.enqueue(key, afterMs));
  const clusters = new Clusters(openSession);
  const lateRecords = new LateRecords(options, bundles);

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult | undefined> => {
    const stored = controlPlanes.store.get(key);
    const pools = workers.store.byIndex("controlPlane", keyText(key));
    const subject = subjectOf(stored, pools, surroundings.triedCluster(key, stored));
    if (subject === undefined) {
      clusters.forget(key);
      options.references.forget(`brain ${keyText(key)}`);
      statuses.forget(keyText(key));
      const againMs = await lateRecords.remove(key, undefined);
      return againMs === undefined ? undefined : { requeueAfterMs: againMs };
    }
    const { controlPlane } = subject;
    if (clusters.isFirstTurn(key)) {
      const requeueAfterMs = firstTurnMs(controlPlane, pools, controlPlanes.store.size, random.fraction());
      if (requeueAfterMs > 0) return { requeueAfterMs };
    }
    const cluster = clusters.of(key, controlPlane.metadata.uid ?? "");
    const { session } = cluster;
    await lateRecords.remove(key, cluster.uid);
    const wakeAfterReading = (): void => {
      // What an open effect is waiting for is never put off: a trial ends by itself.
      controller.enqueue(key, 0, hasOpenEffect(clusters.get(key)) ? "normal" : "low");
    };
    const ports = { bundles, access, wake: () => controller.enqueue(key), wakeAfterReading };

    context.note("observe");
    const sight = await see(subject, cluster, surroundings, options, ports);
    const { seen } = sight;
    const assessed = assess(seen);
    reportUnseen(cluster, clusters.saw(cluster, assessed));

    const decision = decide(assessed, rules);
    tellDecided(options, cluster, controlPlane, decision);
    cluster.decision = decision;
    lateRecords.decided(key, seen, decision);
    context.span.set({ rule: decision.rule });
    reportPlans(cluster, subject, sight);
    const toChange = machinesToChange(decision, seen);
    for (const name of newOfPools(cluster, assessed, decision, toChange)) options.onPoolState?.({ namespace: key.namespace, name });
    for (const name of newOfMachines(cluster, assessed, options)) options.onLook({ ...key, name }, session.machines.look(name));
    if (decision.actions.length > 0)
      options.log.debug({ ...nameOf(key), rule: decision.rule, actions: decision.actions.map((action) => action.kind) }, "Decided");
    const isSettled = decision.actions.length === 0 && decision.isMet === true && decision.isBusy !== true;
    session.machines.setPace(isSettled ? "settled" : "eager", new Set(cluster.facts?.intents.map(({ machine }) => machine)));
    if (!decision.actions.some(({ kind }) => kind === "AddFinalizer" || kind === "CreateBundle")) session.machines.watchPutOff();

    if (stored === undefined || toChange.size === 0) cluster.answersAwaitedSince = undefined;
    // Whoever reads "ready" now reads it of machines that are being changed.
    else if (await areStale(stored, options.parentsOf(stored, pools), { seen, decision, toChange, cluster, statuses, log: context.log }))
      return { requeueAfterMs: ANSWERS_AGAIN_MS, priority: "normal" };

    lookAhead(assessed, cluster, bundles, context.log);
    context.note("execute");
    const begunAt = clock.now();
    const failure = await carryOut(decision, seen, cluster, options, ports, context);

    context.note("status");
    tellHeldRecord(seen, session, options.events);
    // A machine that leaves a call unanswered is asked again at once: without this nothing would be said for as long as it does.
    const isSlow = elapsedMs(begunAt, clock.now()) >= SLOW_PASS_MS;
    // A cache that is behind asks for the same once more: until it has caught up a pass now and then is enough.
    const objects = objectsActedOn(decision.actions);
    const isRepeated = objects !== undefined && objects === cluster.actedOn;
    cluster.actedOn = objects;
    // A pass that acted is followed by another at once: that one says how it is.
    const isDone = decision.actions.length === 0 || failure !== undefined || session.accountKey.isBeingMade() || isSlow || isRepeated;
    const told = isRefusedWrite(failure) ? refused(decision, failure, controlPlane.metadata.generation) : decision;
    const wait = isDone && stored !== undefined ? await tell(stored, seen, told, cluster.facts, statuses, options.events) : undefined;
    if (failure !== undefined && !isExpected(failure)) throw failure;
    // What was begun goes on without waiting, though it waited for its turn to begin.
    const priority = decision.actions.length > 0 || hasOpenEffect(cluster) ? "normal" : undefined;
    // The key wakes the cluster when it is made.
    if (session.accountKey.isBeingMade()) return { requeueAfterMs: wait, priority };
    if (isEffectError(failure, "MODE_CHANGED") || (isRepeated && failure === undefined))
      return { requeueAfterMs: CACHE_BEHIND_MS, priority };
    if (decision.actions.length > 0) return { requeueAfterMs: failure === undefined ? 0 : AFTER_FAILURE_MS, priority };
    return { requeueAfterMs: sooner(wait, nextPassMs(decision, isSettled ? random.fraction() : 0)), priority };
  };

  /** Looks tell the reporter what machines show; what references give, that other hardware is written down for a machine, and that a change of it begins or ends, it hears from here. */
  const reportUnseen = ({ key, session, machines: now, facts }: Cluster, before: Pick<Cluster, "machines" | "facts">): void => {
    for (const [name, declared] of now) {
      const was = before.machines.get(name);
      const hasMoved = declared.reference !== undefined && declared.address !== was?.address;
      const macs = machineFact(before.facts, name)?.macs;
      const isOther = macs !== undefined && !isDeepStrictEqual(macs, machineFact(facts, name)?.macs);
      const isOpened = intentOn(facts, name)?.what !== intentOn(before.facts, name)?.what;
      if (declared.problem?.message !== was?.problem?.message || hasMoved || isOther || isOpened)
        options.onLook({ ...key, name }, session.machines.look(name));
    }
  };

  const reportPlans = (cluster: Cluster, { tried }: Subject, { unpaused, pauses }: Sight): void => {
    if (tried !== undefined) options.onPlan?.(tried.metadata);
    const before = cluster.poolPlans;
    cluster.poolPlans = planPools(unpaused, pauses, rules);
    for (const [name, plan] of cluster.poolPlans)
      if (before.get(name)?.hash !== plan.hash) options.onPoolPlan?.({ namespace: cluster.key.namespace, name });
  };

  const controller: Controller = createController({
    name: "taloscontrolplane",
    ...commonOptions(options),
    logFields: ({ name }) => ({ cluster: name }),
    workers: options.concurrency,
    backoff: { baseMs: 20, maxMs: 15_000 },
    reconcile,
    watches: [
      watchOf({
        informer: controlPlanes,
        why: "the control plane is the work item",
        predicate: (delta) => !statuses.isOwn(delta),
      }),
      watchOf({
        informer: options.talosClusters,
        why: "its annotation may pause the control plane it made",
        map: (cluster) => [{ namespace: cluster.metadata.namespace, name: cluster.metadata.name }],
        predicate: specOrMetadataChanged,
      }),
      watchOf({
        informer: workers,
        why: "a worker pool joins, changes or leaves",
        map: (worker) => surroundings.controlPlaneOf(worker),
        predicate: specOrMetadataChanged,
      }),
      watchOf({
        informer: machines,
        why: "a machine object of the control plane or of a pool appeared or goes",
        map: (machine) => [...toOwner("TalosControlPlane", talosControlPlaneResource.group)(machine), ...surroundings.clusterOf(machine)],
        predicate: specOrMetadataChanged,
      }),
      ...(options.snapshots === undefined ? [] : snapshotWatches(options.snapshots, options.talosClusters)),
    ],
  });

  const endFigures = options.figures?.showClusters(() => [...clusters.all()].map((cluster) => clusterFigures(cluster)));

  return {
    controller,
    machine: (key) => clusters.machine(key, clock.now()),
    lastDecision: (key) => clusters.get(key)?.decision,
    poolPlan: (key, worker) => clusters.get(key)?.poolPlans.get(worker),
    poolState: (key, worker) => clusters.get(key)?.poolStates.get(worker),
    poolComposition: (key, worker) => clusters.get(key)?.poolCompositions.get(worker),
    backupSourcesOf: (key) => {
      const sources = clusters.backupSources(key, clock.now());
      if (clusters.get(key)?.isUnread === true) controller.enqueue(key);
      return sources;
    },
    foundBundleOf: (key) => bundleFoundFor(client, controlPlanes.store.get(key), clusters.get(key)),
    snapshotEnded: (key) => {
      // A copy that still holds its claim would keep control planes waiting for as long as it counts as fresh.
      clusters.get(key)?.session.recordChanged();
      controller.enqueue(key);
    },
    lookAgain: () => {
      for (const { key } of clusters.all()) controller.enqueue(key);
    },
    close: () => {
      endFigures?.();
      clusters.close();
    },
  };
}

/** Keys that another operator left, where all places agree. */
async function bundleFoundFor(client: KubeClient, controlPlane: TalosControlPlane | undefined, cluster: Cluster | undefined) {
  if (controlPlane === undefined) return undefined;
  return agreedBundle(controlPlane, await findBundles(client, controlPlane, { written: cluster?.importing?.written }));
}

/**
 * Takes why nothing is sent to machines, and where they stand on their way to another Talos: both follow from spec and record as much as from the machine, and no look
 * tells them.
 *
 * @returns names of those of which it is something new
 */
function newOfMachines(cluster: Cluster, assessed: Assessment, { figures }: Pick<BrainOptions, "figures">): ReadonlySet<string> {
  const { stopped, upgrades } = cluster;
  cluster.stopped = stoppedMachines(assessed);
  cluster.upgrades = upgradesUnderWay(assessed);
  cluster.upgradeStatus = upgradeStatusOf(assessed, assessed.seen.machines);
  cluster.stages.saw(cluster.upgrades, assessed.seen.now, figures);
  const all = [stopped, cluster.stopped, upgrades, cluster.upgrades].flatMap((told) => [...told.keys()]);
  const isNew = (name: string): boolean =>
    stopped.get(name)?.message !== cluster.stopped.get(name)?.message || upgrades.get(name)?.stage !== cluster.upgrades.get(name)?.stage;
  return new Set(all.filter(isNew));
}

/** Takes what a pass concluded about worker pools. @returns names of those of which it is something new */
function newOfPools(cluster: Cluster, assessed: Assessment, decision: Decision, toChange: ReadonlySet<MachineName>): readonly string[] {
  const { poolStates: states, poolCompositions: compositions } = cluster;
  cluster.poolStates = poolStates(assessed, toChange);
  cluster.poolCompositions = poolCompositions(assessed.seen, decision);
  return [...cluster.poolCompositions.keys()].filter(
    (name) =>
      !isDeepStrictEqual(states.get(name), cluster.poolStates.get(name)) ||
      !isDeepStrictEqual(compositions.get(name), cluster.poolCompositions.get(name)),
  );
}

/** Sessions of clusters, which share what limits a process: looks at once, and readings of configurations. */
function sessionOpener(options: BrainOptions, wake: (key: ObjectKey, afterMs: number) => void): (key: ObjectKey) => ClusterSession {
  const { dialer, clock, timers, random, keys, workloads, endpoints, pod } = options;
  const gate = new LookGate(timers);
  const turnstile = new Turnstile(CONFIG_READINGS);
  const makingKeys = new Set<object>();
  return (key) => {
    const workload = workloads === undefined ? {} : { workload: { dialer: workloads, keys, pod, wake: () => wake(key, 0) } };
    const endpoint = endpoints === undefined ? {} : { endpoint: { probe: endpoints, wake: () => wake(key, 0) } };
    const ports = { dialer, clock, timers, random, gate, turnstile, makingKeys, ...workload, ...endpoint };
    const session = new ClusterSession(ports, (name, look) => {
      wake(key, session.machines.isMeetingMachines() ? FIRST_LOOKS_TOGETHER_MS : 0);
      options.onLook({ namespace: key.namespace, name }, look);
    });
    return session;
  };
}

/** What is told of a pass whose effects the API server refused. */
function refused(decision: Decision, failure: KubeApiError, generation: number | undefined): Decision {
  const state = decision.state === "Ready" ? "Bootstrapped" : decision.state;
  return { ...decision, state, conditions: withRefusal(decision.conditions, failure, generation) };
}

function hasOpenEffect(cluster: Cluster | undefined): boolean {
  return (cluster?.facts?.intents.length ?? 0) > 0;
}

/** When a decision wants to be taken anew, in milliseconds; by chance up to half as long again. */
function nextPassMs({ requeueAfterMs }: Decision, fraction: number): number | undefined {
  return requeueAfterMs === undefined ? undefined : Math.round(requeueAfterMs * (1 + fraction / 2));
}

function sooner(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function nameOf(key: ObjectKey): { readonly namespace: string; readonly name: string } {
  return { namespace: key.namespace ?? "", name: key.name };
}
