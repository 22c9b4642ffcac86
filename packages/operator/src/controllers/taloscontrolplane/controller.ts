import { findCondition, talosControlPlaneResource } from "@talos-operator/api";
import type { HostOptions, TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { createController, keyText, toOwner, watchOf } from "@talos-operator/kube-runtime";
import type {
  Controller,
  EventRecorder,
  Informer,
  KubeClient,
  ObjectKey,
  ReconcileContext,
  ReconcileResult,
} from "@talos-operator/kube-runtime";
import type { Clock, Keys, Logger, RandomSource, TalosDialer, Timers, WorkloadDialer } from "@talos-operator/ports";
import { measured } from "../../metrics/measured.ts";
import type { Measures } from "../../metrics/measured.ts";
import { elapsedMs } from "../../elapsed.ts";
import { EffectError, isEffectError } from "../../errors.ts";
import type { Leading } from "../../leading.ts";
import { LookGate } from "../../looking/look-gate.ts";
import type { Look } from "../../looking/look.ts";
import { Turnstile } from "../../looking/turnstile.ts";
import { createAccessStore } from "../../secrets/access-store.ts";
import type { ConfigReferences } from "../../references/config-references.ts";
import type { References } from "../../references/references.ts";
import { createBundleStore } from "../../secrets/bundle-store.ts";
import { bundleInForce } from "./bundle-in-force.ts";
import { decide, defaultRules, FIRST_LOOKS_MS } from "./decide.ts";
import { foundedBy } from "./etcd-view.ts";
import { executeAll } from "./execute.ts";
import type { Effects } from "./execute.ts";
import type { ClusterFacts } from "./facts.ts";
import { machineFact } from "./facts.ts";
import { firstTurnMs } from "./first-turn.ts";
import type { MachineFact } from "./facts.ts";
import { readRecord } from "./facts-codec.ts";
import { withPauses } from "./held.ts";
import { createGuard } from "./guard.ts";
import type { DeclaredMachine, Decision, Observed, Rule, SentEffect } from "./model.ts";
import { identityOf } from "./identity.ts";
import type { IdentityKind } from "./identity.ts";
import { objectsActedOn } from "./objects-acted-on.ts";
import { observe } from "./observe.ts";
import { withConfigs } from "./observe-configs.ts";
import type { Plan } from "./planning/plan.ts";
import { planPools } from "./planning/pool-plans.ts";
import { provenLook, unaddressedLook } from "./proven-look.ts";
import { ClusterSession } from "./session.ts";
import { Surroundings } from "./surroundings.ts";
import { specOrMetadataChanged } from "../shared/predicates.ts";
import { effectiveMode, effectiveUnknownMode } from "../shared/mode.ts";
import type { Neighbours } from "../../neighbours/neighbours.ts";
import { withAdoption } from "../../importing/observe-adoption.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import { imagine } from "../taloscluster/imagined.ts";

/** Field manager of the brain. */
const FIELD_MANAGER = "talos-operator/taloscontrolplane";

/** A pass that acted says nothing, for the next one follows at once; one that took so long does. Milliseconds. */
const SLOW_PASS_MS = 5_000;

/** How often a pass that only does again what the one before did to the same objects is repeated. Milliseconds. */
const CACHE_BEHIND_MS = 1_000;

/** While a cluster changes fast, its status is written at most this often; what stays is always written. */
const STATUS_EVERY_MS = 500;

/** Configurations that are read back at once in the whole process; each takes a connection and some milliseconds of work. */
const CONFIG_READINGS = 8;

/** So long it counts that another operator was seen at work; then it is looked again. */
const BESIDE_COUNTS_MS = 25_000;

/** What the brain needs. */
export interface BrainOptions extends Measures {
  readonly client: KubeClient;
  readonly dialer: TalosDialer;
  /** To the Kubernetes APIs of the clusters themselves; without it their Nodes are left alone. */
  readonly workloads?: WorkloadDialer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly keys: Keys;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly leading: Leading;
  readonly talosClusters: Informer<TalosCluster>;
  readonly controlPlanes: Informer<TalosControlPlane>;
  readonly workers: Informer<TalosWorker>;
  readonly machines: Informer<TalosMachine>;
  readonly hosts: HostOptions;
  readonly references: References;
  readonly configs: ConfigReferences;
  readonly requireFingerprint: boolean;
  readonly neighbours: Neighbours;
  readonly rules?: readonly Rule[];
  /** Clusters that are worked on at once. */
  readonly concurrency: number;
  /** Told when a look at a machine says something new. */
  readonly onLook: (machine: ObjectKey, look: Look) => void;
  /** Told when the plan of a TalosCluster that is only tried was made. */
  readonly onPlan?: (cluster: ObjectKey) => void;
  /** Told when the plan of a TalosWorker that is only tried became another. */
  readonly onPoolPlan?: (worker: ObjectKey) => void;
}

/** What the brain knows of one machine. */
export interface KnownMachine {
  /** The newest look, as rules believe it. */
  readonly look: Look;
  /** What the record says. */
  readonly fact: MachineFact | undefined;
  readonly declared: DeclaredMachine | undefined;
  /** Whether its hardware identity is its own; `undefined` before it was written down. */
  readonly identity: IdentityKind | undefined;
  readonly sent: SentEffect | undefined;
  readonly hasRecord: boolean;
}

/** The brain: one work item per cluster; it alone decides and sends to machines. */
export interface Brain {
  readonly controller: Controller;
  /** What is known of a machine: the newest look, and what the record says. */
  machine(key: ObjectKey): KnownMachine | undefined;
  /** Decisions of each cluster's last pass, for people and tests. */
  lastDecision(key: ObjectKey): Decision | undefined;
  /** The plan of a TalosWorker that is only tried while its cluster is not. */
  poolPlan(cluster: ObjectKey, worker: string): Plan | undefined;
  /** Decides anew about every cluster: something changed that no watch tells. */
  lookAgain(): void;
  close(): void;
}

interface Cluster {
  readonly key: ObjectKey;
  readonly session: ClusterSession;
  /** By name, as last observed. */
  machines: ReadonlyMap<string, DeclaredMachine>;
  readonly uid: string;
  decision: Decision | undefined;
  poolPlans: ReadonlyMap<string, Plan>;
  facts: ClusterFacts | undefined;
  /** Objects that the last pass finished with, when it did nothing else. */
  actedOn: string | undefined;
}

export function createBrain(options: BrainOptions): Brain {
  const { client, clock, controlPlanes, workers, machines } = options;
  const clusters = new Map<string, Cluster>();
  const owners = new Map<string, string>();
  const hadTurn = new Set<string>();
  const bundles = createBundleStore(client);
  const access = createAccessStore(client, options.keys, FIELD_MANAGER);
  const statuses = createStatusWriter<TalosControlPlane>(client, talosControlPlaneResource, clock, FIELD_MANAGER);
  const surroundings = new Surroundings(options);
  const rules = options.rules ?? defaultRules;
  const gate = new LookGate(options.timers);
  const turnstile = new Turnstile(CONFIG_READINGS);

  const clusterOf = (key: ObjectKey, uid: string): Cluster => {
    const text = keyText(key);
    const known = clusters.get(text);
    if (known?.uid === uid) return known;
    known?.session.close();
    const session = new ClusterSession(
      {
        dialer: options.dialer,
        clock,
        timers: options.timers,
        random: options.random,
        gate,
        turnstile,
        ...(options.workloads === undefined
          ? {}
          : { workload: { dialer: options.workloads, keys: options.keys, wake: () => controller.enqueue(key) } }),
      },
      (name, look) => {
        controller.enqueue(key);
        options.onLook({ namespace: key.namespace, name }, look);
      },
    );
    const made: Cluster = {
      key,
      session,
      uid,
      machines: new Map(),
      decision: undefined,
      poolPlans: new Map(),
      facts: undefined,
      actedOn: undefined,
    };
    clusters.set(text, made);
    return made;
  };

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult | undefined> => {
    const stored = controlPlanes.store.get(key);
    const workersOfIt = workers.store.byIndex("controlPlane", keyText(key));
    // A dry run of a TalosCluster is about the children that it would have.
    const tried = surroundings.triedCluster(key, stored);
    const imagined = tried === undefined ? undefined : imagine(tried, { controlPlane: stored, workers: workersOfIt });
    const controlPlane = imagined?.controlPlane ?? stored;
    if (controlPlane === undefined) {
      clusters.get(keyText(key))?.session.close();
      clusters.delete(keyText(key));
      hadTurn.delete(keyText(key));
      options.references.forget(`brain ${keyText(key)}`);
      statuses.forget(keyText(key));
      return undefined;
    }
    if (!hadTurn.has(keyText(key))) {
      hadTurn.add(keyText(key));
      const requeueAfterMs = firstTurnMs(controlPlane, workersOfIt, controlPlanes.store.size, options.random.fraction());
      if (requeueAfterMs > 0) return { requeueAfterMs };
    }
    const cluster = clusterOf(key, controlPlane.metadata.uid ?? "");
    const { session } = cluster;
    const machineObjects = surroundings.machineObjectsOf(key, workersOfIt);
    context.note("observe");
    const mode = effectiveMode(controlPlane.metadata, options.talosClusters.store);
    const asksImport = mode === "import";
    const cached = {
      controlPlane,
      // Until there is a record, the rule of imports alone decides; from then on it is a cluster as any other.
      mode: asksImport ? ("reconcile" as const) : mode,
      unknownMode: effectiveUnknownMode(controlPlane.metadata, options.talosClusters.store),
      isParentGoing: surroundings.isParentGoing(key, controlPlane),
      workers: imagined?.workers ?? workersOfIt.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
      machineObjects,
      otherPools: surroundings.otherPools(controlPlane, workersOfIt),
      machineElsewhere: (address: string) => surroundings.machineElsewhere(controlPlane, address),
      // A cluster that is taken over runs already.
      endpointElsewhere: asksImport ? undefined : surroundings.endpointElsewhere(controlPlane),
    };
    const observed = await observe(cached, session, {
      client,
      bundles,
      access,
      keys: options.keys,
      clock,
      hosts: options.hosts,
      references: options.references,
      configs: options.configs,
      wake: () => controller.enqueue(key),
      clusters: controlPlanes.store.size,
      mayDisturb: options.leading.mayDisturb,
      requireFingerprint: options.requireFingerprint,
    });
    const adopting = await withAdoption(observed, asksImport, session, {
      client,
      dialer: options.dialer,
      keys: options.keys,
      clock,
      wake: () => controller.enqueue(key),
    });
    const unpaused = withConfigs(await withNeighbours(adopting, session, key), session, {
      dialer: options.dialer,
      keys: options.keys,
      clock,
      bundle: () => bundleInForce(session, bundles, key.namespace, factsNow(session).bundle),
      wake: () => controller.enqueue(key),
    });
    const pauses = surroundings.pausesOf(controlPlane, workersOfIt, machineObjects);
    const seen = withPauses(unpaused, pauses);
    for (const machine of [...seen.machines, ...seen.former]) owners.set(`${key.namespace ?? ""}/${machine.declared.name}`, keyText(key));
    for (const { declared } of seen.machines) {
      const before = cluster.machines.get(declared.name);
      // Looks tell the reporter what machines show; what references give it hears from here.
      if (
        declared.problem?.message !== before?.problem?.message ||
        (declared.reference !== undefined && declared.address !== before?.address)
      )
        options.onLook({ namespace: key.namespace, name: declared.name }, session.look(declared.name));
    }
    cluster.machines = new Map(seen.machines.map(({ declared }) => [declared.name, declared]));
    cluster.facts = seen.record.kind === "present" ? seen.record.value.facts : undefined;
    const decision = decide(seen, rules);
    cluster.decision = decision;
    options.figures?.decided(decision.rule);
    if (tried !== undefined) options.onPlan?.(tried.metadata);
    const before = cluster.poolPlans;
    cluster.poolPlans = planPools(unpaused, pauses, rules);
    for (const [name, plan] of cluster.poolPlans)
      if (before.get(name)?.hash !== plan.hash) options.onPoolPlan?.({ namespace: key.namespace, name });
    if (decision.actions.length > 0)
      options.log.debug({ ...nameOf(key), rule: decision.rule, actions: decision.actions.map((action) => action.kind) }, "Decided");
    const isSettled = decision.actions.length === 0 && decision.state === "Ready" && decision.isBusy !== true;
    session.setPace(isSettled ? "settled" : "eager");

    context.note("execute");
    const begunAt = clock.now();
    const failure = await carryOut(decision, seen, cluster, key, context);
    context.note("status");
    // A machine that leaves a call unanswered is asked again at once: without this nothing would be said for as long as it does.
    const isSlow = elapsedMs(begunAt, clock.now()) >= SLOW_PASS_MS;
    // A cache that is behind asks for the same once more: until it has caught up a pass now and then is enough.
    const objects = objectsActedOn(decision.actions);
    const isRepeated = objects !== undefined && objects === cluster.actedOn;
    cluster.actedOn = objects;
    const isDone = decision.actions.length === 0 || failure !== undefined || session.isMakingKey() || isSlow || isRepeated;
    const wait = stored === undefined ? undefined : await writeStatus(cluster, stored, seen, decision, isDone);
    if (failure !== undefined && !isExpected(failure)) throw failure;
    // The key wakes the cluster when it is made.
    if (session.isMakingKey()) return { requeueAfterMs: wait };
    if (isRepeated && failure === undefined) return { requeueAfterMs: CACHE_BEHIND_MS };
    if (decision.actions.length > 0) return { requeueAfterMs: failure === undefined ? 0 : 100 };
    const requeueAfterMs =
      decision.requeueAfterMs === undefined
        ? undefined
        : Math.round(decision.requeueAfterMs * (isSettled ? 1 + options.random.fraction() / 2 : 1));
    return { requeueAfterMs: wait === undefined ? requeueAfterMs : Math.min(wait, requeueAfterMs ?? wait) };
  };

  /** Before anything is begun on a cluster of others it is looked whether those are still at work; later what an effect has found counts for a while. */
  const withNeighbours = async (seen: Observed, session: ClusterSession, key: ObjectKey): Promise<Observed> => {
    const now = clock.now();
    const isFresh = session.beside !== undefined && elapsedMs(session.beside.at, now) < BESIDE_COUNTS_MS;
    if (seen.adoption !== undefined && !isFresh) {
      try {
        const other = await options.neighbours.find(key, true);
        session.beside = other === undefined ? undefined : { at: now, value: other };
      } catch (thrown) {
        options.log.debug({ ...nameOf(key), err: thrown }, "Whether another operator is at work is not known");
        return { ...seen, beside: "whether there is one cannot be read" };
      }
    } else if (!isFresh) session.beside = undefined;
    return session.beside === undefined ? seen : { ...seen, beside: session.beside.value };
  };

  const factsNow = (session: ClusterSession): ClusterFacts => {
    const record = session.record?.value;
    const now = record === undefined || record === "absent" ? undefined : readRecord(record);
    if (now === undefined) throw new TypeError("an effect needs a record, and there is none");
    return now.facts;
  };

  const carryOut = async (
    decision: Decision,
    seen: Observed,
    cluster: Cluster,
    key: ObjectKey,
    context: ReconcileContext,
  ): Promise<unknown> => {
    if (decision.actions.length === 0) return undefined;
    const { session } = cluster;
    const demandAlone = async (isAdopted: boolean): Promise<void> => {
      const other = await options.neighbours.find(key, isAdopted);
      if (other === undefined) return;
      session.beside = { at: clock.now(), value: other };
      throw new EffectError("ANOTHER_OPERATOR", other);
    };
    const effects: Effects = {
      client,
      dialer: options.dialer,
      bundles,
      access,
      keys: options.keys,
      clock,
      random: options.random,
      seen,
      session,
      guard: createGuard(key, client, options.leading, demandAlone),
      demandAlone,
      leading: options.leading,
      log: context.log.child({ rule: decision.rule }),
      signal: context.signal,
      facts: () => factsNow(session),
      bundle: () => bundleInForce(session, bundles, key.namespace, factsNow(session).bundle),
      wake: () => controller.enqueue(key),
      event: (regarding, type, reason, action, note) => options.events.record(regarding, { type, reason, action, note }),
      carriedOut: (action, thrown) => options.figures?.carriedOut(action, thrown),
      caughtUp: async (kind, resourceVersion) => {
        if (resourceVersion === undefined) return;
        await (kind === "TalosMachine" ? machines : controlPlanes).waitForResourceVersion(resourceVersion, {
          signal: context.signal,
          timeoutMs: 5_000,
        });
      },
    };
    try {
      await executeAll(decision.actions, effects);
      return undefined;
    } catch (thrown) {
      if (isEffectError(thrown, "RECORD_CHANGED", "PRECONDITION_GONE")) session.record = undefined;
      if (isEffectError(thrown, "KEYS_UNUSABLE")) session.bundle = undefined;
      return thrown;
    }
  };

  /** @returns when the status should be looked at again because it was not written yet */
  const writeStatus = async (
    cluster: Cluster,
    object: TalosControlPlane,
    seen: Observed,
    decision: Decision,
    isDone: boolean,
  ): Promise<number | undefined> => {
    // A pass that acted is followed by another at once: that one says how it is.
    if (!isDone) return undefined;
    const looksDueMs = firstLooksDueMs(object, seen);
    if (looksDueMs > 0) return looksDueMs;
    if (seen.mode !== "reconcile") {
      const told = findCondition(object.status?.conditions, "DryRun")?.message;
      const written = await statuses.write(object, { fields: {}, conditions: decision.conditions, keepsOthers: true, drops: ["DryRun"] });
      const plan = decision.conditions.find((condition) => condition.type === "DryRun");
      if (plan !== undefined && plan.status !== "Unknown" && plan.message !== told)
        options.events.record(object, { type: "Normal", reason: "DryRun", action: "DryRun", note: plan.message });
      return written;
    }
    const kubernetes = cluster.facts?.bootstrapDone === undefined ? undefined : cluster.facts.kubernetesVersion;
    const fields = {
      ...(cluster.facts?.importedAt === undefined ? {} : { imported: true }),
      state: decision.state,
      observedKubeVersion: kubernetes === "" ? undefined : kubernetes,
    };
    return statuses.write(object, { fields, conditions: decision.conditions }, STATUS_EVERY_MS);
  };

  const controller: Controller = createController({
    name: "taloscontrolplane",
    clock,
    timers: options.timers,
    random: options.random,
    log: options.log,
    ...measured(options),
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
    ],
  });

  const endFigures = options.figures?.showClusters(() =>
    [...clusters.values()].map(({ machines: declared, session, facts }) => {
      const looks = [...declared.values()].map((one) => ({ declared: one, look: session.look(one.name) }));
      return {
        machines: looks.map(({ declared: { role }, look }) => ({
          role,
          stage: look.kind === "running" ? (look.stage ?? look.kind) : look.kind,
        })),
        members: foundedBy(looks)?.members ?? [],
        openEffects: facts?.intents.length ?? 0,
      };
    }),
  );

  return {
    controller,
    machine: (key) => {
      const cluster = clusters.get(owners.get(keyText(key)) ?? "");
      if (cluster === undefined) return undefined;
      const declared = cluster.machines.get(key.name);
      const look = cluster.session.look(key.name);
      const fact = machineFact(cluster.facts, key.name);
      return {
        look:
          declared === undefined
            ? look
            : declared.address === ""
              ? unaddressedLook(clock.now())
              : provenLook(cluster.facts, declared, look),
        fact,
        declared,
        identity: cluster.facts === undefined || fact === undefined ? undefined : identityOf(cluster.facts, fact),
        sent: cluster.session.sent().get(`Configure/${key.name}`),
        hasRecord: cluster.facts !== undefined,
      };
    },
    lastDecision: (key) => clusters.get(keyText(key))?.decision,
    poolPlan: (key, worker) => clusters.get(keyText(key))?.poolPlans.get(worker),
    lookAgain: () => {
      for (const { key } of clusters.values()) controller.enqueue(key);
    },
    close: () => {
      endFigures?.();
      for (const cluster of clusters.values()) cluster.session.close();
      clusters.clear();
    },
  };
}

/** What an earlier process told stays until this one has looked at every machine: that an operator starts is no news of the cluster. */
function firstLooksDueMs({ metadata, status }: TalosControlPlane, seen: Observed): number {
  const isTold = findCondition(status?.conditions, "Ready")?.observedGeneration === metadata.generation;
  const isLooking = seen.machines.some(({ look }) => look.kind === "not-asked");
  return isTold && isLooking ? FIRST_LOOKS_MS - elapsedMs(seen.watchedSince, seen.now) : 0;
}

/** Failures that the next look answers: the world moved between decision and effect. */
function isExpected(failure: unknown): boolean {
  if (isEffectError(failure, "RECORD_CHANGED", "PRECONDITION_GONE", "ANOTHER_OPERATOR")) return true;
  return failure instanceof Error && "code" in failure && (failure.code === "CONFLICT" || failure.code === "ALREADY_EXISTS");
}

function nameOf(key: ObjectKey): { readonly namespace: string; readonly name: string } {
  return { namespace: key.namespace ?? "", name: key.name };
}
