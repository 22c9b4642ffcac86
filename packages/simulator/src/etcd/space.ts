import type { EtcdAlarm } from "../node/machine.ts";

/**
 * The database of a simulated etcd: how large each member's file is, how much of it is in use, which alarms are raised, whose data differ. Values in, values out.
 *
 * ```
 *   in use:  live keys │ history since the last compaction        alike on every member
 *   file:    live keys │ history │ free pages                     each member's own
 * ```
 * A compaction makes pages of the file free and leaves its size; writes take free pages first, so the file grows only when they are used up; a defragmentation
 * makes one member's file as small as what is in use and two pages. The quota is held against the size of the file, free pages included.
 *
 * What is in use is told as of the last write that went through: the pages that a compaction frees are told with the write after it. That one comes at once, unless
 * the alarm NOSPACE refuses all but deletions.
 *
 * @see etcd v3.6.14 `server/storage/backend/backend.go` begin, `server/storage/quota.go`, `server/etcdserver/api/v3rpc/quota.go`, `server/etcdserver/apply/{quota,corrupt,uber_applier}.go`,
 *   `server/etcdserver/corrupt.go`
 */
export interface EtcdSpace {
  readonly liveBytes: number;
  /** Until the last compaction but one, and since: Kubernetes compacts to what was five minutes ago. */
  readonly history: readonly [older: number, recent: number];
  /** By member id. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly alarms: readonly RaisedAlarm[];
  /** Members whose data are wrong, by id, with what their data are instead: two with the same word have the same wrong data. */
  readonly variants: Readonly<Record<string, string>>;
  /** What is overwritten by itself. */
  readonly churnBytesPerMinute: number;
  /** Milliseconds since the epoch: up to here the churn is counted. */
  readonly settledAt: number;
  /** When Kubernetes compacted last, or would have. */
  readonly compactedAt: number;
  /** What a member tells to be in use where it is less by now, by member id. Absent = all tell what is so. */
  readonly outdated?: Readonly<Record<string, number>>;
}

/** Alarms belong to the cluster: every member knows all of them, and one outlives the member that it names. */
export interface RaisedAlarm {
  /** 16 hex digits; all 0 = of nobody in particular. */
  readonly memberId: string;
  readonly alarm: EtcdAlarm;
}

/** A member as its database sees it. */
export interface SpaceMember {
  readonly id: string;
  /** What its process was started with (`quotaOf`). */
  readonly quotaBytes: number;
  readonly isLive: boolean;
  readonly isLearner: boolean;
  /** Its process was started with `corrupt-check-time`: as the leader it compares the others with itself. */
  readonly comparesWithLeader?: true;
}

/** What etcd answers to a write that it does not take; the texts are etcd's. */
export type WriteRefusal = "etcdserver: mvcc: database space exceeded" | "etcdserver: corrupt cluster";

export interface WriteOutcome {
  readonly space: EtcdSpace;
  readonly refusal: WriteRefusal | undefined;
}

const noSpace = "etcdserver: mvcc: database space exceeded";
const corrupt = "etcdserver: corrupt cluster";

const pageBytes = 4_096;
/** What a file that was just defragmented has beside what is in use. */
const overheadBytes = 2 * pageBytes;
/** A new etcd with the keys of an empty Kubernetes. */
const newInUseBytes = 4 * pageBytes;
const newSizeBytes = 5 * pageBytes;
/** etcd's estimate of what a key takes beside itself and its value. */
const keyOverheadBytes = 256;
/** kube-apiserver `--etcd-compaction-interval`. */
const compactionMs = 5 * 60_000;
/** 2 GiB */
const defaultQuotaBytes = 2_147_483_648;

/** Whose data differ cannot be told. */
export const nobodysId = "0".repeat(16);

/**
 * The quota that an etcd keeps which was started with `--quota-backend-bytes`: without it and with 0 etcd's default of 2 GiB, with a negative number none. Above
 * 8 GiB etcd warns in its log, and keeps to it.
 */
export function quotaOf(configuredBytes: number | undefined): number {
  if (configuredBytes === undefined || configuredBytes === 0) return defaultQuotaBytes;
  return configuredBytes < 0 ? Number.POSITIVE_INFINITY : configuredBytes;
}

/** The database of an etcd of which nobody asked anything yet. */
export function newSpace(now: number): EtcdSpace {
  return {
    liveBytes: newInUseBytes,
    history: [0, 0],
    sizes: {},
    alarms: [],
    variants: {},
    churnBytesPerMinute: 0,
    settledAt: now,
    compactedAt: now,
  };
}

/** What a member tells of its file. */
export function sizesOf(space: EtcdSpace | undefined, memberId: string): { readonly sizeBytes: number; readonly inUseBytes: number } {
  if (space === undefined) return { sizeBytes: newSizeBytes, inUseBytes: newInUseBytes };
  return { sizeBytes: sizeOf(space, memberId), inUseBytes: space.outdated?.[memberId] ?? inUseOf(space) };
}

