// What strangers, and people of ill will, do to the endpoint.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, get as httpGet, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, describe, test, type TestContext } from "node:test";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  ListPartsCommand,
  CompleteMultipartUploadCommand,
} from "@aws-sdk/client-s3";
import { SimulatorError } from "../../datacenter/errors.ts";
import { sendS3, signS3 } from "../../testing/adapters/s3-sender.ts";
import type { S3Step } from "../../testing/s3-cases.ts";
import { serveS3, type S3EndpointOptions, type ServedS3 } from "./serve-s3.ts";

const keys = { accessKeyID: "test-access-key", secretAccessKey: "test-secret-key" };
const parent = mkdtempSync(join(tmpdir(), "talos-operator-s3-test-"));
after(() => rmSync(parent, { recursive: true, force: true }));

interface Subject extends ServedS3 {
  readonly folder: string;
  send(step: S3Step): ReturnType<typeof sendS3>;
  /** Bytes that lie in the folder, by file. */
  files(): readonly number[];
}

async function serving(t: TestContext, options: Partial<S3EndpointOptions> = {}): Promise<Subject> {
  const folder = options.folder ?? join(mkdtempSync(join(parent, "one-")), "s3");
  const errors: unknown[] = [];
  const served = await serveS3({ ...keys, buckets: ["backups"], port: 0, onError: (error) => errors.push(error), ...options, folder });
  t.after(async () => {
    await served.close();
    assert.deepEqual(errors, []);
  });
  return {
    ...served,
    folder,
    send: (step) => sendS3(served.endpoint, keys, step),
    files: () => readdirSync(join(folder, "bytes")).map((name) => statSync(join(folder, "bytes", name)).size),
  };
}

