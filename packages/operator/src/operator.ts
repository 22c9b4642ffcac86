import {
  canonicalAddress,
  clusterRecordResource,
  kubernetesClusterResource,
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosClusterResource,
  talosControlPlaneResource,
  etcdBackupResource,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
  talosMachineResource,
  talosWorkerResource,
  validateClusterAddonSpec,
  vitistackMachineResource,
} from "@talos-operator/api";
import type {
  ClusterRecord,
  KubernetesCluster,
  TalosCluster,
  TalosClusterAddon,
  TalosClusterAddonRelease,
  TalosControlPlane,
  EtcdBackup,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
  TalosMachine,
  TalosWorker,
  VitistackMachine,
} from "@talos-operator/api";
import { createEventRecorder, createInformerRegistry, createKubeClient, createManager } from "@talos-operator/kube-runtime";
import type { Informer, KubeObject, Leadership, ManagerHealth, ObjectKey, Term } from "@talos-operator/kube-runtime";
import { createCompositionController } from "./composition/kubernetescluster/controller.ts";
import { clusterDefaults } from "./composition/kubernetescluster/defaults.ts";
import { installedOn } from "./composition/kubernetescluster/installed-on.ts";
import { childIndexers, clusterIndexers } from "./composition/kubernetescluster/observe.ts";
import { createMachineIdentityController } from "./composition/machine/controller.ts";
import type { BrainOptions } from "./reconcilers/brain.ts";
import { createBrain } from "./reconcilers/cluster.ts";
import type { SnapshotCaches } from "./disruption/see-snapshots.ts";
import type { Brain } from "./reconcilers/brain.ts";
import { canonicalAddressesOf, endpointPlaces } from "./spec/places.ts";
import { createBackupController } from "./controllers/talosetcdbackup/controller.ts";
import { createEtcdBackupController } from "./controllers/etcdbackup/controller.ts";
import { clusterOfSchedule, createScheduleController } from "./controllers/talosetcdbackupschedule/controller.ts";
import { createReleaseController } from "./controllers/talosclusteraddonrelease/controller.ts";
import { validateRelease } from "./addons/validate-release.ts";
import { addonIndexers, createAddonController, namespaceType } from "./controllers/talosclusteraddon/controller.ts";
import { createClusterController } from "./composition/taloscluster/controller.ts";
import { foreseenBy } from "./composition/taloscluster/dry-run.ts";
import { createLatest } from "./controllers/shared/latest.ts";
import { parentsOf } from "./controllers/shared/parents.ts";
import { notingWrites } from "./controllers/shared/own-writes.ts";
import { createMachineController, reportAfterMs } from "./projections/machine/controller.ts";
import { createRecordController, preservedRecords } from "./projections/record/controller.ts";
import { createWorkerController } from "./projections/pool/controller.ts";
import { leadingAlone, leadingBy } from "./leading.ts";
import { createCheckedDialer } from "./looking/checked-dialer.ts";
import { createConfigReferences } from "./references/config-references.ts";
import type { SpecOptions } from "./spec/spec-options.ts";
import { createReferences } from "./references/references.ts";
import { createReleases } from "./references/releases.ts";
import { OPERATOR_MANAGER } from "./neighbours/foreign-writer.ts";
import { createNeighbours } from "./neighbours/neighbours.ts";
import { reportUnserved } from "./neighbours/unserved-kinds.ts";
import { createResults } from "./results/results.ts";
import { createTimedFiles } from "./results/timed-files.ts";
import { createBackupFigures } from "./metrics/backup-figures.ts";
import { createOperatorFigures } from "./metrics/figures.ts";
import { createTelling } from "./telling/telling.ts";
import { noRunner } from "./workers/no-runner.ts";
import type { OperatorDependencies, OperatorOptions } from "./options.ts";
import type { Decision } from "./model/decision.ts";

/** A file system that says nothing for so long hangs. A pass is held up by it once. Milliseconds. */
const FILE_TIMEOUT_MS = 5_000;

/** Health of the process, as facts: whoever serves them decides on words and status codes. */
export type OperatorHealth = ManagerHealth;

/**
 * How long a watch is left open, up to half as long again: each that is opened is a request. A connection that is half open is found by pings and by TCP within a
 * minute, and what must not be old is read before it counts.
 */
const WATCH_TIMEOUT_S = 600;

