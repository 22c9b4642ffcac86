import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";

import { hold } from "./hold.ts";

/** Somebody who takes connections, and the connections that he has. */
async function listening() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = { address: "127.0.0.1", port: (server.address() as AddressInfo).port };
  const taken = async (): Promise<Socket> => sockets[0] ?? ((await once(server, "connection")) as [Socket])[0];
  return { target, taken, close: () => void server.close() };
}

const endings: readonly {
  readonly what: string;
  readonly how: "closed" | "released";
  readonly act: (socket: Socket, release: () => void) => void;
}[] = [
  { what: "closed by the other side", how: "closed", act: (socket) => socket.end() },
  { what: "reset by the other side", how: "closed", act: (socket) => socket.resetAndDestroy() },
  { what: "spoken on, then closed", how: "closed", act: (socket) => socket.end("who are you?") },
  { what: "released", how: "released", act: (_socket, release) => release() },
];
for (const { what, how, act } of endings)
  test(`a connection that is held and then ${what} ends as ${how}`, async () => {
    const { target, taken, close } = await listening();
    const abort = new AbortController();
    const held = hold(target, { timeoutMs: 5_000, signal: abort.signal });
    const socket = await taken();
    // Our side has not heard yet that it was taken.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const isOver = new Promise((resolve) => socket.resume().once("close", resolve));
    act(socket, () => abort.abort());
    assert.equal(await held, how);
    await isOver;
    close();
  });

test("where nobody listens, or nobody answers in time, nothing is held", async (t) => {
  const { target, close } = await listening();
  close();
  const { signal } = new AbortController();
  assert.equal(await hold(target, { timeoutMs: 5_000, signal }), "unreached");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  // Documentation addresses: without a route there it fails at once, with one nobody answers.
  const held = hold({ address: "192.0.2.1", port: 50_000 }, { timeoutMs: 1_500, signal });
  t.mock.timers.tick(1_500);
  assert.equal(await held, "unreached");
});

test("what was released before it began connects to nobody", async () => {
  assert.equal(await hold({ address: "127.0.0.1", port: 1 }, { timeoutMs: 1_000, signal: AbortSignal.abort() }), "released");
});
