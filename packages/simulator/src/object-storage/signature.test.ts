// The examples of Amazon's own documentation, with the signatures that it gives.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
import assert from "node:assert/strict";
import { test } from "node:test";
import { S3Error } from "./s3-error.ts";
import { readS3Request } from "./s3-request.ts";
import { verifySignature } from "./signature.ts";

const keys = { accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
const at = Date.UTC(2013, 4, 24);
const scope = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const host = ["Host", "examplebucket.s3.amazonaws.com"];

const authorization = (signedHeaders: string, signature: string): string[] => [
  "Authorization",
  `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${signedHeaders},Signature=${signature}`,
];
const isRefusedAs = (code: string) => (thrown: unknown) => thrown instanceof S3Error && thrown.code === code;

const getObject = (signature: string) =>
  readS3Request("GET", "/test.txt", [
    ...host,
    ...authorization("host;range;x-amz-content-sha256;x-amz-date", signature),
    "Range",
    "bytes=0-9",
    "x-amz-content-sha256",
    empty,
    "x-amz-date",
    "20130524T000000Z",
  ]);

test("a read that is signed by header", async () => {
  const signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
  assert.equal(await verifySignature(getObject(signature), keys, at), empty);
  for (const other of [signature.replace("f0", "f1"), signature.slice(1), "", `${signature}0`])
    await assert.rejects(verifySignature(getObject(other), keys, at), isRefusedAs("SignatureDoesNotMatch"));
});

test("a write whose key is encoded, with two date headers", async () => {
  const sha256 = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  const request = readS3Request("PUT", "/test$file.text", [
    ...host,
    "Date",
    "Fri, 24 May 2013 00:00:00 GMT",
    "x-amz-date",
    "20130524T000000Z",
    "x-amz-storage-class",
    "REDUCED_REDUNDANCY",
    "x-amz-content-sha256",
    sha256,
    ...authorization(
      "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ),
  ]);
  assert.equal(await verifySignature(request, keys, at), sha256);
});
