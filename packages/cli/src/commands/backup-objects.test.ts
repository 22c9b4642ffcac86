// Backups that are named by their objects, read with the rights of whoever asks.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createLogger, createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";
import {
  clusterRecordResource,
  etcdBackupResource,
  labels,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
} from "@talos-operator/api";
import type { BackupStorage, TalosEtcdBackup, TalosEtcdBackupStatus } from "@talos-operator/api";
import { manifestKeyOf } from "@talos-operator/backup";
import type { BackupFacts } from "@talos-operator/backup";
import { createDirectoryStore } from "@talos-operator/backup/directory";
import { PUBLISHED_FOLDER } from "@talos-operator/backup/reading";
import { storeBackup } from "@talos-operator/backup/testing";
import { createKubeClient, type KubeClient, type ResourceType } from "@talos-operator/kube-runtime";
import { contractFor, fingerprintSecretsBundle, generateSecretsBundle, printSecretsBundle } from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { startEmbeddedApi, type EmbeddedApi } from "../process/embedded-api.ts";
import { runCommand } from "./testing/run-command.ts";

const secretType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;
const roleType = { group: "rbac.authorization.k8s.io", version: "v1", plural: "roles", kind: "Role", namespaced: true } as const;
const bindingType = { ...roleType, plural: "rolebindings", kind: "RoleBinding" } as const;

const key = (name: string) => ({ name: "store", key: name });
const s3: BackupStorage = {
  s3: { bucket: "backups", region: "eu-1", endpoint: "http://127.0.0.1:9", accessKeyID: key("id"), secretAccessKey: key("secret") },
};
const directory: BackupStorage = { directory: { path: "clusters", prefix: "backups" } };

let folder = "";
let root = "";
let api: EmbeddedApi;
let client: KubeClient;
let facts: BackupFacts;
let clusterId = "";

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "talos-operator-objects-"));
  root = join(folder, "backups");
  mkdirSync(root);
  const keys = createX509Keys();
  api = await startEmbeddedApi({
    folder: openDataFolder(join(folder, "data")),
    persist: false,
    durability: "process-crash",
    listen: { address: "127.0.0.1", port: 0 },
    keys,
    log: createLogger({ level: "silent" }),
  });
  client = createKubeClient(api.transport);
  const bundle = await generateSecretsBundle({ contract: contractFor("v1.13.0"), clock: systemClock, random: systemRandom, keys });
  clusterId = bundle.cluster.id;
  const owner = { namespace: "default", controlPlane: "demo", clusterId };
  facts = await storeBackup(createDirectoryStore(root, "clusters"), { task: { owner }, secrets: { manifestKey: manifestKeyOf(bundle) } });
  await create(secretType, "demo-bundle", {
    metadata: { labels: { [labels.secretKind]: "bundle" } },
    type: "Opaque",
    data: { bundle: Buffer.from(printSecretsBundle(bundle)).toString("base64") },
  });
  await create(clusterRecordResource, "demo", {
    spec: { controlPlaneUid: "uid", clusterId, bundle: { secretName: "demo-bundle", fingerprint: fingerprintSecretsBundle(bundle) } },
  });
  await backup("stored", directory, statusOf());
});
after(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function create(
  type: ResourceType,
  name: string,
  body: Readonly<Record<string, unknown>> & { readonly metadata?: object },
): Promise<void> {
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  await client.resource(type).create({ apiVersion, kind: type.kind, ...body, metadata: { ...body.metadata, namespace: "default", name } });
}

async function backup(name: string, backupStorage: BackupStorage, status?: TalosEtcdBackupStatus): Promise<void> {
  await create(talosEtcdBackupResource, name, { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage } });
  if (status === undefined) return;
  const objects = client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  await objects.updateStatus({ ...(await objects.get({ namespace: "default", name })), status });
}

function statusOf(changes: TalosEtcdBackupStatus = {}): TalosEtcdBackupStatus {
  const { slot, object, sha256 } = facts;
  const proof = { how: "Restored", on: "FromStore", at: "2026-11-23T03:00:00Z" } as const;
  return { slot, filename: object, sha256, controlPlane: "demo", clusterId, proof, ...changes };
}

/** A kubeconfig of somebody with these rights alone. */
async function kubeconfigOf(user: string, rules: readonly object[]): Promise<string> {
  await create(roleType, user, { rules });
  await create(bindingType, user, {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: user },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  });
  const path = join(folder, `${user}.kubeconfig`);
  writeFileSync(
    path,
    readFileSync(api.kubeconfigPath, "utf8").replace(/(\n\s+)client-certificate-data:/, `$1as: ${user}$1client-certificate-data:`),
  );
  return path;
}

