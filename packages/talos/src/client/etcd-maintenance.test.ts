import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { assert as check, asyncProperty, integer } from "fast-check";

import { common, machine } from "../protocol.ts";
import { callFailure } from "./testing/memory-channel.ts";
import { clientOf, collect, rejectsWith } from "./testing/with-client.ts";

const M = "/machine.MachineService";

function snapshotOf(pages: number): Uint8Array {
  const database = new Uint8Array(pages * 512).map((_, index) => (index * 31) % 251);
  return Buffer.concat([database, createHash("sha256").update(database).digest()]);
}

function chunked(bytes: Uint8Array, size: number): common.Data[] {
  const chunks: common.Data[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(create(common.DataSchema, { bytes: bytes.subarray(at, at + size) }));
  return chunks;
}

function received(bytes: Uint8Array, size = 1024): Promise<Uint8Array[]> {
  return collect(clientOf({ [`${M}/EtcdSnapshot`]: () => chunked(bytes, size) }).client.etcdSnapshot());
}

describe("a snapshot", () => {
  test("arrives byte for byte, whatever the chunks", async () => {
    const whole = snapshotOf(9);
    for (const size of [1, 31, 32, 33, 1024, 100_000]) assert.deepEqual(Buffer.concat(await received(whole, size)), Buffer.from(whole));
  });

  test("that is cut anywhere ends with an error", async () => {
    const whole = snapshotOf(4);
    for (const length of [0, 1, 31, 32, 512, 544, 1024, whole.length - 32, whole.length - 1])
      await rejectsWith(received(whole.subarray(0, length)), "SNAPSHOT_DAMAGED", /Throw away/);
  });

  test("with one changed byte ends with an error", async () => {
    const whole = snapshotOf(2);
    await check(
      asyncProperty(integer({ min: 0, max: whole.length - 1 }), integer({ min: 1, max: 255 }), async (at, mask) => {
        const changed = Uint8Array.from(whole);
        changed[at] = (changed[at] ?? 0) ^ mask;
        await rejectsWith(received(changed), "SNAPSHOT_DAMAGED", /hash/);
      }),
    );
  });

  test("that breaks off is told as what broke", async () => {
    const chunks = [create(common.DataSchema, { bytes: new Uint8Array(1024) }), create(common.DataSchema, { metadata: { error: "disk" } })];
    await rejectsWith(collect(clientOf({ [`${M}/EtcdSnapshot`]: () => chunks }).client.etcdSnapshot()), "NODE_FAILED");
  });
});

describe("a recovery", () => {
  const recover = (): object => ({ messages: [{}] });

  test("uploads every byte, in messages far below the limit", async () => {
    const bytes = new Uint8Array(1_000_000).map((_, index) => index % 253);
    const { client, request } = clientOf({ [`${M}/EtcdRecover`]: recover });
    await client.etcdRecover(
      (async function* () {
        yield bytes.subarray(0, 900_000);
        yield new Uint8Array();
        yield bytes.subarray(900_000);
      })(),
    );
    const sent = request<readonly common.Data[]>().map((message) => message.bytes);
    assert.ok(sent.every((chunk) => chunk.length > 0 && chunk.length <= 262_144));
    assert.deepEqual(Buffer.concat(sent), Buffer.from(bytes));
  });

  test("fails with the caller's own error when its source fails", async () => {
    const broken = new Error("object storage is gone");
    const source = (async function* () {
      yield new Uint8Array(10);
      throw broken;
    })();
    await assert.rejects(clientOf({ [`${M}/EtcdRecover`]: recover }).client.etcdRecover(source), (thrown) => thrown === broken);
  });

  test("fails as the machine says", async () => {
    const refusing = (): never => {
      throw callFailure(9, "/var/lib is not mounted");
    };
    const source = (async function* () {
      yield new Uint8Array(10);
    })();
    await rejectsWith(clientOf({ [`${M}/EtcdRecover`]: refusing }).client.etcdRecover(source), "FAILED_PRECONDITION");
  });

  test("is started with or without a look at the hash", async () => {
    const { client, request } = clientOf({ [`${M}/Bootstrap`]: recover });
    await client.bootstrapFromSnapshot({ hasHash: true });
    await client.bootstrapFromSnapshot({ hasHash: false });
    const flags = [0, 1].map((index) => request<machine.BootstrapRequest>(index));
    assert.deepEqual(
      flags.map((one) => [one.recoverEtcd, one.recoverSkipHashCheck]),
      [
        [true, false],
        [true, true],
      ],
    );
  });
});

describe("etcd's housekeeping", () => {
  test("tells alarms by name and member", async () => {
    const memberAlarms = [
      { memberId: 14110624312194729768n, alarm: 1 as const },
      { memberId: 1n, alarm: 2 as const },
      { memberId: 2n, alarm: 9 as machine.EtcdMemberAlarm_AlarmType },
    ];
    const { client } = clientOf({
      [`${M}/EtcdAlarmList`]: () =>
        create(machine.EtcdAlarmListResponseSchema, {
          messages: [{ memberAlarms: memberAlarms.map((alarm) => create(machine.EtcdMemberAlarmSchema, alarm)) }],
        }),
      [`${M}/EtcdAlarmDisarm`]: () => create(machine.EtcdAlarmDisarmResponseSchema, { messages: [{}] }),
    });
    assert.deepEqual(await client.etcdAlarmList(), [
      { memberId: "c3d3020cf75b8728", alarm: "no-space" },
      { memberId: "0000000000000001", alarm: "corrupt" },
      { memberId: "0000000000000002", alarm: "unknown" },
    ]);
    assert.deepEqual(await client.etcdAlarmDisarm(), []);
  });

  test("defragments", async () => {
    const { client, channel } = clientOf({
      [`${M}/EtcdDefragment`]: () => create(machine.EtcdDefragmentResponseSchema, { messages: [{}] }),
    });
    await client.etcdDefragment();
    assert.equal(channel.calls.length, 1);
  });
});
