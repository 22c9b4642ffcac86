import assert from "node:assert/strict";
import { test } from "node:test";
import { readSettings } from "../settings/read-settings.ts";
import { backupBounds } from "./backup-bounds.ts";

test("backups are bounded by nothing that nobody said", () => {
  assert.deepEqual(backupBounds({}, readSettings({}, {}).values), { allowInsecureObjectStorage: false, requireStoreLabel: false });
});

test("what flags and environment say of backups reaches the operator", () => {
  const flags = { "allow-insecure-object-storage": true, "require-backup-store-label": true, "backup-endpoints": "aws" };
  assert.deepEqual(backupBounds(flags, readSettings(flags, { BACKUP_IDENTITY_NAMESPACES: "infra,team" }).values), {
    allowInsecureObjectStorage: true,
    requireStoreLabel: true,
    endpoints: ["aws"],
    identityNamespaces: ["infra", "team"],
  });
});
