import { findCondition, isConditionTrue } from "@talos-operator/api";
import type { ReasonOf, TalosEtcdBackup } from "@talos-operator/api";
import type { MetricsRegistry } from "@talos-operator/kube-runtime";

/** A run that is over. */
export interface EndedRun {
  readonly task: "take" | "prove" | "remove";
  readonly result: "succeeded" | "failed";
  /** Of the condition it led to: of `Ready`, and of `Proved` for proofs that held or did not; a proof that could not be made has what was in the way. */
  readonly reason: ReasonOf<"Ready"> | ReasonOf<"Proved">;
  readonly tookMs: number;
}

/** A cluster whose etcd is backed up. */
export interface BackedUp {
  readonly namespace: string;
  /** Name of the TalosControlPlane. */
  readonly controlPlane: string;
}

/** Where figures of backups go. */
export interface BackupFigures {
  ended(run: EndedRun): void;
  /** Backups that were due could not begin in time. */
  missed(cluster: BackedUp, count?: number): void;
  /** Reads what is there each time metrics are collected; returns the end of it, after which none is shown. */
  showBackups(read: () => BackupsShown): () => void;
}

export interface BackupsShown {
  readonly backups: readonly TalosEtcdBackup[];
  /** Clusters that schedules name, whether or not anything was taken of them yet. */
  readonly scheduled: readonly BackedUp[];
}

/** Reasons that alerts ask for: a rate needs the zero before the first one, which may be the only one for hours. */
const AWAITED: readonly EndedRun["reason"][] = [
  "StoreUnreachable",
  "StoreRefused",
  "StoreFull",
  "SourceUnreachable",
  "SnapshotDamaged",
  "SnapshotTooLarge",
  "SpecRefused",
  "WorkerFailed",
  "ProofFailed",
];

const secondsBuckets = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const labels = ["namespace", "control_plane"] as const;

/** Registers the metrics of backups; `docs/reference/metrics.md` describes them. */
export function createBackupFigures(registry: MetricsRegistry): BackupFigures {
  const success = registry.gauge({
    name: "talos_operator_backup_last_success_timestamp_seconds",
    help: "When the newest backup ended well.",
    labels,
  });
  const proof = registry.gauge({
    name: "talos_operator_backup_last_proof_timestamp_seconds",
    help: "When a proof of a backup last held.",
    labels,
  });
  const unproved = registry.gauge({
    name: "talos_operator_backup_proof_failed",
    help: "Backups whose last proof did not hold.",
    labels,
  });
  const size = registry.gauge({ name: "talos_operator_backup_size_bytes", help: "Plain bytes of the newest snapshot.", labels });
  const missed = registry.counter({
    name: "talos_operator_backup_schedule_missed_total",
    help: "Backups that were due and could not begin in time.",
    labels,
  });
  const runs = registry.counter({
    name: "talos_operator_backup_runs_total",
    help: "Runs of backups by what came of them.",
    labels: ["result", "reason"],
  });
  const took = registry.histogram({
    name: "talos_operator_backup_run_duration_seconds",
    help: "How long runs of backups took.",
    labels: ["task"],
    buckets: secondsBuckets,
  });
  const labelsOf = ({ namespace, controlPlane }: BackedUp) => ({ namespace, control_plane: controlPlane });
  const missedOf = new Map<string, number>();
  const show = ({ backups, scheduled }: BackupsShown): void => {
    for (const family of [success, proof, unproved, size, missed]) family.clear();
    const clusters = byCluster(backups, scheduled);
    for (const key of missedOf.keys()) if (!clusters.has(key)) missedOf.delete(key);
    for (const [key, [cluster, ofCluster]] of clusters) {
      const at = labelsOf(cluster);
      missed.with(at).add(missedOf.get(key) ?? 0);
      if (ofCluster.length === 0) continue;
      const good = ofCluster.filter(({ status }) => isConditionTrue(status?.conditions, "Ready"));
      const newest = good.toSorted((a, b) => completedAt(b) - completedAt(a))[0];
      if (newest !== undefined && completedAt(newest) > 0) {
        success.with(at).set(completedAt(newest));
        if (newest.status?.size !== undefined) size.with(at).set(newest.status.size);
      }
      const proved = Math.max(0, ...ofCluster.map(({ status }) => secondsOf(status?.proof?.at)));
      if (proved > 0) proof.with(at).set(proved);
      unproved.with(at).set(ofCluster.filter(({ status }) => findCondition(status?.conditions, "Proved")?.status === "False").length);
    }
  };
  return {
    ended({ task, result, reason, tookMs }) {
      runs.with({ result, reason }).add();
      took.with({ task }).observe(Math.max(0, tookMs) / 1000);
    },
    missed: (cluster, count = 1) => void missedOf.set(keyOf(cluster), (missedOf.get(keyOf(cluster)) ?? 0) + count),
    showBackups(read) {
      for (const reason of AWAITED) runs.with({ result: "failed", reason }).add(0);
      const stop = registry.onCollect(() => show(read()));
      return () => {
        stop();
        show({ backups: [], scheduled: [] });
      };
    },
  };
}

/** Clusters that are known to be backed up, with what there is of each. */
function byCluster(
  backups: readonly TalosEtcdBackup[],
  scheduled: readonly BackedUp[],
): ReadonlyMap<string, readonly [BackedUp, TalosEtcdBackup[]]> {
  const groups = new Map<string, readonly [BackedUp, TalosEtcdBackup[]]>();
  const groupOf = (cluster: BackedUp): TalosEtcdBackup[] => {
    const group = groups.get(keyOf(cluster)) ?? ([cluster, []] as const);
    groups.set(keyOf(cluster), group);
    return group[1];
  };
  for (const cluster of scheduled) groupOf(cluster);
  for (const backup of backups) {
    const { namespace = "" } = backup.metadata;
    const controlPlane = backup.status?.controlPlane;
    if (controlPlane !== undefined) groupOf({ namespace, controlPlane }).push(backup);
  }
  return groups;
}

function keyOf({ namespace, controlPlane }: BackedUp): string {
  return `${namespace}/${controlPlane}`;
}

function completedAt({ status }: TalosEtcdBackup): number {
  return secondsOf(status?.completionTime);
}

function secondsOf(time: string | undefined): number {
  const ms = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms / 1000;
}
