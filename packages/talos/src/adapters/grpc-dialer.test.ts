import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import type { TalosCredentials } from "@talos-operator/ports";

import { dial, failure, serve, version } from "./testing/harness.ts";
import type { MachineServerOptions } from "./testing/machine-server.ts";
import { createTestPki } from "./testing/pki.ts";
import type { TestPki } from "./testing/pki.ts";

let pki: TestPki;
before(async () => {
  pki = await createTestPki();
});

async function mutual(): Promise<TalosCredentials> {
  return { kind: "mutual", ca: pki.authority.certificate, ...(await pki.client()) };
}

describe("mutual TLS", () => {
  for (const [name, address] of [
    ["an IPv4 address", "127.0.0.1"],
    ["an IPv6 address", "::1"],
    ["a DNS name", "localhost"],
  ] as const) {
    test(`reaches a machine by ${name}`, async () => {
      const certificate = await pki.server();
      const listen = address === "::1" ? "::1" : "127.0.0.1";
      const server = await serve({ certificate, clientAuthority: pki.authority.certificate, address: listen });
      const channel = dial(server.port, await mutual(), address);
      assert.equal(channel.peerSpki(), undefined);
      assert.equal(await version(channel), "v1.13.9");
      assert.equal(channel.peerSpki(), pki.spkiOf(certificate.certificate));
    });
  }

  const refusals: {
    readonly name: string;
    readonly server: () => Promise<Partial<MachineServerOptions>>;
    readonly tls: string;
  }[] = [
    {
      name: "IN57: refuses a server of another cluster's CA",
      server: async () => ({ certificate: await pki.server({}, pki.foreignAuthority) }),
      tls: "untrusted-server",
    },
    {
      name: "IN59: refuses a server that lets anybody in and says yes to everything",
      server: async () => ({ certificate: await pki.server({}, pki.foreignAuthority), clientAuthority: undefined }),
      tls: "untrusted-server",
    },
    {
      name: "IN58: refuses a server whose certificate has expired",
      server: async () => ({ certificate: await pki.server({ notBefore: Date.now() - 7_200_000, lifetimeMs: 3_600_000 }) }),
      tls: "untrusted-server",
    },
    {
      name: "IN58: refuses a server whose certificate is not valid yet",
      server: async () => ({ certificate: await pki.server({ notBefore: Date.now() + 3_600_000 }) }),
      tls: "untrusted-server",
    },
    {
      name: "IN58: refuses a server that shows a client's certificate",
      server: async () => ({ certificate: await pki.client({ ipAddresses: ["127.0.0.1"] }) }),
      tls: "untrusted-server",
    },
    {
      name: "IN58: refuses a server whose certificate names another address",
      server: async () => ({ certificate: await pki.server({ ipAddresses: ["127.0.0.2"] }) }),
      tls: "unexpected-identity",
    },
  ];
  for (const { name, server, tls } of refusals) {
    test(name, async () => {
      const listening = await serve({
        certificate: await pki.server(),
        clientAuthority: pki.authority.certificate,
        ...(await server()),
      });
      const channel = dial(listening.port, await mutual());
      const seen = await failure(version(channel));
      assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls }, seen.message);
      const again = await failure(version(channel));
      assert.equal(again.tls, tls, "a second call is not less strict");
      assert.deepEqual(listening.calls, []);
      assert.equal(channel.peerSpki(), undefined);
    });
  }
});

describe("maintenance TLS", () => {
  test("takes any certificate without a pin and tells its key", async () => {
    const certificate = await pki.server({}, pki.foreignAuthority);
    const server = await serve({ certificate });
    const channel = dial(server.port, { kind: "maintenance" });
    assert.equal(await version(channel), "v1.13.9");
    assert.equal(channel.peerSpki(), pki.spkiOf(certificate.certificate));
  });

  test("calls a machine that presents the pinned key", async () => {
    const certificate = await pki.server({}, pki.foreignAuthority);
    const server = await serve({ certificate });
    const channel = dial(server.port, { kind: "maintenance", expectedSpki: pki.spkiOf(certificate.certificate) });
    assert.equal(await version(channel), "v1.13.9");
  });

  test("IN56: sends nothing to a machine that presents another key than the pinned one", async () => {
    const expected = pki.spkiOf((await pki.server()).certificate);
    const server = await serve({ certificate: await pki.server() });
    const channel = dial(server.port, { kind: "maintenance", expectedSpki: expected });
    const seen = await failure(version(channel));
    assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls: "unexpected-identity" });
    assert.deepEqual(server.calls, []);
    assert.equal(channel.peerSpki(), undefined);
  });

  test("says that a configured machine wants a client certificate", async () => {
    const server = await serve({ certificate: await pki.server(), clientAuthority: pki.authority.certificate });
    const channel = dial(server.port, { kind: "maintenance" });
    const seen = await failure(version(channel));
    assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls: "client-refused" }, seen.message);
    assert.deepEqual(server.calls, []);
  });
});

test("says nothing about TLS when nobody listens", async () => {
  const server = await serve({ certificate: await pki.server() });
  server.close();
  const seen = await failure(version(dial(server.port, { kind: "maintenance" })));
  assert.deepEqual({ code: seen.code, tls: seen.tls }, { code: 14, tls: undefined });
  assert.match(seen.message, /^connect ECONNREFUSED/);
});