/**
 * A put of a key and a value of so many bytes. The member that is asked holds it against its own file; every other member that applies it does, too. On Talos every
 * voter has an API server of its own that writes, so each whose file is full raises the alarm.
 *
 * @param at the member that is asked
 * @param keeps `false`: it takes the place of a value of the same size
 */
export function put(
  space: EtcdSpace,
  members: readonly SpaceMember[],
  { at, bytes, keeps }: { readonly at: string; readonly bytes: number; readonly keeps: boolean },
): WriteOutcome {
  const cost = bytes + keyOverheadBytes;
  const full = fullFor(space, members, cost);
  const alarmed = full.reduce((next, { id }) => raised(next, id, "NOSPACE"), space);
  if (full.some(({ id }) => id === at)) return { space: alarmed, refusal: noSpace };
  if (isRaised(space, "CORRUPT")) return { space: alarmed, refusal: corrupt };
  if (isRaised(space, "NOSPACE")) return { space: alarmed, refusal: noSpace };
  const { liveBytes, history } = alarmed;
  const written = keeps ? { liveBytes: liveBytes + cost } : { history: [history[0], history[1] + cost] as const };
  return { space: grown({ ...alarmed, ...written }, members), refusal: undefined };
}

/** A delete goes on without space: it costs nothing. What it takes away stays in the history. */
export function erase(space: EtcdSpace, bytes: number): WriteOutcome {
  if (isRaised(space, "CORRUPT")) return { space, refusal: corrupt };
  const gone = Math.min(space.liveBytes, bytes + keyOverheadBytes);
  return {
    space: { ...told(space), liveBytes: space.liveBytes - gone, history: [space.history[0], space.history[1] + gone] },
    refusal: undefined,
  };
}

/** A compaction that somebody asks for: to the present. */
export function compact(space: EtcdSpace, members: readonly SpaceMember[]): WriteOutcome {
  if (isRaised(space, "CORRUPT")) return { space, refusal: corrupt };
  const compacted: EtcdSpace = { ...space, history: [0, 0] };
  if (!isRaised(space, "NOSPACE")) return { space: compacted, refusal: undefined };
  const outdated = Object.fromEntries(members.map(({ id }) => [id, sizesOf(space, id).inUseBytes]));
  return { space: { ...compacted, outdated }, refusal: undefined };
}

/** A write goes through: every member tells again what is in use. */
export function told({ outdated: _outdated, ...space }: EtcdSpace): EtcdSpace {
  return space;
}

/** Every file has grown to the smallest quota of the voters that live, `inUseShare` of it in use, and the next write has met that. */
export function filled(space: EtcdSpace, members: readonly SpaceMember[], inUseShare: number): EtcdSpace {
  const quota = Math.min(...members.filter(takesWrites).map(({ quotaBytes }) => quotaBytes));
  if (!Number.isFinite(quota)) return space;
  const size = pagesOf(quota);
  const sizes = Object.fromEntries(members.map(({ id }) => [id, Math.max(size, sizeOf(space, id))]));
  const full: EtcdSpace = { ...told(space), liveBytes: Math.floor(quota * inUseShare), history: [0, 0], sizes };
  return fullFor(full, members, keyOverheadBytes).reduce((next, { id }) => raised(next, id, "NOSPACE"), full);
}

/** The file of one member is as small as it can be. */
export function defragmented(space: EtcdSpace, memberId: string): EtcdSpace {
  const { [memberId]: _own, ...outdated } = space.outdated ?? {};
  const smaller = { ...space, sizes: { ...space.sizes, [memberId]: inUseOf(space) + overheadBytes } };
  return Object.keys(outdated).length === 0 ? told(smaller) : { ...smaller, outdated };
}

export function raised(space: EtcdSpace, memberId: string, alarm: EtcdAlarm): EtcdSpace {
  const isThere = space.alarms.some((one) => one.memberId === memberId && one.alarm === alarm);
  return isThere ? space : { ...space, alarms: [...space.alarms, { memberId, alarm }] };
}

/** A learner gets the file of the leader as it is. */
export function joined(space: EtcdSpace, memberId: string, leader: string | undefined): EtcdSpace {
  if (leader === undefined) return space;
  const variant = space.variants[leader];
  return {
    ...space,
    sizes: { ...space.sizes, [memberId]: sizeOf(space, leader) },
    ...(variant === undefined ? {} : { variants: { ...space.variants, [memberId]: variant } }),
  };
}

/** The alarms of a member that is removed stay. */
export function left(space: EtcdSpace, memberId: string): EtcdSpace {
  const { [memberId]: _size, ...sizes } = space.sizes;
  const { [memberId]: _variant, ...variants } = space.variants;
  return { ...space, sizes, variants };
}

