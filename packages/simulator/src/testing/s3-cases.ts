/** A request of a case, as data. `{bucket}` is the case's own bucket, `{name}` what an earlier answer was asked to save. */
export interface S3Step {
  readonly method: string;
  /** As it is sent, percent-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or so many of one letter. */
  readonly body?: S3Body;
  readonly sign?: S3Signing;
  /** Elements or headers of the answer to be used by later steps, by the name that they get. */
  readonly save?: Readonly<Record<string, string>>;
}

export type S3Body = string | { readonly length: number; readonly of: string };

/** How a request is signed; everything has a right default. */
export interface S3Signing {
  /** It is not signed. */
  readonly isAbsent?: boolean;
  readonly accessKeyID?: string;
  readonly secretAccessKey?: string;
  readonly region?: string;
  readonly service?: string;
  /** How far the client's clock is ahead, in seconds. */
  readonly skewSeconds?: number;
  /** Headers and parameters that are added once the request has been signed. */
  readonly addedHeaders?: Readonly<Record<string, string>>;
  readonly addedQuery?: Readonly<Record<string, string>>;
  /** Headers that are taken away once the request has been signed. */
  readonly removedHeaders?: readonly string[];
}

export interface S3Case {
  readonly name: string;
  readonly steps: readonly S3Step[];
}

const o = (key: string): string => `/{bucket}/${key}`;
const bucket = "/{bucket}";
const put = (key: string, body: S3Body = "hello", headers: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "PUT",
  path: o(key),
  body,
  headers,
});
const get = (key: string, headers: Readonly<Record<string, string>> = {}): S3Step => ({ method: "GET", path: o(key), headers });
const head = (key: string, headers: Readonly<Record<string, string>> = {}): S3Step => ({ method: "HEAD", path: o(key), headers });
const remove = (key: string): S3Step => ({ method: "DELETE", path: o(key) });
const list = (query: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "GET",
  path: bucket,
  query: { "list-type": "2", ...query },
});
const create = (key: string, headers: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "POST",
  path: o(key),
  query: { uploads: "" },
  headers,
  save: { upload: "UploadId" },
});
const part = (key: string, number: string, body: S3Body, headers: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "PUT",
  path: o(key),
  query: { partNumber: number, uploadId: "{upload}" },
  body,
  headers,
  save: { [`etag${number}`]: "etag" },
});
const completeXml = (numbers: readonly string[]): string =>
  `<CompleteMultipartUpload>${numbers.map((n) => `<Part><PartNumber>${n}</PartNumber><ETag>{etag${n}}</ETag></Part>`).join("")}</CompleteMultipartUpload>`;
const complete = (key: string, body: string, headers: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "POST",
  path: o(key),
  query: { uploadId: "{upload}" },
  body,
  headers,
});
const abort = (key: string): S3Step => ({ method: "DELETE", path: o(key), query: { uploadId: "{upload}" } });
const parts = (key: string, query: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "GET",
  path: o(key),
  query: { uploadId: "{upload}", ...query },
});
const uploads = (query: Readonly<Record<string, string>> = {}): S3Step => ({
  method: "GET",
  path: bucket,
  query: { uploads: "", ...query },
});
const named = (name: string, ...steps: readonly S3Step[]): S3Case => ({ name, steps });

/** Checksums of `hello`, by the names of their headers. */
const CRC32 = "NhCmhg==";
const CHECKSUMS = {
  "x-amz-checksum-crc32": CRC32,
  "x-amz-checksum-crc32c": "mnG7TA==",
  "x-amz-checksum-crc64nvme": "M3eFcAZSQlc=",
  "x-amz-checksum-sha1": "qvTGHdzF6KLavt4PO0gs2a6pQ00=",
  "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
};
/** A body in chunks as the SDKs send one. `headers` replaces some of theirs. */
const chunked = (key: string, body: string, headers: Readonly<Record<string, string>> = {}): S3Step =>
  put(key, body, {
    "content-encoding": "aws-chunked",
    "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    "x-amz-decoded-content-length": "5",
    "x-amz-trailer": "x-amz-checksum-crc32",
    ...headers,
  });

