// Genuine parts: none
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect as dial, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createApiServer } from "@talos-operator/apiserver";
import { createSqliteStore, serveHttps } from "@talos-operator/apiserver/https";
import { createHttpsTransport } from "@talos-operator/kube-runtime/https";
import { followBesideWriter } from "./testing/follow.ts";

/** A port that stays the same while what stands behind it comes and goes; `cut` resets every connection, as the end of a process does. */
async function startPort() {
  const sockets = new Set<Socket>();
  let target = 0;
  const server = createServer((client) => {
    const upstream = dial(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // the other side learns it by the close
      socket.on("close", () => sockets.delete(socket));
    }
    upstream.on("close", () => client.resetAndDestroy());
    client.on("close", () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  return {
    port,
    cut,
    async lead(to: number) {
      target = to;
      if (!server.listening) await listen(port);
    },
  };
}

it("follows the embedded API over TCP through twenty restarts, and tells each change once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-restarts-"));
  const keys = createX509Keys();
  const notBefore = systemClock.now() - 60_000;
  const lifetimeMs = 3_600_000;
  const authority = await keys.createAuthority({ kind: "p256", organization: "test", notBefore });
  const certificate = await keys.signCertificate(authority, { usage: "server", notBefore, lifetimeMs, ipAddresses: ["127.0.0.1"] });
  const admin = await keys.signCertificate(authority, {
    usage: "client",
    notBefore,
    lifetimeMs,
    commonName: "admin",
    organizations: ["system:masters"],
  });
  const port = await startPort();
  const serve = async () => {
    const store = createSqliteStore(join(folder, "api.db"));
    const api = await createApiServer({ store, clock: systemClock, timers: systemTimers, random: systemRandom });
    const https = await serveHttps(api, { address: "127.0.0.1", port: 0, certificate, clientAuthorities: [authority.certificate] });
    return {
      port: https.port,
      async end(): Promise<void> {
        await https.close();
        api.close();
      },
    };
  };
  let server = await serve();
  await port.lead(server.port);
  const { certificate: ownCertificate, key } = admin;
  const connect = (to: number) =>
    createHttpsTransport({ server: `https://127.0.0.1:${to}`, ca: authority.certificate, certificate: ownCertificate, key });
  const followed = await followBesideWriter(() => connect(port.port));
  for (let round = 0; round < 20; round += 1) {
    await port.cut();
    // Seen by nobody, and not in the history of the next server.
    const direct = connect(server.port);
    await followed.write(round * 3, direct);
    direct.close();
    await server.end();
    server = await serve();
    await port.lead(server.port);
    await followed.write(round * 3 + 1);
    await followed.caughtUp();
    await followed.write(round * 3 + 2);
    await followed.caughtUp();
  }
  await followed.check();
  assert.ok(
    followed.lists().every((lists) => lists > 20),
    "a server that starts anew knows no history, so a list was needed each time",
  );
  await followed.stop();
  await port.cut();
  await server.end();
  rmSync(folder, { recursive: true });
});
