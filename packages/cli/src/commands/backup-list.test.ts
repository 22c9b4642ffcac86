import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { BackupFacts } from "@talos-operator/backup";
import { createDirectoryStore } from "@talos-operator/backup/directory";
import { createTestIdentity, storeBackup } from "@talos-operator/backup/testing";
import { CliError } from "../cli-error.ts";
import { runCommand } from "./testing/run-command.ts";

const SECRET = "not-to-be-shown";
let folder = "";
let plain: BackupFacts;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "talos-operator-list-"));
  const store = createDirectoryStore(folder, "");
  plain = await storeBackup(store);
  const { recipient } = await createTestIdentity();
  await storeBackup(store, { task: { slot: "20261124T020000Z-nightly.b", recipients: [recipient] } });
  await storeBackup(store, { task: { owner: { namespace: "team", controlPlane: "other", clusterId: "x" } } });
  const published = join(folder, "talos-operator-etcd-backups/old");
  mkdirSync(published, { recursive: true });
  writeFileSync(join(published, "etcd-snapshot-20250301-020000.db"), "snapshot");
  writeFileSync(join(published, "state-20250301-020000.yaml"), SECRET);
  writeFileSync(join(folder, "my notes.txt"), "not a backup");
});
after(() => rmSync(folder, { recursive: true, force: true }));

const list = (...words: readonly string[]): ReturnType<typeof runCommand> => runCommand(["backup", "list", ...words]);

describe("backup list", () => {
  test("shows backups by cluster and time, and says loudly where keys are in clear", async () => {
    const { out, err, error } = await list(folder);
    assert.equal(error, undefined, String(error));
    const lines = out.toString().split("\n");
    assert.match(lines[0] ?? "", /^CLUSTER +TIME +SIZE +REVISION +KEYS +OBJECT +NOTES$/);
    assert.match(lines[1] ?? "", /^default\/demo-[0-9a-f]{12} +\S+Z +\d+\.\d KiB +201 +200 +backups\/default\/\S+\.json +not encrypted$/);
    assert.match(lines[2] ?? "", /^default\/demo-[0-9a-f]{12} .* encrypted; with the cluster's keys$/);
    assert.match(lines[3] ?? "", /^team\/other-[0-9a-f]{12} /);
    assert.match(
      lines[4] ?? "",
      /^old +2025-03-01T02:00:00Z +8 B .*\.db +plain; written by the published operator; retention neither counts nor removes it$/,
    );
    assert.match(lines[5] ?? "", /^old .*state-\S+\.yaml +HOLDS KEYS IN CLEAR; /);
    assert.deepEqual(lines.slice(6), ["", "Backups: 3 of this operator, 1 of the published operator.", ""]);
    assert.match(err, /^WARNING: 1 of these objects hold the keys of a cluster IN CLEAR/);
    assert.doesNotMatch(out.toString(), /not-to-be-shown|notes/);
  });

  test("gives the same as data", async () => {
    const rows = JSON.parse((await list(folder, "-o", "json")).out.toString()) as readonly {
      readonly kind: string;
      readonly facts?: BackupFacts;
      readonly signature?: string;
    }[];
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ["backup", "backup", "backup", "published", "published-keys"],
    );
    assert.deepEqual([rows[0]?.facts, rows[0]?.signature], [plain, "unchecked"]);
  });

  test("says that there is none, in either form", async () => {
    const empty = join(folder, "empty");
    mkdirSync(empty);
    assert.match((await list(empty)).out.toString(), /^There is no backup in /);
    assert.equal((await list(empty, "-o", "json")).out.toString(), "[]\n");
  });

  for (const [what, words, message, code] of [
    ["a folder that is not there", ["/nowhere/backups"], /is no folder/, 1],
    ["an address of another kind", ["https://s3.example.org/bucket"], /address that cannot be read/, 2],
    ["an address without bucket", ["s3://"], /names no bucket/, 2],
    ["a form of output that there is not", ["/tmp", "-o", "xml"], /no form of output/, 2],
    ["a bucket that can be none", ["s3://a..b"], /no name of a bucket/, 1],
    ["an endpoint that is none", ["s3://backups", "--endpoint", "nonsense"], /endpoint is no URL/, 1],
    ["an endpoint with keys in it", ["s3://backups", "--endpoint", "https://a:b@s3.example.org"], /leave out names/, 1],
    ["an authority that is not there", ["s3://backups", "--ca-file", "/nowhere"], /cannot be read/, 1],
  ] as const)
    test(`refuses ${what}`, async () => {
      const { error, out } = await list(...words);
      assert.ok(error instanceof CliError, String(error));
      assert.match(error.message, message);
      assert.equal(error.exitCode, code);
      assert.equal(out.length, 0);
    });
});
