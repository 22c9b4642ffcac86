import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@talos-operator/adapters/testing";
import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { createCredentials } from "./credentials.ts";
import type { HttpExchange } from "./exchange.ts";
import { defaultHttp2Timing, type Http2Timing } from "./http2-connection.ts";
import type { HttpsTransportConfig } from "./https-config.ts";
import { createHttpsTransport } from "./https-transport.ts";
import { createNegotiatedExchange } from "./negotiated-exchange.ts";
import { startTestGate } from "./testing/test-gate.ts";
import { answerJson, createTestAuthority, startTestServer, type TestAuthority, type TestServer } from "./testing/test-server.ts";

const get = { method: "GET", path: "/api/v1/namespaces/ns/things/a" } as const;
const post = { method: "POST", path: "/api/v1/namespaces/ns/things", body: { kind: "Thing" } } as const;
const watch = { method: "GET", path: "/api/v1/things", query: { watch: "true" } } as const;
const event = '{"type":"ADDED","object":{}}\n';

type Listener = Parameters<typeof startTestServer>[1];
const isWatch = (request: IncomingMessage): boolean => request.url?.includes("watch=true") === true;
const streamOf = (request: IncomingMessage): ServerHttp2Stream => (request as unknown as Http2ServerRequest).stream;

const failsWith = (code: string) => (error: unknown) => {
  assert.ok(error instanceof Error && error.name === "KubeTransportFailure", String(error));
  assert.equal((error as Error & { code: string }).code, code, error.message);
  return true;
};

