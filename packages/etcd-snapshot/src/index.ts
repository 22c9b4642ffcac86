export { createTrailerCheck, trailerSize } from "./trailer.ts";
export type { TrailerCheck, TrailerFault, TrailerVerdict } from "./trailer.ts";

export { createStatisticsPass } from "./statistics/statistics.ts";
export type { SnapshotStatistics, StatisticsOptions, StatisticsPass } from "./statistics/statistics.ts";
export { createMemorySpool } from "./statistics/spool.ts";
export type { Spool } from "./statistics/spool.ts";

export { readSnapshot } from "./reader/contents.ts";
export type { EncryptedCount, KindCount, ReadSnapshotOptions, SnapshotContents, SnapshotNodes, SnapshotSample } from "./reader/contents.ts";
export type { Count } from "./reader/tally.ts";
export { beginningSize, leastSizeOf, openDatabase } from "./reader/database.ts";
export type { Database, Entry } from "./reader/database.ts";
export { liveKeysOf, revisionsOf } from "./reader/store.ts";
export type { StoredRevision } from "./reader/store.ts";
export { bytesSource } from "./reader/source.ts";
export type { SnapshotSource } from "./reader/source.ts";

export { writeEtcdSnapshot } from "./writer/snapshot.ts";
export type { EtcdSnapshotContents, SnapshotConfState, SnapshotKey, SnapshotLease, SnapshotMember } from "./writer/snapshot.ts";
export { writeDatabase } from "./writer/database.ts";
export type { DatabaseBucket, DatabaseContents, DatabaseEntry } from "./writer/database.ts";

export type { Member } from "./membership.ts";
export type { StoreFacts } from "./store-facts.ts";
export { isSnapshotError, SnapshotError } from "./errors.ts";
export type { SnapshotErrorCode } from "./errors.ts";
