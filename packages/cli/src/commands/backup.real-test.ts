// Genuine parts: etcdutl, versitygw
// The commands that read backups, against a genuine S3 server, judged by genuine etcdutl.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { BackupFacts, S3Place } from "@talos-operator/backup";
import { createS3Store } from "@talos-operator/backup/s3";
import { createTestIdentity, storeBackup } from "@talos-operator/backup/testing";
import { writeEtcdSnapshot } from "@talos-operator/etcd-snapshot";
import { realS3Keys, startRealS3, type RealS3 } from "../../../backup/src/testing/real-s3.ts";
import { genuineStatus, said } from "../../../etcd-snapshot/src/testing/real-etcd.ts";

const main = join(import.meta.dirname, "../main.ts");
/** Some pages of a list, of 1,000 keys each. */
const OTHERS = 2_500;

const object = (kind: string, name: string, namespace?: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    data: { text: "not-to-be-shown".repeat(20) },
  });
const snapshot = writeEtcdSnapshot({
  keys: [
    { key: "/registry/minions/cp-1", value: object("Node", "cp-1"), modRevision: 2 },
    ...Array.from({ length: 20_000 }, (_, index) => ({
      key: `/registry/configmaps/default/map-${index}`,
      value: object("ConfigMap", `map-${index}`, "default"),
      modRevision: index + 3,
    })),
  ],
  members: [{ id: 0x8e9e05c52164694dn, name: "cp-1", peerURLs: ["http://127.0.0.1:2380"], clientURLs: ["http://127.0.0.1:2379"] }],
  clusterVersion: "3.6.0",
  storageVersion: "3.6.0",
  term: 2,
  consistentIndex: 30_000,
});

interface Ran {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
}

