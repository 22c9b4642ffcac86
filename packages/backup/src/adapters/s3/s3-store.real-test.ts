// Genuine parts: versitygw
// The S3 client against a genuine S3 server: versitygw.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PutBucketVersioningCommand } from "@aws-sdk/client-s3";
import { storeConformance } from "../../conformance/store-conformance.ts";
import { isStoreFailure } from "../../store/failure.ts";
import type { S3Place } from "../../task/place.ts";
import { realS3Keys as keys, startRealS3, type RealS3 } from "../../testing/real-s3.ts";
import { createS3Store } from "./s3-store.ts";

describe("a genuine S3 server", () => {
  let server: RealS3;
  let buckets = 0;
  before(async () => void (server = await startRealS3()));
  after(() => server.stop());

  const bucket = async (isVersioned = false): Promise<S3Place> => {
    const place = await server.bucket(`bucket-${(buckets += 1)}`);
    if (!isVersioned) return place;
    const client = server.client();
    await client.send(new PutBucketVersioningCommand({ Bucket: place.bucket, VersioningConfiguration: { Status: "Enabled" } }));
    client.destroy();
    return place;
  };

  storeConformance("a bucket", async () => {
    const store = createS3Store(await bucket(), async () => keys);
    return { store, end: async () => store.close() };
  });

  test("a bucket with versions: what is removed is marked, and not found any more", async () => {
    const store = createS3Store(await bucket(true), async () => keys);
    await store.put("a/b", Uint8Array.of(1));
    assert.deepEqual(await store.remove("a/b"), { removed: "marked" });
    assert.equal(await store.head("a/b"), undefined);
    store.close();
  });

  test("wrong keys, an unknown key, a bucket that is not there: each is named, and no key is", async () => {
    const place = await bucket();
    for (const [given, at, kind] of [
      [{ ...keys, secretAccessKey: "another-secret" }, place, "denied"],
      [{ ...keys, accessKeyID: "another-key" }, place, "denied"],
      [keys, { ...place, bucket: "not-there" }, "missing"],
    ] as const) {
      const store = createS3Store(at, async () => given);
      await assert.rejects(store.put("a", Uint8Array.of(1)), (thrown) => {
        assert.ok(isStoreFailure(thrown, kind), String(thrown));
        assert.doesNotMatch(String(thrown), /another|testkey|testsecret/);
        return true;
      });
      store.close();
    }
  });
});
