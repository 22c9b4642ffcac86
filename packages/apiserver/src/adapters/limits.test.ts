import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";
import { after, before, describe, it } from "node:test";
import { createX509Keys, systemClock } from "@talos-operator/adapters";
import { createHttpsTransport } from "@talos-operator/kube-runtime/https";
import type { KeyPair, KubeTransport } from "@talos-operator/ports";
import { startTestServer } from "../testing/test-server.ts";
import type { TestServer } from "../testing/test-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

/** A TLS connection to write anything on. */
async function open(server: TestServer, credentials: Partial<KeyPair> = {}): Promise<TLSSocket> {
  const socket = connect({
    host: "127.0.0.1",
    port: server.https.port,
    ca: server.authority.certificate,
    servername: "localhost",
    ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate, key: credentials.key ?? "" }),
  });
  await once(socket, "secureConnect");
  return socket;
}

/** Everything that the server says until it ends the connection. */
async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  if (!socket.destroyed) await once(socket, "close");
  return text;
}

function get(path: string, headers: readonly string[] = []): string {
  return [`GET ${path} HTTP/1.1`, "host: localhost", "connection: close", ...headers, "", ""].join("\r\n");
}

const statusOf = (answer: string): number => Number(answer.slice(9, 12));

describe("what one client may take of the front end", () => {
  let server: TestServer;
  /** It waits for nobody: for tests of that alone. */
  let impatient: TestServer;
  const tokens = new Map([
    ["good", { name: "jane", groups: ["system:masters"] }],
    ["expired", { name: "jane", groups: ["system:masters"], expiresAt: systemClock.now() - 1 }],
    ["elsewhere", { name: "jane", groups: ["system:masters"], audiences: ["https://other.example.com"] }],
    ["both", { name: "jane", groups: ["system:masters"], audiences: ["https://other.example.com", "https://kubernetes.default.svc"] }],
  ]);
  before(async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 600, handshakeTimeoutMs: 300 };
    [server, impatient] = await Promise.all([startTestServer({}, { tokens }), startTestServer({}, { limits })]);
  });
  after(() => Promise.all([server.close(), impatient.close()]));

  const ask = async (text: string, credentials: Partial<KeyPair> = server.admin): Promise<string> => {
    const socket = await open(server, credentials);
    socket.write(text);
    return readToEnd(socket);
  };

  it("answers 408 to headers that never end, and closes", async () => {
    const socket = await open(impatient);
    socket.write("GET /version HTTP/1.1\r\nhost: localhost\r\nx-slow: ");
    assert.equal(statusOf(await readToEnd(socket)), 408);
  });

  it("answers 408 to a body that never ends, and closes", async () => {
    const socket = await open(impatient, impatient.admin);
    socket.write(`POST ${configMaps} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`);
    assert.equal(statusOf(await readToEnd(socket)), 408);
  });

  it("closes a connection that never shakes hands", async () => {
    const { connect: connectPlain } = await import("node:net");
    const socket = connectPlain({ host: "127.0.0.1", port: impatient.https.port });
    socket.on("error", () => undefined);
    await once(socket, "close");
    assert.equal(socket.bytesRead, 0);
  });

  it("serves others while a slow client is waited for", async () => {
    const slow = await open(server);
    slow.write("GET /version HTTP/1.1\r\n");
    assert.equal(statusOf(await ask(get("/version"))), 200);
    slow.destroy();
  });

  it("answers 431 to a URL of 1 MB", async () => {
    assert.equal(statusOf(await ask(get(`${configMaps}?labelSelector=${"a".repeat(1024 * 1024)}`))), 431);
  });

  it("takes a selector of 32 KB", async () => {
    const selector = encodeURIComponent(`name in (${Array.from({ length: 500 }, (_, index) => `name-of-an-object-${index}`).join(",")})`);
    assert.equal(statusOf(await ask(get(`${configMaps}?labelSelector=${selector}`))), 200);
  });

  for (const [name, path] of [
    ["dots", `${configMaps}/..`],
    ["dots of another namespace", "/api/v1/namespaces/../../secrets"],
    ["encoded dots", `${configMaps}/%2e%2e`],
    ["an encoded slash", `${configMaps}/a%2fb`],
    ["an encoded slash in capitals", `${configMaps}/..%2F..%2Fsecrets`],
    ["dots and a slash, encoded twice", `${configMaps}/%252e%252e%252fsecrets`],
    ["a NUL", `${configMaps}/a%00b`],
    ["half an escape", `${configMaps}/a%2`],
    ["bytes that are no UTF-8", `${configMaps}/%ff%fe`],
  ] as const) {
    it(`answers 400 or 404 to a name with ${name}`, async () => {
      const status = statusOf(await ask(get(path)));
      assert.ok(status === 400 || status === 404, String(status));
    });
  }

  it("answers 413 to a body of 100 MB and holds none of it", async () => {
    const before = process.memoryUsage().rss;
    const answer = await new Promise<number>((resolve, reject) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: server.https.port,
          ca: server.authority.certificate,
          cert: server.admin.certificate,
          key: server.admin.key,
          method: "POST",
          path: configMaps,
          headers: { "content-type": "application/json", "content-length": 100 * 1024 * 1024 },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.on("error", reject);
      const chunk = Buffer.alloc(1024 * 1024, 0x20);
      let left = 100;
      const write = (): void => {
        while (left > 0 && !sent.destroyed) {
          left -= 1;
          if (!sent.write(chunk)) {
            sent.once("drain", write);
            return;
          }
        }
        sent.end();
      };
      write();
    });
    assert.equal(answer, 413);
    assert.ok(process.memoryUsage().rss - before < 80 * 1024 * 1024, "the body was kept");
  });

  for (const name of ["authorization", "content-type", "host", "impersonate-user"]) {
    it(`answers 400 to two ${name} headers`, async () => {
      assert.equal(statusOf(await ask(get(configMaps, name === "host" ? ["host: other"] : [`${name}: a`, `${name}: b`]))), 400);
    });
  }

  it("answers 400 to two lengths of one body", async () => {
    const text = `POST ${configMaps} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 30\r\n\r\n{}`;
    assert.equal(statusOf(await ask(text)), 400);
  });

  it("answers 400 to a body with both a length and chunks", async () => {
    const text = `POST ${configMaps} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`;
    assert.equal(statusOf(await ask(text)), 400);
  });

  it("lets nobody without credentials in", async () => {
    assert.equal(statusOf(await ask(get(configMaps), {})), 403);
  });

  for (const [name, header, status] of [
    ["a good token", "authorization: Bearer good", 200],
    ["a token for this server and another", "authorization: Bearer both", 200],
    ["an unknown token", "authorization: Bearer nobody", 401],
    ["an expired token", "authorization: Bearer expired", 401],
    ["a token for another audience", "authorization: Bearer elsewhere", 401],
    ["an empty token", "authorization: Bearer ", 401],
    ["another scheme", "authorization: Basic amFuZTpqYW5l", 401],
  ] as const) {
    it(`answers ${status} to ${name}`, async () => {
      assert.equal(statusOf(await ask(get(configMaps, [header]), {})), status);
    });
  }

  const certificateOf = (notBefore: number, lifetimeMs: number): Promise<KeyPair> =>
    createX509Keys().signCertificate(server.authority, {
      usage: "client",
      notBefore,
      lifetimeMs,
      commonName: "jane",
      organizations: ["system:masters"],
    });

  it("answers 401 to a certificate that has expired", async () => {
    assert.equal(statusOf(await ask(get(configMaps), await certificateOf(systemClock.now() - 7_200_000, 3_600_000))), 401);
  });

  it("answers 401 to a certificate of tomorrow", async () => {
    assert.equal(statusOf(await ask(get(configMaps), await certificateOf(systemClock.now() + 86_400_000, 3_600_000))), 401);
  });

  it("answers 401 to a server's certificate that is shown as a client's", async () => {
    const keys = createX509Keys();
    const pair = await keys.signCertificate(server.authority, {
      usage: "server",
      notBefore: systemClock.now() - 60_000,
      lifetimeMs: 3_600_000,
      ipAddresses: ["127.0.0.1"],
      dnsNames: ["localhost"],
    });
    assert.equal(statusOf(await ask(get(configMaps), pair)), 401);
  });
});