describe("backups in a genuine bucket", () => {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-backups-"));
  const identity = join(folder, "identity.txt");
  let server: RealS3;
  let place: S3Place;
  let plain: BackupFacts;
  let encrypted: BackupFacts;

  before(async () => {
    server = await startRealS3();
    place = await server.bucket("backups");
    const store = createS3Store(place, () => Promise.resolve(realS3Keys));
    const own = await createTestIdentity();
    writeFileSync(identity, `# public key: ${own.recipient}\n${own.identity}\n`);
    plain = await storeBackup(store, { snapshot, task: { place } });
    encrypted = await storeBackup(store, { snapshot, task: { place, slot: "20261124T020000Z-nightly.b", recipients: [own.recipient] } });
    await store.put("talos-operator-etcd-backups/old/etcd-snapshot-20250301-020000.db", snapshot.subarray(0, 4 * 2 ** 20));
    await store.put("talos-operator-etcd-backups/old/state-20250301-020000.yaml", Buffer.from("secretBundle: not-to-be-shown\n"));
    store.close();
    // Each file of the folder is an object.
    const others = join(server.data, "backups", "a-lot");
    mkdirSync(others);
    for (let index = 0; index < OTHERS; index += 1) writeFileSync(join(others, `object-${index}`), "other");
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (words: readonly string[], keys = realS3Keys): Promise<Ran> =>
    new Promise((resolve) => {
      const env = {
        ...process.env,
        AWS_ACCESS_KEY_ID: keys.accessKeyID,
        AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
        AWS_ENDPOINT_URL: server.endpoint,
      };
      execFile(process.execPath, [main, "backup", ...words], { env, encoding: "buffer", maxBuffer: 2 ** 28 }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err: err.toString() }),
      );
    });
  const address = (key: string): string => `s3://backups/${key}`;
  const manifestOf = ({ object: data, slot }: BackupFacts): string => address(`${dirname(data)}/${slot}.json`);

  test("list tells ours and the published operator's among everything else", async () => {
    const { code, out, err } = await run(["list", "s3://backups"]);
    assert.equal(code, 0, err);
    const lines = out.toString().trimEnd().split("\n");
    assert.equal(lines.length, 1 + 4 + 2, out.toString());
    assert.match(out.toString(), /^default\/demo-[0-9a-f]{12} .*\.json +not encrypted$/m);
    assert.match(out.toString(), /^old .* plain; written by the published operator; retention neither counts nor removes it$/m);
    assert.match(err, /WARNING: 1 of these objects hold the keys of a cluster IN CLEAR/);
    assert.doesNotMatch(out.toString() + err, /not-to-be-shown/);
    assert.match((await run(["list", "s3://backups/nothing"])).out.toString(), /There is no backup in s3:\/\/backups at http/);
  });

  test("inspect reads an encrypted one, and lists its Nodes", async () => {
    const { code, out, err } = await run(["inspect", manifestOf(encrypted), "--identity", identity]);
    assert.equal(code, 0, err);
    assert.match(out.toString(), /^Nodes +1: cp-1$/m);
    assert.match(out.toString(), /^ConfigMap +v1 +20000 +default 20000$/m);
    assert.doesNotMatch(out.toString(), /not-to-be-shown/);
  });

  for (const [what, words] of [
    ["a plain one by its manifest", () => [manifestOf(plain)]],
    ["a plain one by its data", () => [address(plain.object)]],
    ["an encrypted one", () => [manifestOf(encrypted), "--identity", identity]],
  ] as const)
    test(`what get writes of ${what} is a snapshot to genuine etcdutl, which restores it`, async () => {
      const file = join(folder, `${what.replaceAll(" ", "-")}.db`);
      const { code, err } = await run(["get", ...words(), "--output", file]);
      assert.equal(code, 0, err);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      const { revision, totalKey } = await genuineStatus(file);
      assert.deepEqual([revision, totalKey], [plain.revision, plain.totalKey]);
      const restored = `${file}.restored`;
      await said("etcdutl", "snapshot", "restore", file, "--data-dir", restored);
      assert.ok(existsSync(join(restored, "member/snap/db")));
    });

  test("get to a pipe gives the same bytes", async () => {
    const { out } = await run(["get", manifestOf(plain), "--output", "-"]);
    assert.ok(out.equals(snapshot));
  });

  test("a byte that changed in the bucket: exit code 4, the object is named, and nothing is written", async () => {
    const stored = join(server.data, "backups", encrypted.object);
    const bytes = readFileSync(stored);
    const at = bytes.length >> 1;
    writeFileSync(stored, bytes.with(at, (bytes[at] ?? 0) ^ 1));
    const file = join(folder, "damaged.db");
    const { code, err } = await run(["get", manifestOf(encrypted), "--identity", identity, "--output", file]);
    assert.equal(code, 4, err);
    assert.match(err, /\.db\.zst\.age is damaged: the SHA-256 of what is stored is [0-9a-f]{64}, and was [0-9a-f]{64}/);
    assert.ok(!existsSync(file));
    writeFileSync(stored, bytes);
  });

  test("keys, buckets and endpoints that are wrong are told with what to do, and no key is shown", async () => {
    const cases = [
      [
        await run(["list", "s3://backups"], { ...realS3Keys, secretAccessKey: "another-secret" }),
        /refuses the keys.*\n +Set AWS_ACCESS_KEY_ID/,
      ],
      [await run(["list", "s3://not-there"]), /there is no such bucket.*\n +Check the name of the bucket/],
      [await run(["inspect", address("p/none.json")]), /there is no p\/none\.json in s3:\/\/backups.*\n +Look what is there/],
      [await run(["inspect", address("p/none.json"), "--endpoint", "http://127.0.0.1:9"]), /it does not answer.*\n +Check --endpoint/],
    ] as const;
    for (const [{ code, err }, told] of cases) {
      assert.equal(code, 1, err);
      assert.match(err, told);
      assert.doesNotMatch(err, /another-secret|testsecret/);
    }
  });
});