/** The operator: caches, leader election, six controllers, and those of backups and of addons where they are asked for. */
export interface Operator {
  /** Works until `signal` aborts; resolves when the last pass has ended and the lease is released. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  health(): OperatorHealth;
  /** What the last pass over a cluster decided; `undefined` while this process does not lead or has not looked. */
  lastDecision(key: ObjectKey): Decision | undefined;
}

/**
 * Joins caches, controllers and leadership. It installs nothing: CRDs must be there.
 *
 * Caches run from the start, so that a standby takes over warm; controllers run only while this process leads.
 */
export function createOperator(dependencies: OperatorDependencies): Operator {
  const { kube, talos, names, workloads, files, clock, timers, random, keys, log, metrics, tracer, options = {} } = dependencies;
  const identity = options.identity ?? `talos-operator-${Buffer.from(random.bytes(4)).toString("hex")}`;
  const { kube: noted, writes } = notingWrites(kube, clock);
  const client = createKubeClient(noted, { timers, random }, OPERATOR_MANAGER);
  const recorder = createEventRecorder({
    client,
    clock,
    timers,
    log,
    reportingController: "talos-operator.dev/operator",
    reportingInstance: identity,
  });
  const events = createTelling(recorder, timers);
  const figures = metrics === undefined ? undefined : createOperatorFigures(metrics, options.metricsObjects);
  const backupFigures = metrics === undefined || dependencies.backups === undefined ? undefined : createBackupFigures(metrics);
  const measured = metrics === undefined || figures === undefined ? {} : { metrics, figures };
  const informers = createInformerRegistry({ client, timers, random, log, watchTimeoutSeconds: WATCH_TIMEOUT_S, ...measured });
  const scope = options.namespace === undefined ? {} : { namespace: options.namespace };
  const talosClusters: Informer<TalosCluster> = informers.informer<TalosCluster>(talosClusterResource, scope);
  const controlPlanes: Informer<TalosControlPlane> = informers.informer<TalosControlPlane>(talosControlPlaneResource, {
    ...scope,
    indexers: { address: canonicalAddressesOf, endpoint: endpointPlaces, ...childIndexers },
  });
  const workers: Informer<TalosWorker> = informers.informer<TalosWorker>(talosWorkerResource, {
    ...scope,
    indexers: {
      controlPlane: (worker) => inNamespace(worker, worker.spec?.controlPlaneRef?.name),
      address: canonicalAddressesOf,
      ...childIndexers,
    },
  });
  const machines: Informer<TalosMachine> = informers.informer<TalosMachine>(talosMachineResource, {
    ...scope,
    indexers: {
      controlPlane: (machine) => inNamespace(machine, machine.spec?.controlPlaneRef?.name),
      worker: (machine) => inNamespace(machine, machine.spec?.workerRef?.name),
      endpoint: endpointsOf,
    },
  });
  const clusters: Informer<KubernetesCluster> = informers.informer<KubernetesCluster>(kubernetesClusterResource, {
    ...scope,
    indexers: clusterIndexers,
  });
  const vitistackMachines: Informer<VitistackMachine> = informers.informer<VitistackMachine>(vitistackMachineResource, {
    ...scope,
    indexers: childIndexers,
  });
  const backups: Informer<TalosEtcdBackup> | undefined =
    dependencies.backups === undefined ? undefined : informers.informer<TalosEtcdBackup>(talosEtcdBackupResource, scope);
  const schedules: Informer<TalosEtcdBackupSchedule> | undefined =
    dependencies.backups === undefined ? undefined : informers.informer<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource, scope);
  const records: Informer<ClusterRecord> = informers.informer<ClusterRecord>(clusterRecordResource, { ...scope, ...preservedRecords });
  const etcdBackups: Informer<EtcdBackup> | undefined =
    dependencies.backups === undefined ? undefined : informers.informer<EtcdBackup>(etcdBackupResource, scope);
  const { addons: ofAddons } = dependencies;
  const addons: Informer<TalosClusterAddon> | undefined =
    ofAddons === undefined
      ? undefined
      : informers.informer<TalosClusterAddon>(talosClusterAddonResource, { ...scope, indexers: addonIndexers });
  const addonReleases: Informer<TalosClusterAddonRelease> | undefined =
    ofAddons === undefined ? undefined : informers.informer<TalosClusterAddonRelease>(talosClusterAddonReleaseResource, scope);
  // Where one namespace is watched, no other one can grant it anything.
  const namespaces = ofAddons === undefined || options.namespace !== undefined ? {} : { namespaces: informers.informer(namespaceType) };
  const defaults = clusterDefaults({ ...options.clusterDefaults, allowLoopback: options.allowLoopbackMachines === true });
  const resync = options.resyncMs ?? 30_000;
  const results =
    files === undefined
      ? undefined
      : createResults({
          tree: createTimedFiles({ tree: files, timers, timeoutMs: FILE_TIMEOUT_MS }),
          clock,
          isAlive: (uid) => clusters.store.byIndex("uid", uid).length > 0,
          freshMs: resync,
          ...(figures === undefined ? {} : { onOperation: (operation, isDone) => figures.fileOperation(operation, isDone) }),
        });
  const hosts = hostsOf(options);
  const latest = {
    talosCluster: createLatest(talosClusters, client, clock, writes),
    controlPlane: createLatest(controlPlanes, client, clock, writes),
    worker: createLatest(workers, client, clock, writes),
    machine: createLatest(machines, client, clock, writes),
    kubernetesCluster: createLatest(clusters, client, clock, writes),
  };
  const watched = { talosClusters, controlPlanes, workers, machines, latest };
  const traced = tracer === undefined ? {} : { tracer };
  const figured = backupFigures === undefined ? {} : { backupFigures };
  const shared = { client, clock, timers, random, log, ...watched, hosts, ...measured, ...traced };
  let current: Brain | undefined;
  const { namespace = "default", name = "ffa5cb32.alperen.cloud", ...timing } = options.leaderElection || {};

  /** One turn of leadership: fresh controllers, nothing remembered from an earlier turn. */
  const term = (leadership: Leadership): Term => {
    const leading =
      options.leaderElection === false
        ? leadingAlone(identity)
        : leadingBy(leadership, timing.leaseDurationMs ?? 15_000, timers, () => brain.lookAgain());
    const references = createReferences({
      client,
      clock,
      timers,
      random,
      log,
      ...(options.machineRefNamespaces === undefined ? {} : { namespaces: options.machineRefNamespaces }),
    });
    const configs = createConfigReferences(client, clock);
    const neighbours = createNeighbours(client, clock, leading.identity);
    const brain = createBrain({
      ...shared,
      references,
      configs,
      releases: createReleases(client, clock, log, options.releases),
      dialer: createCheckedDialer(talos, names, hosts, clock),
      ...(workloads === undefined ? {} : { workloads, pod: options.pod }),
      keys,
      events,
      leading,
      neighbours,
      parentsOf: (controlPlane, pools) => parentsOf({ talosClusters, clusters }, controlPlane, pools),
      installedOn: (controlPlane) => installedOn(controlPlane, vitistackMachines.store),
      concurrency: options.concurrency ?? 16,
      onLook: (machine, look) => reporter.enqueue(machine, reportAfterMs(look)),
      onPlan: (cluster) => composer.enqueue(cluster),
      onPoolPlan: (worker) => pools.enqueue(worker),
      onPoolState: (worker) => pools.enqueue(worker),
      ...askedIn(dependencies, backups, schedules),
    });
    const reporter = createMachineController({ ...shared, brain, events });
    const pools = createWorkerController({
      ...shared,
      events,
      references,
      configs,
      planOf: (controlPlane, worker) => brain.poolPlan(controlPlane, worker),
      stateOf: (controlPlane, worker) => brain.poolState(controlPlane, worker),
      compositionOf: (controlPlane, worker) => brain.poolComposition(controlPlane, worker),
    });
    const composer = createClusterController({ ...shared, events, planOf: (cluster) => foreseenBy(brain.lastDecision(cluster)) });
    const composed = { ...shared, clusters, vitistackMachines, defaults, latestCluster: latest.kubernetesCluster };
    const compositions = createCompositionController({
      ...composed,
      brain,
      events,
      leading,
      neighbours,
      concurrency: options.maxConcurrentReconciles ?? 1,
      intervalMs: resync,
      ...(results === undefined ? {} : { results }),
    });
    const { runner, backupDirectory, ...allowed } = dependencies.backups ?? {};
    const limits = { ...hosts, ...allowed, hasDirectory: backupDirectory !== undefined, hasWorkers: runner !== undefined };
    const ofBackups =
      backups === undefined || schedules === undefined || etcdBackups === undefined
        ? []
        : [
            createBackupController({ ...shared, backups, runner: runner ?? noRunner, brain, keys, leading, events, limits, ...figured }),
            createScheduleController({ ...shared, schedules, backups, events, limits, ...figured }),
            createEtcdBackupController({ ...shared, etcdBackups, schedules, backups, clusters, events, limits }),
          ];
    const { runner: addonRunner, helm, allowPlainText, allowUnchecked = false } = ofAddons ?? {};
    const limitsOfAddons = { allowPlainText: allowPlainText === true, allowUnchecked };
    const addonControllers =
      addons === undefined || addonReleases === undefined
        ? []
        : [
            createAddonController({
              ...shared,
              ...namespaces,
              addons,
              releases: addonReleases,
              events,
              problemsOf: ({ metadata, spec }) => [
                ...validateClusterAddonSpec(spec),
                ...((spec.helmSpec === undefined) === (spec.manifests === undefined)
                  ? []
                  : validateRelease({ metadata, spec: { ...spec, clusterRef: {} } }, limitsOfAddons)),
              ],
            }),
            ...(addonRunner === undefined && helm === undefined
              ? []
              : [
                  createReleaseController({
                    ...shared,
                    releases: addonReleases,
                    runner: addonRunner ?? noRunner,
                    ...(helm === undefined ? {} : { helm }),
                    ...(allowPlainText === undefined ? {} : { allowPlainText }),
                    ...(workloads === undefined ? {} : { workloads }),
                    keys,
                    leading,
                    events,
                    validate: (release) => validateRelease(release, limitsOfAddons),
                  }),
                ]),
          ];
    current = brain;
    const endFigures = figures?.showObjects(() => ({
      KubernetesCluster: clusters.store.list(),
      TalosCluster: talosClusters.store.list(),
      TalosControlPlane: controlPlanes.store.list(),
      TalosWorker: workers.store.list(),
      TalosMachine: machines.store.list(),
      Machine: vitistackMachines.store.list(),
    }));
    const endBackupFigures = backupFigures?.showBackups(() => ({
      backups: backups?.store.list() ?? [],
      scheduled: schedules?.store.list().flatMap((schedule) => clusterOfSchedule(schedule, talosClusters) ?? []) ?? [],
    }));
    return {
      controllers: [
        brain.controller,
        composer,
        pools,
        reporter,
        compositions,
        createMachineIdentityController(composed),
        createRecordController({ ...shared, records }),
        ...ofBackups,
        ...addonControllers,
      ],
      close: () => {
        endFigures?.();
        endBackupFigures?.();
        brain.close();
        references.close();
        current = undefined;
      },
    };
  };

  const manager = createManager({
    client,
    clock,
    timers,
    random,
    log,
    identity,
    informers,
    leaderElection: options.leaderElection === false ? false : { namespace, name, ...timing },
    term,
    close: () => events.close(),
    ...measured,
  });

  return {
    async run(signal) {
      const reporting = ofAddons === undefined ? reportUnserved(client, log, { namespace: options.namespace, signal }) : undefined;
      await manager.run(signal);
      await reporting;
    },
    health: () => manager.health(),
    lastDecision: (key) => current?.lastDecision(key),
  };
}

