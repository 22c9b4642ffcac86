// The examples of Amazon's own documentation, with the signatures that it gives.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, sigv4-query-string-auth.html, sigv4-streaming.html
import assert from "node:assert/strict";
import { test } from "node:test";
import { receive } from "./receive.ts";
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
  assert.deepEqual(await verifySignature(getObject(signature), keys, "us-east-1", at), { kind: "hashed", sha256: empty });
  for (const other of [signature.replace("f0", "f1"), signature.slice(1), "", `${signature}0`])
    await assert.rejects(verifySignature(getObject(other), keys, "us-east-1", at), isRefusedAs("SignatureDoesNotMatch"));
});

test("a write whose key is encoded, with the old date header", async () => {
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
  assert.deepEqual(await verifySignature(request, keys, "us-east-1", at), { kind: "hashed", sha256 });
});

test("a read that is signed by address, until it has expired", async () => {
  const query = new URLSearchParams({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": scope,
    "X-Amz-Date": "20130524T000000Z",
    "X-Amz-Expires": "86400",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Signature": "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  });
  const request = readS3Request("GET", `/test.txt?${query.toString()}`, host);
  assert.deepEqual(await verifySignature(request, keys, "us-east-1", at + 86_400_000), { kind: "unsigned" });
  await assert.rejects(verifySignature(request, keys, "us-east-1", at + 86_400_001), isRefusedAs("AccessDenied"));
  await assert.rejects(verifySignature(request, keys, "us-east-1", at - 15 * 60_000 - 1), isRefusedAs("AccessDenied"));
});

test("a body in signed chunks, whatever pieces it comes in", async () => {
  const request = readS3Request("PUT", "/examplebucket/chunkObject.txt", [
    "Host",
    "s3.amazonaws.com",
    "x-amz-date",
    "20130524T000000Z",
    "x-amz-storage-class",
    "REDUCED_REDUNDANCY",
    "x-amz-content-sha256",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "Content-Encoding",
    "aws-chunked",
    "x-amz-decoded-content-length",
    "66560",
    "Content-Length",
    "66824",
    ...authorization(
      "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class",
      "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    ),
  ]);
  const signed = await verifySignature(request, keys, "us-east-1", at);
  assert.equal(signed.kind, "chunks");
  const chunk = (length: number, signature: string): string =>
    `${length.toString(16)};chunk-signature=${signature}\r\n${"a".repeat(length)}\r\n`;
  const body = Buffer.from(
    chunk(65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648") +
      chunk(1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497") +
      chunk(0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
  );
  assert.equal(body.length, 66_824);
  const received = async (bytes: Buffer, piece: number): Promise<string> => {
    const written: Uint8Array[] = [];
    async function* source() {
      for (let from = 0; from < bytes.length; from += piece) yield bytes.subarray(from, from + piece);
    }
    await receive(
      source(),
      { length: 66_560, chunks: signed.kind === "chunks" ? signed : assert.fail() },
      async (one) => void written.push(one),
    );
    return Buffer.concat(written).toString();
  };
  for (const piece of [17, 1000, 66_824]) assert.equal(await received(body, piece), "a".repeat(66_560));
  for (const wrong of [100, 65_700, 66_700]) {
    const changed = Buffer.from(body);
    changed.writeUInt8(changed.readUInt8(wrong) ^ 1, wrong);
    await assert.rejects(received(changed, 1000), (thrown) => thrown instanceof S3Error && thrown.code !== "InternalError");
  }
  for (const end of [0, 10, 50_000, 65_622, 66_000, 66_823])
    await assert.rejects(received(body.subarray(0, end), 4096), isRefusedAs("IncompleteBody"));
});
