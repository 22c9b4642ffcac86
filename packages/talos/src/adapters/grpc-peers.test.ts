// What happens when something else than a healthy machine answers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { connect as connectTcp, createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";

import type { KeyPair } from "@talos-operator/ports";
import { createX509Keys } from "@talos-operator/adapters";

import { opensslKey } from "./pem.ts";
import { atEnd, dial, failure, serve, version } from "./testing/harness.ts";
import { createTestPki } from "./testing/pki.ts";

let certificate: KeyPair;
before(async () => {
  certificate = await (await createTestPki()).server();
});

const tlsOptions = (pair: KeyPair = certificate): { cert: string; key: string } => ({ cert: pair.certificate, key: opensslKey(pair.key) });

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined); // the client may reset at any time
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** A server that answers each call over HTTP/2 as `answer` does. */
async function listenHttp2(answer: (stream: ServerHttp2Stream) => void): Promise<number> {
  const server = createSecureServer(tlsOptions());
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined); // a client that gives up resets the stream
    answer(stream);
  });
  return listen(server);
}

function answerGrpc(frame: Buffer, headers: Record<string, string> = {}): (stream: ServerHttp2Stream) => void {
  return (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc", ...headers });
    stream.write(frame);
  };
}

test("a plain HTTP server is not TLS", async () => {
  const port = await listen(createTcpServer((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls: "not-tls" }, seen.message);
});

test("a server that greets with text is not TLS", async () => {
  const port = await listen(createTcpServer((socket) => void socket.write("SSH-2.0-OpenSSH_9.6\r\n")));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls: "not-tls" }, seen.message);
});

test("a server that closes at once is unavailable and says nothing about identity", async () => {
  const port = await listen(createTcpServer((socket) => socket.destroy()));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, tls: seen.tls, peer: seen.peer }, { code: 14, tls: undefined, peer: undefined }, seen.message);
});

test("a server that closes after the handshake is unavailable and says nothing about identity", async () => {
  const port = await listen(createTlsServer({ ...tlsOptions(), ALPNProtocols: ["h2"] }, (socket) => socket.destroy()));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, tls: seen.tls, peer: seen.peer }, { code: 14, tls: undefined, peer: undefined }, seen.message);
});

test("IN60: a server that offers only TLS 1.1 is not trusted", async () => {
  const keys = createX509Keys();
  const notBefore = Date.now() - 3_600_000;
  const authority = await keys.createAuthority({ kind: "p256", notBefore });
  const old = await keys.signCertificate(authority, { usage: "server", commonName: "old", notBefore, lifetimeMs: 86_400_000 });
  const port = await listen(
    createTlsServer({ ...tlsOptions(old), minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" }),
  );
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls: "untrusted-server" }, seen.message);
});

test("a web server behind TLS is not gRPC", async () => {
  const port = await listen(createHttpsServer(tlsOptions(), (_request, response) => response.end("hello")));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, tls: seen.tls, peer: seen.peer }, { code: 14, tls: undefined, peer: "not-grpc" }, seen.message);
});

test("a TLS server that greets with text is not gRPC", async () => {
  const port = await listen(createTlsServer(tlsOptions(), (socket) => void socket.write("220 mail ready\r\n")));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, peer: seen.peer }, { code: 14, peer: "not-grpc" }, seen.message);
});

test("an HTTP/2 server without gRPC is not gRPC", async () => {
  const port = await listenHttp2((stream) => {
    stream.respond({ ":status": 404, "content-type": "text/html" });
    stream.end("<h1>404</h1>");
  });
  const seen = await failure(version(dial(port)));
  assert.equal(seen.peer, "not-grpc", seen.message);
});

test("IN65: an answer of text read as a length is not gRPC, and nothing of that size is allocated", async () => {
  const port = await listenHttp2(answerGrpc(Buffer.from("\x00404 page not found")));
  const before = process.memoryUsage().arrayBuffers;
  const seen = await failure(version(dial(port)));
  assert.equal(seen.peer, "not-grpc", seen.message);
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
});

test("IN66: a message of 33 MiB is refused by its announced size", async () => {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(33 * 1024 * 1024, 1);
  const port = await listenHttp2(answerGrpc(header));
  const seen = await failure(version(dial(port)));
  assert.deepEqual({ code: seen.code, peer: seen.peer }, { code: 8, peer: undefined }, seen.message);
});

