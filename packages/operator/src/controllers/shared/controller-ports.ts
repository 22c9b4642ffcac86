import type { TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { ControllerOptions, Informer, KubeClient, MetricsRegistry } from "@talos-operator/kube-runtime";
import type { Clock, Logger, RandomSource, Timers, Tracer } from "@talos-operator/ports";
import type { OperatorFigures } from "../../metrics/figures.ts";

/** What every controller works with, whatever its kind. */
export interface ControllerPorts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
  /** For figures that every controller has; without it there are none. */
  readonly metrics?: MetricsRegistry;
  /** For the operator's own figures; without it there are none. */
  readonly figures?: OperatorFigures;
  /** Where spans go; without it nowhere. */
  readonly tracer?: Tracer;
}

/** The caches of what describes Talos clusters. */
export interface TalosCaches {
  readonly talosClusters: Informer<TalosCluster>;
  readonly controlPlanes: Informer<TalosControlPlane>;
  readonly workers: Informer<TalosWorker>;
  readonly machines: Informer<TalosMachine>;
}

/** The options of a controller that say nothing about its kind. */
export function commonOptions({
  clock,
  timers,
  random,
  log,
  metrics,
  figures,
  tracer,
}: ControllerPorts): Pick<ControllerOptions, "clock" | "timers" | "random" | "log" | "metrics" | "onPass" | "tracer"> {
  return {
    clock,
    timers,
    random,
    log,
    ...(tracer === undefined ? {} : { tracer }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(figures === undefined ? {} : { onPass: (controller, tookMs, thrown) => figures.passed(controller, tookMs, thrown) }),
  };
}
