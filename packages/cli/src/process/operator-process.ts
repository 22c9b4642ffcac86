import type {
  Clock,
  FileTree,
  KubeTransport,
  Keys,
  Logger,
  RandomSource,
  TalosDialer,
  Timers,
  WorkloadDialer,
} from "@talos-operator/ports";
import { createEndpointProbe, createNameResolver, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { MetricsRegistry } from "@talos-operator/kube-runtime";
import { createHttpsWorkloadDialer } from "@talos-operator/kube-runtime/https";
import {
  createOperator,
  type AddonDependencies,
  type BackupDependencies,
  type OperatorHealth,
  type OperatorOptions,
} from "@talos-operator/operator";
import type { OtlpTracing } from "../adapters/otlp-tracing.ts";
import { askedInSimulation } from "./simulated-endpoints.ts";
import type { SimulatedEndpoints } from "./workload-api.ts";
import { createGrpcDialer } from "@talos-operator/talos/grpc";

export interface OperatorProcessOptions {
  readonly kube: KubeTransport;
  readonly keys: Keys;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry;
  /** Where the manifests of Machines go; absent: nowhere. */
  readonly files?: FileTree;
  /** The network of clusters that are simulated in this process; absent: none are. */
  readonly simulated?: SimulatedEndpoints | undefined;
  readonly backups: BackupDependencies;
  readonly addons: AddonDependencies;
  /** Where traces go; absent: nowhere. Given spans, not ended with the operator. */
  readonly tracing?: OtlpTracing | undefined;
  readonly options: OperatorOptions;
}

/** The operator on the process's own clock, timers and sockets. */
export interface OperatorProcess {
  /** Rejects when the operator cannot go on. Resolves after `stop`. */
  readonly done: Promise<void>;
  health(): OperatorHealth;
  /** Finishes what is under way and gives the lease back. */
  stop(): Promise<void>;
}

export function startOperator({
  kube,
  keys,
  log,
  metrics,
  files,
  simulated,
  backups,
  addons,
  tracing,
  options,
}: OperatorProcessOptions): OperatorProcess {
  const dialer = createGrpcDialer();
  const ports: { clock: Clock; timers: Timers; random: RandomSource; talos: TalosDialer; workloads: WorkloadDialer } = {
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    talos: tracing?.traceCalls(dialer) ?? dialer,
    workloads: createHttpsWorkloadDialer(),
  };
  const { endpoints, identityNamespaces, requireStoreLabel = false } = backups;
  // What is open by default is named: who starts it can see what a right on backups is worth.
  log.info(
    { endpoints: endpoints ?? "*", identityNamespaces: identityNamespaces ?? "*", requireStoreLabel },
    "Backups may use these endpoints, and the cloud identity of the Jobs for these namespaces",
  );
  const names = createNameResolver();
  const probe = createEndpointProbe(names);
  const stopping = new AbortController();
  const operator = createOperator({
    kube: tracing?.traceRequests(kube) ?? kube,
    keys,
    log,
    options,
    backups,
    addons,
    names,
    endpoints: simulated === undefined ? probe : askedInSimulation(simulated, probe),
    ...ports,
    ...(metrics === undefined ? {} : { metrics }),
    ...(files === undefined ? {} : { files }),
    ...(tracing === undefined ? {} : { tracer: tracing.tracer }),
  });
  const done = operator.run(stopping.signal);
  return {
    done,
    health: () => operator.health(),
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
