import type { TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { withAdoption } from "../procedures/import/observe-adoption.ts";
import { clusterOf, effectiveMode, effectiveUnknownMode } from "../controllers/shared/mode.ts";
import { imagine } from "../composition/taloscluster/imagined.ts";
import { withNeighbours } from "./beside.ts";
import { withEndpoint } from "./with-endpoint.ts";
import { withNextEndpoint } from "./with-next-endpoint.ts";
import type { BrainOptions } from "../reconcilers/brain.ts";
import { bundleInForce } from "../record/bundle-in-force.ts";
import { factsNow } from "../reconcilers/carry-out.ts";
import type { EffectPorts } from "../reconcilers/carry-out.ts";
import { isUnread } from "../reconcilers/clusters.ts";
import type { Cluster } from "../reconcilers/clusters.ts";
import { withPauses } from "./pauses.ts";
import type { Pauses } from "./pauses.ts";
import { observe } from "./observe.ts";
import { withSnapshots } from "../disruption/see-snapshots.ts";
import { withReleases } from "./with-releases.ts";
import { withConfigs } from "../procedures/configure/observe-configs.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Observed } from "../model/observation.ts";

/** The objects that a pass is about. A dry run of a TalosCluster is about the children that it would have. */
export interface Subject {
  /** The TalosControlPlane as it is stored; `undefined` = it is only imagined. */
  readonly stored: TalosControlPlane | undefined;
  readonly controlPlane: TalosControlPlane;
  /** Its pools as they are stored. */
  readonly pools: readonly TalosWorker[];
  /** Its pools by name, as the rules get them. */
  readonly workers: readonly TalosWorker[];
  /** The TalosCluster that is only tried. */
  readonly tried: TalosCluster | undefined;
}

/** What a pass is about; `undefined` = there is no control plane, not even an imagined one. */
export function subjectOf(
  stored: TalosControlPlane | undefined,
  pools: readonly TalosWorker[],
  tried: TalosCluster | undefined,
): Subject | undefined {
  const imagined = tried === undefined ? undefined : imagine(tried, { controlPlane: stored, workers: pools });
  const controlPlane = imagined?.controlPlane ?? stored;
  if (controlPlane === undefined) return undefined;
  const workers = imagined?.workers ?? pools.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return { stored, controlPlane, pools, workers, tried };
}

/** What a pass has seen. */
export interface Sight {
  /** As the rules get it. */
  readonly seen: Observed;
  /** The same with the pools and machines that are paused by themselves. */
  readonly unpaused: Observed;
  readonly pauses: Pauses;
}

/** Everything that a decision about the cluster needs, gathered anew from caches, record, keys and looks. Sends nothing that changes anything. */
export async function see(
  { controlPlane, pools, workers, tried }: Subject,
  cluster: Cluster,
  surroundings: Surroundings,
  options: BrainOptions,
  { bundles, access, wake, wakeAfterReading }: EffectPorts,
): Promise<Sight> {
  const { client, dialer, keys, clock } = options;
  const { key, session } = cluster;
  const machineObjects = surroundings.machineObjectsOf(key, pools);
  const mode = effectiveMode(controlPlane.metadata, options.talosClusters.store);
  const asksImport = mode === "import";
  const cached = {
    controlPlane,
    // Until there is a record, the rule of imports alone decides; from then on it is a cluster as any other.
    mode: asksImport ? ("reconcile" as const) : mode,
    isUnread: isUnread(mode, cluster, clock.now()),
    unknownMode: effectiveUnknownMode(controlPlane.metadata, options.talosClusters.store),
    isParentGoing: surroundings.isParentGoing(key, controlPlane),
    workers,
    machineObjects,
    installed: () => options.installedOn(controlPlane),
    otherPools: surroundings.otherPools(controlPlane, pools),
    otherMachines: surroundings.otherMachines(controlPlane, pools),
    nameHolder: (name: string) => surroundings.nameHolder(key, name),
    machineElsewhere: (address: string) => surroundings.machineElsewhere(controlPlane, address),
    // A cluster that is taken over runs already.
    endpointElsewhere: asksImport ? undefined : surroundings.endpointElsewhere(controlPlane),
  };
  const observed = await observe(cached, session, {
    client,
    bundles,
    access,
    keys,
    clock,
    wake,
    hosts: options.hosts,
    references: options.references,
    configs: options.configs,
    clusters: options.controlPlanes.store.size,
    mayDisturb: options.leading.mayDisturb,
    machineRules: options.machineRules,
  });
  const asking = await withReleases(observed, options.releases);
  const reached = withEndpoint(asking, session, tried ?? clusterOf(controlPlane.metadata, options.talosClusters.store));
  const saved = withSnapshots(withNextEndpoint(reached, session), tried, options.snapshots, options.talosClusters.store);
  const adopting = await withAdoption(saved, asksImport, session, { client, dialer, keys, clock, wake });
  const unpaused = withConfigs(await withNeighbours(adopting, session, key, options), session, {
    dialer,
    keys,
    clock,
    wake: wakeAfterReading,
    bundle: () => bundleInForce(session, bundles, key.namespace, factsNow(session).bundle),
  });
  const pauses = surroundings.pausesOf(controlPlane, pools, machineObjects);
  return { seen: withPauses(unpaused, pauses), unpaused, pauses };
}
