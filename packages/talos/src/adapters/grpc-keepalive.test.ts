// Pings on a connection: often enough to notice a machine that vanished, rare enough for a machine not to hang up.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { ServerHttp2Stream } from "node:http2";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { before, mock, test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";
import type { KeyPair } from "@talos-operator/ports";

import { common, machine, methodOf } from "../protocol.ts";
import { opensslKey } from "./pem.ts";
import { atEnd, dial, failure, serve } from "./testing/harness.ts";
import { createTestPki } from "./testing/pki.ts";

const READ = methodOf(machine.MachineService.method.read);
const REQUEST = create(machine.ReadRequestSchema, { path: "/" });
const HOUR_MS = 3_600_000;
/** grpc-go hangs up on a client that pings more often, and Talos keeps its rule. */
const ALLOWED_MS = 300_000;
const CHUNK = toBinary(common.DataSchema, create(common.DataSchema, { bytes: new Uint8Array([1]) }));

let certificate: KeyPair;
before(async () => {
  certificate = await (await createTestPki()).server();
});

test("a stream that rests is pinged no more often than a machine allows, a connection at rest never", async () => {
  const server = createSecureServer({ cert: certificate.certificate, key: opensslKey(certificate.key) });
  let pings = 0;
  const rested: ServerHttp2Stream[] = [];
  server.on("session", (session) => session.on("ping", () => pings++));
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0, CHUNK.length]), CHUNK]));
    rested.push(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());

  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const stream = dial((server.address() as AddressInfo).port).serverStream(READ, REQUEST, { timeoutMs: 10 * HOUR_MS });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    const session = rested[0]?.session;
    assert.ok(session !== undefined);
    // Whatever the client sent before it answers has arrived with the answer.
    const arrived = (): Promise<void> => new Promise((resolve) => session.ping(() => resolve()));
    mock.timers.tick(ALLOWED_MS);
    await arrived();
    assert.equal(pings, 0, "earlier the machine would hang up");
    mock.timers.tick(20_000);
    await arrived();
    assert.equal(pings, 1);
    await iterator.return?.(undefined);
    mock.timers.tick(HOUR_MS);
    await arrived();
    assert.equal(pings, 1, "nothing runs, so nothing is pinged");
  } finally {
    mock.timers.reset();
  }
});

test("a stream to a machine that vanished without a word ends", async () => {
  const machineServer = await serve({ certificate, readReply: "endless", endlessChunk: CHUNK });
  // Between the two a wire that can be cut without anyone being told.
  const wires: Socket[] = [];
  const wire = createServer((socket) => {
    const onward = connect(machineServer.port, "127.0.0.1");
    wires.push(socket, onward);
    socket.pipe(onward);
    onward.pipe(socket);
    for (const end of [socket, onward]) end.on("error", () => end.destroy());
  });
  wire.listen(0, "127.0.0.1");
  await once(wire, "listening");
  atEnd(() => {
    for (const end of wires) end.destroy();
    wire.close();
  });

  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const channel = dial((wire.address() as AddressInfo).port);
    let isCut = false;
    const drain = async (): Promise<void> => {
      for await (const _chunk of channel.serverStream(READ, REQUEST, { timeoutMs: 10 * HOUR_MS })) {
        if (isCut) continue;
        isCut = true;
        for (const end of wires) end.unpipe().pause();
        mock.timers.tick(ALLOWED_MS + 20_000);
        mock.timers.tick(20_000);
      }
    };
    assert.equal((await failure(drain())).code, 14);
  } finally {
    mock.timers.reset();
  }
});
