import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import {
  BootstrapRequestSchema,
  EtcdForfeitLeadershipRequestSchema,
  EtcdLeaveClusterRequestSchema,
  EtcdMemberListRequestSchema,
  EtcdRemoveMemberByIDRequestSchema,
  MachineService,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS, READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { TalosError } from "./errors.ts";
import { alarmToldBy } from "./etcd-alarms.ts";
import type { EtcdAlarmFacts } from "./etcd-alarms.ts";
import { parseMemberId, printMemberId } from "./etcd-member-id.ts";
import type { EtcdMemberId } from "./etcd-member-id.ts";

/** A member of the cluster, as etcd lists it. */
export interface EtcdMemberFacts {
  readonly id: EtcdMemberId;
  /** Empty for a member that was added and has not started yet. */
  readonly hostname: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  /** A learner has no vote. */
  readonly isLearner: boolean;
}

/** State of the etcd member on the machine that answered. */
export interface EtcdStatusFacts {
  readonly memberId: EtcdMemberId;
  /** `undefined` when the member knows no leader. */
  readonly leaderId: EtcdMemberId | undefined;
  readonly isLearner: boolean;
  /** etcd's version, `3.6.4`. */
  readonly protocolVersion: string;
  readonly storageVersion: string;
  /** Of the file, which is what the quota is held against: pages that a compaction made free are in it until a defragmentation. */
  readonly dbSizeBytes: number;
  readonly dbSizeInUseBytes: number;
  readonly raftTerm: bigint;
  readonly raftIndex: bigint;
  readonly raftAppliedIndex: bigint;
  /** What etcd complains about, alarms among it, in its own words; empty when healthy. */
  readonly errors: readonly string[];
  /** The alarms of all members that `errors` tells. */
  readonly alarms: readonly EtcdAlarmFacts[];
}

export interface EtcdCalls {
  /**
   * Starts etcd as a new cluster of one member. Once per cluster, ever. Default deadline 30 s.
   *
   * @throws TalosError `ALREADY_EXISTS` when the machine has etcd data, `FAILED_PRECONDITION` while it is not ready for it,
   *   `UNIMPLEMENTED` on a worker (`FAILED_PRECONDITION` up to 1.12). Two calls right after each other may both succeed.
   */
  bootstrap(options?: CallOptions): Promise<void>;
  /**
   * Members as etcd lists them, learners included. Default deadline 10 s.
   *
   * Before bootstrap the machine does not answer at all: ask only where etcd runs.
   *
   * @param input.queryLocal ask the etcd of this machine rather than any member
   */
  etcdMemberList(input?: { readonly queryLocal?: boolean }, options?: CallOptions): Promise<readonly EtcdMemberFacts[]>;
  /**
   * What the machine's own member tells without asking the others, so also a learner and one without a leader. Default deadline 10 s.
   *
   * While the member defragments it does not answer. No Talos passes on the quota, which etcd tells since 3.6 (`dbSizeQuota`): see `etcdQuotaBytes`.
   */
  etcdStatus(options?: CallOptions): Promise<EtcdStatusFacts>;
  /**
   * Hands the leadership to another member. Default deadline 30 s. Harmless to repeat.
   *
   * @returns the new leader's name, or `undefined` when this member was not the leader
   * @throws TalosError `NODE_FAILED` when it is the only member
   */
  etcdForfeitLeadership(options?: CallOptions): Promise<string | undefined>;
  /** Removes the machine's own member, stops etcd and wipes its data. Default deadline 600 s: the machine retries for up to 5 minutes. */
  etcdLeaveCluster(options?: CallOptions): Promise<void>;
  /**
   * Removes the member of a machine that no longer lives. Default deadline 30 s.
   *
   * @throws TalosError `NOT_FOUND` for an unknown id
   */
  etcdRemoveMemberById(memberId: EtcdMemberId, options?: CallOptions): Promise<void>;
}

const BOOTSTRAP = methodOf(MachineService.method.bootstrap);
const MEMBER_LIST = methodOf(MachineService.method.etcdMemberList);
const STATUS = methodOf(MachineService.method.etcdStatus);
const FORFEIT_LEADERSHIP = methodOf(MachineService.method.etcdForfeitLeadership);
const LEAVE_CLUSTER = methodOf(MachineService.method.etcdLeaveCluster);
const REMOVE_MEMBER = methodOf(MachineService.method.etcdRemoveMemberByID);
const LEAVE_TIMEOUT_MS = 600_000;

export function etcdCalls(caller: Caller): EtcdCalls {
  return {
    async bootstrap(options) {
      await caller.one(BOOTSTRAP, create(BootstrapRequestSchema), EFFECT_TIMEOUT_MS, options);
    },
    async etcdMemberList(input, options) {
      const request = create(EtcdMemberListRequestSchema, { queryLocal: input?.queryLocal ?? false });
      const part = await caller.one(MEMBER_LIST, request, READ_TIMEOUT_MS, options);
      return part.members.map((member) => ({
        id: printMemberId(member.id),
        hostname: member.hostname,
        peerUrls: member.peerUrls,
        clientUrls: member.clientUrls,
        isLearner: member.isLearner,
      }));
    },
    async etcdStatus(options) {
      const { memberStatus } = await caller.one(STATUS, create(EmptySchema), READ_TIMEOUT_MS, options);
      if (memberStatus === undefined) {
        const node = options?.node ?? caller.channel.target.address;
        throw new TalosError("MALFORMED_REPLY", { node, method: STATUS.path }, "reply has no member status");
      }
      return {
        memberId: printMemberId(memberStatus.memberId),
        leaderId: memberStatus.leader === 0n ? undefined : printMemberId(memberStatus.leader),
        isLearner: memberStatus.isLearner,
        protocolVersion: memberStatus.protocolVersion,
        storageVersion: memberStatus.storageVersion,
        dbSizeBytes: Number(memberStatus.dbSize),
        dbSizeInUseBytes: Number(memberStatus.dbSizeInUse),
        raftTerm: memberStatus.raftTerm,
        raftIndex: memberStatus.raftIndex,
        raftAppliedIndex: memberStatus.raftAppliedIndex,
        errors: memberStatus.errors,
        alarms: memberStatus.errors.flatMap((error) => alarmToldBy(error) ?? []),
      };
    },
    async etcdForfeitLeadership(options) {
      const part = await caller.one(FORFEIT_LEADERSHIP, create(EtcdForfeitLeadershipRequestSchema), EFFECT_TIMEOUT_MS, options);
      return part.member === "" ? undefined : part.member;
    },
    async etcdLeaveCluster(options) {
      await caller.one(LEAVE_CLUSTER, create(EtcdLeaveClusterRequestSchema), LEAVE_TIMEOUT_MS, options);
    },
    async etcdRemoveMemberById(memberId, options) {
      const request = create(EtcdRemoveMemberByIDRequestSchema, { memberId: parseMemberId(memberId) });
      await caller.one(REMOVE_MEMBER, request, EFFECT_TIMEOUT_MS, options);
    },
  };
}
