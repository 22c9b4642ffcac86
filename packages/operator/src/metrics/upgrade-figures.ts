import type { MetricsRegistry } from "@talos-operator/kube-runtime";

/** What is shown of the upgrade of Talos of one cluster. */
export interface UpgradeFigures {
  readonly namespace: string;
  /** Of the TalosControlPlane. */
  readonly name: string;
  /** A run is open. */
  readonly isOpen: boolean;
  /** Machines that run what is asked for, and those that do not; absent = none differs. */
  readonly machines?: { readonly done: number; readonly left: number };
  /** Versions that go to no machine of it, each once. */
  readonly quarantined: readonly string[];
}

/** Where figures of single machines go. */
export interface UpgradeCounters {
  /** A machine was in this stage for so long. */
  upgradeStageEnded(stage: string, seconds: number): void;
  /** A machine is through with an upgrade, or failed in it. */
  upgradeEnded(result: "upgraded" | "failed"): void;
}

const buckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1_800];

/** Registers the counters of single machines. */
export function upgradeCounters(registry: MetricsRegistry): UpgradeCounters {
  const stages = registry.histogram({
    name: "talos_operator_upgrade_stage_duration_seconds",
    help: "How long machines were in a stage of an upgrade of Talos.",
    labels: ["stage"],
    buckets,
  });
  const ended = registry.counter({
    name: "talos_operator_upgraded_machines_total",
    help: "Machines that another Talos was brought to, by what came of it.",
    labels: ["result"],
  });
  return {
    upgradeStageEnded: (stage, seconds) => stages.with({ stage }).observe(Math.max(0, seconds)),
    upgradeEnded: (result) => ended.with({ result }).add(),
  };
}

/** Registers what is shown by name, of so many clusters at most. */
export function upgradeGauges(registry: MetricsRegistry, most: number): (all: readonly UpgradeFigures[]) => void {
  const labels = ["namespace", "name"];
  const open = registry.gauge({ name: "talos_operator_upgrade_open", help: "1 while an upgrade of Talos is under way.", labels });
  const machines = registry.gauge({
    name: "talos_operator_upgrade_machines",
    help: "Machines of a cluster whose upgrade of Talos is asked for.",
    labels: [...labels, "state"],
  });
  const quarantined = registry.gauge({
    name: "talos_operator_quarantined_versions",
    help: "1 for a Talos that failed and goes to no machine of the cluster.",
    labels: [...labels, "version"],
  });
  return (all) => {
    for (const gauge of [open, machines, quarantined]) gauge.clear();
    const shown = all.filter(
      ({ isOpen, machines: counted, quarantined: versions }) => isOpen || counted !== undefined || versions.length > 0,
    );
    for (const { namespace, name, isOpen, machines: counted, quarantined: versions } of shown.slice(0, most)) {
      const cluster = { namespace, name };
      if (isOpen) open.with(cluster).set(1);
      if (counted !== undefined) for (const [state, count] of Object.entries(counted)) machines.with({ ...cluster, state }).set(count);
      for (const version of versions) quarantined.with({ ...cluster, version }).set(1);
    }
  };
}
