import type { EtcdMember, SeenEtcd } from "./look.ts";
import type { MachineName } from "./machine.ts";

/** etcd as one control plane tells it. */
export interface EtcdAnswer {
  readonly machine: MachineName;
  readonly etcd: SeenEtcd;
  /** The machine reboots, shuts down or is being wiped: its member counts as gone. */
  readonly isGoing: boolean;
}

/** One voting member. */
export interface EtcdVoter {
  /** 16 hex digits. */
  readonly id: string;
  readonly name: string;
  /** The machine that shows this member as its own; `undefined` = none that answers. */
  readonly machine: MachineName | undefined;
  readonly isHealthy: boolean;
}

/** What at least a quorum of voters says alike: the only ground on which a member is ever disturbed. */
export interface EtcdQuorum {
  readonly kind: "known";
  /** The list itself, whoever answers. */
  readonly members: readonly EtcdMember[];
  /** In the order of the list. */
  readonly voters: readonly EtcdVoter[];
  /** Members without a vote: they are joining, or never came up. */
  readonly learners: readonly EtcdMember[];
  /** Member id; one of the voters. */
  readonly leader: string;
  readonly healthy: number;
  /** Majority of the voters: with fewer healthy ones etcd stops. */
  readonly needed: number;
}

/** Why nobody may rely on what etcd's members say. */
export type EtcdDoubtCode =
  /** No control plane tells a member list. */
  | "no-answer"
  /** Two machines show one member as theirs. */
  | "twins"
  /** A list is empty, or has one id twice. */
  | "malformed"
  /** Two members tell different lists. */
  | "differing"
  /** A machine shows a member that its own list does not have. */
  | "stranger"
  /** A member reports an alarm or another error. */
  | "alarm"
  /** A healthy member knows no leader, or one that is no voter. */
  | "leaderless"
  | "two-leaders"
  /** Fewer healthy voters than a majority answer. */
  | "no-quorum"
  /** A member has not started, or does not vote yet. */
  | "joining";

/** Nothing may be done to a control plane; the message says why and what is waited for. */
export interface EtcdDoubt {
  readonly kind: "unsafe";
  readonly code: EtcdDoubtCode;
  readonly message: string;
  /**
   * What the members say nevertheless, where nothing is in the way but files that are full, or an alarm of corrupt data that outlived its member: what frees space and takes
   * the alarm back goes by it, and, where files that are full are all of it, what restores the number of voters.
   */
  readonly beneath?: EtcdQuorum;
  /** Files that are full are all of it: etcd refuses what would be written, and takes changes of its members. */
  readonly isOnlyFull?: boolean;
  /** Who was counted where too few answer and are healthy. */
  readonly counted?: Pick<EtcdQuorum, "members" | "voters">;
  /** The same where members with other data than the majority are all that is in the way: their replacement goes by it, and nothing else does. */
  readonly corrupt?: CorruptEtcd;
}

/** An etcd some of whose members have other data than the majority. */
export interface CorruptEtcd {
  /** Members that are named count as ill in it. */
  readonly view: EtcdQuorum;
  /** Ids of the list. */
  readonly members: readonly string[];
  /** They may be named because they differ from the leader alone, which may be the wrong one. */
  readonly isByLeader?: true;
}
