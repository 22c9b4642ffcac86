import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { TalosEtcdBackup } from "@talos-operator/api";
import { KubeApiError, createMetricsRegistry } from "@talos-operator/kube-runtime";
import { CompositionError } from "../composition/kubernetescluster/errors.ts";
import { EffectError } from "../errors.ts";
import { createBackupFigures } from "./backup-figures.ts";
import { errorTypeOf } from "./error-type.ts";
import { createOperatorFigures } from "./figures.ts";

function everything() {
  const registry = createMetricsRegistry();
  const figures = createOperatorFigures(registry);
  figures.passed("KubernetesCluster", 20);
  figures.passed("KubernetesCluster", 20, new CompositionError("MachineCreationError", "no"));
  figures.failed("KubernetesCluster", "ValidationError");
  figures.decided("bootstrap");
  figures.carriedOut("BootstrapEtcd");
  figures.carriedOut("BootstrapEtcd", new EffectError("RECORD_CHANGED", "x"));
  figures.carriedOut("BootstrapEtcd", new TypeError("x"));
  figures.invariantBroken("S11");
  figures.upgradeStageEnded("Booting", 12);
  figures.upgradeEnded("upgraded");
  figures.machineGenerated("demo", "controlplane");
  figures.fileOperation("create", true);
  figures.fileOperation("delete", false);
  let phases = ["Running", "Running", "Failed"];
  const endObjects = figures.showObjects(() => ({
    KubernetesCluster: [...phases.map((phase) => ({ status: { phase } })), {}, { spec: { data: { provider: "aks" } } }],
    TalosControlPlane: [{ metadata: { namespace: "ns", name: "demo" }, status: { conditions: [{ type: "Ready", status: "False" }] } }],
  }));
  const endClusters = figures.showClusters(() => [
    {
      machines: [
        { role: "worker", stage: "running" },
        { role: "worker", stage: "running" },
      ],
      members: [{ isLearner: false }, { isLearner: true }],
      strays: [{ namespace: "ns", name: "demo", count: 1 }],
      openEffects: 2,
      files: [{ namespace: "ns", name: "demo", machine: "a", sizeBytes: 2_000, inUseBytes: 500 }],
      alarms: [{ namespace: "ns", name: "demo", alarm: "no-space" }],
      upgrade: { namespace: "ns", name: "demo", isOpen: true, machines: { done: 1, left: 2 }, quarantined: ["v1.13.9"] },
    },
  ]);
  const backups = createBackupFigures(registry);
  backups.ended({ task: "take", result: "succeeded", reason: "BackupSucceeded", tookMs: 1_000 });
  const taken: TalosEtcdBackup[] = [
    {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackup",
      metadata: { name: "a", namespace: "ns" },
      spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } },
      status: {
        controlPlane: "demo",
        completionTime: "2026-01-01T00:00:00Z",
        size: 1,
        proof: { how: "Restored", on: "AtWriting", at: "2026-01-01T00:00:00Z" },
        conditions: [{ type: "Ready", status: "True", reason: "BackupSucceeded", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      },
    },
  ];
  backups.showBackups(() => ({ backups: taken, scheduled: [] }));
  return { registry, setPhases: (next: string[]) => void (phases = next), endObjects, endClusters };
}

const lines = (text: string, metric: string): readonly string[] =>
  text.split("\n").filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));

