import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { reaches } from "./reaches.ts";

test("whoever takes connections is reached, and none stays open", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const ended = new Promise<void>((resolve) =>
    server.once("connection", (socket) => socket.on("error", () => undefined).once("close", () => resolve())),
  );
  const { port } = server.address() as AddressInfo;
  assert.equal(await reaches({ address: "127.0.0.1", port }, 2_000), true);
  await ended;
  server.close();
  await once(server, "close");
  assert.equal(await reaches({ address: "127.0.0.1", port }, 2_000), false, "nobody listens any more");
});

test("whoever is silent is not reached once the time is over", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  // Documentation addresses: without a route there it fails at once, with one nobody answers.
  const reached = reaches({ address: "192.0.2.1", port: 50_000 }, 1_500);
  t.mock.timers.tick(1_500);
  assert.equal(await reached, false);
});
