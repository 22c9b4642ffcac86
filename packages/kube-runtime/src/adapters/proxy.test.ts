import assert from "node:assert/strict";
import { it } from "node:test";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createHttpsTransport } from "./https-transport.ts";
import { startTestProxy } from "./testing/test-proxy.ts";
import { answerJson, createTestAuthority, startTestServer } from "./testing/test-server.ts";

const path = "/api/v1/nodes";

it("goes through the proxy with one tunnel, and verifies the server behind it", async () => {
  const authority = await createTestAuthority();
  const stranger = await createTestAuthority();
  const proxy = await startTestProxy();
  const server = await startTestServer(authority, (request, response) => {
    if (!request.url?.includes("watch")) return answerJson(response, 200, { ok: true });
    response.end('{"type":"ADDED","object":{}}\n');
  });
  const { certificate, key } = await authority.client("me");
  const host = server.url.replace("https://", "");
  const transport = createHttpsTransport({ server: server.url, ca: authority.ca, certificate, key, proxyUrl: proxy.url });
  for (let count = 0; count < 3; count += 1) assert.deepEqual((await transport.send({ method: "GET", path })).body, { ok: true });
  const { events } = await transport.watch({ method: "GET", path, query: { watch: "true" } });
  for await (const event of events) assert.equal(event.type, "ADDED");
  assert.deepEqual(proxy.tunnels, [host]);
  assert.equal(server.requests[0]?.peer, "me", "the client certificate reaches the server");

  const withPassword = new URL(proxy.url);
  withPassword.username = "u";
  withPassword.password = "p";
  const wrong = createHttpsTransport({ server: server.url, ca: stranger.ca, proxyUrl: withPassword.href });
  await assert.rejects(wrong.send({ method: "GET", path }), /certificate|signature|self-signed|verify/i);
  assert.equal(proxy.tunnels[1], `${host} Basic ${Buffer.from("u:p").toString("base64")}`);

  proxy.refuse();
  const before = server.requests.length;
  const refused = createHttpsTransport({ server: server.url, ca: authority.ca, proxyUrl: proxy.url });
  await assert.rejects(refused.send({ method: "GET", path }), { name: "KubeTransportFailure" });
  assert.equal(server.requests.length, before, "what the proxy refuses does not go around it");
  for (const one of [transport, wrong, refused]) one.close();
  await server.close();
  await proxy.close();
});

it("refuses a proxy that it cannot use", () => {
  for (const proxyUrl of ["socks5://127.0.0.1:1080", "nonsense"]) {
    assert.throws(
      () => createHttpsTransport({ server: "https://127.0.0.1:1", proxyUrl }),
      (error) => error instanceof KubeApiError && error.code === "KUBECONFIG_INVALID",
    );
  }
});

it("acts as somebody else with user, uid, groups and extra fields", async () => {
  const authority = await createTestAuthority();
  const server = await startTestServer(authority, (_, response) => answerJson(response, 200, {}));
  const impersonate = { user: "jane", uid: "42", groups: ["devs", "admins"], extra: { "example.com/scope": ["a", "b"] } };
  const transport = createHttpsTransport({ server: server.url, ca: authority.ca, token: "t", impersonate });
  await transport.send({ method: "GET", path });
  const headers = server.requests[0]?.headers ?? {};
  assert.deepEqual(
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("impersonate") || name === "authorization")),
    {
      authorization: "Bearer t",
      "impersonate-user": "jane",
      "impersonate-uid": "42",
      "impersonate-group": "devs, admins",
      "impersonate-extra-example.com%2fscope": "a, b",
    },
  );
  transport.close();
  await server.close();
});
