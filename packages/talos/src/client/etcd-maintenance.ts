import { createHash } from "node:crypto";

import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { DataSchema } from "../gen/common/common_pb.ts";
import type { Data } from "../gen/common/common_pb.ts";
import {
  BootstrapRequestSchema,
  EtcdMemberAlarm_AlarmType as AlarmType,
  EtcdSnapshotRequestSchema,
  MachineService,
} from "../gen/machine/machine_pb.ts";
import type { EtcdMemberAlarm } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { byteStream } from "./byte-stream.ts";
import { EFFECT_TIMEOUT_MS, READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { TalosError } from "./errors.ts";
import type { EtcdAlarmFacts } from "./etcd-alarms.ts";
import { printMemberId } from "./etcd-member-id.ts";

export interface EtcdMaintenanceCalls {
  /**
   * The database of the machine's own member: the file, then 32 bytes SHA-256 of it, in chunks of 1 KiB. Deadline one hour.
   *
   * Machines end the stream silently when reading fails, so the hash is checked here: the loop ends without an error only when every byte came.
   * What was yielded before is to be thrown away when it ends with one.
   *
   * @throws TalosError `SNAPSHOT_DAMAGED` after the last chunk when size or hash are wrong
   */
  etcdSnapshot(options?: CallOptions): AsyncIterable<Uint8Array>;
  /**
   * Uploads a snapshot to be restored by `bootstrap` on the same machine. Deadline one hour. Never while a recovery may be reading an earlier one.
   *
   * @param snapshot the bytes of `etcdSnapshot`, its hash included, or a raw copy of the database file; chunks of any size
   * @throws TalosError `FAILED_PRECONDITION` without /var/lib; whatever `snapshot` throws
   */
  etcdRecover(snapshot: AsyncIterable<Uint8Array>, options?: CallOptions): Promise<void>;
  /**
   * Starts etcd as a new cluster of one member with the data of the snapshot that `etcdRecover` brought to this very machine. Default deadline 30 s.
   *
   * A snapshot that is no good makes the etcd service fail, not this call. Refusals are those of `bootstrap`.
   *
   * @param input.hasHash `false` for a raw copy of the database file, which ends without a hash
   */
  bootstrapFromSnapshot(input: { readonly hasHash: boolean }, options?: CallOptions): Promise<void>;
  /**
   * Alarms of all members, as the machine's own knows them. Default deadline 10 s.
   *
   * It goes through raft: without a leader the machine does not answer. `etcdStatus` tells them without that.
   *
   * @throws TalosError `NODE_FAILED` from a learner
   */
  etcdAlarmList(options?: CallOptions): Promise<readonly EtcdAlarmFacts[]>;
  /**
   * Ends all alarms of all members, whatever they are of: there is no way to end NOSPACE alone where CORRUPT is raised, too. Returns those that were raised. Default
   * deadline 30 s. Harmless to repeat.
   *
   * Where the cause is still there the alarm is back with the next write (NOSPACE), or with the comparison after the next compaction (CORRUPT).
   *
   * @throws TalosError `NODE_FAILED` from a learner
   */
  etcdAlarmDisarm(options?: CallOptions): Promise<readonly EtcdAlarmFacts[]>;
  /**
   * Gives free pages of the database of the machine's own member back to the disk. Deadline 600 s.
   *
   * The member answers nothing meanwhile, and after 15 s its service counts as unhealthy: one at a time, the leader last. It goes on when the caller goes away, and a
   * second call waits for it and then does it all again: what `etcdStatus` tells afterwards says whether it was done. A process that ends in the middle leaves the
   * file as it was.
   *
   * @throws TalosError `NODE_FAILED` from a learner; `UNAVAILABLE` when etcd ends in the middle
   */
  etcdDefragment(options?: CallOptions): Promise<void>;
}

const SNAPSHOT = methodOf(MachineService.method.etcdSnapshot);
const RECOVER = methodOf(MachineService.method.etcdRecover);
const BOOTSTRAP = methodOf(MachineService.method.bootstrap);
const ALARM_LIST = methodOf(MachineService.method.etcdAlarmList);
const ALARM_DISARM = methodOf(MachineService.method.etcdAlarmDisarm);
const DEFRAGMENT = methodOf(MachineService.method.etcdDefragment);

const HOUR_MS = 3_600_000;
const DEFRAGMENT_TIMEOUT_MS = 600_000;
/** gRPC's smallest limit, that of a maintenance server, is 4 MiB; a chunk need not come near it. */
const UPLOAD_CHUNK_BYTES = 256 * 1024;

const ALARMS: Readonly<Partial<Record<AlarmType, EtcdAlarmFacts["alarm"]>>> = {
  [AlarmType.NONE]: "none",
  [AlarmType.NOSPACE]: "no-space",
  [AlarmType.CORRUPT]: "corrupt",
};

export function etcdMaintenanceCalls(caller: Caller): EtcdMaintenanceCalls {
  return {
    etcdSnapshot(options) {
      const facts = { node: options?.node ?? caller.channel.target.address, method: SNAPSHOT.path };
      const chunks = byteStream(caller, SNAPSHOT, create(EtcdSnapshotRequestSchema), options, HOUR_MS);
      return checkedSnapshot(chunks, (text) => new TalosError("SNAPSHOT_DAMAGED", facts, text));
    },
    async etcdRecover(snapshot, options) {
      await caller.upload(RECOVER, dataOf(snapshot), HOUR_MS, options);
    },
    async bootstrapFromSnapshot({ hasHash }, options) {
      const request = create(BootstrapRequestSchema, { recoverEtcd: true, recoverSkipHashCheck: !hasHash });
      await caller.one(BOOTSTRAP, request, EFFECT_TIMEOUT_MS, options);
    },
    async etcdAlarmList(options) {
      return (await caller.one(ALARM_LIST, create(EmptySchema), READ_TIMEOUT_MS, options)).memberAlarms.map(alarmOf);
    },
    async etcdAlarmDisarm(options) {
      return (await caller.one(ALARM_DISARM, create(EmptySchema), EFFECT_TIMEOUT_MS, options)).memberAlarms.map(alarmOf);
    },
    async etcdDefragment(options) {
      await caller.one(DEFRAGMENT, create(EmptySchema), DEFRAGMENT_TIMEOUT_MS, options);
    },
  };
}

const HASH_BYTES = 32;
const PAGE_BYTES = 512;

/**
 * The chunks as they are, and an error after the last when they are no whole snapshot.
 *
 * @see etcd `server/etcdserver/api/v3rpc/maintenance.go` Snapshot: the database, a multiple of 512 bytes, then SHA-256 of it
 */
async function* checkedSnapshot(
  chunks: AsyncIterable<Uint8Array>,
  damaged: (text: string) => TalosError,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash("sha256");
  let size = 0;
  let tail: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    size += chunk.length;
    const held = Buffer.concat([tail, chunk]);
    const cut = Math.max(0, held.length - HASH_BYTES);
    hash.update(held.subarray(0, cut));
    tail = held.subarray(cut);
    yield chunk;
  }
  if (size <= HASH_BYTES || size % PAGE_BYTES !== HASH_BYTES)
    throw damaged(`the snapshot ended after ${size} bytes, which is no whole number of pages and a hash`);
  if (!hash.digest().equals(tail)) throw damaged(`the hash at the end does not match the ${size - HASH_BYTES} bytes before it`);
}

async function* dataOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Data, void, undefined> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += UPLOAD_CHUNK_BYTES) {
      yield create(DataSchema, { bytes: chunk.subarray(at, at + UPLOAD_CHUNK_BYTES) });
    }
  }
}

function alarmOf(alarm: EtcdMemberAlarm): EtcdAlarmFacts {
  return { memberId: printMemberId(alarm.memberId), alarm: ALARMS[alarm.alarm] ?? "unknown" };
}