test("IN67: a compressed message that grows beyond 32 MiB is refused", async () => {
  const body = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const header = Buffer.alloc(5);
  header[0] = 1;
  header.writeUInt32BE(body.length, 1);
  const port = await listenHttp2(answerGrpc(Buffer.concat([header, body]), { "grpc-encoding": "gzip" }));
  const seen = await failure(version(dial(port)));
  assert.equal(seen.code, 8, seen.message);
});

test("IN69: a server that accepts and never answers runs into the deadline", async () => {
  const port = await listen(createTcpServer());
  const seen = await failure(version(dial(port), { timeoutMs: 100 }));
  assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 4, tls: undefined });
});

/** A server that talks HTTP/2 as `talk` does, whatever is asked. */
async function listenSessions(talk: (session: ServerHttp2Session) => void, onConnection: () => void = () => undefined): Promise<number> {
  const server = createSecureServer(tlsOptions());
  server.on("session", (session) => {
    session.on("error", () => undefined);
    onConnection();
    talk(session);
  });
  server.on("stream", (stream) => stream.on("error", () => undefined));
  return listen(server);
}

test("IN70: a server that says goodbye to every connection ends a call, and is not dialled in a storm", async () => {
  let connections = 0;
  const port = await listenSessions(
    (session) => session.goaway(11),
    () => (connections += 1),
  );
  const seen = await failure(version(dial(port), { timeoutMs: 700 }));
  assert.ok(seen.code === 14 || seen.code === 4 || seen.code === 8, `${seen.code} ${seen.message}`);
  assert.ok(connections <= 4, `${connections} connections`);
});

test("IN70: a server that resets every call ends it at once", async () => {
  const port = await listenHttp2((stream) => stream.close(0x7));
  const seen = await failure(version(dial(port), { timeoutMs: 2_000 }));
  assert.ok(seen.code === 14 || seen.code === 13 || seen.code === 4, `${seen.code} ${seen.message}`);
});

test("IN70: ten thousand pings and settings cost no memory, and end the call", async () => {
  const port = await listenSessions((session) => {
    for (let index = 0; index < 10_000 && !session.destroyed; index += 1) {
      if (index % 10 === 0) session.settings({ initialWindowSize: 65_535 + index });
      else session.ping(() => undefined);
    }
  });
  const before = process.memoryUsage();
  const seen = await failure(version(dial(port), { timeoutMs: 500 }));
  assert.ok([4, 13, 14].includes(seen.code), `${seen.code} ${seen.message}`);
  assert.ok(process.memoryUsage().arrayBuffers - before.arrayBuffers < 16 * 1024 * 1024);
});

test("IN70: a header of a mebibyte is refused", async () => {
  const port = await listenHttp2((stream) => {
    const headers = Object.fromEntries(Array.from({ length: 128 }, (_, index) => [`x-${index}`, "a".repeat(8_192)]));
    stream.respond({ ":status": 200, "content-type": "application/grpc", ...headers });
    stream.end();
  });
  const seen = await failure(version(dial(port), { timeoutMs: 2_000 }));
  assert.ok([2, 4, 8, 13, 14].includes(seen.code), `${seen.code} ${seen.message}`);
});

test("a machine whose connection went silent is reached over a new one", async () => {
  const server = await serve({ certificate });
  let connections = 0;
  const port = await listen(
    createTcpServer((socket) => {
      connections += 1;
      // The first connection is a cable that was pulled: accepted and never answered.
      if (connections === 1) return;
      const onward = connectTcp(server.port, "127.0.0.1");
      onward.on("error", () => socket.destroy());
      socket.on("close", () => onward.destroy());
      socket.pipe(onward).pipe(socket);
    }),
  );
  const channel = dial(port);
  assert.equal((await failure(version(channel, { timeoutMs: 100 }))).code, 4);
  assert.equal(await version(channel), "v1.13.9");
  assert.equal(connections, 2);
});

test("a channel that is closed while its machine is away does not connect to it when it comes back", async () => {
  let connections = 0;
  const server = createTcpServer();
  server.on("connection", (socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listen(server);
  server.close();
  await once(server, "close");
  const channel = dial(port);
  assert.equal((await failure(version(channel))).code, 14);
  // grpc-js is to try again by itself once its pause is over.
  assert.equal((await failure(version(channel))).code, 14);
  channel.close();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  // Its first pause is 100 ms, give or take a fifth.
  await delay(400);
  assert.equal(connections, 0);
});
