// The S3 client and the demo's own S3 endpoint against each other: what real tests hold both to with genuine parts.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serveS3, type ServedS3 } from "@talos-operator/simulator/object-storage";
import { storeConformance } from "../../conformance/store-conformance.ts";
import { isStoreFailure } from "../../store/failure.ts";
import type { S3Place, StoreKeys } from "../../task/place.ts";
import { createS3Store } from "./s3-store.ts";

const keys: StoreKeys = { accessKeyID: "test-access-key", secretAccessKey: "test-secret-key" };
/** A bucket for each rule. */
const buckets = Array.from({ length: 60 }, (_, index) => `bucket-${index}`);

describe("the demo's S3 endpoint", () => {
  let served: ServedS3;
  let used = 0;
  before(async () => void (served = await serveS3({ buckets, ...keys, port: 0, onError: (error) => assert.fail(String(error)) })));
  after(() => served.close());

  const place = (): S3Place => ({
    kind: "s3",
    bucket: buckets[(used += 1)] ?? "none-left",
    region: "us-east-1",
    endpoint: served.endpoint,
    prefix: "backups",
    allowPlainText: true,
  });

  storeConformance("the demo's bucket", async () => {
    const store = createS3Store(place(), async () => keys);
    return { store, end: async () => store.close() };
  });

  for (const [what, given, at, kind] of [
    ["a wrong secret key", { ...keys, secretAccessKey: "another-secret" }, {}, "denied"],
    ["an unknown key", { ...keys, accessKeyID: "another-key" }, {}, "denied"],
    ["a token of lent keys", { ...keys, sessionToken: "another-token" }, {}, "denied"],
    ["a bucket that is not there", keys, { bucket: "not-there" }, "missing"],
    ["another region", keys, { region: "eu-north-1" }, "redirected"],
  ] as const)
    test(`${what} is told as ${kind}, and no key is`, async () => {
      const store = createS3Store({ ...place(), ...at }, async () => given);
      await assert.rejects(store.put("a", Uint8Array.of(1)), (thrown) => {
        assert.ok(isStoreFailure(thrown, kind), String(thrown));
        assert.doesNotMatch(String(thrown), /another-|test-/);
        return true;
      });
      store.close();
    });

  test("with the bucket in the endpoint no upload is begun, and no list is given", async () => {
    const at = place();
    const store = createS3Store({ ...at, endpoint: `${at.endpoint}/${at.bucket}` }, async () => keys);
    await assert.rejects(store.createUpload("a/b"), (thrown) => isStoreFailure(thrown, "invalid") && /another key/.test(thrown.message));
    const listed = store.list("a/")[Symbol.asyncIterator]().next();
    await assert.rejects(listed, (thrown) => isStoreFailure(thrown, "invalid") && /leave the bucket out/.test(thrown.message));
    store.close();
  });
});
