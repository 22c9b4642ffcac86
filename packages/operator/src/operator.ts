import { talosClusterResource, talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { createEventRecorder, createInformer, createKubeClient, createLeaseElector } from "@talos-operator/kube-runtime";
import type { Controller, ControllerStats, Informer, InformerStatus, KubeObject, ObjectKey, StuckPass } from "@talos-operator/kube-runtime";
import { createBrain } from "./controllers/taloscontrolplane/controller.ts";
import type { Brain } from "./controllers/taloscontrolplane/controller.ts";
import type { Decision } from "./controllers/taloscontrolplane/model.ts";
import { canonicalAddressesOf } from "./controllers/taloscontrolplane/spec-problems.ts";
import { createClusterController } from "./controllers/taloscluster/controller.ts";
import { createMachineController, reportAfterMs } from "./controllers/talosmachine/controller.ts";
import { createWorkerController } from "./controllers/talosworker/controller.ts";
import { leadingAlone, leadingBy } from "./leading.ts";
import type { Leading } from "./leading.ts";
import type { OperatorDependencies } from "./options.ts";

/** Health of the process, as facts: whoever serves them decides on words and status codes. */
export interface OperatorHealth {
  /** True once every cache is complete. */
  readonly isReady: boolean;
  /** False when a pass hangs: the process should be restarted. */
  readonly isAlive: boolean;
  readonly isLeading: boolean;
  readonly informers: Readonly<Record<string, InformerStatus>>;
  readonly controllers: Readonly<Record<string, ControllerStats>>;
  readonly stuck: readonly StuckPass[];
}

/** The operator: caches, leader election, four controllers. */
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
  const { kube, talos, clock, timers, random, keys, log, options = {} } = dependencies;
  const identity = options.identity ?? `talos-operator-${Buffer.from(random.bytes(4)).toString("hex")}`;
  const client = createKubeClient(kube, { timers, random });
  const events = createEventRecorder({
    client,
    clock,
    timers,
    log,
    reportingController: "talos-operator.dev/operator",
    reportingInstance: identity,
  });
  const scope = { client, timers, random, log, ...(options.namespace === undefined ? {} : { namespace: options.namespace }) };
  const talosClusters: Informer<TalosCluster> = createInformer<TalosCluster>({ ...scope, type: talosClusterResource });
  const controlPlanes: Informer<TalosControlPlane> = createInformer<TalosControlPlane>({
    ...scope,
    type: talosControlPlaneResource,
    indexers: { address: canonicalAddressesOf },
  });
  const workers: Informer<TalosWorker> = createInformer<TalosWorker>({
    ...scope,
    type: talosWorkerResource,
    indexers: { controlPlane: (worker) => inNamespace(worker, worker.spec?.controlPlaneRef?.name), address: canonicalAddressesOf },
  });
  const machines: Informer<TalosMachine> = createInformer<TalosMachine>({
    ...scope,
    type: talosMachineResource,
    indexers: {
      controlPlane: (machine) => inNamespace(machine, machine.spec?.controlPlaneRef?.name),
      worker: (machine) => inNamespace(machine, machine.spec?.workerRef?.name),
    },
  });
  const informers = { talosclusters: talosClusters, taloscontrolplanes: controlPlanes, talosworkers: workers, talosmachines: machines };
  const hosts = { allowLoopback: options.allowLoopbackMachines === true };
  const shared = { client, clock, timers, random, log, talosClusters, controlPlanes, workers, machines, hosts };
  let term: { readonly brain: Brain; readonly controllers: readonly Controller[] } | undefined;

  /** One turn of leadership: fresh controllers, nothing remembered from an earlier turn. */
  const lead = async (leading: Leading, signal: AbortSignal): Promise<void> => {
    const brain = createBrain({
      ...shared,
      dialer: talos,
      keys,
      events,
      leading,
      requireFingerprint: options.requireMaintenanceFingerprint === true,
      concurrency: options.concurrency ?? 16,
      onLook: (machine, look) => reporter.enqueue(machine, reportAfterMs(look)),
      ...(options.rules === undefined ? {} : { rules: options.rules }),
    });
    const reporter = createMachineController({ ...shared, brain });
    const controllers = [brain.controller, createClusterController(shared), createWorkerController({ ...shared, events }), reporter];
    term = { brain, controllers };
    try {
      await Promise.all(controllers.map((controller) => controller.run(signal)));
    } finally {
      brain.close();
      term = undefined;
    }
  };

  return {
    async run(signal) {
      // Caches and events outlive the last pass: they end when the controllers have.
      const caches = new AbortController();
      const running = Object.values(informers).map((informer: Pick<Informer<KubeObject>, "run">) => informer.run(caches.signal));
      try {
        if (options.leaderElection === false) {
          await lead(leadingAlone(identity), signal);
        } else {
          const { namespace = "default", name = "ffa5cb32.alperen.cloud", ...timing } = options.leaderElection ?? {};
          const elector = createLeaseElector({
            client,
            namespace,
            name,
            identity,
            clock,
            timers,
            random,
            log,
            ...timing,
            onElected: (leadership) => lead(leadingBy(leadership, timing.leaseDurationMs ?? 15_000, timers), leadership.signal),
          });
          await elector.run(signal);
        }
      } finally {
        await events.close();
        caches.abort();
        await Promise.allSettled(running);
      }
    },
    health() {
      const statuses = Object.fromEntries(Object.entries(informers).map(([name, informer]) => [name, informer.status()]));
      const controllers = term?.controllers ?? [];
      const stuck = controllers.flatMap((controller) => controller.stuck());
      return {
        isReady: Object.values(statuses).every((status) => status.isSynced),
        isAlive: stuck.length === 0,
        isLeading: term !== undefined,
        informers: statuses,
        controllers: Object.fromEntries(controllers.map((controller) => [controller.name, controller.stats()])),
        stuck,
      };
    },
    lastDecision: (key) => term?.brain.lastDecision(key),
  };
}

function inNamespace(object: KubeObject, name: string | undefined): readonly string[] {
  return name === undefined || name === "" ? [] : [`${object.metadata?.namespace ?? ""}/${name}`];
}
