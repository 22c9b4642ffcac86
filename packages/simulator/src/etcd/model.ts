import { createHash } from "node:crypto";
import { joined, left } from "./space.ts";
import type { EtcdSpace } from "./space.ts";

/**
 * Membership of one simulated etcd, by etcd's own rules: majority of voters elects and answers, one learner at a time,
 * strict reconfiguration. Values in, values out; who is alive is an argument.
 */
export interface EtcdCluster {
  /** Unique in the datacenter, also as a file name. A second founding gets another key. */
  readonly key: string;
  /** Talos `cluster.id` of the founder. */
  readonly clusterId: string;
  /** SHA-256 of `cluster.secret`, hex: machines join only where id and secret agree. */
  readonly secretFingerprint: string;
  readonly members: readonly EtcdMember[];
  /** Ids that were removed: a machine that still holds such data never comes back with it. */
  readonly removedIds: readonly string[];
  readonly term: number;
  /** Member id; `undefined` while there is no quorum. */
  readonly leader: string | undefined;
  readonly raftIndex: number;
  /** Absent while nobody has asked anything of its database: it is small then, and nothing is wrong with it. */
  readonly space?: EtcdSpace;
  /** Minor of the etcd 3 whose data it holds: that of its oldest member, once all of them run it. Absent in snapshots of earlier versions. */
  readonly storage?: number;
}

export interface EtcdMember {
  /** 16 lower-case hex digits. */
  readonly id: string;
  /** Host name of the machine; empty until the member has started. */
  readonly name: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly isLearner: boolean;
  /** Has been seen running at least once. */
  readonly isStarted: boolean;
}

/** What etcd answers when it refuses a change of membership; the texts are etcd's. */
type EtcdRefusal =
  | "etcdserver: unhealthy cluster"
  | "etcdserver: re-configuration failed due to not enough started members"
  | "etcdserver: too many learner members in cluster"
  | "etcdserver: Peer URLs already exists"
  | "etcdserver: member not found"
  | "etcdserver: no leader"
  | "etcdserver: can only promote a learner member which is in sync with leader";

export type EtcdResult = { readonly ok: true; readonly cluster: EtcdCluster } | { readonly ok: false; readonly refusal: EtcdRefusal };

/** Ids of members that run and reach the others. */
export type LiveMembers = ReadonlySet<string>;

export interface FoundingRequest {
  readonly key: string;
  readonly clusterId: string;
  readonly secretFingerprint: string;
  readonly name: string;
  /** Address that is advertised to peers and clients. */
  readonly address: string;
  /** See {@link EtcdCluster.storage}. */
  readonly storage?: number;
}

/** A new etcd with one voter, as `Bootstrap` makes it. */
export function foundCluster(request: FoundingRequest): EtcdCluster {
  const member: EtcdMember = {
    id: memberId(request.key, request.address, 0),
    name: request.name,
    ...urls(request.address),
    isLearner: false,
    isStarted: true,
  };
  return {
    key: request.key,
    clusterId: request.clusterId,
    secretFingerprint: request.secretFingerprint,
    members: [member],
    removedIds: [],
    term: 2,
    leader: member.id,
    raftIndex: 4,
    ...(request.storage === undefined ? {} : { storage: request.storage }),
  };
}

/** Voters, in the order of their joining. */
export function votersOf(cluster: EtcdCluster): readonly EtcdMember[] {
  return cluster.members.filter((member) => !member.isLearner);
}

/** More than half of the voters live. */
export function hasQuorum(cluster: EtcdCluster, live: LiveMembers): boolean {
  const voters = votersOf(cluster);
  return voters.filter((member) => live.has(member.id)).length > voters.length / 2;
}

/** The cluster with the leader that these live members elect; the same value when nothing changes. */
export function elect(cluster: EtcdCluster, live: LiveMembers): EtcdCluster {
  if (!hasQuorum(cluster, live)) return cluster.leader === undefined ? cluster : { ...cluster, leader: undefined };
  const current = cluster.leader;
  if (current !== undefined && live.has(current) && votersOf(cluster).some((member) => member.id === current)) return cluster;
  const next = votersOf(cluster).find((member) => live.has(member.id));
  return { ...cluster, leader: next?.id, term: cluster.term + 1, raftIndex: cluster.raftIndex + 1 };
}

