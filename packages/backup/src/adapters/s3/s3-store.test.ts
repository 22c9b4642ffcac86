// What a store may answer that a genuine one does not answer on demand.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { ObjectStore, ObjectStoreFailureKind } from "@talos-operator/ports";
import { isStoreFailure } from "../../store/failure.ts";
import type { S3Place, StoreKeys } from "../../task/place.ts";
import { createPageGuard } from "./page-guard.ts";
import { createS3Store } from "./s3-store.ts";

const keys: StoreKeys = { accessKeyID: "test-access-key", secretAccessKey: "test-secret-key" };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that gives one answer after the other, the last one for ever. */
async function answering(...answers: readonly Answer[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.authorization?.split("/")[0]?.split("=")[1]}`);
    request.resume().once("end", () => answers[Math.min(asked.length, answers.length) - 1]?.(request, response));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const place: S3Place = {
    kind: "s3",
    bucket: "backups",
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prefix: "x",
    allowPlainText: true,
  };
  return {
    place,
    asked,
    end: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const error =
  (status: number, code: string, more = "", headers: Readonly<Record<string, string>> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/xml", ...headers });
    response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>test-secret-key</Message>${more}</Error>`);
  };
const xml =
  (text: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "application/xml", etag: '"e"' });
    response.end(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
  };

async function failing(act: (store: ObjectStore) => Promise<unknown>, ...answers: readonly Answer[]) {
  const server = await answering(...answers);
  const store = createS3Store(server.place, async () => keys);
  try {
    await act(store);
    return { kind: undefined, asked: server.asked, message: "" };
  } catch (thrown) {
    assert.ok(isStoreFailure(thrown), String(thrown));
    assert.doesNotMatch(`${thrown.message} ${String(thrown.cause)}`, /test-secret-key|test-access-key|Signature/);
    return { kind: thrown.kind, asked: server.asked, message: thrown.message };
  } finally {
    store.close();
    server.end();
  }
}

const put = (store: ObjectStore): Promise<unknown> => store.put("a/b", Uint8Array.of(1), { ifAbsent: true });

for (const [status, code, kind] of [
  [403, "AccessDenied", "denied"],
  [403, "RequestTimeTooSkewed", "clock"],
  [404, "NoSuchBucket", "missing"],
  [409, "ConditionalRequestConflict", "conflict"],
  [412, "PreconditionFailed", "exists"],
  [501, "NotImplemented", "unsupported"],
  [400, "ExpiredToken", "expired"],
  [400, "BadDigest", "damaged"],
  [507, "QuotaExceeded", "full"],
  [418, "SomethingNew", "failing"],
] as const satisfies readonly (readonly [number, string, ObjectStoreFailureKind])[])
  test(`${code === "RequestTimeTooSkewed" || code === "BadDigest" ? "IN89: " : ""}${status} ${code} is told as ${kind}, without a word of the store's own`, async () => {
    assert.equal((await failing(put, error(status, code))).kind, kind);
  });

test("without keys, where the process has none either, that is said, and nobody is asked", async () => {
  const own = { AWS_EC2_METADATA_DISABLED: "true", AWS_SHARED_CREDENTIALS_FILE: "/nowhere", AWS_CONFIG_FILE: "/nowhere" };
  const before = Object.keys(own).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, own);
  const server = await answering(xml(""));
  const store = createS3Store(server.place, async () => undefined);
  try {
    await assert.rejects(put(store), (thrown) => isStoreFailure(thrown, "denied") && /no keys are given/.test(thrown.message));
    assert.deepEqual(server.asked, []);
  } finally {
    store.close();
    server.end();
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  }
});

for (const [what, answer, says] of [
  [
    "another region that the store names",
    error(400, "AuthorizationHeaderMalformed", "<Region>eu-central-1</Region>"),
    /: it is of region eu-central-1: correct region \(AuthorizationHeaderMalformed\)\.$/,
  ],
  [
    "another region that a header names",
    error(301, "PermanentRedirect", "", { "x-amz-bucket-region": "eu-west-1" }),
    /: it is of region eu-west-1: correct region \(PermanentRedirect\)\.$/,
  ],
  [
    "another region that is no name of one",
    error(400, "AuthorizationHeaderMalformed", "<Region>Give me your &lt;keys&gt;</Region>"),
    /: it is of another region: correct region \(AuthorizationHeaderMalformed\)\.$/,
  ],
  [
    "http to a port of https, as Go answers it",
    ((_request, response) => response.writeHead(400).end("Client sent an HTTP request to an HTTPS server.\n")) as Answer,
    /: it does not answer in plain http: write https:\/\/, or correct the port \(status 400\)\.$/,
  ],
  [
    "a bucket in the endpoint",
    error(404, "NoSuchKey"),
    /: this is the address of an object and of no bucket: leave the bucket out of the endpoint\.$/,
  ],
] as const)
  test(`${what}: it is told as that`, async () => {
    const { message } = await failing((store) => store.list("a/")[Symbol.asyncIterator]().next(), answer);
    assert.match(message, says);
  });