/** What the specs of clusters may name. */
function hostsOf({ allowLoopbackMachines, installerRegistries }: OperatorOptions): SpecOptions {
  const allowLoopback = allowLoopbackMachines === true;
  return installerRegistries === undefined ? { allowLoopback } : { allowLoopback, installerRegistries };
}

/** For finding machines of other clusters at an address. */
function endpointsOf({ spec }: TalosMachine): readonly string[] {
  return spec === undefined || spec.endpoint === "" ? [] : [canonicalAddress(spec.endpoint)];
}

function inNamespace(object: KubeObject, name: string | undefined): readonly string[] {
  return name === undefined || name === "" ? [] : [`${object.metadata?.namespace ?? ""}/${name}`];
}

/** What is not the same in every process: settings, rules of a test, who asks endpoints, and backups. */
function askedIn(
  { endpoints, options = {} }: OperatorDependencies,
  backups: SnapshotCaches["backups"] | undefined,
  schedules: SnapshotCaches["schedules"] | undefined,
): Pick<BrainOptions, "rules" | "onInvariantBroken" | "machineRules" | "endpoints" | "snapshots"> {
  const { rules, onInvariantBroken, requireMaintenanceFingerprint: requireFingerprint = false, upgradeWithinMs } = options;
  return {
    machineRules: upgradeWithinMs === undefined ? { requireFingerprint } : { requireFingerprint, upgradeWithinMs },
    ...(endpoints === undefined ? {} : { endpoints }),
    ...(rules === undefined ? {} : { rules }),
    ...(onInvariantBroken === undefined ? {} : { onInvariantBroken }),
    ...(backups === undefined || schedules === undefined ? {} : { snapshots: { backups, schedules } }),
  };
}
