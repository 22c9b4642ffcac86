import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import type { BackupFacts } from "@talos-operator/backup";
import { createDirectoryStore } from "@talos-operator/backup/directory";
import { createTestIdentity, storeBackup } from "@talos-operator/backup/testing";
import { writeEtcdSnapshot } from "@talos-operator/etcd-snapshot";
import { CliError } from "../cli-error.ts";
import { runCommand } from "./testing/run-command.ts";

const SECRET = "not-to-be-shown";
const object = (kind: string, name: string, namespace?: string): string =>
  JSON.stringify({ apiVersion: "v1", kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, data: { word: SECRET } });

const snapshot = writeEtcdSnapshot({
  keys: [
    { key: "/registry/minions/cp-1", value: object("Node", "cp-1"), modRevision: 2 },
    { key: "/registry/minions/worker-1", value: object("Node", "worker-1"), modRevision: 3 },
    { key: "/registry/configmaps/default/a", value: object("ConfigMap", "a", "default"), modRevision: 4 },
    { key: "/registry/secrets/default/s", value: "k8s:enc:aescbc:v1:key1:0123", modRevision: 5 },
  ],
  members: [{ id: 0x8e9e05c52164694dn, name: "cp-1", peerURLs: ["https://192.0.2.10:2380"], clientURLs: ["https://192.0.2.10:2379"] }],
  clusterVersion: "3.6.0",
  storageVersion: "3.6.0",
  term: 2,
  consistentIndex: 10,
});

let folder = "";
/** A folder of backups, of which nothing is changed: a test that does takes {@link copy}. */
let root = "";
let plain: BackupFacts;
let encrypted: BackupFacts;
let identity = "";
let strangers = "";

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "talos-operator-backup-"));
  root = join(folder, "root");
  mkdirSync(root);
  const store = createDirectoryStore(root, "");
  const [own, other] = [await createTestIdentity(), await createTestIdentity()];
  plain = await storeBackup(store, { snapshot, task: { talosVersion: "v1.13.9", kubernetesVersion: "v1.36.3" } });
  encrypted = await storeBackup(store, { snapshot, task: { slot: "20261124T020000Z-nightly.b", recipients: [own.recipient] } });
  identity = join(folder, "identity.txt");
  strangers = join(folder, "strangers.txt");
  writeFileSync(identity, `# created: 2026-11-23\n# public key: ${own.recipient}\n${own.identity}\n`);
  writeFileSync(strangers, `${other.identity}\n`);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (facts: BackupFacts, at = root): string => join(at, facts.object);
const manifestOf = (facts: BackupFacts, at = root): string => join(dirname(pathOf(facts, at)), `${facts.slot}.json`);
let copies = 0;
function copy(): string {
  const at = join(folder, `copy-${(copies += 1)}`);
  cpSync(root, at, { recursive: true });
  return at;
}
const output = (): string => join(folder, `out-${(copies += 1)}`, "etcd.db");

async function inspect(...words: readonly string[]): Promise<string> {
  const { out, error } = await runCommand(["backup", "inspect", ...words]);
  assert.equal(error, undefined, String(error));
  return out.toString();
}

async function refused(...words: readonly string[]): Promise<CliError> {
  const { out, error } = await runCommand(["backup", ...words]);
  assert.ok(error instanceof CliError, String(error));
  assert.equal(out.length, 0);
  assert.ok(error.remedy.length > 10, error.remedy);
  assert.doesNotMatch(`${error.message} ${error.remedy}`, /AGE-SECRET|not-to-be-shown|private key/);
  return error;
}

