// Uploads: order, pace, canceling, failures of either side.
import assert from "node:assert/strict";
import { once } from "node:events";
import { before, describe, test } from "node:test";

import { create, fromBinary } from "@bufbuild/protobuf";
import type { KeyPair, TalosChannel } from "@talos-operator/ports";

import { common, machine, methodOf } from "../protocol.ts";
import { dial, failure, serve } from "./testing/harness.ts";
import { createTestPki } from "./testing/pki.ts";

const RECOVER = methodOf(machine.MachineService.method.etcdRecover);

let certificate: KeyPair;
before(async () => {
  certificate = await (await createTestPki()).server();
});

async function* chunks(count: number, size = 64): AsyncGenerator<common.Data, void, undefined> {
  for (let index = 0; index < count; index += 1) {
    await Promise.resolve();
    yield create(common.DataSchema, { bytes: new Uint8Array(size).fill(index % 256) });
  }
}

const upload = (channel: TalosChannel, requests: AsyncIterable<common.Data>, signal?: AbortSignal): Promise<machine.EtcdRecoverResponse> =>
  channel.upload(RECOVER, requests, { timeoutMs: 10_000, ...(signal === undefined ? {} : { signal }) });

describe("an upload", () => {
  test("arrives in order, and the reply comes back", async () => {
    const server = await serve({ certificate });
    const reply = await upload(dial(server.port), chunks(300));
    assert.equal(reply.messages.length, 1);
    assert.deepEqual(
      server.uploaded.map((bytes) => fromBinary(common.DataSchema, bytes).bytes[0]),
      Array.from({ length: 300 }, (_, index) => index % 256),
    );
  });

  test("waits for a machine that reads slowly", async () => {
    const server = await serve({ certificate });
    let produced = 0;
    let widest = 0;
    const source = async function* (): AsyncGenerator<common.Data, void, undefined> {
      for await (const chunk of chunks(64, 1024 * 1024)) {
        produced += 1;
        widest = Math.max(widest, produced - server.uploaded.length);
        yield chunk;
      }
    };
    await upload(dial(server.port), source());
    assert.equal(server.uploaded.length, 64);
    assert.ok(widest < 40, `${widest} messages of 1 MiB were under way at once`);
  });

  test("of nothing is an upload", async () => {
    const server = await serve({ certificate });
    await upload(dial(server.port), chunks(0));
    assert.deepEqual([server.calls, server.uploaded], [["EtcdRecover"], []]);
  });

  test("that the machine refuses at once asks its source for no more", async () => {
    const server = await serve({ certificate, refuseUpload: true });
    let isEnded = false;
    const source = async function* (): AsyncGenerator<common.Data, void, undefined> {
      try {
        for (;;) yield create(common.DataSchema, { bytes: new Uint8Array(1024 * 1024) });
      } finally {
        isEnded = true;
      }
    };
    assert.deepEqual(await failure(upload(dial(server.port), source())), {
      code: 9,
      tls: undefined,
      peer: undefined,
      message: "/var/lib is not mounted",
    });
    assert.ok(isEnded);
  });

  test("whose source fails is canceled and fails with the source's error", async () => {
    const server = await serve({ certificate });
    const broken = new Error("object storage is gone");
    const arrived = once(server.events, "uploaded");
    const source = async function* (): AsyncGenerator<common.Data, void, undefined> {
      yield* chunks(3);
      await arrived;
      throw broken;
    };
    await assert.rejects(upload(dial(server.port), source()), (thrown) => thrown === broken);
    if (server.canceled.length === 0) await once(server.events, "canceled");
    assert.deepEqual(server.canceled, ["EtcdRecover"]);
  });

  test("ends with CANCELLED when its signal aborts, also before it began", async () => {
    const server = await serve({ certificate });
    const controller = new AbortController();
    const source = async function* (): AsyncGenerator<common.Data, void, undefined> {
      yield* chunks(3);
      controller.abort();
      yield* chunks(3);
    };
    assert.equal((await failure(upload(dial(server.port), source(), controller.signal))).code, 1);
    assert.equal((await failure(upload(dial(server.port), chunks(1), AbortSignal.abort()))).code, 1);
  });
});