/**
 * The leader compares what the members had at the last compaction. Those that differ from a majority are named; where no majority has the same, nobody is. So two
 * members of three that are wrong alike put the blame on the third. A member that does not answer is passed over, but counts in the majority.
 *
 * A leader with `corrupt-check-time` does not wait for a compaction, and names the first by id that differs from itself: one alone, also where it is the only wrong one.
 */
export function compared(space: EtcdSpace, members: readonly SpaceMember[], leader: string): EtcdSpace {
  if (members.find(({ id }) => id === leader)?.comparesWithLeader === true) {
    const own = space.variants[leader] ?? "";
    const [other] = members.flatMap(({ id, isLive }) => (isLive && (space.variants[id] ?? "") !== own ? [id] : [])).toSorted();
    return other === undefined ? space : raised(space, other, "CORRUPT");
  }
  const groups = new Map<string, string[]>();
  for (const { id, isLive } of members) {
    if (!isLive && id !== leader) continue;
    const data = space.variants[id] ?? "";
    groups.set(data, [...(groups.get(data) ?? []), id]);
  }
  if (groups.size < 2) return space;
  const needed = Math.floor(members.length / 2) + 1;
  const [majority] = [...groups].find(([, ids]) => ids.length >= needed) ?? [];
  if (majority === undefined) return raised(space, nobodysId, "CORRUPT");
  const wrong = [...groups].filter(([data]) => data !== majority).flatMap(([, ids]) => ids);
  return wrong.reduce((next, id) => raised(next, id, "CORRUPT"), space);
}

/** Before it serves, an etcd with data compares them with those of the members that answer: any difference ends it, whoever is wrong. */
export function differs(space: EtcdSpace, memberId: string, answering: readonly string[]): boolean {
  const own = space.variants[memberId] ?? "";
  return answering.some((id) => id !== memberId && (space.variants[id] ?? "") !== own);
}

/**
 * What has come of the database by now: what was overwritten meanwhile, the compactions of Kubernetes, and the comparison after each. While NOSPACE is raised
 * Kubernetes does not compact: its compactor first writes down to where.
 *
 * @param leader `undefined`: nothing happens without one
 */
export function settled(
  space: EtcdSpace,
  members: readonly SpaceMember[],
  { leader, now }: { readonly leader: string | undefined; readonly now: number },
): EtcdSpace {
  let next = space;
  while (next.compactedAt + compactionMs <= now) {
    const isIdle = leader === undefined || (next.churnBytesPerMinute === 0 && next.history[0] === 0 && next.history[1] === 0);
    const at = isIdle ? now - ((now - next.compactedAt) % compactionMs) : next.compactedAt + compactionMs;
    next = churned(next, members, leader, at);
    if (leader !== undefined) next = compared(compactedByKubernetes(next), members, leader);
    next = { ...next, compactedAt: at };
  }
  return churned(next, members, leader, now);
}

function compactedByKubernetes(space: EtcdSpace): EtcdSpace {
  return space.alarms.length > 0 ? space : { ...space, history: [space.history[1], 0] };
}

function churned(space: EtcdSpace, members: readonly SpaceMember[], leader: string | undefined, until: number): EtcdSpace {
  if (space.settledAt >= until) return space;
  const next = { ...space, settledAt: until };
  const bytes = Math.floor((space.churnBytesPerMinute * (until - space.settledAt)) / 60_000);
  if (bytes === 0 || leader === undefined || space.alarms.length > 0) return next;
  const quota = Math.min(...members.filter(takesWrites).map(({ quotaBytes }) => quotaBytes));
  const room = Math.max(0, quota - inUseOf(space));
  const written = grown({ ...next, history: [space.history[0], space.history[1] + Math.min(bytes, room)] }, members);
  // Many small writes: the first that finds no room raises the alarm.
  return fullFor(written, members, keyOverheadBytes).reduce((alarmed, { id }) => raised(alarmed, id, "NOSPACE"), written);
}

/** Voters whose file has no room for so much more. */
function fullFor(space: EtcdSpace, members: readonly SpaceMember[], cost: number): readonly SpaceMember[] {
  return members.filter((member) => takesWrites(member) && sizeOf(space, member.id) + cost >= member.quotaBytes);
}

function grown(space: EtcdSpace, members: readonly SpaceMember[]): EtcdSpace {
  const sizes = Object.fromEntries(members.map(({ id }) => [id, sizeOf(space, id)]));
  return { ...space, sizes: { ...space.sizes, ...sizes } };
}

function takesWrites({ isLive, isLearner }: SpaceMember): boolean {
  return isLive && !isLearner;
}

function isRaised(space: EtcdSpace, alarm: EtcdAlarm): boolean {
  return space.alarms.some((one) => one.alarm === alarm);
}

function sizeOf(space: EtcdSpace, memberId: string): number {
  return Math.max(space.sizes[memberId] ?? newSizeBytes, inUseOf(space));
}

function inUseOf({ liveBytes, history }: EtcdSpace): number {
  return pagesOf(Math.max(newInUseBytes, liveBytes + history[0] + history[1]));
}

function pagesOf(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes;
}