describe("backup inspect of what the operator stores", () => {
  for (const [what, path] of [
    ["its manifest", () => manifestOf(plain)],
    ["the slot alone", () => manifestOf(plain).slice(0, -".json".length)],
    ["the stored snapshot", () => pathOf(plain)],
  ] as const)
    test(`by ${what}`, async () => {
      const text = await inspect(path());
      assert.match(text, /^Stored +\S+\.a1\.db\.zst in this file system \(.*compressed by zstd\)$/m);
      assert.match(text, /^Manifest +of 20261123T020000Z-nightly\.a, its checksums are right; its signature is not checked: \w/m);
      assert.match(text, /^Taken +\S+Z from cp-1 \(member 8e9e05c52164694d\), Talos v1\.13\.9, Kubernetes v1\.36\.3$/m);
      assert.match(text, /^Bundle +the cluster's keys are not with it/m);
      assert.match(text, /^Revision +5$/m);
      assert.match(text, /^Nodes +2: cp-1, worker-1$/m);
      assert.match(text, /^Members +cp-1 \(https:\/\/192\.0\.2\.10:2380\) 8e9e05c52164694d$/m);
      assert.match(text, /^ConfigMap +v1 +1 +default 1$/m);
      assert.match(text, /^secrets +\(encrypted\) +1 +default 1$/m);
      assert.doesNotMatch(text, /not-to-be-shown/);
    });

  test("an encrypted one, with the identity", async () => {
    const text = await inspect(manifestOf(encrypted), "--identity", identity);
    assert.match(text, /encrypted by age, compressed by zstd/);
    assert.match(text, /^Bundle +the cluster's keys are with it, encrypted/m);
    assert.match(text, /^Nodes +2: cp-1, worker-1$/m);
  });

  test("as data", async () => {
    const found = JSON.parse(await inspect(manifestOf(encrypted), "--identity", identity, "-o", "json")) as {
      readonly revision: number;
      readonly nodes: object;
      readonly stored: {
        readonly layers: object;
        readonly signature: string;
        readonly hasKeys: boolean;
        readonly facts: { readonly slot: string };
      };
    };
    const { layers, signature, hasKeys, facts } = found.stored;
    assert.deepEqual([found.revision, found.nodes], [5, { names: ["cp-1", "worker-1"], others: 0 }]);
    assert.deepEqual([layers, signature, hasKeys, facts.slot], [["age", "zstd"], "unchecked", true, encrypted.slot]);
  });

  test("a copy of data and manifest in another folder, and data alone", async () => {
    const at = join(folder, "downloads");
    mkdirSync(at);
    cpSync(pathOf(plain), join(at, "any name.bin"));
    assert.match(await inspect(join(at, "any name.bin")), /^Manifest +none$/m);
    cpSync(pathOf(plain), join(at, pathOf(plain).slice(dirname(pathOf(plain)).length + 1)));
    cpSync(manifestOf(plain), join(at, `${plain.slot}.json`));
    assert.match(await inspect(join(at, `${plain.slot}.json`)), /its checksums are right/);
  });

  test("leaves nothing in the scratch folder, whether it succeeds or not", async () => {
    const scratch = join(folder, "scratch");
    mkdirSync(scratch);
    await inspect(pathOf(plain), "--scratch-directory", scratch);
    await refused("inspect", manifestOf(encrypted), "--identity", strangers, "--scratch-directory", scratch);
    assert.deepEqual(readdirSync(scratch), []);
  });
});

describe("backup inspect of what the published operator wrote", () => {
  const at = (name: string): string => join(folder, "talos-operator-etcd-backups", "demo", name);
  before(() => {
    mkdirSync(dirname(at("x")), { recursive: true });
    writeFileSync(at("etcd-snapshot-20250301-020000.db"), snapshot);
    writeFileSync(at("state-20250301-020000.yaml"), `secretBundle: ${SECRET}\n`);
  });

  test("its snapshot is a plain one", async () => assert.match(await inspect(at("etcd-snapshot-20250301-020000.db")), /^Nodes +2/m));

  test("its state is refused loudly, and nothing of it is shown", async () => {
    for (const words of [["inspect"], ["get", "--output", output()]]) {
      const error = await refused(...words, at("state-20250301-020000.yaml"));
      assert.match(error.message, /holds the keys of the cluster demo in clear/);
      assert.match(error.remedy, /Move what is in clear/);
    }
  });
});

describe("backup get", () => {
  test("writes the plain snapshot for its owner alone, and says what it is", async () => {
    const file = output();
    const { out, err, error } = await runCommand(["backup", "get", manifestOf(plain), "--output", file]);
    assert.equal(error, undefined, String(error));
    assert.deepEqual(readFileSync(file), Buffer.from(snapshot));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(dirname(file)), ["etcd.db"]);
    assert.equal(out.length, 0);
    assert.match(err, /revision 5, 4 keys; its manifest's signature is not checked: \w/);
    assert.match(err, /every byte is what etcd sent/);
    assert.match(err, /It holds every Secret of the cluster/);
  });

  test("overwrites with --force alone", async () => {
    const file = output();
    mkdirSync(dirname(file));
    writeFileSync(file, "mine");
    const error = await refused("get", pathOf(plain), "-o", file);
    assert.match(error.message, /already exists, use --force/);
    assert.equal(readFileSync(file, "utf8"), "mine");
    assert.equal((await runCommand(["backup", "get", pathOf(plain), "-o", file, "--force"])).error, undefined);
    assert.deepEqual(readFileSync(file), Buffer.from(snapshot));
  });

  test("to standard output, but not to a terminal", async () => {
    const { out, error } = await runCommand(["backup", "get", manifestOf(encrypted), "--identity", identity, "-o", "-"]);
    assert.equal(error, undefined, String(error));
    assert.deepEqual(out, Buffer.from(snapshot));
    const { error: onTerminal } = await runCommand(["backup", "get", manifestOf(plain), "-o", "-"], { isTTY: true });
    assert.ok(onTerminal instanceof CliError && onTerminal.exitCode === 2);
  });

  test("with --keys it writes the cluster's keys, for their owner alone, and warns", async () => {
    const file = output();
    const keys = join(dirname(file), "keys");
    const { err, error } = await runCommand(["backup", "get", manifestOf(encrypted), "--identity", identity, "-o", file, "--keys", keys]);
    assert.equal(error, undefined, String(error));
    assert.equal(readFileSync(join(keys, "secrets.yaml"), "utf8"), "bundle: with a private key");
    assert.equal(readFileSync(join(keys, "clusterrecord.json"), "utf8"), '{"kind":"ClusterRecord"}');
    for (const name of readdirSync(keys)) assert.equal(statSync(join(keys, name)).mode & 0o777, 0o600);
    assert.match(err, /WARNING: .*secrets\.yaml and .*clusterrecord\.json hold the private keys of the cluster IN CLEAR/);
  });

  test("keys that are not stored, or not to be read, are told before anything is written", async () => {
    const file = output();
    assert.match((await refused("get", manifestOf(plain), "-o", file, "--keys", folder)).message, /keys are not stored with/);
    assert.match((await refused("get", manifestOf(encrypted), "-o", file, "--keys", folder)).message, /no identity is given/);
    assert.ok(!existsSync(file));
  });

  test("a database without trailer is written, and what follows is said", async () => {
    const source = join(folder, "member.db");
    writeFileSync(source, snapshot.subarray(0, -32));
    const { err, error } = await runCommand(["backup", "get", source, "-o", output()]);
    assert.equal(error, undefined, String(error));
    assert.match(err, /--skip-hash-check/);
  });

  test("a file that somebody compressed is unpacked", async () => {
    const [source, file] = [join(folder, "own.db.zst"), output()];
    writeFileSync(source, zstdCompressSync(snapshot));
    assert.equal((await runCommand(["backup", "get", source, "-o", file])).error, undefined);
    assert.deepEqual(readFileSync(file), Buffer.from(snapshot));
  });
});

describe("what cannot be read", () => {
  const flipped = (path: string, at: (size: number) => number): void => {
    const bytes = readFileSync(path);
    const place = at(bytes.length);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };

  const cases: readonly (readonly [string, () => readonly string[], RegExp, RegExp, number])[] = [
    ["an encrypted one without identity", () => [manifestOf(encrypted)], /is encrypted, and no identity/, /--identity FILE/, 1],
    [
      "an identity of somebody else",
      () => [manifestOf(encrypted), "--identity", strangers],
      /identity is of none of the recipients/,
      /another recipient/,
      1,
    ],
    ["an identity that is none", () => [manifestOf(encrypted), "--identity", manifestOf(plain)], /no identity of age/, /--identity/, 1],
    ["an identity that is not there", () => [manifestOf(encrypted), "--identity", join(folder, "none")], /no such file/, /file/, 1],
    ["keys in place of a snapshot", () => [join(root, encrypted.keysObject ?? "")], /holds keys of a cluster/, /backup get --keys/, 1],
    ["no object", () => [join(root, "20261123T020000Z-none.json")], /there is no .*none\.json/, /backup list/, 1],
    ["a folder", () => [root], /is a folder/, /backup list/, 1],
    [
      "a byte that changed in the store",
      () => {
        const at = copy();
        flipped(pathOf(plain, at), (size) => size >> 1);
        return [manifestOf(plain, at)];
      },
      /a1\.db\.zst is damaged: the SHA-256 of what is stored/,
      /Do not restore it/,
      4,
    ],
    [
      "a byte of the header of an encrypted one",
      () => {
        const at = copy();
        flipped(pathOf(encrypted, at), () => 60);
        return [manifestOf(encrypted, at), "--identity", identity];
      },
      /\.age is damaged: the SHA-256/,
      /Do not restore it/,
      4,
    ],
    [
      "one that was cut off in the store",
      () => {
        const at = copy();
        writeFileSync(pathOf(plain, at), readFileSync(pathOf(plain)).subarray(0, -20));
        return [manifestOf(plain, at)];
      },
      /is damaged: it has \d+ bytes, and \d+ were stored/,
      /Do not restore it/,
      4,
    ],
    [
      "a snapshot that is gone",
      () => {
        const at = copy();
        rmSync(pathOf(plain, at));
        return [manifestOf(plain, at)];
      },
      /names the snapshot .*, which is not in/,
      /another backup/,
      4,
    ],
    [
      "a manifest that was copied over another",
      () => {
        const at = copy();
        cpSync(manifestOf(encrypted, at), manifestOf(plain, at));
        return [manifestOf(plain, at)];
      },
      /is the manifest of another backup/,
      /of this cluster/,
      4,
    ],
    [
      "a manifest of another cluster",
      () => {
        const at = copy();
        const there = join(dirname(pathOf(plain, at)), "..", "other-0123456789ab");
        cpSync(dirname(pathOf(plain, at)), there, { recursive: true });
        return [join(there, `${plain.slot}.json`)];
      },
      /is the manifest of another backup/,
      /of this cluster/,
      4,
    ],
    [
      "a manifest of a newer version",
      () => {
        const at = copy();
        writeFileSync(manifestOf(plain, at), '{"version":2,"mac":"AA==","backup":{}}');
        return [manifestOf(plain, at)];
      },
      /newer version/,
      /command line of that version/,
      1,
    ],
    [
      "a text in place of a manifest",
      () => {
        const at = copy();
        writeFileSync(manifestOf(plain, at), "nonsense");
        return [manifestOf(plain, at)];
      },
      /is no manifest/,
      /Name a manifest/,
      1,
    ],
  ];
  for (const [what, words, message, remedy, code] of cases)
    for (const command of ["inspect", "get"])
      test(`${what}: ${command} says what to do`, async () => {
        const file = output();
        const error = await refused(command, ...words(), ...(command === "get" ? ["--output", file] : []));
        assert.match(error.message, message);
        assert.match(error.remedy, remedy);
        assert.equal(error.exitCode, code);
        if (command === "get") assert.deepEqual(existsSync(dirname(file)) ? readdirSync(dirname(file)) : [], []);
      });

  const packed = zstdCompressSync(snapshot);
  for (const [what, bytes] of [
    ["plain, inside its trailer", snapshot.subarray(0, -7)],
    ["plain, inside a page", snapshot.subarray(0, 10_001)],
    ["plain, between pages", snapshot.subarray(0, -4_096 - 32)],
    ["plain, to nothing", snapshot.subarray(0, 0)],
    ["plain, to a few bytes", snapshot.subarray(0, 100)],
    ["compressed, in its middle", packed.subarray(0, packed.length >> 1)],
    ["compressed, in its header", packed.subarray(0, 6)],
  ] as const)
    for (const command of ["inspect", "get"])
      test(`a snapshot that is cut off (${what}): ${command} refuses it`, async () => {
        const [file, source] = [output(), join(folder, `cut-${(copies += 1)}.db`)];
        writeFileSync(source, bytes);
        const error = await refused(command, source, ...(command === "get" ? ["--output", file] : []));
        assert.equal(error.exitCode, 4, error.message);
        assert.ok(!existsSync(file));
      });

  test("what is no snapshot is refused", async () => {
    const source = join(folder, "text.db");
    writeFileSync(source, "no snapshot\n".repeat(1_000));
    const error = await refused("get", source, "--output", output());
    assert.match(error.message, /is no snapshot of etcd/);
  });

  test("a stop says so, and leaves nothing", async () => {
    const [file, stop] = [output(), new AbortController()];
    stop.abort();
    const { error } = await runCommand(["backup", "get", manifestOf(plain), "-o", file], { signal: stop.signal });
    assert.ok(error instanceof CliError, String(error));
    assert.ok(!existsSync(file));
  });
});
