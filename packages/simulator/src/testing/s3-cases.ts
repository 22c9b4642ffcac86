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
  /** The body goes in chunks of `aws-chunked`. */
  readonly chunks?: S3Chunks;
  /** Elements or headers of the answer to be used by later steps, by the name that they get. */
  readonly save?: Readonly<Record<string, string>>;
}

export type S3Body = string | { readonly length: number; readonly of: string };

/** How a request is signed; everything has a right default. */
export interface S3Signing {
  readonly kind?: "header" | "query" | "none";
  readonly accessKeyID?: string;
  readonly secretAccessKey?: string;
  readonly region?: string;
  readonly service?: string;
  readonly sessionToken?: string;
  /** How far the client's clock is ahead, in seconds. */
  readonly skewSeconds?: number;
  readonly expiresSeconds?: number;
  /** Headers and parameters that are added once the request has been signed. */
  readonly addedHeaders?: Readonly<Record<string, string>>;
  readonly addedQuery?: Readonly<Record<string, string>>;
  /** Headers that are taken away once the request has been signed. */
  readonly removedHeaders?: readonly string[];
}

export interface S3Chunks {
  readonly isSigned: boolean;
  /** Behind the last chunk. */
  readonly trailer?: readonly [name: string, value: string];
  readonly damage?: "signature" | "trailer-signature" | "cut" | "length";
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
const erase = (xml: string, headers: Readonly<Record<string, string>> = { "content-md5": "{md5}" }): S3Step => ({
  method: "POST",
  path: bucket,
  query: { delete: "" },
  body: xml,
  headers,
});
const named = (name: string, ...steps: readonly S3Step[]): S3Case => ({ name, steps });

const PART = { length: 5 * 1024 * 1024, of: "a" };
const SMALL = { length: 100, of: "b" };
/** The CRC32 of `hello`, and other sums of it. */
const CRC32 = "NhCmhg==";
const WRONG32 = "NhCmhQ==";
const SHA256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";

/** What the endpoint and a genuine server are asked alike. */
export const s3Cases: readonly S3Case[] = [
  named(
    "an object is put, read, described and removed",
    put("a/one", "hello", { "content-type": "text/plain", "x-amz-meta-colour": "blue", "cache-control": "no-cache" }),
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
    ...[
      "bytes=0-3",
      "bytes=4-",
      "bytes=-3",
      "bytes=-30",
      "bytes=5-500",
      "bytes=10-",
      "bytes=100-200",
      "bytes=5-2",
      "items=0-1",
      "bytes=-0",
    ].map((range) => get("x", { range })),
    head("x", { range: "bytes=2-3" }),
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
    "puts that demand what is there",
    put("x", "hello"),
    put("x", "two", { "if-match": '"00000000000000000000000000000000"' }),
    put("x", "two", { "if-match": '"5d41402abc4b2a76b9719d911017c592"' }),
    put("y", "two", { "if-match": '"5d41402abc4b2a76b9719d911017c592"' }),
  ),
  named(
    "reads under conditions",
    put("x", "hello"),
    get("x", { "if-match": '"5d41402abc4b2a76b9719d911017c592"' }),
    get("x", { "if-match": '"00000000000000000000000000000000"' }),
    get("x", { "if-none-match": '"5d41402abc4b2a76b9719d911017c592"' }),
    get("x", { "if-none-match": '"00000000000000000000000000000000"' }),
    head("x", { "if-none-match": '"5d41402abc4b2a76b9719d911017c592"' }),
    get("x", { "if-modified-since": "Thu, 01 Jan 2099 00:00:00 GMT" }),
    get("x", { "if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT" }),
    { ...head("x"), save: { modified: "last-modified" } },
    get("x", { "if-modified-since": "{modified}" }),
    get("x", { "if-unmodified-since": "{modified}" }),
    get("x", { "if-unmodified-since": "Thu, 01 Jan 2015 00:00:00 GMT" }),
    head("x", { "if-unmodified-since": "Thu, 01 Jan 2015 00:00:00 GMT" }),
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
    put("x", "hello", { "x-amz-checksum-crc32": CRC32, "x-amz-sdk-checksum-algorithm": "CRC32" }),
    get("x", { "x-amz-checksum-mode": "ENABLED" }),
    get("x"),
    get("x", { "x-amz-checksum-mode": "ENABLED", range: "bytes=0-1" }),
    put("y", "hello", { "x-amz-checksum-crc32": WRONG32 }),
    put("y", "hello", { "x-amz-checksum-crc32": "short" }),
    put("y", "hello", { "x-amz-checksum-crc32": CRC32, "x-amz-checksum-sha256": SHA256 }),
    put("y", "hello", { "x-amz-checksum-sha256": SHA256 }),
    head("y", { "x-amz-checksum-mode": "ENABLED" }),
    put("y", "hello", { "x-amz-sdk-checksum-algorithm": "SHA256" }),
    put("y", "hello", { "x-amz-checksum-crc32c": "mnG7TA==" }),
    put("y", "hello", { "x-amz-checksum-crc64nvme": "M3eFcAZSQlc=" }),
    put("y", "hello", { "x-amz-checksum-sha1": "qvTGHdzF6KLavt4PO0gs2a6pQ00=" }),
  ),
  named(
    "an object of two parts",
    create("big", { "content-type": "text/plain", "x-amz-meta-colour": "blue" }),
    head("big"),
    part("big", "2", SMALL),
    part("big", "1", { length: 10, of: "x" }),
    part("big", "1", PART),
    parts("big"),
    parts("big", { "max-parts": "1" }),
    parts("big", { "part-number-marker": "1" }),
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
    "an upload with checksums of its parts",
    create("big", { "x-amz-checksum-algorithm": "CRC32" }),
    part("big", "1", "hello", { "x-amz-checksum-crc32": CRC32 }),
    part("big", "2", "hello", { "x-amz-checksum-sha256": SHA256 }),
    part("big", "2", "hello", { "x-amz-checksum-crc32": WRONG32 }),
    parts("big"),
    complete("big", completeXml(["1"])),
    complete(
      "big",
      `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{etag1}</ETag><ChecksumCRC32>${WRONG32}</ChecksumCRC32></Part></CompleteMultipartUpload>`,
    ),
    complete(
      "big",
      `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{etag1}</ETag><ChecksumCRC32>${CRC32}</ChecksumCRC32></Part></CompleteMultipartUpload>`,
    ),
    head("big", { "x-amz-checksum-mode": "ENABLED" }),
  ),
  named(
    "an upload with a checksum of the whole",
    create("big", { "x-amz-checksum-algorithm": "CRC64NVME", "x-amz-checksum-type": "FULL_OBJECT" }),
    part("big", "1", "hello", { "x-amz-checksum-crc64nvme": "M3eFcAZSQlc=" }),
    complete("big", completeXml(["1"]), { "x-amz-checksum-crc64nvme": "M3eFcAZSQlc=", "x-amz-checksum-type": "FULL_OBJECT" }),
    head("big", { "x-amz-checksum-mode": "ENABLED" }),
    create("bad", { "x-amz-checksum-algorithm": "SHA256", "x-amz-checksum-type": "FULL_OBJECT" }),
    create("bad", { "x-amz-checksum-type": "FULL_OBJECT" }),
    create("bad", { "x-amz-checksum-algorithm": "CRC31" }),
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
    complete("big", completeXml(["1"]), { "x-amz-mp-object-size": "99" }),
    complete("big", completeXml(["1"]), { "x-amz-mp-object-size": "100" }),
  ),
  named(
    "an upload over an object",
    put("big"),
    create("big"),
    part("big", "1", SMALL),
    complete("big", completeXml(["1"]), { "if-none-match": "*" }),
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
  named(
    "open uploads in pages",
    create("m/b"),
    create("m/a"),
    create("n/c"),
    uploads(),
    uploads({ prefix: "m/" }),
    uploads({ "max-uploads": "1" }),
    uploads({ "key-marker": "m/a" }),
    uploads({ "max-uploads": "0" }),
    uploads({ "max-uploads": "x" }),
    uploads({ "max-uploads": "-1" }),
  ),
  named(
    "objects in order and in pages",
    ...["b/1", "b/2", "a-b", "a.b", "a/b", "B", "c", "\u00fc", "z z", "z+z"].map((key) =>
      put(encodeURIComponent(key).replaceAll("%2F", "/"), "x"),
    ),
    list(),
    list({ prefix: "a" }),
    list({ prefix: "b/" }),
    list({ prefix: "none" }),
    list({ delimiter: "/" }),
    list({ delimiter: "/", prefix: "b/" }),
    list({ delimiter: "b" }),
    list({ "max-keys": "0" }),
    { ...list({ "max-keys": "3" }), save: { token: "NextContinuationToken" } },
    list({ "max-keys": "3", "continuation-token": "{token}" }),
    { ...list({ "max-keys": "3", delimiter: "/" }), save: { token: "NextContinuationToken" } },
    { ...list({ "max-keys": "3", delimiter: "/", "continuation-token": "{token}" }), save: { token: "NextContinuationToken" } },
    list({ "max-keys": "3", delimiter: "/", "continuation-token": "{token}" }),
    list({ "start-after": "b/1" }),
    list({ "start-after": "b/", delimiter: "/" }),
    list({ "start-after": "b/1", delimiter: "/" }),
    list({ "encoding-type": "url", prefix: "z" }),
    list({ "encoding-type": "nonsense" }),
    list({ "fetch-owner": "true", prefix: "c" }),
    list({ "max-keys": "-1" }),
    list({ "max-keys": "x" }),
    list({ "max-keys": "5000", prefix: "c" }),
  ),
  named(
    "objects in pages of the first version",
    ...["b/1", "b/2", "a", "c/1", "d"].map((key) => put(key, "x")),
    { method: "GET", path: bucket },
    { method: "GET", path: bucket, query: { delimiter: "/", "max-keys": "2" } },
    { method: "GET", path: bucket, query: { delimiter: "/", "max-keys": "2", marker: "b/" } },
    { method: "GET", path: bucket, query: { marker: "b/1" } },
    { method: "GET", path: bucket, query: { "max-keys": "1" } },
  ),
  named(
    "many objects removed at once",
    ...["a", "b", "c", "d"].map((key) => put(key, "x")),
    erase("<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>"),
    erase('<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>'),
    erase("<Delete><Object><Key>c</Key></Object></Delete>", {}),
    erase("<Delete><Object><Key>c</Key></Object></Delete>", { "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }),
    erase("<Delete><Object>"),
    erase("<Delete></Delete>"),
    erase("<Remove><Object><Key>c</Key></Object></Remove>"),
    erase(`<Delete>${Array.from({ length: 1001 }, (_, index) => `<Object><Key>n${index}</Key></Object>`).join("")}</Delete>`),
    list(),
  ),
  named(
    "what a bucket says of itself",
    { method: "HEAD", path: bucket },
    { method: "GET", path: bucket, query: { location: "" } },
    { method: "GET", path: bucket, query: { versioning: "" } },
    { method: "PUT", path: bucket },
    { method: "GET", path: `${bucket}/`, query: { "list-type": "2" } },
  ),
  named(
    "a bucket that is not there",
    { method: "HEAD", path: "/not-there" },
    { method: "GET", path: "/not-there", query: { "list-type": "2" } },
    { method: "GET", path: "/not-there", query: { location: "" } },
    { method: "PUT", path: "/not-there/x", body: "x" },
    { method: "GET", path: "/not-there/x" },
    { method: "HEAD", path: "/not-there/x" },
    { method: "DELETE", path: "/not-there/x" },
    { method: "POST", path: "/not-there/x", query: { uploads: "" } },
    { method: "GET", path: "/UPPER", query: { "list-type": "2" } },
    { method: "GET", path: "/..", query: { "list-type": "2" } },
  ),
  named(
    "what is not provided",
    ...["acl", "tagging", "policy", "lifecycle", "cors", "encryption", "object-lock", "versions", "replication", "nonsense"].map(
      (name): S3Step => ({ method: "GET", path: bucket, query: { [name]: "" } }),
    ),
    put("x"),
    { method: "GET", path: o("x"), query: { tagging: "" } },
    { method: "GET", path: o("x"), query: { acl: "" } },
    { method: "GET", path: o("x"), query: { versionId: "null" } },
    put("y", "hello", { "x-amz-server-side-encryption": "AES256" }),
    put("y", "hello", { "x-amz-tagging": "a=b" }),
    put("y", "hello", { "x-amz-acl": "public-read" }),
    put("y", "hello", { "x-amz-storage-class": "GLACIER" }),
    put("y", "", { "x-amz-copy-source": "/{bucket}/x" }),
    { method: "PATCH", path: o("x"), body: "x" },
    { method: "POST", path: o("x"), body: "x" },
  ),
  named(
    "keys of a signature",
    put("x"),
    ...(
      [
        { kind: "none" },
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
        { kind: "none", addedHeaders: { authorization: "AWS testkey:c2lnbmF0dXJl" } },
        { kind: "none", addedHeaders: { authorization: "AWS4-HMAC-SHA256 nonsense" } },
        { kind: "none", addedHeaders: { authorization: "Bearer token" } },
      ] satisfies readonly S3Signing[]
    ).map((sign) => ({ ...get("x"), sign })),
  ),
  named(
    "signed addresses",
    put("x"),
    ...(
      [
        {},
        { secretAccessKey: "another-secret-key" },
        { accessKeyID: "ANOTHERKEY" },
        { skewSeconds: -100, expiresSeconds: 10 },
        { skewSeconds: -3600, expiresSeconds: 7200 },
        { skewSeconds: 3600 },
        { expiresSeconds: 604_800 },
        { addedQuery: { "x-id": "GetObject" } },
        { addedHeaders: { authorization: "AWS4-HMAC-SHA256 Credential=x" } },
        { region: "eu-north-1" },
      ] satisfies readonly S3Signing[]
    ).map((sign): S3Step => ({ ...get("x"), sign: { kind: "query", ...sign } })),
    { ...put("y"), sign: { kind: "query" } },
    { ...remove("y"), sign: { kind: "query" } },
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
    list({ delimiter: " " }),
  ),
  named("keys of 1,024 bytes", put("k/".repeat(512).slice(0, 1024), "x"), put(`${"k/".repeat(512)}x`, "x")),
  named(
    "bodies in chunks",
    { ...put("x"), chunks: { isSigned: true } },
    get("x"),
    { ...put("y"), chunks: { isSigned: true, damage: "signature" } },
    { ...put("y"), chunks: { isSigned: true, damage: "cut" } },
    { ...put("y"), chunks: { isSigned: true, damage: "length" } },
    { ...put("y"), chunks: { isSigned: false, trailer: ["x-amz-checksum-crc32", CRC32] } },
    head("y", { "x-amz-checksum-mode": "ENABLED" }),
    { ...put("z"), chunks: { isSigned: false, trailer: ["x-amz-checksum-crc32", WRONG32] } },
    { ...put("z"), chunks: { isSigned: true, trailer: ["x-amz-checksum-crc32", CRC32] } },
    { ...put("q"), chunks: { isSigned: true, trailer: ["x-amz-checksum-crc32", CRC32], damage: "trailer-signature" } },
    head("q"),
  ),
];
