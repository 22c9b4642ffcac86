import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from "node:http2";
import { request as http1 } from "node:https";
import { type AddressInfo, connect as connectPlain, createServer as createNetServer } from "node:net";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { until } from "@talos-operator/adapters/testing";
import { createHttpsTransport } from "@talos-operator/kube-runtime/https";
import type { KeyPair } from "@talos-operator/ports";
import { startTestServer, testToken } from "../testing/test-server.ts";
import type { TestServer } from "../testing/test-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** RFC 9113, 4.1. */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from([0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream]), payload]);
}

interface Answer {
  /** Undefined when the stream was reset before an answer. */
  readonly status: number | undefined;
  readonly text: string;
  readonly resetCode: number;
}

describe("the HTTPS front end in HTTP/2", { timeout: 60_000 }, () => {
  let server: TestServer;
  /** It waits for nobody: for tests of that alone. */
  let impatient: TestServer;
  const sessions: ClientHttp2Session[] = [];
  before(async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 600, handshakeTimeoutMs: 300 };
    [server, impatient] = await Promise.all([startTestServer(), startTestServer({}, { limits })]);
  });
  after(() => Promise.all([server.close(), impatient.close()]));
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
  });

  function open(to: TestServer = server, asAdmin = true): ClientHttp2Session {
    const session = connect(to.https.url, {
      ca: to.authority.certificate,
      ...(asAdmin ? { cert: to.admin.certificate, key: to.admin.key } : {}),
      maxSessionMemory: 1_000,
    });
    session.on("error", () => undefined);
    sessions.push(session);
    return session;
  }

  /** A connection to write any frames on. */
  async function openRaw(credentials: Partial<KeyPair> = {}, to: TestServer = server): Promise<TLSSocket> {
    const socket = connectTls({
      host: "127.0.0.1",
      port: to.https.port,
      ca: to.authority.certificate,
      servername: "localhost",
      ALPNProtocols: ["h2"],
      ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate, key: credentials.key ?? "" }),
    });
    socket.on("error", () => undefined).resume();
    await once(socket, "secureConnect");
    return socket;
  }

  function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders | readonly string[], body?: string): Promise<Answer> {
    return new Promise((resolve) => {
      const stream = session.request(headers, { endStream: body === undefined });
      let status: number | undefined;
      let text = "";
      stream.on("response", (answer) => {
        status = answer[":status"];
      });
      stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
      stream.on("error", () => undefined);
      stream.on("close", () => resolve({ status, text, resetCode: stream.rstCode }));
      if (body !== undefined) stream.end(body);
    });
  }
  const post = (name: string): OutgoingHttpHeaders => ({
    ":method": "POST",
    ":path": `${configMaps}?fieldManager=${name}`,
    "content-type": "application/json",
  });
  const isThere = async (name: string): Promise<boolean> =>
    (await server.transport.send({ method: "GET", path: `${configMaps}/${name}` })).status === 200;

  it("is spoken with our own client and answers what HTTP/1.1 answers", async () => {
    const session = open();
    const second = await ask(session, { ":path": "/version" });
    const first = await new Promise<string>((resolve, reject) => {
      http1(`${server.https.url}/version`, { ca: server.authority.certificate }, (response) => {
        assert.equal(response.httpVersion, "1.1");
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
    assert.equal(second.status, 200);
    assert.equal(second.text, first);
    assert.equal(session.alpnProtocol, "h2");
    assert.deepEqual(await ask(session, { ":method": "HEAD", ":path": "/version" }), { status: 405, text: "", resetCode: 0 });
  });

  it("knows who asks from the connection's certificate or the request's token", async () => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const who = async (session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): Promise<unknown> => {
      const { text } = await ask(session, { ":method": "POST", ":path": path, "content-type": "application/json", ...headers }, body);
      const { status } = JSON.parse(text) as { status: { userInfo: { username: string; groups: readonly string[] } } };
      return [status.userInfo.username, status.userInfo.groups];
    };
    const admin = open();
    assert.deepEqual(await who(admin), ["admin", ["system:masters", "system:authenticated"]]);
    assert.deepEqual(await who(admin, { "impersonate-user": "jane", "impersonate-group": ["a", "b,c"] }), [
      "jane",
      ["a", "b,c", "system:authenticated"],
    ]);
    const other = open(server, false);
    assert.deepEqual(await who(other, { authorization: `Bearer ${testToken}` }), ["token-user", ["testers", "system:authenticated"]]);
    assert.equal((await ask(other, { ":path": "/api/v1/secrets" })).status, 403);
    assert.equal((await ask(other, { ":path": "/api/v1/secrets", authorization: "Bearer wrong" })).status, 401);
  });

  it("answers 400 to two of a header that decides", async () => {
    // Node's types do not know the option yet.
    const options = { ca: server.authority.certificate, strictSingleValueFields: false };
    const session = connect(server.https.url, options);
    sessions.push(session);
    const twice = [":method", "GET", ":path", "/version", "authorization", "Bearer a", "authorization", "Bearer b"];
    assert.equal((await ask(session, twice)).status, 400);
  });

  it("serves no URL of 1 MB, and goes on", async () => {
    const session = connect(server.https.url, { ca: server.authority.certificate, maxSendHeaderBlockLength: 4 * 1024 * 1024 });
    session.on("error", () => undefined);
    sessions.push(session);
    const { status } = await ask(session, { ":path": `/version?x=${"a".repeat(1024 * 1024)}` });
    assert.ok(status === undefined || status === 431, String(status));
    assert.equal((await ask(open(), { ":path": "/version" })).status, 200);
  });

  it("serves no header list beyond the limit", async () => {
    const session = open();
    const { status } = await ask(session, { ":path": `/version?x=${"a".repeat(60_000)}`, "x-more": "b".repeat(20_000) });
    assert.equal(status, undefined);
    assert.equal((await ask(open(), { ":path": `/version?x=${"a".repeat(32_000)}` })).status, 200);
  });

  it("answers 413 to a body of 100 MB, holds none of it, and keeps the connection", async () => {
    const session = open();
    const before = process.memoryUsage().rss;
    for (const length of [{ "content-length": 100 * 1024 * 1024 }, {}]) {
      const stream = session.request({ ...post("large"), ...length }, { endStream: false });
      stream.on("error", () => undefined);
      const chunk = Buffer.alloc(1024 * 1024, 0x20);
      let sent = 0;
      const write = (): void => {
        while (sent < 100 && !stream.destroyed) {
          sent += 1;
          if (!stream.write(chunk)) return void stream.once("drain", write);
        }
      };
      write();
      const [answer] = (await once(stream, "response")) as [{ ":status": number }];
      assert.equal(answer[":status"], 413);
      stream.resume();
      await once(stream, "close");
      assert.ok(sent < 20, `${sent} MB were taken`);
    }
    assert.equal((await ask(session, { ":path": configMaps })).status, 200);
    assert.ok(process.memoryUsage().rss - before < 80 * 1024 * 1024, "the body was kept");
  });

  it("answers 408 to a body that never ends", async () => {
    const session = open(impatient);
    const stream = session.request(post("slow"), { endStream: false });
    stream.on("error", () => undefined);
    stream.write("{");
    const [answer] = (await once(stream, "response")) as [{ ":status": number }];
    assert.equal(answer[":status"], 408);
    stream.resume();
    await once(stream, "close");
    assert.equal((await ask(session, { ":path": "/version" })).status, 200);
  });

  it("does nothing with a body that was cut off", async () => {
    for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL]) {
      const socket = await openRaw(server.admin);
      const field = (name: string, value: string): Buffer =>
        Buffer.from(`\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`);
      // 0x83 is :method POST, 0x87 is :scheme https; the others in words (RFC 7541, 6.2.2).
      const fields = [
        Buffer.from([0x83, 0x87]),
        field(":path", configMaps),
        field(":authority", "localhost"),
        field("content-type", "application/json"),
      ];
      socket.write(Buffer.concat([preface, frame(4, 0, 0), frame(1, 4, 1, Buffer.concat(fields))]));
      // The whole of it, but without the word that this was the whole.
      socket.write(frame(0, 0, 1, Buffer.from(JSON.stringify({ metadata: { name: "cut" } }))));
      await sleep(30);
      socket.write(frame(3, 0, 1, Buffer.from([0, 0, 0, code])));
      await sleep(30);
      assert.equal(await isThere("cut"), false);
      socket.destroy();
    }
  });

  it("closes a connection that brings no request, or headers that never end", async () => {
    // HEADERS of stream 1 without END_HEADERS: the rest never comes.
    const headers = frame(1, 1, 1, Buffer.from([0x82]));
    for (const bytes of [Buffer.alloc(0), preface, Buffer.concat([preface, frame(4, 0, 0), headers])]) {
      const socket = await openRaw({}, impatient);
      socket.write(bytes);
      await once(socket, "close");
    }
  });

  it("closes a connection that shakes hands too late, also when it goes on all the same", async () => {
    // Holds back what follows the first bytes of the handshake until its time is over.
    const gate = createNetServer((near) => {
      const far = connectPlain(impatient.https.port, "127.0.0.1");
      for (const side of [near, far]) side.on("error", () => undefined);
      near.once("data", (first: Buffer) => {
        far.write(first);
        near.pause();
        setTimeout(() => near.pipe(far), 500);
      });
      far.pipe(near);
      far.on("close", () => near.destroy());
    });
    await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
    const late = connectTls({
      host: "127.0.0.1",
      port: (gate.address() as AddressInfo).port,
      ca: impatient.authority.certificate,
      servername: "localhost",
      ALPNProtocols: ["h2"],
    });
    late.on("error", () => undefined).resume();
    late.write(Buffer.concat([preface, frame(4, 0, 0)]));
    await once(late, "close");
    gate.close();
    await until("others are served", async () => (await ask(open(impatient), { ":path": "/version" })).status === 200);
  });

  it("takes 100 streams of a connection at once", async () => {
    const session = open();
    const [settings] = (await once(session, "remoteSettings")) as [{ maxConcurrentStreams: number }];
    assert.equal(settings.maxConcurrentStreams, 100);
  });

  it("ends a connection that opens and resets streams without end (CVE-2023-44487), and serves others", async () => {
    let served = 0;
    const other = await startTestServer({ onRequest: () => (served += 1) });
    const session = open(other);
    await once(session, "remoteSettings");
    for (let count = 0; count < 3_000; count += 50) {
      for (let burst = 0; burst < 50; burst += 1) {
        const stream = session.request({ ":path": configMaps });
        stream.on("error", () => undefined);
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(served < 1_500, `${served} requests were served before the connection was ended`);
    assert.equal((await ask(open(other), { ":path": "/version" })).status, 200);
    session.destroy();
    await other.close();
  });

  it("lets a watch that nobody reads hold up no other stream", async () => {
    const session = open();
    const stream = session.request({ ":path": `${configMaps}?watch=true` });
    await once(stream, "response");
    stream.pause();
    const text = "x".repeat(500_000);
    for (let index = 0; index < 6; index += 1) {
      const body = JSON.stringify({ metadata: { name: `unread-${index}` }, data: { text } });
      assert.equal((await ask(session, post("unread"), body)).status, 201);
    }
    assert.equal((await ask(session, { ":path": configMaps })).status, 200);
  });

  it("says GOAWAY when it closes, finishes what is under way and ends watches whole", async () => {
    let asked = 0;
    const other = await startTestServer({ onRequest: () => (asked += 1) });
    const session = open(other);
    const stream = session.request({ ":path": `${configMaps}?watch=true` });
    await once(stream, "response");
    const ended = once(stream.resume(), "end");
    const goaway = once(session, "goaway");
    const underWay = ask(session, post("last"), JSON.stringify({ metadata: { name: "last" } }));
    await until("both are under way", () => asked === 2);
    const closing = other.close();
    await Promise.all([goaway, ended]);
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR);
    assert.equal((await underWay).status, 201);
    await closing;
  });

  it("cuts what a client does not release when it is closed", async () => {
    const other = await startTestServer();
    const socket = await openRaw({}, other);
    const cut = once(socket, "close");
    await other.close();
    await cut;
  });

  it("carries 300 watches of one transport on four connections and every request beside them", async () => {
    const other = await startTestServer();
    const { https, authority, admin } = other;
    const transport = createHttpsTransport({
      server: https.url,
      ca: authority.certificate,
      certificate: admin.certificate,
      key: admin.key,
    });
    const stop = new AbortController();
    const watches = await Promise.all(
      Array.from({ length: 300 }, () =>
        transport.watch({ method: "GET", path: configMaps, query: { watch: "true" } }, { signal: stop.signal }),
      ),
    );
    assert.ok(watches.every(({ status }) => status === 200));
    assert.equal((await transport.send({ method: "GET", path: configMaps })).status, 200);
    stop.abort();
    transport.close();
    await other.close();
  });
});
