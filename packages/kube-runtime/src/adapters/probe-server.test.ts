import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createMetricsRegistry } from "../metrics/create-metrics-registry.ts";
import { serveProbes } from "./probe-server.ts";
import { showProcess } from "./process-metrics.ts";

function ask(port: number, path: string, method = "GET"): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, agent: false }, (answer) => {
      let body = "";
      answer.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      answer.on("end", () => resolve(`${answer.statusCode} ${body}`));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

describe("probe server", () => {
  it("serves health as it is at each request, with what is wrong", async () => {
    let health = { isAlive: true, isReady: false, problems: ["the cache of things is not complete yet"] };
    const server = await serveProbes({ address: "127.0.0.1:0", health: () => health });
    assert.equal(await ask(server.port, "/healthz"), "200 ok\n");
    assert.equal(await ask(server.port, "/readyz"), "500 the cache of things is not complete yet\n");
    health = { isAlive: false, isReady: true, problems: ["the pass over a/b hangs"] };
    assert.equal(await ask(server.port, "/healthz?verbose"), "500 the pass over a/b hangs\n");
    assert.equal(await ask(server.port, "/readyz"), "200 ok\n");
    await server.close();
  });

  it("serves metrics of the process, and nothing else", async () => {
    const metrics = createMetricsRegistry();
    const end = showProcess(metrics);
    const server = await serveProbes({ address: "127.0.0.1:0", metrics });
    const text = await ask(server.port, "/metrics");
    for (const name of ["process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds"])
      assert.match(text, new RegExp(`^${name} [0-9.]+$`, "m"));
    assert.equal(await ask(server.port, "/healthz"), "404 not found\n");
    assert.equal(await ask(server.port, "/__proto__"), "404 not found\n");
    assert.equal(await ask(server.port, "/metrics", "POST"), "405 only GET and HEAD\n");
    assert.equal(await ask(server.port, "/metrics", "HEAD"), "200 ");
    end();
    await server.close();
  });

  it("closes although a client keeps its connection", async () => {
    const server = await serveProbes({ address: "127.0.0.1:0" });
    const socket = connect(server.port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    await server.close();
    await closed;
  });

  it("says which address it cannot listen on", async () => {
    const isUnusable = (error: unknown): boolean => error instanceof KubeApiError && error.code === "ADDRESS_UNUSABLE";
    const server = await serveProbes({ address: "127.0.0.1:0" });
    for (const address of [`127.0.0.1:${server.port}`, "8081", "127.0.0.1:99999", "192.0.2.1:0", "::1:8081"])
      await assert.rejects(serveProbes({ address }), isUnusable, address);
    await server.close();
  });
});
