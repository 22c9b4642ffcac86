import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { after, before, describe, it } from "node:test";
import { startTestServer, testToken, type TestServer } from "../testing/test-server.ts";

const path = "/api/v1/namespaces/default/configmaps";
const megabyte = 1024 * 1024;

describe("bodies of those who may not ask", () => {
  let server: TestServer;
  const writer = { name: "writer", groups: ["system:masters"] };
  before(async () => {
    const tokens = new Map([
      [testToken, { name: "nobody-yet", groups: ["testers"] }],
      ["writer", writer],
    ]);
    server = await startTestServer({}, { tokens, limits: { maxConnections: 40, headersTimeoutMs: 20_000, handshakeTimeoutMs: 20_000 } });
  });
  after(() => server.close());

  async function open(): Promise<TLSSocket> {
    const socket = connect({ host: "127.0.0.1", port: server.https.port, ca: server.authority.certificate, servername: "localhost" });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    return socket;
  }
  const head = (headers: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, "host: localhost", "content-type: application/yaml", ...headers, "", ""].join("\r\n");
  /** What the server says first. */
  const firstWord = async (socket: TLSSocket): Promise<string> => String(((await once(socket, "data")) as [Buffer])[0]);
  const readToEnd = async (socket: TLSSocket): Promise<string> => {
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    return text;
  };
  /** An ordinary client goes on working. */
  const someoneElseWorks = async (): Promise<void> => {
    const made = await server.transport.send({ method: "POST", path, body: { metadata: { generateName: "c-" }, data: { a: "1" } } });
    assert.equal(made.status, 201);
  };

  for (const [name, headers, status] of [
    ["without a credential", [], 403],
    ["with a token that nobody gave out", ["authorization: Bearer wrong"], 401],
    ["with a token that may not do this", [`authorization: Bearer ${testToken}`], 403],
  ] as const) {
    for (const length of [`content-length: ${3 * megabyte}`, "transfer-encoding: chunked"]) {
      it(`HTTP/1.1 answers ${status} ${name} before a byte of the body, and closes (${length})`, async () => {
        const socket = await open();
        socket.write(head([...headers, length]));
        const answer = await readToEnd(socket);
        assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer.slice(0, 100));
        assert.match(answer, /\r\nconnection: close\r\n/i);
        await someoneElseWorks();
      });
    }

    it(`HTTP/2 answers ${status} ${name} while the body is under way, and wants no more of it`, async () => {
      const session = connectHttp2(server.https.url, { ca: server.authority.certificate });
      const authorization = headers[0]?.replace("authorization: ", "");
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/yaml",
        ...(authorization === undefined ? {} : { authorization }),
      });
      stream.on("error", () => undefined);
      stream.write("a".repeat(1000));
      const [answer] = (await once(stream, "response")) as [Record<string, unknown>];
      assert.equal(answer[":status"], status);
      stream.resume();
      await once(stream, "close");
      assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR);
      session.destroy();
      await someoneElseWorks();
    });
  }

  it("asks nobody to go on who may not ask", async () => {
    const socket = await open();
    socket.write(head(["expect: 100-continue", "content-length: 100"]));
    const answer = await readToEnd(socket);
    assert.ok(answer.startsWith("HTTP/1.1 403 "), answer.slice(0, 100));
  });

  it("asks others to go on, over both protocols", async () => {
    const body = JSON.stringify({ metadata: { generateName: "c-" } });
    const socket = await open();
    const length = `content-length: ${body.length}`;
    socket.write(head(["authorization: Bearer writer", "expect: 100-continue", length, "connection: close"]));
    assert.ok((await firstWord(socket)).startsWith("HTTP/1.1 100 "));
    socket.write(body);
    assert.ok((await readToEnd(socket)).startsWith("HTTP/1.1 201 "));

    const session = connectHttp2(server.https.url, { ca: server.authority.certificate });
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      authorization: "Bearer writer",
      "content-type": "application/json",
      expect: "100-continue",
    });
    await once(stream, "continue");
    stream.end(body);
    const [answer] = (await once(stream, "response")) as [Record<string, unknown>];
    assert.equal(answer[":status"], 201);
    stream.resume();
    session.destroy();
  });

  it("keeps a connection whose short body nobody wanted", async () => {
    const socket = await open();
    socket.write(`${head(["content-length: 2"])}{}`);
    assert.ok((await firstWord(socket)).startsWith("HTTP/1.1 403 "));
    socket.write("GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert.ok((await readToEnd(socket)).startsWith("HTTP/1.1 200 "));
  });

  it("refuses more than 1 MiB of YAML that is no JSON, without parsing it", async () => {
    const socket = await open();
    const body = `data:\n${"  a: b\n".repeat(200_000)}`;
    socket.write(head(["authorization: Bearer writer", `content-length: ${body.length}`, "connection: close"]) + body);
    assert.ok((await readToEnd(socket)).startsWith("HTTP/1.1 413 "));
  });

  it("reads no body of a GET", async () => {
    const socket = await open();
    socket.write(`GET /version HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${100 * megabyte}\r\n\r\n{`);
    assert.ok((await readToEnd(socket)).startsWith("HTTP/1.1 200 "));
  });

  it("refuses a user whose half-sent bodies fill its share with 429 and Retry-After, while others send theirs", async () => {
    const half = `{"data":{"a":"${"x".repeat(2.9 * megabyte)}`;
    const sockets = await Promise.all(Array.from({ length: 6 }, open));
    const answers = sockets.map(firstWord);
    for (const socket of sockets) socket.write(head(["authorization: Bearer writer", `content-length: ${3 * megabyte}`]) + half);
    const answer = await Promise.race(answers);
    assert.ok(answer.startsWith("HTTP/1.1 429 "), answer.slice(0, 100));
    assert.match(answer, /\r\nretry-after: 1\r\n/i);
    await someoneElseWorks();
    for (const socket of sockets) socket.destroy();
  });

  it("lets somebody in beside connections that say nothing, and half a thing, and cuts none that is known", async () => {
    const early = await open();
    const get = "GET /version HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer writer\r\n\r\n";
    early.write(get);
    assert.ok((await firstWord(early)).startsWith("HTTP/1.1 200 "));
    const silent: Socket[] = [];
    for (let index = 0; index < 100; index += 1) {
      const socket = connectTcp({ host: "127.0.0.1", port: server.https.port });
      socket.on("error", () => undefined);
      silent.push(socket);
      if (index % 10 === 0) silent.push(await open().then((slow) => (slow.write("GET / HTTP/1.1\r\nhost: "), slow)));
    }
    await someoneElseWorks();
    const late = await open();
    late.write(get);
    assert.ok((await firstWord(late)).startsWith("HTTP/1.1 200 "));
    early.write(get);
    assert.ok((await firstWord(early)).startsWith("HTTP/1.1 200 "));
    for (const socket of [early, late, ...silent]) socket.destroy();
  });
});
