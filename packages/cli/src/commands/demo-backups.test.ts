// The demo as `npm start` runs it, with one machine, and what people apply to it from `examples` (B130, B131).
import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  annotations,
  findCondition,
  isConditionTrue,
  talosClusterResource,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
} from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { demoCommand } from "./demo.ts";
import { runCommand } from "./testing/run-command.ts";

const examples = new URL("../../../../examples/", import.meta.url);
const program = fileURLToPath(new URL("../main.ts", import.meta.url));
const namespace = "default";
/** Beside those of a demo that somebody runs. */
const machine = "127.93.1.1";
/** Of the S3 endpoint: the demo serves on none where it is given 0. */
const port = 19_334;
// Elsewhere only 127.0.0.1 is bound.
const skip = process.platform !== "linux";

describe("the demo, and its examples of backups", { skip }, () => {
  let folder = "";
  let child: ChildProcess;
  let said = "";
  let client: KubeClient;
  let close = (): void => undefined;
  const example = <T>(file: string): T =>
    parseKubernetesYaml(readFileSync(new URL(file, examples), "utf8").replaceAll("127.0.0.1:9333", `127.0.0.1:${port}`))[0] as T;
  /** Ends with the test's own time at the latest. */
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      assert.ok(child.exitCode === null, `${what}: the demo ended\n${said}`);
      await sleep(50);
    }
  };
  const backups = () => client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const read = (name: string) => backups().get({ namespace, name });
  const conditionOf = async (name: string, type: string) => findCondition((await read(name)).status?.conditions, type);
  /** Applies it, and waits for what `kubectl wait` waits for. */
  const take = async (backup: TalosEtcdBackup): Promise<TalosEtcdBackup> => {
    const { name } = backup.metadata;
    await backups().create(backup);
    await until(`${name} is Ready`, async () => {
      const { status } = await read(name);
      assert.ok(!isConditionTrue(status?.conditions, "Failed"), JSON.stringify(status));
      return isConditionTrue(status?.conditions, "Ready");
    });
    return read(name);
  };
  const ask = async (...words: readonly string[]): Promise<string> => {
    const { out, error } = await runCommand(["backup", ...words, "--kubeconfig", join(folder, "data", "kubeconfig")]);
    assert.equal(error, undefined);
    return String(out);
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "talos-operator-demo-"));
    const cluster = example<TalosCluster>("first-cluster/cluster.yaml");
    const { controlPlane } = cluster.spec ?? {};
    assert.ok(controlPlane !== undefined);
    const spec = {
      controlPlane: { ...controlPlane, endpoint: "https://127.93.1.100:6443", metalSpec: { machines: [{ address: machine }] } },
    };
    writeFileSync(join(folder, "cluster.json"), JSON.stringify({ ...cluster, spec }));
    const flags = [
      ["--data-dir", join(folder, "data")],
      ["--manifest", join(folder, "cluster.json")],
      ["--machines", "1"],
      ["--listen", "127.0.0.1:0"],
      ["--object-storage-port", `${port}`],
    ].flat();
    child = fork(program, ["demo", ...flags], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
    await until("it is Ready", () => Promise.resolve(said.includes("Ready after ")));
    const transport = createHttpsTransport((await loadKubeconfig({ path: join(folder, "data", "kubeconfig") })).config);
    client = createKubeClient(transport);
    close = () => transport.close();
    assert.equal((await client.resource(talosClusterResource).list({ namespace })).items.length, 1);
  });
  after(async () => {
    close();
    const ended = new Promise((resolve) => child.once("close", resolve));
    if (child.exitCode === null && child.kill("SIGTERM")) await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  test("talos-etcd-backup.yaml is Ready as it stands, inspect lists the Nodes, and get writes a snapshot of the recorded revision (B130)", async () => {
    assert.equal(demoCommand.flags.find(({ name }) => name === "object-storage-port")?.default, 9333, "the port that the examples name");
    const { status } = await take(example<TalosEtcdBackup>("talos-etcd-backup.yaml"));
    assert.match(await ask("inspect", "talosetcdbackup/first-backup"), /Nodes +1: talos-/);
    const file = join(folder, "first.db");
    await ask("get", "talosetcdbackup/first-backup", "--output", file);
    assert.equal(readFileSync(file).byteLength, status?.size);
    assert.match(await ask("inspect", file), new RegExp(`Revision +${status?.revision}\n`));
    assert.match(await ask("list", "talosetcdbackup/first-backup"), /signature checked; talosetcdbackup\/first-backup; proved/);
  });

  test("talos-etcd-backup-schedule.yaml is active as it stands, for the next full hour, and what it makes is taken (B131)", async () => {
    const schedules = client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
    const asked = example<TalosEtcdBackupSchedule>("talos-etcd-backup-schedule.yaml");
    await schedules.create(asked);
    const { name } = asked.metadata;
    const status = async () => (await schedules.get({ namespace, name })).status;
    await until("the schedule is active", async () => isConditionTrue((await status())?.conditions, "Ready"));
    assert.match((await status())?.nextScheduleTime ?? "", /T\d\d:00:00Z$/);
    const { spec } = asked.spec.backupTemplate;
    await take({ ...example<TalosEtcdBackup>("talos-etcd-backup.yaml"), metadata: { namespace, name: "as-the-schedule-makes" }, spec });
    assert.match(await ask("list", `talosetcdbackupschedule/${name}`), /Backups: 2 of this operator/);
  });

  test("talos-etcd-backup-directory.yaml is Ready as it stands, and a byte that is changed in the folder turns the next proof to ProofFailed", async () => {
    const { status, metadata } = await take(example<TalosEtcdBackup>("talos-etcd-backup-directory.yaml"));
    const stored = join(folder, "data", "backups", "clusters", status?.filename ?? "");
    const bytes = readFileSync(stored);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    writeFileSync(stored, bytes);
    const value = { metadata: { annotations: { [annotations.proveNow]: "1" } } };
    await backups().patch(metadata, { type: "merge", value });
    await until("the proof failed", async () => (await conditionOf(metadata.name, "Proved"))?.reason === "ProofFailed");
    const flags = ["--kubeconfig", join(folder, "data", "kubeconfig"), "--backup-directory", join(folder, "data", "backups")];
    const { error } = await runCommand(["backup", "inspect", `talosetcdbackup/${metadata.name}`, ...flags]);
    assert.match(error?.message ?? "", /is damaged: the SHA-256/);
  });
});
