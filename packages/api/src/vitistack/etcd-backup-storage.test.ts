import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storageOfEtcdBackup, validateBackupStorage } from "../index.ts";
import type { EtcdBackupSpec } from "../index.ts";

const asked = (changes: Partial<EtcdBackupSpec["storageLocation"]> = {}): EtcdBackupSpec => ({
  clusterName: "demo",
  storageLocation: { type: "s3", bucket: "backups", ...changes },
});

describe("storageOfEtcdBackup", () => {
  it("names the keys of the Secret by either of their names, and copies none", () => {
    const ours = { accessKeyID: "AKIA", secretAccessKey: "hunter2", sessionToken: "hunter3" };
    const aws = { AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "hunter2", AWS_SESSION_TOKEN: "hunter3" };
    for (const secret of [ours, aws]) {
      const { storage } = storageOfEtcdBackup(asked({ secretRef: "s3" }), secret);
      const [id, key, token] = Object.keys(secret);
      assert.deepEqual(storage, {
        s3: {
          bucket: "backups",
          region: "us-east-1",
          accessKeyID: { name: "s3", key: id },
          secretAccessKey: { name: "s3", key },
          sessionToken: { name: "s3", key: token },
        },
      });
      assert.doesNotMatch(JSON.stringify(storage), /AKIA"|hunter/);
      assert.deepEqual(validateBackupStorage(storage), []);
    }
  });

  it("takes region, endpoint, authority and recipients from it", () => {
    const secret = { region: "eu-1\n", endpoint: "https://s3.example.org", caBundle: "pem", recipients: "# ours\nage1a\n\n age1b \n" };
    assert.deepEqual(storageOfEtcdBackup(asked({ path: "clusters", secretRef: "s3" }), secret), {
      storage: { s3: { bucket: "backups", region: "eu-1", endpoint: "https://s3.example.org", prefix: "clusters", caBundle: "pem" } },
      recipients: ["age1a", "age1b"],
    });
  });

  it("asks for workload identity without a Secret, and for a folder with local", () => {
    assert.deepEqual(storageOfEtcdBackup(asked(), {}).storage, { s3: { bucket: "backups", region: "us-east-1" } });
    assert.deepEqual(storageOfEtcdBackup(asked({ type: "local", path: "a/b" }), {}).storage, { directory: { path: "a/b" } });
  });

  it("gives one of two keys to be refused", () => {
    const { storage } = storageOfEtcdBackup(asked({ secretRef: "s3" }), { accessKeyID: "AKIA" });
    assert.deepEqual(
      validateBackupStorage(storage).map(({ field }) => field),
      ["spec.backupStorage.s3"],
    );
  });
});