const put = (key: string, body: S3Step["body"] & {}): S3Step => ({ method: "PUT", path: `/backups/${key}`, body });
const get = (key: string): S3Step => ({ method: "GET", path: `/backups/${key}` });
/** Begins a request by hand, with headers that let it in. */
async function begin(port: number, step: S3Step, more: readonly string[]): Promise<Socket> {
  const unsigned = { ...step, headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...step.headers } };
  const headers = Object.entries(await signS3(`http://127.0.0.1:${port}`, keys, unsigned, Buffer.alloc(0)));
  const query = new URLSearchParams(step.query).toString();
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  const lines = [`${step.method} ${step.path}?${query} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), ...more, "", ""];
  socket.write(lines.join("\r\n"));
  return socket;
}

/** Nothing here takes longer than a fraction of it, on a busy machine either. */
const bounded = { timeout: 60_000 };

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

interface Begun {
  readonly socket: Socket;
  readonly response: ServerResponse;
}

/** Shows the server's end of each request that begins, until the test is over or the returned function is called. */
function onRequest(t: TestContext, show: (begun: Begun) => void): () => void {
  const channel = "http.server.request.start";
  const heard = (message: unknown): void => show(message as Begun);
  subscribe(channel, heard);
  const stop = (): void => void unsubscribe(channel, heard);
  t.after(stop);
  return stop;
}

async function readToEnd(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => pieces.push(bytes));
  await once(socket, "close");
  return Buffer.concat(pieces).toString();
}

/** Two requests on the same connection are told apart by their answers only; so the first one's end is awaited. */
async function readAnswer(socket: Socket): Promise<string> {
  const ended = new AbortController();
  socket.once("close", () => ended.abort(new Error("the connection ended without an answer")));
  const [bytes] = (await once(socket, "data", { signal: ended.signal })) as [Buffer];
  return bytes.toString();
}

describe("a client with the SDK", () => {
  test("puts, reads, lists, removes, and uploads in parts over a restart, with checksums first and then without", async (t) => {
    const folder = join(mkdtempSync(join(parent, "sdk-")), "s3");
    const client = (endpoint: string, checksums: "WHEN_REQUIRED" | "WHEN_SUPPORTED"): S3Client =>
      new S3Client({
        endpoint,
        region: "us-east-1",
        forcePathStyle: true,
        requestChecksumCalculation: checksums,
        responseChecksumValidation: checksums,
        credentials: { accessKeyId: keys.accessKeyID, secretAccessKey: keys.secretAccessKey },
      });
    const first = await serving(t, { folder });
    let s3 = client(first.endpoint, "WHEN_SUPPORTED");
    const Bucket = "backups";
    await s3.send(new PutObjectCommand({ Bucket, Key: "a/\u00fc &<\u{1f384}>\r\n", Body: "hello" }));
    // The length of a stream is known, its checksum follows it.
    await s3.send(
      new PutObjectCommand({ Bucket, Key: "a/stream", Body: Readable.from([Buffer.alloc(200_000, 1)]), ContentLength: 200_000 }),
    );
    const found = await s3.send(new GetObjectCommand({ Bucket, Key: "a/\u00fc &<\u{1f384}>\r\n" }));
    assert.equal(await found.Body?.transformToString(), "hello");
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: "b" }));
    const part = (PartNumber: number, Body: Buffer) => s3.send(new UploadPartCommand({ Bucket, Key: "b", UploadId, PartNumber, Body }));
    const one = await part(1, Buffer.alloc(5 * 1024 * 1024, 1));
    s3.destroy();
    await first.close();

    const second = await serving(t, { folder });
    s3 = client(second.endpoint, "WHEN_REQUIRED");
    assert.deepEqual(
      (await s3.send(new ListPartsCommand({ Bucket, Key: "b", UploadId }))).Parts?.map(({ ETag }) => ETag),
      [one.ETag],
    );
    const two = await part(2, Buffer.from("end"));
    const Parts = [one, two].map(({ ETag }, index) => ({ PartNumber: index + 1, ETag }));
    const done = { Bucket, Key: "b", UploadId, MultipartUpload: { Parts } };
    const completed = await s3.send(new CompleteMultipartUploadCommand(done));
    // A client whose answer was lost asks again.
    assert.equal((await s3.send(new CompleteMultipartUploadCommand(done))).ETag, completed.ETag);
    const whole = await s3.send(new GetObjectCommand({ Bucket, Key: "b", Range: "bytes=5242878-" }));
    assert.deepEqual([...((await whole.Body?.transformToByteArray()) ?? [])], [1, 1, ...Buffer.from("end")]);
    const listed = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "" }));
    assert.deepEqual(
      listed.Contents?.map(({ Key }) => Key),
      ["a/stream", "a/\u00fc &<\u{1f384}>\r\n", "b"],
    );
    for (const { Key } of listed.Contents ?? []) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    assert.deepEqual(second.files(), []);
    s3.destroy();
  });
});

describe("writes that do not come to their end", () => {
  test("a client that goes in the middle leaves nothing", async (t) => {
    const s3 = await serving(t);
    await s3.send(put("x", "before"));
    const socket = await begin(s3.port, put("x", ""), ["content-length: 1000000", "expect: 100-continue"]);
    // It is let go on: the request is being served.
    assert.match(await readAnswer(socket), /^HTTP\/1.1 100 /);
    socket.write("a".repeat(100_000));
    socket.destroy();
    await s3.close();
    assert.deepEqual(s3.files(), [6]);
  });

  test("a client that stops in the middle is left, and leaves nothing", bounded, async (t) => {
    const s3 = await serving(t);
    let served: Socket | undefined;
    onRequest(t, ({ socket }) => (served = socket));
    const socket = await begin(s3.port, put("x", ""), ["content-length: 1000000"]);
    socket.write("a".repeat(10));
    await until(() => s3.files().length === 1);
    // Its connection has been still for as long as one may be.
    served?.emit("timeout");
    await once(socket, "close");
    await until(() => s3.files().length === 0);
    assert.equal((await s3.send(get("x"))).status, 404);
  });

  test("a reader that stops in the middle is left", bounded, async (t) => {
    const s3 = await serving(t);
    await s3.send(put("x", { length: 32 * 1024 * 1024, of: "a" }));
    let served: Socket | undefined;
    const stop = onRequest(t, ({ socket }) => (served = socket));
    const socket = await begin(s3.port, get("x"), []);
    assert.match(await readAnswer(socket), /^HTTP\/1.1 200 /);
    stop();
    socket.pause();
    // The buffers between the two are full.
    await until(() => served?.writableLength !== 0);
    await s3.send({ method: "DELETE", path: "/backups/x" });
    assert.equal(s3.files().length, 1);
    // Its bytes were kept for the reader, and go with it when its connection has been still for as long as one may be.
    served?.emit("timeout");
    await until(() => s3.files().length === 0);
    socket.destroy();
  });

  test("a killed process leaves what was whole, and its halves go at the next start", async (t) => {
    const folder = join(mkdtempSync(join(parent, "killed-")), "s3");
    const program = `
      const { serveS3 } = await import(${JSON.stringify(join(import.meta.dirname, "serve-s3.ts"))});
      const served = await serveS3({ ...${JSON.stringify(keys)}, buckets: ["backups"], port: 0, folder: ${JSON.stringify(folder)}, onError: console.error });
      process.stdout.write(String(served.port));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const endpoint = `http://127.0.0.1:${String(port)}`;
    await sendS3(endpoint, keys, put("whole", "whole"));
    const begun = await sendS3(endpoint, keys, { method: "POST", path: "/backups/big", query: { uploads: "" } });
    const uploadId = /<UploadId>(\w+)</.exec(begun.body.toString())?.[1] ?? "";
    const part = await sendS3(endpoint, keys, { ...put("big", "part"), query: { uploadId, partNumber: "1" } });
    const socket = await begin(Number(String(port)), put("half", ""), ["content-length: 1000000", "expect: 100-continue"]);
    assert.match(await readAnswer(socket), /^HTTP\/1.1 100 /);
    socket.write("a".repeat(100_000));
    while (readdirSync(join(folder, "bytes")).length < 3) await new Promise((resolve) => setImmediate(resolve));
    child.kill("SIGKILL");
    await once(child, "close");
    socket.destroy();

    const s3 = await serving(t, { folder });
    assert.deepEqual(
      s3.files().toSorted((a, b) => a - b),
      [4, 5],
    );
    assert.equal((await s3.send(get("whole"))).body.toString(), "whole");
    assert.equal((await s3.send(get("half"))).status, 404);
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers["etag"]}</ETag></Part></CompleteMultipartUpload>`;
    assert.equal((await s3.send({ method: "POST", path: "/backups/big", query: { uploadId }, body })).status, 200);
    assert.equal((await s3.send(get("big"))).body.toString(), "part");
  });
});

describe("many at once", () => {
  test("of puts of one key one is there, whole; of those that demand that nothing is there only one stores", async (t) => {
    const s3 = await serving(t);
    const bodies = Array.from({ length: 12 }, (_, index) => ({ length: 300_000 + index, of: String.fromCharCode(97 + index) }));
    const stored = await Promise.all(bodies.map((body) => s3.send(put("x", body))));
    assert.ok(stored.every(({ status }) => status === 200));
    const { body, headers } = await s3.send(get("x"));
    assert.equal(headers["etag"], `"${createHash("md5").update(body).digest("hex")}"`);
    assert.ok(bodies.some(({ length, of }) => body.toString() === of.repeat(length)));
    const absent = await Promise.all(bodies.map((one) => s3.send({ ...put("y", one), headers: { "if-none-match": "*" } })));
    assert.equal(absent.filter(({ status }) => status === 200).length, 1);
    assert.ok(absent.every(({ status }) => status === 200 || status === 412));
    assert.equal(s3.files().length, 2);
  });

  test("who reads an object gets all of it, though it is replaced and removed meanwhile", async (t) => {
    const s3 = await serving(t);
    const length = 24 * 1024 * 1024;
    await s3.send(put("x", { length, of: "a" }));
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      signS3(s3.endpoint, keys, get("x"), Buffer.alloc(0)).then(
        (headers) => httpGet(`${s3.endpoint}/backups/x`, { headers }, resolve).once("error", reject),
        reject,
      );
    });
    await s3.send(put("x", "new"));
    await s3.send({ method: "DELETE", path: "/backups/x" });
    // Its bytes stay for the reader alone.
    assert.deepEqual(s3.files(), [length]);
    let read = 0;
    for await (const piece of answer as AsyncIterable<Buffer>) {
      assert.ok(piece.every((letter) => letter === 97));
      read += piece.length;
    }
    assert.equal(read, length);
    await s3.close();
    assert.deepEqual(s3.files(), []);
  });

  test("an upload that is completed and aborted at once is one of the two, and parts that come late are none", async (t) => {
    const s3 = await serving(t);
    for (let round = 0; round < 5; round += 1) {
      const begun = await s3.send({ method: "POST", path: "/backups/x", query: { uploads: "" } });
      const query = { uploadId: /<UploadId>(\w+)</.exec(begun.body.toString())?.[1] ?? "" };
      const part = await s3.send({ ...put("x", "part"), query: { ...query, partNumber: "1" } });
      const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers["etag"]}</ETag></Part></CompleteMultipartUpload>`;
      const [completed, aborted, late] = await Promise.all([
        s3.send({ method: "POST", path: "/backups/x", query, body }),
        s3.send({ method: "DELETE", path: "/backups/x", query }),
        s3.send({ ...put("x", { length: 500_000, of: "b" }), query: { ...query, partNumber: "2" } }),
      ]);
      assert.deepEqual([completed.status, aborted.status], completed.status === 200 ? [200, 404] : [404, 204]);
      assert.ok(late.status === 200 || late.status === 404);
      const { status } = await s3.send(get("x"));
      assert.equal(status, completed.status);
      assert.deepEqual(s3.files(), completed.status === 200 ? [4] : []);
      await s3.send({ method: "DELETE", path: "/backups/x" });
    }
  });
});

