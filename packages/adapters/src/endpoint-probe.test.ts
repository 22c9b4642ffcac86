import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttps } from "node:https";
import { createServer, type AddressInfo, type Server } from "node:net";
import { test } from "node:test";
import type { KeyPair, NameResolver } from "@talos-operator/ports";
import { createEndpointProbe } from "./endpoint-probe.ts";
import { HANGS_AFTER_MS } from "./testing/index.ts";
import { createX509Keys } from "./x509/keys.ts";

const keys = createX509Keys();
const now = Date.now();
const day = 86_400_000;
const authority = await keys.createAuthority({ kind: "p256", organization: "kubernetes", notBefore: now - 10 * day });
const another = await keys.createAuthority({ kind: "p256", organization: "kubernetes", notBefore: now - 10 * day });

const server = (signer: KeyPair, over: object = {}): Promise<KeyPair> =>
  keys.signCertificate(signer, {
    usage: "server",
    commonName: "kube-apiserver",
    notBefore: now - day,
    lifetimeMs: 2 * day,
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["shop.example"],
    ...over,
  });

const unauthorized = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Unauthorized", code: 401 });

function api({ certificate, key }: KeyPair, status = 401, body = unauthorized): Server {
  return createHttps({ cert: certificate, key }, (_, response) => response.writeHead(status).end(body));
}

const nobody: NameResolver = { resolve: () => Promise.resolve([]) };

async function withServer<T>(listening: Server, use: (port: number) => Promise<T>): Promise<T> {
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  try {
    return await use((listening.address() as AddressInfo).port);
  } finally {
    listening.close();
  }
}

const ask = (host: string, port: number, names = nobody, timeoutMs = HANGS_AFTER_MS): Promise<string> =>
  createEndpointProbe(names)
    .ask({ endpoint: `https://${host}:${port}`, ca: authority.certificate }, { timeoutMs })
    .then(({ kind }) => kind);

for (const [what, make, want] of [
  ["an API server that lets nobody in without a certificate", async () => api(await server(authority)), "reached"],
  ["one that tells its version to anybody", async () => api(await server(authority), 200, '{"gitVersion":"v1.36.3"}'), "reached"],
  ["the API server of another cluster, whose authority has the same name", async () => api(await server(another)), "foreign"],
  ["one whose certificate is for other addresses", async () => api(await server(authority, { ipAddresses: ["127.0.0.2"] })), "unfit"],
  ["one whose certificate is over", async () => api(await server(authority, { notBefore: now - 3 * day, lifetimeMs: day })), "unfit"],
  [
    "another server with a certificate of the cluster, as a kubelet has",
    async () => api(await server(authority), 404, "not found"),
    "not-kubernetes",
  ],
  [
    "what speaks no TLS",
    async () => createServer((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))),
    "not-kubernetes",
  ],
  ["a load balancer without backends", async () => createServer((socket) => socket.destroy()), "refused"],
] as const)
  test(`${what} is ${want}`, async () => {
    const listening: Server = await make();
    assert.equal(await withServer(listening, (port) => ask("127.0.0.1", port)), want);
  });

test("a port at which nobody listens refuses", async () => {
  const port = await withServer(createServer(), (open) => Promise.resolve(open));
  assert.equal(await ask("127.0.0.1", port), "refused");
});

test("whoever takes the connection and says nothing is silent", async () => {
  const sockets = new Set<{ destroy(): void }>();
  const mute = createServer((socket) => void sockets.add(socket));
  assert.equal(
    await withServer(mute, (port) => ask("127.0.0.1", port, nobody, 200).finally(() => sockets.forEach((one) => one.destroy()))),
    "silent",
  );
});

test("a name is looked up, each of its addresses is asked until one leads to the cluster, and the certificate has to hold the name", async () => {
  const names: NameResolver = { resolve: () => Promise.resolve(["127.0.0.9", "127.0.0.1"]) };
  const fits = await server(authority, { ipAddresses: [] });
  assert.equal(await withServer(api(fits), (port) => ask("shop.example", port, names)), "reached");
  const misses = await server(authority, { dnsNames: ["depot.example"] });
  assert.equal(await withServer(api(misses), (port) => ask("shop.example", port, names)), "unfit");
});

test("where any name will do the certificate has to be the cluster's all the same", async () => {
  const asAny = (signer: KeyPair, over: object = {}): Promise<string> =>
    server(signer, { ipAddresses: [], dnsNames: ["depot.example"], ...over }).then((pair) =>
      withServer(api(pair), (port) =>
        createEndpointProbe(nobody)
          .ask({ endpoint: `https://127.0.0.1:${port}`, ca: authority.certificate, anyName: true }, { timeoutMs: HANGS_AFTER_MS })
          .then(({ kind }) => kind),
      ),
    );
  assert.equal(await asAny(authority), "reached");
  assert.equal(await asAny(another), "foreign");
  assert.equal(await asAny(authority, { notBefore: now - 3 * day, lifetimeMs: day }), "unfit");
});

test("a name that DNS does not know does not resolve; where DNS fails nothing is known", async () => {
  assert.equal(await ask("shop.example.invalid", 6443), "unresolvable");
  const failing: NameResolver = { resolve: () => Promise.reject(Object.assign(new Error("queryA ETIMEOUT"), { code: "ETIMEOUT" })) };
  assert.equal(await ask("shop.example", 6443, failing), "silent");
});