describe("figures of the operator", () => {
  it("have the names and labels of the reference page, no more and no fewer", () => {
    const text = everything().registry.text();
    const labelsOf = (name: string): string => {
      const line = text.split("\n").find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name}_count{`)) ?? "";
      return [...line.matchAll(/(\w+)="/g)].map(([, label]) => label).join(" ");
    };
    const served = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => `${name} ${type} ${labelsOf(name)}`);
    const [, page = ""] = readFileSync(new URL("../../../../docs/reference/metrics.md", import.meta.url), "utf8").split("## The operator");
    const documented = [...page.matchAll(/^\| `(\S+)` +\| (\S+) +\| ([^|]*)\|/gm)].map(
      ([, name, type, labels = ""]) => `${name} ${type} ${[...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).join(" ")}`,
    );
    assert.deepEqual(documented.toSorted(), served.toSorted());
  });

  it("name clusters and pools by what their conditions say, at most so many, those first that are not Ready, and none that is gone", () => {
    const object = (name: string, status: string): object => ({
      metadata: { namespace: "ns", name },
      status: { conditions: [{ type: "Ready", status }] },
    });
    let objects: object[] = [object("a", "True"), object("b", "False"), object("c", "True")];
    const shown = (most?: number): readonly string[] => {
      const registry = createMetricsRegistry();
      createOperatorFigures(registry, most).showObjects(() => ({ TalosControlPlane: objects, TalosMachine: objects }));
      registry.text();
      objects = objects.slice(0, 2);
      const text = registry.text();
      objects = [object("a", "True"), object("b", "False"), object("c", "True")];
      return [...lines(text, "talos_operator_object_condition"), ...lines(text, "talos_operator_objects_unnamed")];
    };
    const line = (name: string, status: string): string =>
      `talos_operator_object_condition{kind="TalosControlPlane",namespace="ns",name="${name}",type="Ready",status="${status}"} 1`;
    assert.deepEqual(shown(), [line("a", "True"), line("b", "False"), "talos_operator_objects_unnamed 0"]);
    assert.deepEqual(shown(1), [line("b", "False"), "talos_operator_objects_unnamed 1"]);
    assert.deepEqual(shown(0), ["talos_operator_objects_unnamed 0"]);
  });

  it("tell files and alarms of etcd by name, and none that is gone", () => {
    const { registry, endClusters } = everything();
    const shown = (): readonly string[] =>
      ["size_bytes", "in_use_bytes"].flatMap((metric) => lines(registry.text(), `talos_operator_etcd_database_${metric}`));
    assert.deepEqual(shown(), [
      'talos_operator_etcd_database_size_bytes{namespace="ns",name="demo",machine="a"} 2000',
      'talos_operator_etcd_database_in_use_bytes{namespace="ns",name="demo",machine="a"} 500',
    ]);
    assert.deepEqual(lines(registry.text(), "talos_operator_etcd_alarms"), [
      'talos_operator_etcd_alarms{namespace="ns",name="demo",alarm="no-space"} 1',
    ]);
    const strays = (): readonly string[] => lines(registry.text(), "talos_operator_etcd_stray_members");
    assert.deepEqual(strays(), ['talos_operator_etcd_stray_members{namespace="ns",name="demo"} 1']);
    endClusters();
    assert.deepEqual([...shown(), ...lines(registry.text(), "talos_operator_etcd_alarms"), ...strays()], []);
  });

  it("tell how far an upgrade is by name, and none that is over", () => {
    const { registry, endClusters } = everything();
    const shown = (): readonly string[] =>
      ["upgrade_open", "upgrade_machines", "quarantined_versions"].flatMap((metric) => lines(registry.text(), `talos_operator_${metric}`));
    assert.deepEqual(shown(), [
      'talos_operator_upgrade_open{namespace="ns",name="demo"} 1',
      'talos_operator_upgrade_machines{namespace="ns",name="demo",state="done"} 1',
      'talos_operator_upgrade_machines{namespace="ns",name="demo",state="left"} 2',
      'talos_operator_quarantined_versions{namespace="ns",name="demo",version="v1.13.9"} 1',
    ]);
    endClusters();
    assert.deepEqual(shown(), []);
  });

  it("of the published contract are exactly these series (A060-A064)", () => {
    const text = everything().registry.text();
    assert.deepEqual(lines(text, "talos_operator_clusters_total"), [
      'talos_operator_clusters_total{phase="Running"} 2',
      'talos_operator_clusters_total{phase="Failed"} 1',
    ]);
    assert.deepEqual(lines(text, "talos_operator_clusters_of_others"), ["talos_operator_clusters_of_others 1"]);
    assert.deepEqual(lines(text, "talos_operator_machines_generated"), [
      'talos_operator_machines_generated{cluster="demo",role="controlplane"} 1',
    ]);
    assert.deepEqual(lines(text, "talos_operator_reconciliation_duration_seconds_count"), [
      'talos_operator_reconciliation_duration_seconds_count{controller="KubernetesCluster"} 2',
    ]);
    assert.deepEqual(lines(text, "talos_operator_reconciliation_errors_total"), [
      'talos_operator_reconciliation_errors_total{controller="KubernetesCluster",error_type="MachineCreationError"} 1',
      'talos_operator_reconciliation_errors_total{controller="KubernetesCluster",error_type="ValidationError"} 1',
    ]);
    assert.deepEqual(lines(text, "talos_operator_file_operations_total"), [
      'talos_operator_file_operations_total{operation="create",status="success"} 1',
      'talos_operator_file_operations_total{operation="delete",status="error"} 1',
    ]);
  });

  it("go to 0 when what they count is gone, and when the term ends", () => {
    const { registry, setPhases, endObjects, endClusters } = everything();
    registry.text();
    setPhases(["Running"]);
    assert.deepEqual(lines(registry.text(), "talos_operator_clusters_total"), [
      'talos_operator_clusters_total{phase="Running"} 1',
      'talos_operator_clusters_total{phase="Failed"} 0',
    ]);
    endObjects();
    endClusters();
    const text = registry.text();
    for (const metric of [
      "talos_operator_clusters_total",
      "talos_operator_clusters_of_others",
      "talos_operator_machines",
      "talos_operator_etcd_members",
      "talos_operator_open_effects",
    ])
      assert.ok(
        lines(text, metric).every((line) => line.endsWith(" 0")),
        metric,
      );
  });

  it("tell failures by their error", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [new CompositionError("OwnerReferenceError", "x"), "OwnerReferenceError"],
      [new CompositionError("ApiError", "x"), "ApiError"],
      [new KubeApiError("CANCELED", { call: "x", detail: "x" }), "ApiError"],
      [new EffectError("RECORD_CHANGED", "x"), "EffectError"],
      [Object.assign(new Error("x"), { name: "TalosError" }), "TalosError"],
      [new TypeError("x"), "InternalError"],
      ["x", "InternalError"],
    ];
    for (const [thrown, type] of cases) assert.equal(errorTypeOf(thrown), type);
  });
});