describe("requests of ill will", () => {
  test("no key leads out of the folder, or to a name in it", async (t) => {
    const s3 = await serving(t);
    const before = readdirSync(join(s3.folder, ".."));
    const strange = [
      "..",
      "../../x",
      "%2e%2e%2f%2e%2e%2fx",
      "..%5c..%5cx",
      "%2Fetc%2Fpasswd",
      "a/../../../x",
      "line%0D%0Aend",
      "%F0%9F%8E%84",
      "index.db",
    ];
    for (const key of [...strange, "k".repeat(1024), "%C3%BC".repeat(512)]) {
      assert.equal((await s3.send(put(key, key))).status, 200, key);
      assert.equal((await s3.send(get(key))).body.toString(), key);
    }
    assert.deepEqual(readdirSync(join(s3.folder, "..")), before);
    assert.ok(readdirSync(join(s3.folder, "bytes")).every((name) => /^[0-9a-f]{32}$/.test(name)));
    for (const key of ["k".repeat(1025), "%C3%BC".repeat(513), "%00", "a%01", "%FF", "%", "%zz"])
      assert.equal((await s3.send(put(key, "x"))).status, 400, key);
    for (const path of ["/../backups/x", "/backups%2Fx", "//backups/x", "/%2e%2e/x"])
      assert.ok((await s3.send({ method: "GET", path })).status >= 400, path);
  });

  test("a body that is too large is refused before it comes", async (t) => {
    const s3 = await serving(t);
    for (const [length, code] of [
      [6 * 1024 ** 3, "EntityTooLarge"],
      [999_999_999_999_999, "EntityTooLarge"],
    ] as const) {
      const socket = await begin(s3.port, put("x", ""), [`content-length: ${length}`]);
      assert.match(await readAnswer(socket), new RegExp(`^HTTP/1.1 400 [^]*<Code>${code}<`));
      socket.destroy();
    }
    const complete = { method: "POST", path: "/backups/x", query: { uploadId: "x" } };
    const xml = await begin(s3.port, complete, ["content-length: 5000000"]);
    assert.match(await readAnswer(xml), /^HTTP\/1.1 400 [^]*<Code>MaxMessageLengthExceeded</);
    xml.destroy();
    assert.deepEqual(s3.files(), []);
  });

  test("a body in chunks that is refused in its middle is taken to its end, and leaves nothing", bounded, async (t) => {
    const s3 = await serving(t);
    const headers = {
      "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      "x-amz-decoded-content-length": "5",
      "x-amz-trailer": "x-amz-checksum-crc32",
    };
    for (const line of ["no length\r\n", "1000000\r\n"]) {
      const body = Buffer.concat([Buffer.from(line), Buffer.alloc(16 * 1024 * 1024)]);
      const socket = await begin(s3.port, { ...put("x", ""), headers }, [`content-length: ${body.length}`]);
      const sent = new Promise<void>((resolve, reject) => socket.write(body, (error) => (error ? reject(error) : resolve())));
      assert.match(await readAnswer(socket), /^HTTP\/1.1 400 /);
      await sent;
      socket.destroy();
    }
    assert.deepEqual(s3.files(), []);
  });

  test("a body without a length in advance is refused, and so are two lengths", async (t) => {
    const s3 = await serving(t);
    const chunked = await begin(s3.port, put("x", ""), ["transfer-encoding: chunked"]);
    chunked.write("5\r\nhello\r\n0\r\n\r\n");
    assert.match(await readAnswer(chunked), /^HTTP\/1.1 411 [^]*<Code>MissingContentLength</);
    chunked.destroy();
    const two = await begin(s3.port, put("x", ""), ["content-length: 5", "content-length: 6"]);
    assert.match(await readToEnd(two), /^HTTP\/1.1 400 /);
  });

  test("who may not ask reads why in spite of what is under way", async (t) => {
    const s3 = await serving(t);
    const wrong = { ...put("x", { length: 8 * 1024 * 1024, of: "a" }), sign: { secretAccessKey: "another-secret-key" } };
    const refused = await s3.send(wrong);
    assert.equal(refused.status, 403);
    assert.doesNotMatch(refused.body.toString(), /secret|test-access/);
    assert.deepEqual(s3.files(), []);
  });

  test("XML that nests, swells or names what it should not is refused", async (t) => {
    const s3 = await serving(t);
    const begun = await s3.send({ method: "POST", path: "/backups/x", query: { uploads: "" } });
    const uploadId = /<UploadId>(\w+)</.exec(begun.body.toString())?.[1] ?? "";
    const complete = (body: string): S3Step => ({ method: "POST", path: "/backups/x", query: { uploadId }, body });
    const part = "<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>";
    for (const body of [
      "<a>".repeat(1_000_000),
      '<!DOCTYPE x [<!ENTITY a "aaaa">]><CompleteMultipartUpload><Part><PartNumber>&a;</PartNumber></Part></CompleteMultipartUpload>',
      "<CompleteMultipartUpload><Part><PartNumber>&file;</PartNumber></Part></CompleteMultipartUpload>",
      "<CompleteMultipartUpload><Part><PartNumber><b/></PartNumber></Part></CompleteMultipartUpload>",
      "<CompleteMultipartUpload><Part>x</Part></CompleteMultipartUpload>",
      `<__proto__>${part}</__proto__>`,
    ])
      assert.match((await s3.send(complete(body))).body.toString(), /<Code>MalformedXML</, body.slice(0, 60));
  });
});

