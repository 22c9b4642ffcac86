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

  test("a bucket in the endpoint, another region, https to http: each is told by its own cause", async () => {
    const place = await bucket();
    const { bucket: name, endpoint = "" } = place;
    const firstOf = async (at: S3Place): Promise<unknown> => {
      const store = createS3Store(at, async () => keys);
      try {
        const listed = store.list("a/");
        return await listed[Symbol.asyncIterator]().next();
      } finally {
        store.close();
      }
    };
    for (const [at, kind, says] of [
      [{ ...place, endpoint: `${endpoint}/${name}` }, "invalid", /leave the bucket out of the endpoint\.$/],
      [{ ...place, region: "eu-north-1" }, "redirected", /it is of (region us-east-1|another region): correct region/],
      [{ ...place, endpoint: endpoint.replace("http:", "https:") }, "handshake", /it does not speak TLS: write http:\/\//],
    ] as const)
      await assert.rejects(firstOf(at), (thrown) => {
        assert.ok(isStoreFailure(thrown, kind), String(thrown));
        assert.match(thrown.message, says);
        return true;
      });
  });

  test("with the bucket in the endpoint an object is written below another key, and an upload is refused", async () => {
    const place = await bucket();
    const wrong = createS3Store({ ...place, endpoint: `${place.endpoint}/${place.bucket}` }, async () => keys);
    await wrong.put("a/b", Uint8Array.of(1));
    assert.equal((await wrong.head("a/b"))?.size, 1);
    await assert.rejects(wrong.createUpload("a/c"), (thrown) => isStoreFailure(thrown, "invalid") && /another key/.test(thrown.message));
    wrong.close();
    const right = createS3Store(place, async () => keys);
    assert.equal(await right.head("a/b"), undefined);
    assert.equal((await right.head(`${place.bucket}/a/b`))?.size, 1);
    for await (const left of right.listUploads("")) assert.fail(left.key);
    right.close();
  });
});
