import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemRandom, systemTimers } from "@talos-operator/adapters";
import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { createKubeClient } from "../client/kube-client.ts";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { statusObject } from "../testing/index.ts";
import { createInformer } from "../watch/create-informer.ts";
import type { HttpsTransportConfig } from "./https-config.ts";
import { createHttpsTransport } from "./https-transport.ts";
import {
  answerJson,
  breakConnection,
  createTestAuthority,
  startTestServer,
  type TestAuthority,
  type TestProtocol,
  type TestServer,
} from "./testing/test-server.ts";

const get = { method: "GET", path: "/api/v1/namespaces/ns/things/a" } as const;
const watch = { method: "GET", path: "/api/v1/things", query: { watch: "true", resourceVersion: "1" } } as const;
const type: ResourceType = { group: "", version: "v1", plural: "things", kind: "Thing", namespaced: true };

for (const speaks of ["h2", "http/1.1"] satisfies TestProtocol[])
  describe(`HTTPS transport and a server with ${speaks}`, () => {
    let authority: TestAuthority;
    let folder: string;
    const cleanUps: (() => void | Promise<void>)[] = [];
    before(async () => {
      authority = await createTestAuthority();
      folder = mkdtempSync(join(tmpdir(), "kube-runtime-"));
    });
    after(() => rmSync(folder, { recursive: true }));

    async function serve(
      listener: Parameters<typeof startTestServer>[1],
      config: Partial<HttpsTransportConfig> = {},
    ): Promise<{ server: TestServer; transport: KubeTransport }> {
      const server = await startTestServer(authority, listener, { speaks });
      const transport = createHttpsTransport({ server: server.url, ca: authority.ca, ...config });
      cleanUps.push(async () => {
        transport.close();
        await server.close();
      });
      return { server, transport };
    }
    async function cleanUp(): Promise<void> {
      for (const one of cleanUps.splice(0)) await one();
    }
    const isFailure = (code?: string) => (error: unknown) =>
      error instanceof Error &&
      error.name === "KubeTransportFailure" &&
      (code === undefined || (error as Error & { code: string }).code === code);

    it("uses one connection for 300 requests", async () => {
      const { server, transport } = await serve((_, response) => answerJson(response, 200, { ok: true }));
      for (let index = 0; index < 300; index += 1) assert.deepEqual((await transport.send(get)).body, { ok: true });
      assert.equal(server.connections, 1);
      assert.equal(server.requests.length, 300);
      assert.equal(server.requests[299]?.httpVersion, speaks === "h2" ? "2.0" : "1.1");
      await cleanUp();
    });

    it("opens no more connections than requests may be in flight", async () => {
      const { server, transport } = await serve((_, response) => void setImmediate(() => answerJson(response, 200, {})), {
        maxConcurrentRequests: 4,
      });
      await Promise.all(Array.from({ length: 100 }, () => transport.send(get)));
      assert.ok(server.connections <= 4, `${server.connections} connections`);
      await cleanUp();
    });

    it("sends method, path, query, headers and body as given", async () => {
      let body = "";
      const { server, transport } = await serve((request, response) => {
        request.on("data", (chunk: Buffer) => (body += chunk.toString()));
        request.on("end", () => answerJson(response, 201, {}));
      });
      const response = await transport.send({
        method: "PATCH",
        path: "/api/v1/things/ä".replace("ä", "%C3%A4"),
        query: { labelSelector: "a=b,c in (d)" },
        headers: { "content-type": "application/merge-patch+json" },
        body: { text: "ü" },
      });
      assert.equal(response.status, 201);
      assert.equal(server.requests[0]?.url, "/api/v1/things/%C3%A4?labelSelector=a%3Db%2Cc+in+%28d%29");
      assert.equal(server.requests[0]?.headers["content-type"], "application/merge-patch+json");
      assert.equal(body, '{"text":"ü"}');
      await cleanUp();
    });

    it("shows a client certificate and does not talk to a server that another CA signed", async () => {
      const client = await authority.client("admin", ["system:masters"]);
      const { server } = await serve((_, response) => answerJson(response, 200, {}));
      const known = createHttpsTransport({ server: server.url, ca: authority.ca, certificate: client.certificate, key: client.key });
      await known.send(get);
      assert.equal(server.requests[0]?.peer, "admin");
      const stranger = await createTestAuthority();
      const foreign = createHttpsTransport({ server: server.url, ca: stranger.ca, token: "secret" });
      await assert.rejects(foreign.send(get), isFailure());
      assert.equal(server.requests.length, 1, "nothing may be sent to a foreign server");
      known.close();
      foreign.close();
      await cleanUp();
    });

    it("sends the token of a file, and reads the file again after 401", async () => {
      const tokenFile = join(folder, "token");
      writeFileSync(tokenFile, "old\n");
      const { server, transport } = await serve(
        (request, response) =>
          answerJson(response, request.headers.authorization === "Bearer new" ? 200 : 401, statusObject(401, "Unauthorized", "no")),
        { tokenFile },
      );
      assert.equal((await transport.send(get)).status, 401);
      writeFileSync(tokenFile, "new\n");
      assert.equal((await transport.send(get)).status, 200);
      assert.deepEqual(
        server.requests.map((request) => request.headers.authorization),
        ["Bearer old", "Bearer old", "Bearer old", "Bearer new"],
      );
      await cleanUp();
    });

    it("takes up a replaced CA and a replaced token without waiting for a refusal", async () => {
      const [caFile, tokenFile] = [join(folder, "ca.crt"), join(folder, "token2")];
      writeFileSync(caFile, (await createTestAuthority()).ca);
      writeFileSync(tokenFile, "one");
      const { server, transport } = await serve((_, response) => answerJson(response, 200, {}), { caFile, tokenFile, reloadIntervalMs: 0 });
      await assert.rejects(transport.send(get), isFailure());
      writeFileSync(caFile, authority.ca);
      await transport.send(get);
      writeFileSync(tokenFile, "two!");
      await transport.send(get);
      writeFileSync(tokenFile, "");
      await transport.send(get);
      assert.deepEqual(
        server.requests.map((request) => request.headers.authorization),
        ["Bearer one", "Bearer two!", "Bearer two!"],
      );
      await cleanUp();
    });

    it("says that credentials are missing when the token file never was there", async () => {
      const { server, transport } = await serve((_, response) => answerJson(response, 200, {}), { tokenFile: join(folder, "absent") });
      await assert.rejects(transport.send(get), (error) => error instanceof KubeApiError && error.code === "CREDENTIALS_UNAVAILABLE");
      assert.equal(server.requests.length, 0);
      await cleanUp();
    });

    it("fails when the connection breaks before or in the middle of the answer", async () => {
      const { transport } = await serve((request, response) => {
        if (request.url?.endsWith("/a") === true) {
          breakConnection(request);
          return;
        }
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"half":');
        setImmediate(() => breakConnection(request));
      });
      await assert.rejects(transport.send({ ...get, method: "DELETE" }), isFailure("ECONNRESET"));
      await assert.rejects(transport.send({ ...get, path: "/half" }), isFailure());
      await cleanUp();
    });

    it("gives text for an answer that is not JSON, and headers for the client to obey", async () => {
      const { transport } = await serve((request, response) => {
        if (request.url === "/busy") return answerJson(response, 429, statusObject(429, "TooManyRequests", "busy"), { "Retry-After": "5" });
        response.writeHead(502, { "content-type": "text/html" });
        response.end("<html>bad gateway</html>");
      });
      const html = await transport.send({ ...get, path: "/html" });
      assert.deepEqual([html.status, html.body, html.headers["content-type"]], [502, "<html>bad gateway</html>", "text/html"]);
      assert.equal((await transport.send({ ...get, path: "/busy" })).headers["retry-after"], "5");
      await assert.rejects(
        createKubeClient(transport).resource(type).list(),
        (error) => error instanceof KubeApiError && error.code === "UNAVAILABLE",
      );
      await cleanUp();
    });

    it("repeats a GET that met a connection the server was just closing, and nothing else", async () => {
      const { server, transport } = await serve((request, response, count) => {
        // The second request on a connection finds it closed, as with a server whose idle time is over.
        if (count % 2 === 0) breakConnection(request);
        else answerJson(response, 200, { count });
      });
      assert.deepEqual((await transport.send(get)).body, { count: 1 });
      assert.deepEqual((await transport.send(get)).body, { count: 3 });
      await assert.rejects(transport.send({ ...get, method: "DELETE" }), isFailure("ECONNRESET"));
      assert.equal(server.requests.length, 4);
      await cleanUp();
    });

    it("gives up after the time that was set, and when the caller does", async () => {
      const { transport } = await serve(() => undefined);
      await assert.rejects(transport.send(get, { timeoutMs: 20 }), isFailure("TIMEOUT"));
      await assert.rejects(transport.watch(watch, { timeoutMs: 20 }), isFailure("TIMEOUT"));
      const abort = new AbortController();
      const call = assert.rejects(transport.send(get, { signal: abort.signal }), isFailure());
      abort.abort();
      await call;
      await cleanUp();
    });

    it("fails at once when nobody listens, and after it was closed", async () => {
      const probe = createServer();
      const port = await new Promise<number>((resolve) =>
        probe.listen(0, "127.0.0.1", () => resolve((probe.address() as { port: number }).port)),
      );
      await new Promise((resolve) => probe.close(resolve));
      const transport = createHttpsTransport({ server: `https://127.0.0.1:${port}`, ca: authority.ca });
      await assert.rejects(transport.send(get), isFailure("ECONNREFUSED"));
      transport.close();
      await assert.rejects(transport.send(get), isFailure("CLOSED"));
    });

    it("refuses a server that is no URL", () => {
      assert.throws(
        () => createHttpsTransport({ server: "somewhere" }),
        (error) => error instanceof KubeApiError && error.code === "KUBECONFIG_INVALID",
      );
    });

    async function readAll(events: AsyncIterable<KubeWatchEvent>): Promise<string[]> {
      const seen: string[] = [];
      for await (const event of events) seen.push(`${event.type} ${(event.object as { text?: string }).text ?? ""}`);
      return seen;
    }

    it("splits a watch into events wherever the chunks were cut, also inside a character", async () => {
      const lines = Buffer.from(
        [
          { type: "ADDED", object: { text: "größer €" } },
          { type: "DELETED", object: { text: "𝒳" } },
        ]
          .map((event) => `${JSON.stringify(event)}\n`)
          .join(""),
      );
      const { transport } = await serve((_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        void (async () => {
          for (const byte of lines) {
            response.write(Buffer.from([byte]));
            await nextTurn();
          }
          response.end("\n");
        })();
      });
      const { events } = await transport.watch(watch);
      assert.deepEqual(await readAll(events), ["ADDED größer €", "DELETED 𝒳"]);
      await cleanUp();
    });

    for (const [name, end, code] of [
      ["ends in the middle of an event", '{"type":"ADDED","obj', "INCOMPLETE"],
      ["brings something that is not JSON", "<html>\n", "NOT_JSON"],
      ["brings something that is no event", '{"type":"SURPRISE","object":{}}\n', "NOT_AN_EVENT"],
    ] as const) {
      it(`fails when a watch ${name}`, async () => {
        const { transport } = await serve((_, response) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(`{"type":"ADDED","object":{}}\n${end}`);
        });
        const { events } = await transport.watch(watch);
        await assert.rejects(readAll(events), isFailure(code));
        await cleanUp();
      });
    }

    it("gives the Status of a refused watch and no events", async () => {
      const { transport } = await serve((_, response) => answerJson(response, 410, statusObject(410, "Expired", "old")));
      const response = await transport.watch(watch);
      assert.equal(response.status, 410);
      assert.equal((response.body as { reason: string }).reason, "Expired");
      assert.deepEqual(await readAll(response.events), []);
      await cleanUp();
    });

    it("closes the connection of a watch that the reader leaves", async () => {
      const closed = Promise.withResolvers<void>();
      const { transport } = await serve((request, response) => {
        response.on("close", () => closed.resolve());
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"type":"ADDED","object":{}}\n');
      });
      const { events } = await transport.watch(watch);
      for await (const event of events) {
        assert.equal(event.type, "ADDED");
        break;
      }
      await closed.promise;
      await cleanUp();
    });

    it("carries an informer over broken connections and a restarted server on the same port, telling each object once", async () => {
      const objects: KubeObject[] = [];
      const put = (name: string): void =>
        void objects.push({ metadata: { namespace: "ns", name, uid: name, resourceVersion: String(objects.length + 1) } });
      const listener: Parameters<typeof startTestServer>[1] = (request, response) => {
        const url = new URL(request.url ?? "", "https://x");
        if (url.searchParams.has("sendInitialEvents")) return answerJson(response, 422, statusObject(422, "Invalid", "not offered"));
        if (url.searchParams.get("watch") !== "true")
          return answerJson(response, 200, { kind: "ThingList", metadata: { resourceVersion: String(objects.length) }, items: objects });
        response.writeHead(200, { "content-type": "application/json" });
        response.write(
          objects
            .slice(Number(url.searchParams.get("resourceVersion")))
            .map((object) => `${JSON.stringify({ type: "ADDED", object })}\n`)
            .join("") || "\n",
        );
      };
      put("a");
      let server = await startTestServer(authority, listener, { speaks });
      const transport = createHttpsTransport({ server: server.url, ca: authority.ca });
      const informer = createInformer({ client: createKubeClient(transport), type, timers: systemTimers, random: systemRandom });
      const told: string[] = [];
      informer.subscribe((delta) => told.push(`${delta.type} ${delta.object.metadata?.name ?? ""}`));
      const abort = new AbortController();
      const running = informer.run(abort.signal);
      await informer.waitForSync();
      put("b");
      server.reset();
      await informer.waitForResourceVersion("2");
      await server.close();
      put("c");
      server = await startTestServer(authority, listener, { speaks, port: server.port });
      await informer.waitForResourceVersion("3");
      assert.deepEqual(told, ["added a", "added b", "added c"]);
      abort.abort();
      await running;
      transport.close();
      await server.close();
    });
  });
