/** A machine that gives a snapshot, as the machine API does. For tests of the worker. */
import type { TalosCallFailure, TalosChannel, TalosDialer, TalosMethod } from "@talos-operator/ports";
import { writeEtcdSnapshot } from "@talos-operator/etcd-snapshot";

const memberId = 0x8e9e05c52164694dn;

export interface TestMember {
  id: bigint;
  isLearner: boolean;
  /** 0 none, 1 no space, 2 corrupt. */
  alarm: number;
  /** What the stream gives. */
  snapshot: Uint8Array;
  /** The stream ends with this failure. */
  failure: TalosCallFailure | undefined;
  readonly calls: string[];
  readonly dialer: TalosDialer;
}

export function sampleSnapshot(keys = 200, value = 100): Uint8Array {
  return writeEtcdSnapshot({
    keys: Array.from({ length: keys }, (_, index) => ({
      key: `/registry/configmaps/default/map-${index}`,
      value: JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `map-${index}`, namespace: "default" },
        data: { text: "x".repeat(value) },
      }),
      modRevision: index + 2,
    })),
    members: [{ id: memberId, name: "cp-1", peerURLs: ["https://192.0.2.10:2380"], clientURLs: ["https://192.0.2.10:2379"] }],
    clusterVersion: "3.6.0",
    storageVersion: "3.6.0",
    term: 2,
    consistentIndex: keys + 5,
  });
}

export function createTestMember(snapshot: Uint8Array = sampleSnapshot()): TestMember {
  const member: TestMember = {
    id: memberId,
    isLearner: false,
    alarm: 0,
    snapshot,
    failure: undefined,
    calls: [],
    dialer: { dial: () => channel(), reaches: () => Promise.resolve(true), hold: () => new Promise(() => undefined) },
  };
  const channel = (): TalosChannel => ({
    target: { address: "192.0.2.10" },
    unary<I, O>({ path }: TalosMethod<I, O>) {
      member.calls.push(path);
      const status = {
        memberId: member.id,
        leader: member.id,
        isLearner: member.isLearner,
        protocolVersion: "3.6.4",
        storageVersion: "3.6.0",
        dbSize: BigInt(member.snapshot.length),
        dbSizeInUse: 1n,
        raftTerm: 2n,
        raftIndex: 9n,
        raftAppliedIndex: 9n,
        errors: [],
      };
      const alarms = member.alarm === 0 ? [] : [{ memberId: member.id, alarm: member.alarm }];
      const message = path.endsWith("/EtcdStatus") ? { memberStatus: status } : { memberAlarms: alarms };
      return Promise.resolve({ messages: [message] } as O);
    },
    async *serverStream<I, O>({ path }: TalosMethod<I, O>) {
      member.calls.push(path);
      for (let at = 0; at < member.snapshot.length; at += 1024) yield { bytes: member.snapshot.subarray(at, at + 1024) } as O;
      await Promise.resolve();
      if (member.failure !== undefined) throw member.failure;
    },
    upload: () => Promise.reject(new Error("nothing is uploaded")),
    peerSpki: () => undefined,
    close: () => undefined,
  });
  return member;
}
