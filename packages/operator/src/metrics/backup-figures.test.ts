import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetricsRegistry } from "@talos-operator/kube-runtime";
import type { Condition, TalosEtcdBackup } from "@talos-operator/api";
import { createBackupFigures } from "./backup-figures.ts";
import type { BackedUp } from "./backup-figures.ts";

const condition = (type: string, status: Condition["status"]): Condition => ({
  type,
  status,
  reason: "Any",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

function backup(name: string, ready: Condition["status"], status: Partial<NonNullable<TalosEtcdBackup["status"]>> = {}): TalosEtcdBackup {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: { name, namespace: "ns" },
    spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } },
    status: { controlPlane: "demo", conditions: [condition("Ready", ready)], ...status },
  };
}

function shown(backups: readonly TalosEtcdBackup[], scheduled: readonly BackedUp[] = []) {
  const registry = createMetricsRegistry();
  const figures = createBackupFigures(registry);
  const end = figures.showBackups(() => ({ backups, scheduled }));
  const read = (): readonly string[] =>
    registry
      .text()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("talos_operator_backup_runs_total"));
  return { figures, read, end };
}

const at = '{namespace="ns",control_plane="demo"}';

describe("figures of backups", () => {
  it("tell of the newest good one, not of a newer one that failed", () => {
    const { read, end } = shown([
      backup("a", "True", { completionTime: "1970-01-01T00:01:00Z", size: 10 }),
      backup("b", "True", { completionTime: "1970-01-01T00:02:00Z", size: 20 }),
      backup("c", "False", { completionTime: "1970-01-01T00:03:00Z", size: 30 }),
    ]);
    const text = read();
    assert.ok(text.includes(`talos_operator_backup_last_success_timestamp_seconds${at} 120`));
    assert.ok(text.includes(`talos_operator_backup_size_bytes${at} 20`));
    assert.ok(text.includes(`talos_operator_backup_proof_failed${at} 0`));
    assert.ok(!text.some((line) => line.startsWith("talos_operator_backup_last_proof")));
    end();
    assert.ok(!read().some((line) => line.includes("last_success")));
  });

  it("count proofs that did not hold, and remember when one did", () => {
    const text = shown([
      backup("a", "True", {
        conditions: [condition("Ready", "True"), condition("Proved", "False")],
        proof: { how: "Restored", on: "AtWriting", at: "1970-01-01T00:01:00Z" },
      }),
      backup("b", "True", { conditions: [condition("Ready", "True"), condition("Proved", "Unknown")] }),
    ]).read();
    assert.ok(text.includes(`talos_operator_backup_proof_failed${at} 1`));
    assert.ok(text.includes(`talos_operator_backup_last_proof_timestamp_seconds${at} 60`));
  });

  it("show a zero of what was missed before the first one is", () => {
    const { figures, read } = shown([backup("a", "False")]);
    const line = (count: number) => `talos_operator_backup_schedule_missed_total${at} ${count}`;
    assert.ok(read().includes(line(0)));
    figures.missed({ namespace: "ns", controlPlane: "demo" }, 2);
    assert.ok(read().includes(line(2)));
  });

  it("are there for a schedule before its first backup, and end when nobody names the cluster any more", () => {
    const cluster = { namespace: "ns", controlPlane: "demo" };
    const scheduled = [cluster];
    const { figures, read } = shown([], scheduled);
    figures.missed(cluster);
    assert.deepEqual(read(), [`talos_operator_backup_schedule_missed_total${at} 1`]);
    scheduled.pop();
    assert.deepEqual(read(), []);
  });

  it("show the zero of each failure that an alert asks for", () => {
    const registry = createMetricsRegistry();
    const figures = createBackupFigures(registry);
    figures.showBackups(() => ({ backups: [], scheduled: [] }));
    const line = (count: number) => `talos_operator_backup_runs_total{result="failed",reason="StoreRefused"} ${count}\n`;
    assert.ok(registry.text().includes(line(0)));
    figures.ended({ task: "take", result: "failed", reason: "StoreRefused", tookMs: 1_000 });
    assert.ok(registry.text().includes(line(1)));
    assert.ok(registry.text().includes('talos_operator_backup_run_duration_seconds_bucket{task="take",le="1"} 1'));
  });

  it("say nothing of backups whose cluster is not known yet", () => {
    const { controlPlane: _, ...rest } = backup("a", "False").status ?? {};
    assert.deepEqual(shown([{ ...backup("a", "False"), status: rest }]).read(), []);
  });
});
