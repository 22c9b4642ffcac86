import { labels } from "@talos-operator/api";
import type { TalosCluster } from "@talos-operator/api";
import { watchOf } from "@talos-operator/kube-runtime";
import type { ControllerWatch, Informer, ObjectKey } from "@talos-operator/kube-runtime";
import { specOrMetadataChanged } from "../controllers/shared/predicates.ts";
import { controlPlaneNamed } from "../controllers/talosetcdbackup/cluster-name.ts";
import type { NamesCluster } from "../controllers/talosetcdbackup/cluster-name.ts";
import type { SnapshotCaches } from "./see-snapshots.ts";

/** What wakes a cluster whose control planes wait for a snapshot: nobody has to look for its end. */
export function snapshotWatches({ schedules, backups }: SnapshotCaches, talosClusters: Informer<TalosCluster>): readonly ControllerWatch[] {
  const clusterOf = (named: NamesCluster): readonly ObjectKey[] => {
    const name = controlPlaneNamed(named, talosClusters.store);
    return name === undefined || name === "" ? [] : [{ namespace: named.metadata.namespace, name }];
  };
  return [
    watchOf({
      informer: backups,
      why: "a snapshot that control planes wait for is taken, or fails",
      map: (backup) => (backup.metadata.labels?.[labels.beforeRisk] === undefined ? [] : clusterOf(backup)),
    }),
    watchOf({
      informer: schedules,
      why: "there is a store for snapshots, or there is none any more",
      map: ({ metadata, spec }) => clusterOf({ metadata, spec: spec.backupTemplate.spec }),
      predicate: specOrMetadataChanged,
    }),
  ];
}
