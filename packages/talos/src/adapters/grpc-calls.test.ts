// Calls to a healthy machine: addressing, deadlines, canceling, streams, sizes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { before, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { create, toBinary } from "@bufbuild/protobuf";
import type { KeyPair } from "@talos-operator/ports";

import { common, machine, methodOf } from "../protocol.ts";
import { dial, failure, serve, version } from "./testing/harness.ts";
import { createTestPki } from "./testing/pki.ts";

const READ = methodOf(machine.MachineService.method.read);
const REQUEST = create(machine.ReadRequestSchema, { path: "/etc/os-release" });

let certificate: KeyPair;
before(async () => {
  certificate = await (await createTestPki()).server();
});

test("names the machine behind the endpoint in the metadata", async () => {
  const server = await serve({ certificate });
  const channel = dial(server.port);
  await version(channel, { node: "10.5.0.3" });
  await version(channel);
  assert.deepEqual(server.nodes, ["10.5.0.3", undefined]);
});

test("a call that the machine does not answer ends at its deadline", async () => {
  const server = await serve({ certificate, versionReply: () => "never" });
  assert.equal((await failure(version(dial(server.port), { timeoutMs: 100 }))).code, 4);
  assert.ok(server.calls.length <= 1, "nothing is sent twice");
});

test("aborting ends a call with CANCELLED", async () => {
  const server = await serve({ certificate, versionReply: () => "never" });
  const controller = new AbortController();
  const call = failure(version(dial(server.port), { signal: controller.signal }));
  controller.abort();
  assert.equal((await call).code, 1);
});

test("a call with an aborted signal is not sent", async () => {
  const server = await serve({ certificate });
  const channel = dial(server.port);
  assert.equal((await failure(version(channel, { signal: AbortSignal.abort() }))).code, 1);
  await version(channel);
  assert.deepEqual(server.calls, ["Version"]);
});

test("a closed channel sends nothing", async () => {
  const server = await serve({ certificate });
  const channel = dial(server.port);
  channel.close();
  assert.equal((await failure(version(channel))).code, 1);
  assert.deepEqual(server.calls, []);
});

test("follows a machine that restarts on its address", async () => {
  const first = await serve({ certificate });
  const channel = dial(first.port);
  await version(channel);
  first.close();
  const second = await serve({ certificate, port: first.port });
  // The broken connection is noticed with this call at the latest; a pause of the reconnect may refuse some more.
  let answer: string | undefined;
  while (answer === undefined) {
    answer = await version(channel).catch(() => undefined);
    await setImmediate();
  }
  assert.equal(answer, "v1.13.9");
  assert.deepEqual(second.calls, ["Version"]);
});

test("a reply of 31 MiB arrives whole", async () => {
  const size = 31 * 1024 * 1024;
  const reply = create(machine.VersionResponseSchema, { messages: [{ version: { tag: "x".repeat(size) } }] });
  const server = await serve({ certificate, versionReply: () => toBinary(machine.VersionResponseSchema, reply) });
  assert.equal((await version(dial(server.port)))?.length, size);
});

test("a reply of another shape is an error of decoding, not of the transport", async () => {
  const server = await serve({ certificate, versionReply: () => Buffer.from([0xff, 0xff, 0xff]) });
  await assert.rejects(version(dial(server.port)), (thrown: Error) => thrown.name !== "TalosCallFailure");
});

test("a stream gives its messages in order and ends", async () => {
  const chunk = (byte: number): Uint8Array => toBinary(common.DataSchema, create(common.DataSchema, { bytes: new Uint8Array([byte]) }));
  const server = await serve({ certificate, readReply: [chunk(1), chunk(2), chunk(3)] });
  const seen: number[] = [];
  for await (const data of dial(server.port).serverStream(READ, REQUEST, { timeoutMs: 10_000 })) seen.push(...data.bytes);
  assert.deepEqual(seen, [1, 2, 3]);
});

test("leaving the loop cancels the stream", async () => {
  const server = await serve({ certificate, readReply: "endless" });
  let count = 0;
  for await (const _data of dial(server.port).serverStream(READ, REQUEST, { timeoutMs: 10_000 })) {
    count += 1;
    if (count === 100) break;
  }
  if (server.canceled.length === 0) await once(server.events, "canceled");
  assert.deepEqual(server.canceled, ["Read"]);
});

test("aborting ends a stream with CANCELLED", async () => {
  const server = await serve({ certificate, readReply: "endless" });
  const controller = new AbortController();
  const drain = async (): Promise<void> => {
    for await (const _data of dial(server.port).serverStream(READ, REQUEST, { timeoutMs: 10_000, signal: controller.signal })) {
      controller.abort();
    }
  };
  assert.equal((await failure(drain())).code, 1);
});

test("a stream ends at its deadline", async () => {
  const server = await serve({ certificate, readReply: "endless" });
  const drain = async (): Promise<void> => {
    for await (const _data of dial(server.port).serverStream(READ, REQUEST, { timeoutMs: 100 })) {
      // Read until the deadline.
    }
  };
  assert.equal((await failure(drain())).code, 4);
});

test("a machine sends no more than a reader takes", async () => {
  const MIB = 1024 * 1024;
  const endlessChunk = toBinary(common.DataSchema, create(common.DataSchema, { bytes: new Uint8Array(MIB / 4) }));
  const server = await serve({ certificate, readReply: "endless", endlessChunk });
  let taken = 0;
  for await (const data of dial(server.port).serverStream(READ, REQUEST, { timeoutMs: 60_000 })) {
    taken += data.bytes.length;
    // The reader rests: whatever could be sent meanwhile is sent.
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    const waiting = server.sentBytes() - taken;
    assert.ok(waiting < 16 * MIB, `${waiting} bytes wait for the reader`);
    if (taken > 20 * MIB) break;
  }
  assert.ok(taken > 20 * MIB, `${taken} bytes were read`);
});

test("goes to the machine itself, whatever proxy the environment names", async () => {
  const names = ["grpc_proxy", "https_proxy", "http_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const before = names.map((name) => [name, process.env[name]] as const);
  // Nothing listens there: a call through it would fail.
  for (const name of names) process.env[name] = "http://127.0.0.1:1";
  try {
    const server = await serve({ certificate });
    assert.equal(await version(dial(server.port)), "v1.13.9");
    assert.equal(await version(dial(server.port, undefined, "localhost")), "v1.13.9");
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

test("two channels to one machine share no connection", async () => {
  const server = await serve({ certificate });
  const left = dial(server.port);
  const right = dial(server.port);
  await version(left);
  await version(right);
  left.close();
  assert.equal(await version(right), "v1.13.9");
  assert.equal(server.connections(), 2);
});

test("a stream goes on while a call on the same channel runs into its deadline", async () => {
  const server = await serve({ certificate, readReply: "endless", versionReply: () => "never" });
  const channel = dial(server.port);
  let count = 0;
  for await (const _data of channel.serverStream(READ, REQUEST, { timeoutMs: 10_000 })) {
    count += 1;
    if (count === 1) assert.equal((await failure(version(channel, { timeoutMs: 100 }))).code, 4);
    if (count === 5_000) break;
  }
  assert.equal(count, 5_000);
});
