import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:tls";
import { it } from "node:test";
import { HANGS_AFTER_MS } from "@talos-operator/adapters/testing";
import { startTestServer } from "../testing/test-server.ts";

it("whoever may not ask is told so before the body is read", { timeout: HANGS_AFTER_MS }, async (context) => {
  const server = await startTestServer();
  const socket = connect({ host: "127.0.0.1", port: server.https.port, ca: server.authority.certificate, servername: "localhost" });
  context.after(async () => {
    socket.destroy();
    await server.close();
  });
  await once(socket, "secureConnect");
  const path = "/api/v1/namespaces/default/configmaps";
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 3000000\r\n\r\n{"half":`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  assert.ok(String(answer).startsWith("HTTP/1.1 403 "), String(answer).slice(0, 100));
});

it("whoever may ask has the body read", async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const path = "/api/v1/namespaces/default/configmaps";
  assert.equal((await server.transport.send({ method: "POST", path, body: { metadata: { name: "a" } } })).status, 201);
});