/** MemberAddAsLearner. */
export function addLearner(cluster: EtcdCluster, address: string, live: LiveMembers): EtcdResult & { readonly member?: EtcdMember } {
  if (!hasQuorum(cluster, live)) return refuse("etcdserver: no leader");
  if (!votersOf(cluster).every((member) => live.has(member.id))) return refuse("etcdserver: unhealthy cluster");
  if (cluster.members.some((member) => member.isLearner)) return refuse("etcdserver: too many learner members in cluster");
  const { peerUrl, clientUrl } = urls(address);
  if (cluster.members.some((member) => member.peerUrl === peerUrl)) return refuse("etcdserver: Peer URLs already exists");
  const member: EtcdMember = {
    id: memberId(cluster.key, address, cluster.raftIndex),
    name: "",
    peerUrl,
    clientUrl,
    isLearner: true,
    isStarted: false,
  };
  return {
    ok: true,
    member,
    cluster: {
      ...changed(cluster),
      members: [...cluster.members, member],
      ...(cluster.space === undefined ? {} : { space: joined(cluster.space, member.id, cluster.leader) }),
    },
  };
}

/** The member's process has come up and told its name. */
export function startMember(cluster: EtcdCluster, id: string, name: string): EtcdCluster {
  const member = cluster.members.find((candidate) => candidate.id === id);
  if (member === undefined || (member.isStarted && member.name === name)) return cluster;
  return { ...changed(cluster), members: cluster.members.map((other) => (other.id === id ? { ...other, isStarted: true, name } : other)) };
}

/** MemberPromote. */
export function promoteLearner(cluster: EtcdCluster, id: string, live: LiveMembers): EtcdResult {
  if (!hasQuorum(cluster, live)) return refuse("etcdserver: no leader");
  const member = cluster.members.find((candidate) => candidate.id === id);
  if (member === undefined) return refuse("etcdserver: member not found");
  if (!member.isLearner) return { ok: true, cluster };
  if (!member.isStarted || !live.has(id)) return refuse("etcdserver: can only promote a learner member which is in sync with leader");
  return {
    ok: true,
    cluster: { ...changed(cluster), members: cluster.members.map((other) => (other.id === id ? { ...other, isLearner: false } : other)) },
  };
}

/**
 * MemberRemove with `--strict-reconfig-check`: the voters that stay must have a started majority, and a live member may only go when the
 * live rest keeps a majority.
 */
export function removeMember(cluster: EtcdCluster, id: string, live: LiveMembers): EtcdResult {
  if (!hasQuorum(cluster, live)) return refuse("etcdserver: no leader");
  const member = cluster.members.find((candidate) => candidate.id === id);
  if (member === undefined) return refuse("etcdserver: member not found");
  if (!member.isLearner) {
    const rest = votersOf(cluster).filter((other) => other.id !== id);
    const majority = Math.floor(rest.length / 2) + 1;
    if (rest.filter((other) => other.isStarted).length < majority) {
      return refuse("etcdserver: re-configuration failed due to not enough started members");
    }
    if (live.has(id) && rest.filter((other) => live.has(other.id)).length < majority) return refuse("etcdserver: unhealthy cluster");
  }
  const without: EtcdCluster = {
    ...changed(cluster),
    members: cluster.members.filter((other) => other.id !== id),
    removedIds: [...cluster.removedIds, id],
    leader: cluster.leader === id ? undefined : cluster.leader,
    ...(cluster.space === undefined ? {} : { space: left(cluster.space, id) }),
  };
  return { ok: true, cluster: elect(without, live) };
}

/** Moves leadership to another live voter; `undefined` when there is none. */
export function moveLeader(cluster: EtcdCluster, live: LiveMembers): EtcdCluster | undefined {
  const next = votersOf(cluster).find((member) => member.id !== cluster.leader && live.has(member.id));
  return next === undefined ? undefined : { ...changed(cluster), leader: next.id, term: cluster.term + 1 };
}

/** Decimal form that the protocol carries. */
export function memberNumber(id: string): bigint {
  return BigInt(`0x${id}`);
}

/** Hex form of the protocol's number. */
export function memberHex(id: bigint): string {
  return id.toString(16).padStart(16, "0");
}

function memberId(key: string, address: string, salt: number): string {
  return createHash("sha1").update(`${key}|${address}|${salt}`).digest("hex").slice(0, 16);
}

function urls(address: string): { peerUrl: string; clientUrl: string } {
  const host = address.includes(":") ? `[${address}]` : address;
  return { peerUrl: `https://${host}:2380`, clientUrl: `https://${host}:2379` };
}

function changed(cluster: EtcdCluster): EtcdCluster {
  return { ...cluster, raftIndex: cluster.raftIndex + 1 };
}

function refuse(refusal: EtcdRefusal): { readonly ok: false; readonly refusal: EtcdRefusal } {
  return { ok: false, refusal };
}