const ask = (command: string, ...words: readonly string[]): ReturnType<typeof runCommand> =>
  runCommand([
    "backup",
    command,
    ...words,
    "--backup-directory",
    root,
    ...(words.includes("--kubeconfig") ? [] : ["--kubeconfig", api.kubeconfigPath]),
  ]);

async function refused(command: string, ...words: readonly string[]): Promise<CliError> {
  const { out, error } = await ask(command, ...words);
  assert.ok(error instanceof CliError, String(error));
  assert.equal(out.length, 0);
  return error;
}

describe("backup inspect of an object", () => {
  for (const word of ["talosetcdbackup", "teb", "TalosEtcdBackup", "talosetcdbackups.talos.alperen.cloud"])
    test(`${word}/stored, with its signature checked`, async () => {
      const { out, error } = await ask("inspect", `${word}/stored`);
      assert.equal(error, undefined, String(error));
      assert.match(out.toString(), /^Manifest +of \S+, its checksums are right; its signature is checked$/m);
      assert.match(out.toString(), /^Stored +\S+\.db\.zst in folder clusters of the folder of backups/m);
      assert.match(out.toString(), /^Revision +201$/m);
    });

  test("who may not read the cluster's keys is told that the signature is not checked", async () => {
    const kubeconfig = await kubeconfigOf("viewer", [{ apiGroups: ["talos.alperen.cloud"], resources: ["*"], verbs: ["get", "list"] }]);
    const { out, error } = await ask("inspect", "teb/stored", "--kubeconfig", kubeconfig);
    assert.equal(error, undefined, String(error));
    assert.match(out.toString(), /its signature is not checked: you have no right to read/);
  });

  test("a manifest of another cluster's keys is refused", async () => {
    const other = join(folder, "other");
    mkdirSync(other);
    await storeBackup(createDirectoryStore(other, "clusters"), {
      task: { owner: { namespace: "default", controlPlane: "demo", clusterId } },
    });
    const { error } = await runCommand([
      "backup",
      "inspect",
      "teb/stored",
      "--backup-directory",
      other,
      "--kubeconfig",
      api.kubeconfigPath,
    ]);
    assert.ok(error instanceof CliError && error.exitCode === 4, String(error));
    assert.match(error.message, /was not written with the keys of this cluster, or was changed since/);
  });

  test("one whose status names another snapshot is refused", async () => {
    await backup("exchanged", directory, statusOf({ sha256: "0".repeat(64) }));
    assert.match((await refused("inspect", "teb/exchanged")).message, /another snapshot than the status/);
  });

  test("one of a cluster that is gone is shown, unchecked", async () => {
    const gone = { namespace: "default", controlPlane: "gone", clusterId: "gone" };
    const stored = await storeBackup(createDirectoryStore(root, "clusters"), { task: { owner: gone } });
    await backup("gone", directory, statusOf({ filename: stored.object, controlPlane: "gone", clusterId: "gone" }));
    assert.match((await ask("inspect", "teb/gone")).out.toString(), /not checked: there is no ClusterRecord gone/);
  });

  test("one that the published operator finished is read where that put it", async () => {
    const snapshot = join(root, "clusters/talos-operator-etcd-backups/demo");
    mkdirSync(snapshot, { recursive: true });
    const plain = join(folder, "plain.db");
    assert.equal((await ask("get", "teb/stored", "--output", plain)).error, undefined);
    writeFileSync(join(snapshot, "etcd-snapshot-20250301-020000.db"), readFileSync(plain));
    await backup("published", directory, { filename: "talos-operator-etcd-backups/demo/etcd-snapshot-20250301-020000.db" });
    await backup("published-short", directory, { filename: "etcd-snapshot-20250301-020000.db" });
    for (const name of ["published", "published-short"])
      assert.match((await ask("inspect", `teb/${name}`)).out.toString(), /^Manifest +none: written by the published operator/m);
  });

  test("what is missing, or may not be read, is told with what to do", async () => {
    await backup("waiting", directory);
    await backup("in-a-bucket", s3, statusOf());
    const kubeconfig = await kubeconfigOf("no-secrets", [{ apiGroups: ["talos.alperen.cloud"], resources: ["*"], verbs: ["get", "list"] }]);
    const cases: readonly (readonly [readonly string[], RegExp, RegExp])[] = [
      [["teb/nobody"], /no TalosEtcdBackup nobody in namespace default/, /kubectl get talosetcdbackups -A/],
      [["teb/stored", "-n", "other"], /in namespace other/, /-n names the namespace/],
      [["teb/waiting"], /waiting is not stored yet/, /kubectl wait .*talosetcdbackup\/waiting -n default/],
      [["teb/in-a-bucket"], /Secret default\/store not found/, /make the Secret.*s3:\/\/backups\/KEY --endpoint http:\/\/127\.0\.0\.1:9/],
      [
        ["teb/in-a-bucket", "--kubeconfig", kubeconfig],
        /Secret store in namespace default is forbidden/,
        /Ask for the right.*AWS_ACCESS_KEY_ID/,
      ],
      [["teb/"], /names no object/, /talosetcdbackup\/NAME/],
      [["tebs/nightly"], /tebs\/nightly stands for many backups/, /backup list tebs\/nightly/],
    ];
    for (const [words, message, remedy] of cases) {
      const error = await refused("inspect", ...words);
      assert.match(error.message, message);
      assert.match(error.remedy, remedy);
    }
    const { error } = await runCommand(["backup", "inspect", "teb/stored", "--kubeconfig", api.kubeconfigPath]);
    assert.ok(error instanceof CliError);
    assert.match(`${error.message} ${error.remedy}`, /in the operator's folder.*--backup-directory FOLDER/);
  });

  test("a store that does not answer is named", async () => {
    await create(secretType, "store", { data: { id: "aWQ=", secret: "c2VjcmV0LW9mLXRoZS1zdG9yZQ==" } });
    const error = await refused("inspect", "teb/in-a-bucket");
    assert.match(error.message, /s3:\/\/backups at http:\/\/127\.0\.0\.1:9: it does not answer/);
    assert.match(error.remedy, /--endpoint/);
    assert.doesNotMatch(`${error.message} ${error.remedy} ${String(error.cause)}`, /secret-of-the-store/);
  });
});

describe("backup list of an object", () => {
  test("shows what the store has of its cluster, checked and with the last proof", async () => {
    await storeBackup(createDirectoryStore(root, "clusters"), {
      task: { owner: { namespace: "default", controlPlane: "demo-two", clusterId: "x" } },
    });
    await create(talosEtcdBackupScheduleResource, "nightly", {
      spec: { schedule: "0 2 * * *", backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: directory } } },
    });
    for (const asked of ["tebs/nightly", "teb/stored"]) {
      const { out, err, error } = await ask("list", asked);
      assert.equal(error, undefined, String(error));
      const lines = out.toString().split("\n");
      assert.match(
        lines[1] ?? "",
        /^default\/demo-[0-9a-f]{12} .* not encrypted; signature checked; talosetcdbackup\/\S+; proved 2026-11-23T03:00:00Z \(Restored, FromStore\)$/,
      );
      assert.match(lines[2] ?? "", /^demo .*; written by the published operator/);
      assert.doesNotMatch(out.toString(), /demo-two|default\/gone/);
      assert.equal(err, "");
    }
  });

  test("of an EtcdBackup it shows those of its namespace", async () => {
    await storeBackup(createDirectoryStore(root, "vitistack"), {
      task: {
        owner: { namespace: "default", controlPlane: "demo", clusterId },
        place: { kind: "directory", path: "", prefix: PUBLISHED_FOLDER },
      },
    });
    await create(etcdBackupResource, "mine", { spec: { clusterName: "demo", storageLocation: { type: "local", path: "vitistack" } } });
    const { out, error } = await ask("list", "etcdbackup/mine");
    assert.equal(error, undefined, String(error));
    assert.match(out.toString(), /^default\/demo-[0-9a-f]{12} .* not encrypted$/m);
    await create(etcdBackupResource, "cloud", { spec: { clusterName: "demo", storageLocation: { type: "gcs", bucket: "b" } } });
    await create(etcdBackupResource, "keyless", {
      spec: { clusterName: "demo", storageLocation: { type: "s3", bucket: "backups", secretRef: "none" } },
    });
    assert.match((await refused("list", "eb/cloud")).message, /gcs/);
    assert.match((await refused("list", "eb/keyless")).message, /Secret none not found/);
    assert.match((await refused("inspect", "eb/mine")).remedy, /backup list eb\/mine/);
  });

  test("says what it lacks", async () => {
    const { error } = await ask("list", "tebs/nobody");
    assert.match(error?.message ?? "", /no TalosEtcdBackupSchedule nobody/);
  });
});
