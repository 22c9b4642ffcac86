import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import type { Keys, Logger } from "@talos-operator/ports";
import type { OtlpTracing } from "../adapters/otlp-tracing.ts";
import { startEmbeddedApi, type EmbeddedApi, type EmbeddedApiOptions } from "./embedded-api.ts";
import { startOperator, type OperatorProcess } from "./operator-process.ts";
import { applyManifest } from "./apply-manifest.ts";
import type { NamedObject } from "./apply-object.ts";
import { compositionOptions, filesOf, type CompositionSettings } from "./composition-settings.ts";
import type { LocalAddons } from "./local-addons.ts";
import type { LocalBackups } from "./local-backups.ts";
import type { ManifestObject } from "./manifest.ts";
import type { SimulatedEndpoints } from "./workload-api.ts";

export interface StandaloneOptions extends EmbeddedApiOptions {
  /** See OperatorOptions: machines that boot within seconds are given up sooner. */
  readonly upgradeWithinMs?: number;
  readonly keys: Keys;
  readonly log: Logger;
  /** Starts what must be there before the operator looks, once the data folder is this process's own. It is closed after the operator. */
  readonly startSurroundings?: (client: KubeClient) => Promise<Surroundings>;
  readonly compositions: CompositionSettings;
  /** Closed after the operator. */
  readonly backups: LocalBackups;
  /** Closed after the operator. */
  readonly addons: LocalAddons;
  /** Where traces go; closed by whoever opened it. */
  readonly tracing?: OtlpTracing | undefined;
}

/** What a standalone operator finds around it. */
interface Surroundings {
  /** Of clusters that are simulated; absent: there are none. */
  readonly endpoints?: SimulatedEndpoints;
  close(): Promise<void>;
}

/** Embedded API and operator in one process. */
export interface StandaloneProcess {
  readonly api: EmbeddedApi;
  readonly client: KubeClient;
  readonly operator: OperatorProcess;
  /** Applies what the manifest says anew; gives every object that it names. */
  apply(objects: readonly ManifestObject[]): Promise<readonly NamedObject[]>;
  close(): Promise<void>;
}

export async function startStandalone(options: StandaloneOptions): Promise<StandaloneProcess> {
  const api = await startEmbeddedApi(options);
  const client = createKubeClient(api.transport);
  let surroundings: Surroundings | undefined;
  try {
    surroundings = await options.startSurroundings?.(client);
  } catch (error) {
    await api.close();
    throw error;
  }
  const operator = startOperator({
    kube: api.transport,
    keys: options.keys,
    log: options.log,
    tracing: options.tracing,
    simulated: surroundings?.endpoints,
    backups: options.backups.dependencies,
    addons: options.addons.dependencies,
    ...filesOf(options.compositions),
    options: {
      ...compositionOptions(options.compositions),
      allowLoopbackMachines: true,
      ...(options.upgradeWithinMs === undefined ? {} : { upgradeWithinMs: options.upgradeWithinMs }),
      // The data folder is locked by this process, so no second operator can work on this API.
      leaderElection: false,
    },
  });
  return {
    api,
    client,
    operator,
    apply: (objects) => applyManifest(client, objects),
    async close() {
      try {
        await operator.stop();
      } finally {
        await Promise.all([options.backups.close(), options.addons.close()]);
        await surroundings?.close();
        await api.close();
      }
    },
  };
}
