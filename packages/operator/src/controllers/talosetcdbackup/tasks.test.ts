import assert from "node:assert/strict";
import { test } from "node:test";
import { rfc3339 } from "@talos-operator/api";
import type { TalosEtcdBackup } from "@talos-operator/api";
import { NOW } from "../../testing/builders.ts";
import { otherTakes, taskOf } from "./tasks.ts";

const source = { machine: "cp-1", memberId: "0000000000000001" };
const run = (task: "take" | "prove", attempt: string) => ({ name: `backup-${attempt}`, attempt, task, startedAt: rfc3339(NOW), source });

function backup(name: string, status: TalosEtcdBackup["status"], namespace = "default"): TalosEtcdBackup {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: { namespace, name, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } },
    status: { controlPlane: "demo", clusterId: "c", slot: `slot-${name}`, ...status },
  };
}

test("a task names every take of its cluster that goes on, and no other run: uploads of those alone have an owner", () => {
  const own = backup("own", { run: run("take", "1") });
  const all = [
    own,
    backup("taking", { run: run("take", "2") }),
    backup("proving", { run: run("prove", "3") }),
    backup("stored", { filename: "f" }),
    backup("of-another-cluster", { controlPlane: "other", run: run("take", "4") }),
    backup("in-another-namespace", { run: run("take", "5") }, "other"),
  ];
  const others = otherTakes(own, all);
  assert.deepEqual(others, [{ slot: "slot-taking", attempt: "2" }]);
  const voter = { ...source, address: "10.0.0.1", isLeader: false };
  const sources = { clusterId: "c", talosVersion: "", kubernetesVersion: "", voters: [voter], others: [] };
  const input = { bundle: {} as never, store: undefined, sources, running: others };
  const task = taskOf(own, run("take", "1"), input, false);
  assert.ok(task?.kind === "take");
  assert.deepEqual(task.running, [{ slot: "slot-own", attempt: "1" }, ...others]);
});