describe("where it listens, and where it keeps", () => {
  const wanted = { ...keys, buckets: ["backups"], onError: (error: unknown) => assert.fail(String(error)) };
  const isError = (code: string, cause?: string) => (thrown: unknown) =>
    thrown instanceof SimulatorError &&
    thrown.code === code &&
    (cause === undefined || (thrown.cause as NodeJS.ErrnoException | undefined)?.code === cause) &&
    !/test-secret/.test(String(thrown));

  test("a port that is taken is told, and a folder that was made for it is not left behind", async (t) => {
    const folders = inOwnTemporaryFolder(t);
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    await assert.rejects(serveS3({ ...wanted, port }), isError("CANNOT_LISTEN", "EADDRINUSE"));
    assert.deepEqual(folders(), []);
    taken.close();
  });

  test("a folder serves one at a time, and keeps what it has", async (t) => {
    const s3 = await serving(t);
    await s3.send(put("x", "kept"));
    await assert.rejects(serveS3({ ...wanted, port: 0, folder: s3.folder }), isError("BAD_OBJECT_STORAGE"));
    await s3.close();
    const next = await serving(t, { folder: s3.folder });
    assert.equal((await next.send(get("x"))).body.toString(), "kept");
    assert.equal(statSync(next.folder).mode & 0o077, 0);
    assert.equal(statSync(join(next.folder, "index.db")).mode & 0o077, 0);
  });

  test("a temporary folder goes with it", async (t) => {
    const folders = inOwnTemporaryFolder(t);
    const served = await serveS3({ ...wanted, port: 0 });
    assert.equal(folders().length, 1);
    await served.close();
    assert.deepEqual(folders(), []);
    await assert.rejects(sendS3(served.endpoint, keys, get("x")), /ECONNREFUSED/);
  });
});

/** Other tests make temporary folders at the same time. */
function inOwnTemporaryFolder(t: TestContext): () => readonly string[] {
  const own = mkdtempSync(join(parent, "tmp-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = own;
  t.after(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  });
  return () => readdirSync(own);
}