test("the path of an endpoint is named", async () => {
  const server = await answering(error(404, "NoSuchBucket"));
  const store = createS3Store({ ...server.place, endpoint: `${server.place.endpoint}/gateway/` }, async () => keys);
  assert.equal(store.place, `s3://backups at ${server.place.endpoint}/gateway`);
  store.close();
  server.end();
});

/** What a TLS server that is told to refuse sends: an alert, and the end. */
const alert = (code: number): Buffer => Buffer.from([0x15, 3, 3, 0, 2, 2, code]);
const NO_TLS = "it does not speak TLS: write http:// (which needs --allow-insecure-object-storage), or give it a certificate (EPROTO).";
for (const [what, scheme, sent, kind, says] of [
  ["https to what speaks http", "https", Buffer.from("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), "handshake", NO_TLS],
  [
    "https to what takes no version of ours",
    "https",
    alert(70),
    "handshake",
    "it refuses our versions or ciphers of TLS: let it take TLS 1.2 or 1.3 (EPROTO).",
  ],
  [
    "https to what wants a certificate",
    "https",
    alert(116),
    "handshake",
    "it wants a certificate from its clients, and a backup has none: let it take keys alone (EPROTO).",
  ],
  [
    "https to what knows no such host",
    "https",
    alert(112),
    "handshake",
    "it has no certificate for this host: correct the endpoint (EPROTO).",
  ],
  [
    "http to what speaks TLS",
    "http",
    alert(70),
    "handshake",
    "it does not answer in plain http: write https://, or correct the port (HPE_INVALID_CONSTANT).",
  ],
] as const)
  test(`${what}: not a word of authorities`, async () => {
    const server = createTcpServer((socket) => void socket.on("error", () => undefined).once("data", () => socket.end(sent))).listen(
      0,
      "127.0.0.1",
    );
    await new Promise((resolve) => server.once("listening", resolve));
    const endpoint = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const place: S3Place = { kind: "s3", bucket: "backups", region: "us-east-1", endpoint, prefix: "x", allowPlainText: true };
    const store = createS3Store(place, async () => keys);
    try {
      await assert.rejects(put(store), (thrown) => {
        assert.ok(isStoreFailure(thrown));
        assert.deepEqual([thrown.kind, thrown.message], [kind, `s3://backups at ${endpoint}: ${says}`]);
        return true;
      });
    } finally {
      store.close();
      server.close();
    }
  });

test("a redirect is not followed", async () => {
  const { kind, asked } = await failing(put, (_request, response) => response.writeHead(307, { location: "http://192.0.2.1/" }).end());
  assert.deepEqual([kind, asked.length], ["redirected", 1]);
});

test("IN89: an error inside an answer of status 200 is no complete upload", async () => {
  const begun = xml("<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>");
  const act = async (store: ObjectStore): Promise<void> => {
    const upload = await store.createUpload("a/b");
    await upload.part(1, Uint8Array.of(1));
    await upload.complete();
  };
  const { kind } = await failing(act, begun, xml(""), xml("<Error><Code>InternalError</Code><Message>x</Message></Error>"));
  assert.equal(kind, "failing");
});

test("a store that keeps an object under another key is refused, and nothing stays there", async () => {
  const begun = (key: string): Answer =>
    xml(`<InitiateMultipartUploadResult><Key>${key}</Key><UploadId>one</UploadId></InitiateMultipartUploadResult>`);
  const ended = (key: string): Answer =>
    xml(`<CompleteMultipartUploadResult><Key>${key}</Key><ETag>e</ETag></CompleteMultipartUploadResult>`);
  const methods: string[] = [];
  const noted =
    (answer: Answer): Answer =>
    (request, response) => {
      methods.push(request.method ?? "");
      answer(request, response);
    };
  const act = async (store: ObjectStore): Promise<void> => {
    const upload = await store.createUpload("a/b");
    await upload.part(1, Uint8Array.of(1));
    await upload.complete();
  };
  const early = await failing(act, noted(begun("backups/a/b")), noted(xml("")));
  assert.equal(early.kind, "invalid");
  assert.match(early.message, /it keeps an object under another key than it was given: leave the bucket out of the endpoint\.$/);
  assert.deepEqual(methods.splice(0), ["POST", "DELETE"]);
  const late = await failing(act, ...[begun("a/b"), xml(""), ended("backups/a/b"), xml("")].map(noted));
  assert.equal(late.kind, "invalid");
  assert.deepEqual(methods, ["POST", "PUT", "POST", "DELETE"]);
});

test("keys that have expired are read anew once, and the request is sent again with them", async () => {
  const server = await answering(error(400, "ExpiredToken"), xml(""));
  let reads = 0;
  const store = createS3Store(server.place, async () => ({ ...keys, accessKeyID: `key-${(reads += 1)}` }));
  await store.put("a/b", Uint8Array.of(1));
  assert.deepEqual(server.asked, ["PUT key-1", "PUT key-2"]);
  store.close();
  server.end();
});

test("IN89: a store that asks to be asked less often is asked again, and then told", async () => {
  const { kind, asked } = await failing(put, error(503, "SlowDown"));
  assert.equal(kind, "slow-down");
  assert.ok(asked.length > 1 && asked.length <= 4, String(asked.length));
});

for (const [what, status, act] of [
  ["a list", 200, (store: ObjectStore) => store.list("a/")[Symbol.asyncIterator]().next()],
  ["an error", 400, put],
] as const)
  test(`${what} that is answered without end is ended, and not kept`, async () => {
    let sent = 0;
    const endless: Answer = (request, response) => {
      request.resume();
      response.writeHead(status, { "content-type": "application/xml" });
      const chunk = Buffer.alloc(2 ** 16, "x");
      const pump = (): void => {
        // More would be a fault: the test ends with it.
        do sent += chunk.length;
        while (sent < 2 ** 28 && response.write(chunk));
        if (sent >= 2 ** 28) response.end();
      };
      response.on("drain", pump);
      pump();
    };
    assert.equal((await failing(act, endless)).kind, "failing");
    assert.ok(sent < 2 ** 26, `${sent} bytes`);
  });

const OBJECTS = { root: "ListBucketResult", item: "<Contents><Key>a/b</Key></Contents>", next: ["NextContinuationToken"] };
const UPLOADS = {
  root: "ListMultipartUploadsResult",
  item: "<Upload><Key>a/b</Key><UploadId>x</UploadId></Upload>",
  next: ["NextKeyMarker", "NextUploadIdMarker"],
};
for (const [what, { root, item, next }, list] of [
  ["objects", OBJECTS, (store: ObjectStore): AsyncIterable<unknown> => store.list("a/")],
  ["uploads", UPLOADS, (store: ObjectStore): AsyncIterable<unknown> => store.listUploads("a/")],
] as const)
  for (const [how, markOf, items, pages] of [
    ["its next page is the same again", () => "one", item, 2],
    ["its pages go round", (page: number) => `${page % 3}`, item, 4],
    ["there is a next page for ever, and nothing in any", (page: number) => `${page}`, "", 101],
  ] as const)
    test(`a list of ${what} that never ends, because ${how}, is told`, async () => {
      let page = 0;
      const answer: Answer = (request, response) => {
        const mark = markOf((page += 1));
        const marks = next.map((name) => `<${name}>${mark}</${name}>`).join("");
        xml(`<${root}><IsTruncated>true</IsTruncated>${marks}${items}</${root}>`)(request, response);
      };
      const all = async (store: ObjectStore): Promise<void> => {
        for await (const _ of list(store)) assert.ok(page < 200, "it goes on");
      };
      const { kind, asked } = await failing(all, answer);
      assert.deepEqual([kind, asked.length], ["failing", pages]);
    });

test("a list without end of objects that are new each time is told", () => {
  const pages = createPageGuard("s3://backups");
  assert.throws(
    () => {
      for (let page = 0; page < 20_000; page += 1) pages.follow(`${page}`, false);
    },
    (thrown) => isStoreFailure(thrown, "failing") && /more than 10000 pages/.test(thrown.message),
  );
});

test("an object that ends before its last byte is cut off", async () => {
  const short: Answer = (_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("only so much");
    setImmediate(() => response.destroy());
  };
  const act = async (store: ObjectStore): Promise<void> => {
    const found = await store.get("a/b");
    assert.ok(found);
    for await (const piece of found.body) assert.ok(piece.length > 0);
  };
  assert.equal((await failing(act, short)).kind, "cut-off");
});

for (const [what, wrong] of [
  ["an endpoint that is no URL", { endpoint: "minio:9000" }],
  ["an endpoint with a password", { endpoint: "https://a:b@host" }],
  ["plain text where nobody allowed it", { allowPlainText: false }],
  ["a bucket of dots", { bucket: ".." }],
  ["a bucket with a path", { bucket: "a/b" }],
] as const)
  test(`${what} is refused before anybody is asked`, () => {
    const place: S3Place = {
      kind: "s3",
      bucket: "backups",
      region: "us-east-1",
      endpoint: "http://127.0.0.1:1",
      prefix: "x",
      allowPlainText: true,
    };
    assert.throws(
      () => createS3Store({ ...place, ...wrong }, async () => keys),
      (thrown) => isStoreFailure(thrown, "invalid"),
    );
  });