describe("one connection by HTTP/2", { timeout: 120_000 }, () => {
  let authority: TestAuthority;
  let folder: string;
  const cleanUps: (() => void | Promise<void>)[] = [];
  before(async () => {
    authority = await createTestAuthority();
    folder = mkdtempSync(join(tmpdir(), "kube-runtime-h2-"));
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    for (const one of cleanUps.splice(0).toReversed()) await one();
  });

  async function serve(listener: Listener, options: Parameters<typeof startTestServer>[2] = {}): Promise<TestServer> {
    const server = await startTestServer(authority, listener, options);
    cleanUps.push(() => server.close());
    return server;
  }
  function transportTo(server: { readonly port: number }, config: Partial<HttpsTransportConfig> = {}): KubeTransport {
    const transport = createHttpsTransport({ server: `https://127.0.0.1:${server.port}`, ca: authority.ca, ...config });
    cleanUps.push(() => transport.close());
    return transport;
  }
  /** As the transport uses it, with short times. */
  function exchangeTo(port: number, timing: Partial<Http2Timing>) {
    const target = { host: "127.0.0.1", port, authority: `127.0.0.1:${port}` };
    const exchange: HttpExchange = createNegotiatedExchange(target, { ...defaultHttp2Timing, ...timing });
    cleanUps.push(() => exchange.close());
    return async (path: string, signal = new AbortController().signal) => {
      const { tls } = await createCredentials({ server: "", ca: authority.ca }).current();
      return exchange.open({ method: "GET", path, headers: {}, body: undefined, signal }, tls);
    };
  }
  async function readAll(events: AsyncIterable<KubeWatchEvent>): Promise<number> {
    let count = 0;
    for await (const one of events) count += one.type === "ADDED" ? 1 : 0;
    return count;
  }

  it("carries 50 watches and 500 requests, 32 at once, on one connection", async () => {
    const server = await serve((request, response) => {
      if (!isWatch(request)) return answerJson(response, 200, {});
      response.write(event);
    });
    const transport = transportTo(server);
    const stop = new AbortController();
    const watches = await Promise.all(Array.from({ length: 50 }, () => transport.watch(watch, { signal: stop.signal })));
    const reading = watches.map(({ events }) => readAll(events).catch(() => "stopped"));
    await Promise.all(Array.from({ length: 500 }, () => transport.send(get)));
    assert.equal(server.connections, 1);
    stop.abort();
    await Promise.all(reading);
    await transport.send(get);
    assert.equal(server.connections, 1);
  });

  it("opens another connection where a server takes no more streams, so that watches keep no request waiting", async () => {
    const server = await serve((request, response) => void (isWatch(request) ? response.write(event) : answerJson(response, 200, {})), {
      http2: { settings: { maxConcurrentStreams: 5 } },
    });
    const transport = transportTo(server);
    await transport.send(get);
    for (let count = 0; count < 12; count += 1) await transport.watch(watch);
    for (let count = 0; count < 20; count += 1) assert.equal((await transport.send(get)).status, 200);
    assert.equal(server.connections, 3);
  });

  it("keeps what nobody reads in small windows and out of the way of others", async () => {
    let written = 0;
    const line = `{"type":"ADDED","object":{"text":"${"x".repeat(16_000)}"}}\n`;
    const server = await serve((request, response) => {
      if (!isWatch(request)) return answerJson(response, 200, { text: "y".repeat(2_000_000) });
      const more = (): void => {
        while (response.write(line)) written += line.length;
        written += line.length;
        response.once("drain", more);
      };
      more();
    });
    const transport = transportTo(server);
    const watches = await Promise.all(Array.from({ length: 40 }, () => transport.watch(watch)));
    for (let round = 0; round < 3; round += 1) {
      const { body } = await transport.send(get, { timeoutMs: 10_000 });
      assert.equal((body as { text: string }).text.length, 2_000_000);
    }
    assert.ok(written < 40 * 600_000, `${written} bytes are held for 40 watches`);
    assert.equal(server.connections, 1);
    // Each goes on where it was once it is read.
    let read = 0;
    for await (const one of watches[7]?.events ?? []) {
      assert.equal(one.type, "ADDED");
      read += 1;
      if (read === 200) break;
    }
    assert.equal(read, 200);
  });

  it("ends only the stream of a call that is given up", async () => {
    const resets: number[] = [];
    const server = await serve((request, response) => {
      if (request.url?.endsWith("/slow") === true) return void streamOf(request).on("close", () => resets.push(streamOf(request).rstCode));
      if (isWatch(request)) response.write(event);
      else answerJson(response, 200, {});
    });
    const transport = transportTo(server);
    const { events } = await transport.watch(watch);
    const iterator = events[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).done, false);
    const abort = new AbortController();
    const call = assert.rejects(transport.send({ ...get, path: "/slow" }, { signal: abort.signal }), failsWith("ABORT_ERR"));
    await until("the slow call arrived", () => server.requests.some(({ url }) => url === "/slow"));
    abort.abort();
    await call;
    await until("the server heard of it", () => resets.length === 1);
    assert.deepEqual(resets, [constants.NGHTTP2_CANCEL]);
    assert.equal((await transport.send(get)).status, 200);
    assert.equal(server.connections, 1);
    await iterator.return?.();
  });

  it("lets streams go on after a GOAWAY and opens the next on a new connection", async () => {
    const writers: ((text: string) => void)[] = [];
    const server = await serve((request, response) => {
      if (isWatch(request)) {
        response.write(event);
        writers.push((text) => void (text === "" ? response.end() : response.write(text)));
      } else if (request.url?.endsWith("/goaway") === true) {
        streamOf(request).session?.goaway(constants.NGHTTP2_NO_ERROR);
        answerJson(response, 200, {});
      } else answerJson(response, 200, {});
    });
    const transport = transportTo(server);
    const { events } = await transport.watch(watch);
    const reading = readAll(events);
    await transport.send({ ...get, path: "/goaway" });
    for (let count = 0; count < 10; count += 1) assert.equal((await transport.send(post)).status, 200);
    assert.equal(server.connections, 2);
    writers[0]?.(event);
    writers[0]?.("");
    assert.equal(await reading, 2);
    assert.equal(server.requests.filter(({ method }) => method === "POST").length, 10);
  });

  for (const [name, refuse] of [
    ["refuses", (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
    ["leaves out in its GOAWAY", (stream: ServerHttp2Stream) => stream.session?.goaway(constants.NGHTTP2_NO_ERROR, (stream.id ?? 0) - 2)],
  ] as const) {
    it(`repeats once, also a write, what the server ${name}: it was not processed`, async () => {
      let refusals = 1;
      const server = await serve((request, response) => {
        if (request.method === "POST" && refusals > 0) {
          refusals -= 1;
          refuse(streamOf(request));
        } else answerJson(response, 200, {});
      });
      const transport = transportTo(server);
      await transport.send(get);
      assert.equal((await transport.send(post)).status, 200);
      assert.equal(server.requests.filter(({ method }) => method === "POST").length, 2);
    });
  }

  it("repeats no second time what the server refuses again", async () => {
    const server = await serve((request) => streamOf(request).close(constants.NGHTTP2_REFUSED_STREAM));
    await assert.rejects(transportTo(server).send(get), { name: "KubeTransportFailure" });
    assert.equal(server.requests.length, 2);
  });

  it("repeats neither a write nor a second time what broke with its connection", async () => {
    let isBreaking = false;
    const server = await serve((request, response) => {
      if (isBreaking) streamOf(request).session?.destroy();
      else answerJson(response, 200, {});
    });
    const transport = transportTo(server);
    await transport.send(get);
    isBreaking = true;
    await assert.rejects(transport.send(post), failsWith("ECONNRESET"));
    assert.equal(server.requests.length, 2);
    isBreaking = false;
    await transport.send(get);
    isBreaking = true;
    await assert.rejects(transport.send(get), failsWith("ECONNRESET"));
    assert.equal(server.requests.length, 5);
  });

  for (const [name, cut] of [
    ["the connection is reset", (request: IncomingMessage, server: TestServer) => (void request, server.reset())],
    ["the session ends", (request: IncomingMessage) => streamOf(request).session?.destroy()],
    ["the stream is cancelled", (request: IncomingMessage) => streamOf(request).close(constants.NGHTTP2_CANCEL)],
    ["the stream is reset without an error", (request: IncomingMessage) => streamOf(request).close(constants.NGHTTP2_NO_ERROR)],
    ["the stream is reset with an error", (request: IncomingMessage) => streamOf(request).close(constants.NGHTTP2_INTERNAL_ERROR)],
  ] as const) {
    it(`takes half an answer for none when ${name}`, async () => {
      const server = await serve((request, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"half":1}');
        setTimeout(() => cut(request, server), 20);
      });
      await assert.rejects(transportTo(server).send(get), { name: "KubeTransportFailure" });
      assert.equal(server.requests.length, 1, "an answer that began is not asked for again");
    });
  }

  it("reads an answer that was whole before anybody read it", async () => {
    const server = await serve((_, response) => answerJson(response, 200, { text: "x".repeat(1_000) }));
    const answer = await exchangeTo(server.port, {})("/");
    await sleep(50);
    let length = 0;
    for await (const chunk of answer) length += chunk.length;
    assert.equal(length, 1_011);
  });

  it("reads the refusal of a body that the server does not read, and is free of it", async () => {
    const server = await serve((request, response) => {
      if (request.method === "GET") return answerJson(response, 200, {});
      answerJson(response, 413, { reason: "RequestEntityTooLarge" });
    });
    const transport = transportTo(server);
    for (let count = 0; count < 120; count += 1) {
      const { status } = await transport.send({ ...post, body: { text: "x".repeat(1_000_000) } });
      assert.equal(status, 413);
    }
    await transport.send(get);
    assert.equal(server.connections, 1, "a stream that is still counted would take another's place");
  });

  it("keeps a silent connection by pings", async () => {
    let pings = 0;
    const server = await serve((request, response) => {
      streamOf(request).session?.on("ping", () => (pings += 1));
      response.write(event);
    });
    await exchangeTo(server.port, { silenceMs: 20, checkMs: 10 })("/?watch=true");
    await until("it is asked whether it lives, again and again", () => pings >= 3);
    assert.equal(server.connections, 1);
  });

  it("notices a peer that is gone, and tells all who wait", async () => {
    const server = await serve((request, response) => void (isWatch(request) ? response.write(event) : answerJson(response, 200, {})));
    const gate = await startTestGate(server.port);
    cleanUps.push(() => gate.close());
    const open = exchangeTo(gate.port, { silenceMs: 100, pongMs: 100, checkMs: 20 });
    const watches = await Promise.all([1, 2, 3].map(() => open("/?watch=true")));
    gate.freeze();
    const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) assert.ok(chunk.length > 0);
    };
    await Promise.all(watches.map((answer) => assert.rejects(read(answer), { code: "ETIMEDOUT", message: /ping/ })));
    assert.equal((await open("/")).status, 200);
    assert.equal(gate.connections, 2);
  });

  it("leaves a connection on which a call waited in vain to its streams", async () => {
    const server = await serve((_, response) => answerJson(response, 200, {}));
    const gate = await startTestGate(server.port);
    cleanUps.push(() => gate.close());
    const transport = transportTo(gate);
    await transport.send(get);
    gate.freeze();
    await assert.rejects(transport.send(get, { timeoutMs: 50 }), failsWith("TIMEOUT"));
    assert.equal((await transport.send(get)).status, 200);
    assert.equal(gate.connections, 2);
  });

  it("gives a connection up that nobody waits for any more", async () => {
    let connections = 0;
    let ended = 0;
    const silent = createServer((socket) => {
      connections += 1;
      socket.on("error", () => undefined).resume();
      socket.on("close", () => (ended += 1));
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const transport = transportTo(silent.address() as AddressInfo);
    await assert.rejects(
      Promise.all([transport.send(get, { timeoutMs: 60 }), transport.send(get, { timeoutMs: 80 })]),
      failsWith("TIMEOUT"),
    );
    await until("the connection ended", () => ended === 1);
    await assert.rejects(transport.send(get, { timeoutMs: 50 }), failsWith("TIMEOUT"));
    await until("another one ended", () => ended === 2);
    assert.equal(connections, 2);
    transport.close();
    await new Promise((resolve) => silent.close(resolve));
  });

  it("finds a server again that is killed and started twenty times", async () => {
    const listener: Listener = (request, response) => void (isWatch(request) ? response.write(event) : answerJson(response, 200, {}));
    let server = await startTestServer(authority, listener);
    const { port } = server;
    const transport = transportTo(server);
    for (let round = 0; round < 20; round += 1) {
      const { events } = await transport.watch(watch);
      const reading = readAll(events);
      const calls = Promise.allSettled(Array.from({ length: 20 }, () => transport.send(get)));
      await server.close();
      await assert.rejects(reading, { name: "KubeTransportFailure" });
      for (const call of await calls) assert.ok(call.status === "fulfilled" || (call.reason as Error).name === "KubeTransportFailure");
      await assert.rejects(transport.send(get), failsWith("ECONNREFUSED"));
      server = await startTestServer(authority, listener, { port });
      assert.equal((await transport.send(post)).status, 200);
      assert.equal(server.connections, 1);
    }
    transport.close();
    await server.close();
  });

  it("opens a new connection for a renewed certificate and lets the old one end with its streams", async () => {
    const [certificateFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    const writePair = async (name: string): Promise<void> => {
      const { certificate, key } = await authority.client(name);
      writeFileSync(certificateFile, certificate);
      writeFileSync(keyFile, key);
    };
    let endWatch = (): void => undefined;
    const closed: string[] = [];
    const server = await serve((request, response) => {
      const session = streamOf(request).session;
      if (!isWatch(request)) return answerJson(response, 200, {});
      session?.on("close", () => closed.push("session"));
      response.write(event);
      endWatch = () => void response.end(event);
    });
    await writePair("one");
    const transport = transportTo(server, { certificateFile, keyFile, reloadIntervalMs: 0 });
    const reading = readAll((await transport.watch(watch)).events);
    await transport.send(get);
    await writePair("two");
    await transport.send(get);
    await transport.send(get);
    assert.deepEqual(
      server.requests.map(({ peer }) => peer),
      ["one", "one", "two", "two"],
    );
    assert.equal(server.connections, 2);
    assert.deepEqual(closed, []);
    endWatch();
    assert.equal(await reading, 2);
    await until("the old connection ended", () => closed.length === 1);
  });

  it("asks a server again that knew HTTP/1.1 only, once its connections are gone", async () => {
    const listener: Listener = (_, response) => answerJson(response, 200, {});
    const old = await startTestServer(authority, listener, { speaks: "http/1.1" });
    const transport = transportTo(old);
    for (let count = 0; count < 5; count += 1) await transport.send(get);
    assert.equal(old.connections, 1);
    await old.close();
    await sleep(20); // until our side of its connections is closed, too
    const renewed = await serve(listener, { port: old.port });
    await transport.send(get);
    await transport.send(get);
    assert.deepEqual([renewed.connections, renewed.requests.map(({ httpVersion }) => httpVersion)], [1, ["2.0", "2.0"]]);
  });

  it("closes a connection that nobody uses", async () => {
    let ended = 0;
    const server = await serve((request, response) => {
      streamOf(request).session?.once("close", () => (ended += 1));
      answerJson(response, 200, {});
    });
    const open = exchangeTo(server.port, { idleMs: 100, checkMs: 10 });
    (await open("/")).discard();
    await until("the idle connection ended", () => ended > 0);
    (await open("/")).discard();
    assert.equal(server.connections, 2);
  });

  it("keeps no process alive with a connection that nobody uses, but with an open watch", async () => {
    let closedByIdleness = false;
    const server = await serve((request, response) => {
      streamOf(request).session?.on("goaway", () => (closedByIdleness = true));
      if (isWatch(request)) response.write(event);
      else answerJson(response, 200, {});
    });
    const code = `
      const { createHttpsTransport } = await import(${JSON.stringify(join(import.meta.dirname, "https-transport.ts"))});
      const transport = createHttpsTransport({ server: ${JSON.stringify(server.url)}, ca: ${JSON.stringify(authority.ca)} });
      await transport.send({ method: "GET", path: "/" });
      if (process.argv[1] === "watch") {
        const { events } = await transport.watch({ method: "GET", path: "/", query: { watch: "true" } });
        try { for await (const one of events) console.log(one.type); } catch { console.log("broken"); }
      }`;
    const run = (...args: string[]) =>
      spawn(process.execPath, ["--input-type=module", "-e", code, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    const [exitCode] = (await once(run(), "exit")) as [number];
    assert.equal(exitCode, 0);
    assert.equal(closedByIdleness, false, "it did not wait until the connection was idle for long enough to be closed");
    const watching = run("watch");
    await once(watching.stdout, "data");
    await sleep(300);
    assert.equal(watching.exitCode, null);
    server.reset();
    await once(watching, "exit");
  });
});
