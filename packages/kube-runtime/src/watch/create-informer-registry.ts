import type { Logger, RandomSource, Timers } from "@talos-operator/ports";
import type { KubeClient } from "../client/kube-client.ts";
import { showInformers } from "../metrics/informer-metrics.ts";
import type { MetricsRegistry } from "../metrics/types.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { apiVersionOf, type ResourceType } from "../request/resource-type.ts";
import { createInformer } from "./create-informer.ts";
import type { Indexers } from "./indexed-store.ts";
import type { Informer, InformerOptions, InformerStatus } from "./informer-types.ts";

/** What all informers of a registry share. */
export interface InformerRegistryOptions extends Pick<InformerOptions<KubeObject>, "pageSize" | "watchTimeoutSeconds" | "listBy"> {
  readonly client: KubeClient;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log?: Logger;
  /** Where informers report how they do: `kube_runtime_informer_*`. */
  readonly metrics?: MetricsRegistry;
}

/** What part of a kind an informer holds, and how. */
export interface InformerScope<T extends KubeObject> extends Pick<
  InformerOptions<T>,
  "namespace" | "labelSelector" | "fieldSelector" | "transform"
> {
  /** Added to those that others asked for; the same name must be the same function. */
  readonly indexers?: Indexers<T>;
}

/** How one informer does. */
export interface InformerReport {
  /** For example `things.example.dev in ns with app=x`. */
  readonly name: string;
  readonly status: InformerStatus;
}

/** One informer, and so one watch, per kind and scope, however many ask. */
export interface InformerRegistry {
  /**
   * The informer of this kind and scope: the same each time. Asked for while the registry runs, it starts at once.
   *
   * @throws RangeError when the same scope is asked for with another transform, or an index name stands for another function
   */
  informer<T extends KubeObject = KubeObject>(type: ResourceType, scope?: InformerScope<T>): Informer<T>;
  /** Runs all informers until `signal` aborts, those that are asked for later too. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** True when every informer has completed its first list. */
  readonly isSynced: boolean;
  reports(): readonly InformerReport[];
}

interface Entry {
  readonly name: string;
  readonly informer: Informer<never>;
  readonly transform: unknown;
}

/** A registry without informers. */
export function createInformerRegistry(options: InformerRegistryOptions): InformerRegistry {
  const { metrics, ...shared } = options;
  const entries = new Map<string, Entry>();
  const running: Promise<void>[] = [];
  let stop: AbortSignal | undefined;

  const reports = (): readonly InformerReport[] => [...entries.values()].map(({ name, informer }) => ({ name, status: informer.status() }));

  function start(informer: Pick<Entry["informer"], "run">, signal: AbortSignal): void {
    running.push(informer.run(signal));
  }

  return {
    informer<T extends KubeObject>(type: ResourceType, { indexers = {}, ...scope }: InformerScope<T> = {}): Informer<T> {
      const name = nameOf(type, scope);
      const known = entries.get(name);
      if (known !== undefined) {
        if (known.transform !== scope.transform) throw new RangeError(`the informer of ${name} is asked for with two different transforms`);
        // The name holds type and scope, so whoever asks names the same kind of object.
        const informer = known.informer as unknown as Informer<T>;
        informer.addIndexers(indexers);
        return informer;
      }
      const informer = createInformer<T>({ ...shared, type, ...scope, indexers });
      entries.set(name, { name, informer: informer as unknown as Informer<never>, transform: scope.transform });
      if (stop?.aborted === false) start(informer, stop);
      return informer;
    },
    async run(signal) {
      stop = signal;
      const endShowing = metrics === undefined ? undefined : showInformers(metrics, reports);
      for (const { informer } of entries.values()) start(informer, signal);
      try {
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        // Others may have been added while these ended.
        for (let ended = 0; ended < running.length; ended += 1) await running[ended];
      } finally {
        endShowing?.();
      }
    },
    get isSynced() {
      return [...entries.values()].every(({ informer }) => informer.isSynced);
    },
    reports,
  };
}

function nameOf(type: ResourceType, scope: Pick<InformerScope<never>, "namespace" | "labelSelector" | "fieldSelector">): string {
  const selectors = [scope.labelSelector, scope.fieldSelector].filter((selector) => selector !== undefined);
  const place = scope.namespace === undefined ? "" : ` in ${scope.namespace}`;
  return `${type.plural}.${apiVersionOf(type)}${place}${selectors.length === 0 ? "" : ` with ${selectors.join(" and ")}`}`;
}
