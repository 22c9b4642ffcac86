// Genuine parts: etcdutl, kubectl, versitygw
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startVersitygw, type Versitygw } from "./backups/versitygw.ts";
import { KUBECTL_WAITS, ownAddress, tool } from "@talos-operator/adapters/testing";
import { must, startOurs, temporaryFolder, type Running } from "./processes.ts";

const LISTEN = `${ownAddress()}:6443`;

/** A backup of the demo's cluster in a genuine S3 server, restored by genuine etcdutl. */
describe("a backup of the demo to a genuine S3 server", () => {
  const folder = temporaryFolder();
  const kubeconfig = join(folder.path, "demo", "kubeconfig");
  let demo: Running;
  let store: Versitygw;
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args]);

  before(async () => {
    store = await startVersitygw(folder.path);
    demo = startOurs("demo", "--data-dir", join(folder.path, "demo"), "--listen", LISTEN, "--allow-insecure-object-storage");
    await demo.says(/Ctrl-C stops it/);
  });
  after(async () => {
    await demo?.end();
    await store?.kill();
    folder[Symbol.dispose]();
  });

  it("becomes Ready, and what is stored is a database of etcd", async () => {
    const key = (name: string): object => ({ name: "store-keys", key: name });
    const objects = [
      { apiVersion: "v1", kind: "Secret", metadata: { name: "store-keys" }, stringData: store.keys },
      {
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosEtcdBackup",
        metadata: { name: "genuine" },
        spec: {
          clusterRef: { name: (await kubectl("get", "talosclusters", "-o", "jsonpath={.items[0].metadata.name}")).trim() },
          backupStorage: {
            s3: {
              bucket: "backups",
              region: "us-east-1",
              endpoint: `http://${store.host}`,
              accessKeyID: key("accessKeyID"),
              secretAccessKey: key("secretAccessKey"),
            },
          },
        },
      },
    ];
    const file = join(folder.path, "backup.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await kubectl("apply", "-f", file);
    await kubectl("wait", "--for=condition=Ready", "teb/genuine", KUBECTL_WAITS);
    const snapshot = join(folder.path, "snapshot.db");
    const get = startOurs("backup", "get", "talosetcdbackup/genuine", "--kubeconfig", kubeconfig, "--output", snapshot);
    assert.equal(await get.exited, 0, get.output());
    await must(tool("etcdutl"), ["snapshot", "restore", snapshot, "--data-dir", join(folder.path, "restored")]);
    const revision = Number(await kubectl("get", "teb/genuine", "-o", "jsonpath={.status.revision}"));
    const status = JSON.parse(await must(tool("etcdutl"), ["snapshot", "status", snapshot, "--write-out=json"])) as { revision: number };
    assert.equal(status.revision, revision);
  });
});
