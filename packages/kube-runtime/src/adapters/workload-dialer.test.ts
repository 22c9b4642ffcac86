import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkloadTarget } from "@talos-operator/ports";
import { answerJson, createTestAuthority, startTestServer } from "./testing/test-server.ts";
import type { TestAuthority, TestServer } from "./testing/test-server.ts";
import { createHttpsWorkloadDialer } from "./workload-dialer.ts";

const GET = { method: "GET", path: "/api/v1/nodes" } as const;
const POST = { method: "POST", path: "/api/v1/namespaces/a/pods/b/eviction", body: {} } as const;

async function withServer(
  use: (server: TestServer, target: WorkloadTarget, authority: TestAuthority) => Promise<void>,
  listener: Parameters<typeof startTestServer>[1] = (_, response) => answerJson(response, 200, { ok: true }),
  of?: TestAuthority,
): Promise<void> {
  const authority = await createTestAuthority();
  const server = await startTestServer(of ?? authority, listener);
  const client = await authority.client("system:node:a", ["system:nodes"]);
  try {
    await use(server, { addresses: ["127.0.0.1"], endpoint: undefined, ca: authority.ca, ...client }, authority);
  } finally {
    await server.close();
  }
}

test("a control plane is reached by its address with our certificate", () =>
  withServer(async (server, target) => {
    const transport = createHttpsWorkloadDialer(server.port).dial(target);
    assert.deepEqual((await transport.send(GET)).body, { ok: true });
    assert.equal(server.requests[0]?.peer, "system:node:a");
    transport.close();
    await assert.rejects(transport.send(GET), { code: "CLOSED" });
  }));

test("an address that refuses is passed over, for reads and writes, and the one that answered is asked first from then on", () =>
  withServer(async (server, target) => {
    const transport = createHttpsWorkloadDialer(server.port).dial({ ...target, addresses: ["127.0.0.9", "127.0.0.1"] });
    assert.equal((await transport.send(POST)).status, 200);
    assert.equal((await transport.send(GET)).status, 200);
    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ["POST", "GET"],
    );
    transport.close();
  }));

test("the cluster endpoint is tried last", () =>
  withServer(async (server, target) => {
    const transport = createHttpsWorkloadDialer(1).dial({ ...target, addresses: ["127.0.0.9"], endpoint: server.url });
    assert.equal((await transport.send(GET)).status, 200);
    transport.close();
  }));

test("an answer without end is read no further than what is asked for can be long", () => {
  let sent = 0;
  const piece = Buffer.alloc(2 ** 20, " ");
  return withServer(
    async (server, target) => {
      const transport = createHttpsWorkloadDialer(server.port).dial(target);
      await assert.rejects(transport.send(GET), { name: "KubeTransportFailure", code: "TOO_LARGE" });
      assert.ok(sent < 60 * 2 ** 20, `${sent} bytes were sent`);
      transport.close();
    },
    (_, response) => {
      const more = (): void => {
        if (response.destroyed || sent > 200 * 2 ** 20) return void response.end();
        sent += piece.length;
        response.write(piece, more);
      };
      more();
    },
  );
});

test("an endpoint without TLS is never used", () =>
  withServer(async (server, target) => {
    const transport = createHttpsWorkloadDialer(1).dial({ ...target, addresses: [], endpoint: server.url.replace("https:", "http:") });
    await assert.rejects(transport.send(GET), { code: "ECONNREFUSED" });
    assert.equal(server.connections, 0);
    transport.close();
  }));

test("a server of another authority is told nothing", async () => {
  const other = await createTestAuthority();
  await withServer(
    async (server, target) => {
      const transport = createHttpsWorkloadDialer(server.port).dial(target);
      await assert.rejects(transport.send(POST), { name: "KubeTransportFailure" });
      await assert.rejects(transport.send(GET), { name: "KubeTransportFailure" });
      assert.deepEqual(server.requests, []);
      transport.close();
    },
    undefined,
    other,
  );
});

test("a server whose certificate does not name the address is told nothing", () =>
  withServer(async (server, target) => {
    // The certificate names 127.0.0.1 and localhost.
    const transport = createHttpsWorkloadDialer(server.port).dial({ ...target, addresses: ["127.0.0.2"], endpoint: undefined });
    await assert.rejects(transport.send(GET), { name: "KubeTransportFailure" });
    assert.deepEqual(server.requests, []);
    transport.close();
  }));

test("a write whose answer was lost is not sent to the next address", () =>
  withServer(
    async (server, target) => {
      const transport = createHttpsWorkloadDialer(server.port).dial({ ...target, addresses: ["127.0.0.1", "localhost"] });
      await assert.rejects(transport.send(POST), { name: "KubeTransportFailure" });
      assert.equal(server.requests.length, 1);
      assert.equal((await transport.send(GET)).status, 200);
      transport.close();
    },
    (request, response) => {
      if (request.method === "POST") response.destroy();
      else answerJson(response, 200, {});
    },
  ));

test("a call that its caller gave up is not tried elsewhere", () =>
  withServer(
    async (server, target) => {
      const transport = createHttpsWorkloadDialer(server.port).dial({ ...target, addresses: ["127.0.0.1", "localhost"] });
      const abort = new AbortController();
      const call = transport.send(GET, { signal: abort.signal });
      while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      abort.abort();
      await assert.rejects(call);
      assert.equal(server.requests.length, 1);
      transport.close();
    },
    () => undefined,
  ));
