// Which versions of TLS are offered to a machine. OpenSSL's default level hides the old ones by itself, and an administrator may lower it
// (`NODE_OPTIONS=--tls-cipher-list`, openssl.cnf): with the lowest level only our own limit is left, and seen.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import tls from "node:tls";

import type { TalosCredentials } from "@talos-operator/ports";

import { atEnd, dial, failure, version } from "./testing/harness.ts";
import { createTestPki } from "./testing/pki.ts";

tls.DEFAULT_CIPHERS = "DEFAULT:@SECLEVEL=0";

/** Versions in the `supported_versions` extension of a ClientHello (RFC 8446, 4.2.1), the wire's numbers. */
function offeredIn(hello: Buffer): readonly number[] {
  const record = 5 + 4 + 2 + 32;
  const afterSession = record + 1 + hello.readUInt8(record);
  const afterCiphers = afterSession + 2 + hello.readUInt16BE(afterSession);
  const extensions = afterCiphers + 1 + hello.readUInt8(afterCiphers);
  const end = extensions + 2 + hello.readUInt16BE(extensions);
  for (let at = extensions + 2; at < end; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) !== 43) continue;
    return Array.from({ length: hello.readUInt8(at + 4) / 2 }, (_, index) => hello.readUInt16BE(at + 5 + 2 * index));
  }
  return assert.fail("the ClientHello names no versions");
}

async function offered(credentials: TalosCredentials): Promise<readonly number[]> {
  const hellos: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (hello: Buffer) => {
      hellos.push(hello);
      socket.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  await failure(version(dial((server.address() as AddressInfo).port, credentials)));
  const [hello] = hellos;
  assert.ok(hello !== undefined);
  return offeredIn(hello);
}

const only12And13 = [0x0304, 0x0303];

test("the old versions would be seen here if they were offered", async () => {
  const server = createServer((socket) => socket.once("data", (hello: Buffer) => server.emit("hello", hello, socket.destroy())));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  tls.connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, minVersion: "TLSv1" }).on("error", () => undefined);
  const [hello] = (await once(server, "hello")) as [Buffer];
  assert.deepEqual(offeredIn(hello), [...only12And13, 0x0302, 0x0301]);
});

test("a machine that waits is offered TLS 1.3 and 1.2 only", async () => {
  assert.deepEqual(await offered({ kind: "maintenance" }), only12And13);
  assert.deepEqual(await offered({ kind: "maintenance", expectedSpki: "AAAA" }), only12And13);
});

test("a machine of a cluster is offered TLS 1.3 and 1.2 only", async () => {
  const pki = await createTestPki();
  const { certificate, key } = await pki.client();
  assert.deepEqual(await offered({ kind: "mutual", ca: pki.authority.certificate, certificate, key }), only12And13);
});
