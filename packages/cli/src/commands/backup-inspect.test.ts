import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { writeEtcdSnapshot } from "@talos-operator/etcd-snapshot";
import { CliError } from "../cli-error.ts";
import { createProgram } from "../program.ts";
import { commandGroups, commands } from "./index.ts";

let folder = "";
before(() => (folder = mkdtempSync(join(tmpdir(), "talos-operator-backup-"))));
after(() => rmSync(folder, { recursive: true, force: true }));

const object = (kind: string, name: string, namespace?: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    data: { word: "not-to-be-shown" },
  });

const snapshot = writeEtcdSnapshot({
  keys: [
    { key: "/registry/minions/cp-1", value: object("Node", "cp-1"), modRevision: 2 },
    { key: "/registry/minions/cp-2", value: object("Node", "cp-2"), modRevision: 3 },
    { key: "/registry/configmaps/default/a", value: object("ConfigMap", "a", "default"), modRevision: 4 },
    { key: "/registry/configmaps/other/a", value: object("ConfigMap", "a", "other"), modRevision: 5 },
    { key: "/registry/secrets/default/s", value: "k8s:enc:aescbc:v1:key1:0123", modRevision: 6 },
  ],
  members: [{ id: 1n, name: "cp-1\u001b[2J", peerURLs: ["https://192.0.2.10:2380"], clientURLs: ["https://192.0.2.10:2379"] }],
  clusterVersion: "3.6.0",
  storageVersion: "3.6.0",
  term: 2,
  consistentIndex: 10,
});

async function inspect(bytes: Uint8Array | undefined, ...words: readonly string[]): Promise<string | CliError> {
  const file = join(folder, "snapshot.db");
  rmSync(file, { force: true });
  if (bytes !== undefined) writeFileSync(file, bytes);
  const stdout = new PassThrough();
  const context = {
    signal: new AbortController().signal,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: new PassThrough() as unknown as NodeJS.WriteStream,
  };
  try {
    await createProgram(commands, "0", context, commandGroups).parseAsync(["backup", "inspect", file, ...words], { from: "user" });
  } catch (error) {
    assert.ok(error instanceof CliError, String(error));
    return error;
  }
  return String(stdout.read());
}

test("a snapshot is shown by kinds and namespaces, without a value and without what moves a cursor", async () => {
  const text = String(await inspect(snapshot));
  assert.match(text, /^Node +v1 +2$/m);
  assert.match(text, /^ConfigMap +v1 +2 +default 1, other 1$/m);
  assert.match(text, /^secrets +\(encrypted\) +1 +default 1$/m);
  assert.match(text, /^Revision +6$/m);
  assert.match(text, /^Keys +5 live, 5 revisions/m);
  assert.match(text, /^etcd +storage 3\.6\.0, cluster 3\.6\.0/m);
  assert.match(text, /^Members +cp-1.* 0*1$/m);
  assert.match(text, /^Checked +every byte/m);
  assert.doesNotMatch(text, /not-to-be-shown/);
  assert.ok(!text.includes("\u001b"), "an escape reached the terminal");
});

test("as JSON it has the same facts", async () => {
  const found = JSON.parse(String(await inspect(snapshot, "-o", "json"))) as Readonly<Record<string, unknown>>;
  assert.deepEqual([found["revision"], found["liveKeys"], found["hasTrailer"], found["size"]], [6, 5, true, snapshot.length]);
});

test("a copy of a member's database, which ends without a SHA-256, is shown and said to be unchecked", async () => {
  assert.match(String(await inspect(snapshot.subarray(0, -32))), /^Checked +not: it ends without a SHA-256/m);
});

for (const [what, bytes, says] of [
  ["no file", undefined, /there is no .*snapshot\.db/],
  ["an empty file", new Uint8Array(0), /too short/],
  ["one of which a byte changed", snapshot.with(5_000, (snapshot[5_000] ?? 0) ^ 1), /is damaged/],
  ["one that was cut off", snapshot.subarray(0, -4_096), /./],
  ["a text", new TextEncoder().encode("no snapshot\n".repeat(1_000)), /./],
] as const)
  test(`${what} is refused with what to do`, async () => {
    const error = await inspect(bytes);
    assert.ok(error instanceof CliError);
    assert.match(error.message, says);
    assert.notEqual(error.remedy, "");
  });