const PART = { length: 5 * 1024 * 1024, of: "a" };
const SMALL = { length: 100, of: "b" };
/** What the endpoint and a genuine server are asked alike. */
export const s3Cases: readonly S3Case[] = [
  named(
    "an object is put, read, described and removed",
    put("a/one", "hello", { "content-type": "text/plain" }),
    get("a/one"),
    head("a/one"),
    remove("a/one"),
    get("a/one"),
    head("a/one"),
    remove("a/one"),
  ),
  named("an empty object", put("empty", ""), get("empty"), get("empty", { range: "bytes=0-" })),
  named(
    "ranges",
    put("x", "0123456789"),
    ...["bytes=0-3", "bytes=4-", "bytes=5-500", "bytes=10-", "bytes=100-200"].map((range) => get("x", { range })),
    head("x", { range: "bytes=2-3" }),
    get("x", { range: "bytes=2-3", "if-match": '"781e5e245d69b566979b86e28d23f2c7"' }),
    get("x", { range: "bytes=2-3", "if-match": '"d41d8cd98f00b204e9800998ecf8427e"' }),
  ),
  named(
    "puts that demand that nothing is there",
    put("x", "one", { "if-none-match": "*" }),
    put("x", "two", { "if-none-match": "*" }),
    get("x"),
    remove("x"),
    put("x", "two", { "if-none-match": "*" }),
  ),
  named(
    "digests of a body",
    put("x", "hello", { "content-md5": "{md5}" }),
    put("x", "hello", { "content-md5": "XUFAKrxLKna5cZ2REBfFkg=" }),
    put("x", "hello", { "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }),
    put("x", "hello", { "x-amz-content-sha256": "0".repeat(64) }),
    put("x", "hello", { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" }),
    put("x", "hello", { "x-amz-content-sha256": "nonsense" }),
  ),
  named(
    "checksums of a body",
    ...Object.entries(CHECKSUMS).flatMap(([name, value]) => [
      put(name, "hello", { [name]: value }),
      put(name, "other", { [name]: value }),
      put(name, "other", { [name]: "short" }),
      get(name, { "x-amz-checksum-mode": "ENABLED" }),
    ]),
    put("x", "hello", { "x-amz-checksum-crc32": CRC32, "x-amz-sdk-checksum-algorithm": "CRC32" }),
    put("x", "hello", { "x-amz-checksum-crc32": CRC32, "x-amz-sdk-checksum-algorithm": "SHA1" }),
    put("x", "hello", { "x-amz-sdk-checksum-algorithm": "SHA256" }),
    put("x", "hello", { "x-amz-checksum-crc32": CRC32, "x-amz-checksum-sha1": CHECKSUMS["x-amz-checksum-sha1"] }),
    create("big", { "x-amz-checksum-algorithm": "CRC31" }),
    create("big", { "x-amz-checksum-algorithm": "CRC32" }),
    part("big", "1", "other", { "x-amz-checksum-crc32": CRC32 }),
    parts("big"),
    part("big", "1", "hello", { "x-amz-checksum-crc32": CRC32 }),
  ),
  named(
    "checksums behind a body",
    chunked("x", `5\r\nhello\r\n0\r\nx-amz-checksum-crc32:${CRC32}\r\n\r\n`),
    chunked("x", `5\r\nother\r\n0\r\nx-amz-checksum-crc32:${CRC32}\r\n\r\n`),
    chunked("x", "5\r\nother\r\n0\r\nx-amz-checksum-crc32:short\r\n\r\n"),
    chunked("x", `5\r\nother\r\n0\r\nx-amz-checksum-sha1:${CHECKSUMS["x-amz-checksum-sha1"]}\r\n\r\n`),
    chunked("x", "5\r\nother\r\n0\r\n\r\n"),
    chunked("x", "5\r\nother\r\n"),
    chunked("x", `6\r\nothers\r\n0\r\nx-amz-checksum-crc32:${CRC32}\r\n\r\n`),
    chunked("x", "other"),
    chunked("x", "", { "x-amz-trailer": "x-amz-checksum-md4" }),
    get("x", { "x-amz-checksum-mode": "ENABLED" }),
  ),
  named(
    "an object of two parts",
    create("big", { "content-type": "text/plain" }),
    head("big"),
    part("big", "2", SMALL),
    part("big", "1", { length: 10, of: "x" }),
    part("big", "1", PART),
    parts("big"),
    uploads(),
    complete("big", completeXml(["1", "2"])),
    head("big"),
    get("big", { range: "bytes=5242878-5242881" }),
    parts("big"),
    abort("big"),
    complete("big", completeXml(["1", "2"])),
    uploads(),
    list(),
  ),
  named(
    "uploads that cannot be completed",
    create("big"),
    part("big", "1", SMALL),
    part("big", "2", SMALL),
    complete("big", completeXml(["1", "2"])),
    complete("big", completeXml(["2", "1"])),
    complete("big", completeXml(["1", "1"])),
    complete("big", "<CompleteMultipartUpload><Part><PartNumber>3</PartNumber><ETag>{etag1}</ETag></Part></CompleteMultipartUpload>"),
    complete("big", "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>wrong</ETag></Part></CompleteMultipartUpload>"),
    complete("big", "<CompleteMultipartUpload></CompleteMultipartUpload>"),
    complete("big", "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>"),
    complete("big", "<CompleteMultipartUpload><Part>"),
    complete("big", "no xml"),
  ),
  named(
    "an upload over an object",
    put("big"),
    create("big"),
    part("big", "1", SMALL),
    get("big"),
    complete("big", completeXml(["1"])),
    head("big"),
  ),
  named(
    "numbers of parts",
    create("big"),
    part("big", "0", SMALL),
    part("big", "10001", SMALL),
    part("big", "x", SMALL),
    part("big", "10000", SMALL),
    abort("big"),
    abort("big"),
    part("big", "1", SMALL),
    uploads(),
  ),
  named(
    "uploads of nobody",
    ...[
      part("big", "1", SMALL),
      complete("big", "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>"),
      abort("big"),
      parts("big"),
    ].map((step) => ({ ...step, query: { ...step.query, uploadId: "nobody" } })),
    ...[part("big", "1", SMALL), abort("big")].map((step) => ({ ...step, query: { ...step.query, uploadId: "../../x" } })),
  ),
  named("open uploads", create("m/b"), create("m/a"), create("n/c"), uploads(), uploads({ prefix: "m/" })),
  named(
    "objects in order and in pages",
    ...["b/1", "b/2", "a-b", "a.b", "a/b", "B", "c", "\u00fc", "z z", "z+z"].map((key) =>
      put(encodeURIComponent(key).replaceAll("%2F", "/"), "x"),
    ),
    list(),
    list({ prefix: "a" }),
    list({ prefix: "b/" }),
    list({ prefix: "none" }),
    list({ "max-keys": "0" }),
    { ...list({ "max-keys": "3" }), save: { token: "NextContinuationToken" } },
    list({ "max-keys": "3", "continuation-token": "{token}" }),
    list({ "start-after": "b/1" }),
    list({ "max-keys": "-1" }),
    list({ "max-keys": "x" }),
    list({ "max-keys": "5000", prefix: "c" }),
  ),
  named(
    "a bucket that is not there",
    { method: "GET", path: "/not-there", query: { "list-type": "2" } },
    { method: "PUT", path: "/not-there/x", body: "x" },
    { method: "GET", path: "/not-there/x" },
    { method: "HEAD", path: "/not-there/x" },
    { method: "DELETE", path: "/not-there/x" },
    { method: "POST", path: "/not-there/x", query: { uploads: "" } },
  ),
  named("a list of what is an object", { method: "GET", path: o("a"), query: { "list-type": "2", prefix: "a/" } }, put("a"), {
    method: "GET",
    path: o("a"),
    query: { "list-type": "2", prefix: "a/" },
  }),
  named(
    "what is not provided",
    ...["acl", "tagging", "policy", "lifecycle", "object-lock", "versions"].map((name): S3Step => ({
      method: "GET",
      path: bucket,
      query: { [name]: "" },
    })),
    put("x"),
    { method: "GET", path: o("x"), query: { tagging: "" } },
    { method: "GET", path: o("x"), query: { versionId: "null" } },
    put("y", "hello", { "x-amz-server-side-encryption": "AES256" }),
    put("y", "hello", { "x-amz-tagging": "a=b" }),
    put("y", "hello", { "x-amz-storage-class": "GLACIER" }),
    put("y", "", { "x-amz-copy-source": "/{bucket}/x" }),
  ),
  named(
    "keys of a signature",
    put("x"),
    ...(
      [
        { isAbsent: true },
        { secretAccessKey: "another-secret-key" },
        { accessKeyID: "ANOTHERKEY" },
        { skewSeconds: 16 * 60 },
        { skewSeconds: -16 * 60 },
        { skewSeconds: 14 * 60 },
        { skewSeconds: -14 * 60 },
        { region: "eu-north-1" },
        { service: "ec2" },
        { addedHeaders: { "x-amz-meta-added": "later" } },
        { addedQuery: { "x-id": "GetObject" } },
        { removedHeaders: ["x-amz-date"] },
        { removedHeaders: ["x-amz-content-sha256"] },
        { isAbsent: true, addedHeaders: { authorization: "AWS testkey:c2lnbmF0dXJl" } },
        { isAbsent: true, addedHeaders: { authorization: "AWS4-HMAC-SHA256 nonsense" } },
        { isAbsent: true, addedHeaders: { authorization: "Bearer token" } },
      ] satisfies readonly S3Signing[]
    ).map((sign) => ({ ...get("x"), sign })),
  ),
  named(
    "keys of objects",
    ...[
      "dir/",
      "with%20blank",
      "plus+and%2Band%26",
      "%C3%BC/%E6%97%A5%E6%9C%AC/%F0%9F%8E%84",
      "line%0Aend",
      "quote%27%22%3C%3E%26",
      "k".repeat(200),
      "a/b/../c",
      "..",
      "%2e%2e/%2E%2E/etc",
      "a//b",
      "%FF",
      "%00",
      "%zz",
    ].flatMap((key) => [put(key, "x"), get(key)]),
  ),
  named(
    "keys of objects as they are listed",
    ...["with%20blank", "plus%2Band%26", "%C3%BC/%E6%97%A5%E6%9C%AC/%F0%9F%8E%84", "line%0Aend", "quote%27%22%3C%3E%26"].map((key) =>
      put(key, "x"),
    ),
    list(),
    list({ prefix: "\u00fc/" }),
  ),
  named("keys of 1,024 bytes", put("k/".repeat(512).slice(0, 1024), "x"), put(`${"k/".repeat(512)}x`, "x")),
];
