import assert from "node:assert/strict";
import { test } from "node:test";
import { CliError } from "../cli-error.ts";
import { askedBackup } from "./asked-backup.ts";

for (const [asked, meant] of [
  ["teb/a", { kind: "backup", name: "a" }],
  ["TalosEtcdBackup/a.b", { kind: "backup", name: "a.b" }],
  ["talosetcdbackupschedules.talos.alperen.cloud/nightly", { kind: "schedule", name: "nightly" }],
  ["s3://bucket", { kind: "bucket", bucket: "bucket", key: "" }],
  ["s3://bucket/a/b.json", { kind: "bucket", bucket: "bucket", key: "a/b.json" }],
  ["S3://bucket/a/", { kind: "bucket", bucket: "bucket", key: "a/" }],
  ["./teb/a", { kind: "path", path: "./teb/a" }],
  ["teb/a/b", { kind: "path", path: "teb/a/b" }],
  ["etcd.db", { kind: "path", path: "etcd.db" }],
] as const)
  test(`${asked} is ${meant.kind}`, () => assert.deepEqual(askedBackup(asked), meant));

for (const asked of ["", "teb/", "s3://", "s3:/bucket", "s3:bucket/key", "s3://key:secret@bucket/a", "https://example.org/a.db"])
  test(`${asked || "nothing"} is refused with what to write`, () =>
    assert.throws(
      () => askedBackup(asked),
      (thrown) => thrown instanceof CliError && thrown.exitCode === 2 && !thrown.message.includes("secret@"),
    ));