describe("many watches", () => {
  const maxWatches = 2000;

  async function openWatches(transport: KubeTransport, count: number, signal: AbortSignal): Promise<readonly number[]> {
    const opened = Array.from({ length: count }, async () => {
      const { status, events } = await transport.watch({ method: "GET", path: configMaps, query: { watch: "true" } }, { signal });
      void (async () => {
        for await (const _event of events) {
          // Nothing happens there; the watch only stays open.
        }
      })().catch(() => undefined);
      return status;
    });
    return Promise.all(opened);
  }

  it("takes 2,000 and answers 429 with Retry-After to the next, until one ends", async () => {
    const server = await startTestServer();
    const transport = server.api.transport({ name: "many", groups: ["system:masters"] });
    const [first, rest] = [new AbortController(), new AbortController()];
    await openWatches(transport, 1, first.signal);
    assert.ok((await openWatches(transport, maxWatches - 1, rest.signal)).every((status) => status === 200));
    const refused = await server.transport.watch({ method: "GET", path: configMaps, query: { watch: "true" } });
    assert.equal(refused.status, 429);
    assert.equal(refused.headers["retry-after"], "1");
    assert.equal((refused.body as { reason: string }).reason, "TooManyRequests");
    // Everything else is served.
    assert.equal((await server.transport.send({ method: "GET", path: configMaps })).status, 200);
    first.abort();
    const again = new AbortController();
    assert.deepEqual(await openWatches(server.transport, 1, again.signal), [200]);
    again.abort();
    rest.abort();
    await server.close();
  });

  it("counts watches over TLS, and forgets those whose clients are gone", async () => {
    const server = await startTestServer({ maxWatches: 20 });
    const { https, authority, admin } = server;
    const gone = createHttpsTransport({ server: https.url, ca: authority.certificate, certificate: admin.certificate, key: admin.key });
    const controller = new AbortController();
    assert.ok((await openWatches(gone, 20, controller.signal)).every((status) => status === 200));
    assert.deepEqual(await openWatches(server.transport, 1, controller.signal), [429]);
    gone.close();
    controller.abort();
    let status = 429;
    while (status === 429) [status = 0] = await openWatches(server.transport, 1, new AbortController().signal);
    assert.equal(status, 200);
    await server.close();
  });
});
