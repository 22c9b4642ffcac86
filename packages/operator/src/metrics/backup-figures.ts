import { findCondition, isConditionTrue } from "@talos-operator/api";
import type { ReasonOf, TalosEtcdBackup } from "@talos-operator/api";
import type { MetricsRegistry } from "@talos-operator/kube-runtime";

/** A cluster whose etcd is backed up. */
export interface BackedUp {
  readonly namespace: string;
  /** Name of the TalosControlPlane. */
  readonly controlPlane: string;
}

/** Where figures of backups go. */
export interface BackupFigures {
  /** A run ended; `reason` is that of the condition it led to: of `Ready` for `take`, of `Proved` for `prove`. */
  ended(
    task: "take" | "prove" | "remove",
    result: "succeeded" | "failed",
    reason: ReasonOf<"Ready"> | ReasonOf<"Proved">,
    tookMs: number,
  ): void;
  /** Backups that were due could not begin in time. */
  missed(cluster: BackedUp, count?: number): void;
  /** Reads the backups that are there each time metrics are collected; returns the end of it, after which none is shown. */
  showBackups(read: () => readonly TalosEtcdBackup[]): () => void;
}

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
  const show = (backups: readonly TalosEtcdBackup[]): void => {
    for (const gauge of [success, proof, unproved, size]) gauge.clear();
    for (const [cluster, ofCluster] of byCluster(backups)) {
      const at = labelsOf(cluster);
      // A rate needs the zero before the first one.
      missed.with(at).add(0);
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
    ended(task, result, reason, tookMs) {
      runs.with({ result, reason }).add();
      took.with({ task }).observe(Math.max(0, tookMs) / 1000);
    },
    missed: (cluster, count = 1) => missed.with(labelsOf(cluster)).add(count),
    showBackups(read) {
      const stop = registry.onCollect(() => show(read()));
      return () => {
        stop();
        show([]);
      };
    },
  };
}

/** Backups whose control plane was resolved, by cluster. */
function byCluster(backups: readonly TalosEtcdBackup[]): readonly (readonly [BackedUp, readonly TalosEtcdBackup[]])[] {
  const groups = new Map<string, readonly [BackedUp, TalosEtcdBackup[]]>();
  for (const backup of backups) {
    const { namespace = "" } = backup.metadata;
    const controlPlane = backup.status?.controlPlane;
    if (controlPlane === undefined) continue;
    const key = `${namespace}/${controlPlane}`;
    const group = groups.get(key) ?? ([{ namespace, controlPlane }, []] as const);
    group[1].push(backup);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function completedAt({ status }: TalosEtcdBackup): number {
  return secondsOf(status?.completionTime);
}

function secondsOf(time: string | undefined): number {
  const ms = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms / 1000;
}
