import { SnapshotError } from "../errors.ts";
import { u16, u32, u64 } from "../format/bytes.ts";
import { maxPageSize, metaSize, newestMeta, readMeta } from "../format/meta.ts";
import { bucketHeaderSize, pageFlags } from "../format/page.ts";
import { mainRevision } from "../format/revision.ts";
import { type StoreFacts, StoreFactsBuilder } from "../store-facts.ts";
import { LiveKeys } from "./live-keys.ts";
import { OpenRun } from "./open-run.ts";
import {
  entryKinds,
  keptEntryHeaderSize,
  readRecordHeader,
  RecordBuffer,
  recordHeaderSize,
  recordKinds,
  recordOfPage,
  recordWithout,
  revisionEntrySize,
} from "./page-records.ts";
import { createMemorySpool, RecordSpool, type Spool } from "./spool.ts";

/** What `etcdutl snapshot status` says of a snapshot, and what the database says of its store. */
export interface SnapshotStatistics extends StoreFacts {
  /** Main revision of the newest change; 0 in a store without any, as etcdutl has it. */
  readonly revision: number;
  /**
   * `totalKey` of `etcdutl snapshot status` since etcd 3.5.19 and 3.6: keys whose newest revision is no deletion. The same number as `liveKeys`.
   */
  readonly totalKey: number;
  readonly liveKeys: number;
  /** Entries of all buckets: what older etcdutl, up to 3.5.18, gave as `totalKey`. */
  readonly entries: number;
  /** Revisions in the bucket `key`, with deletions. */
  readonly revisions: number;
  /** Bytes of the database as its newest meta page counts them, without trailer: `totalSize` of etcdutl. */
  readonly totalSize: number;
  readonly pageSize: number;
}

export interface StatisticsPass {
  /** The next bytes of the snapshot, in pieces of any size; the piece may be used again afterwards. Throws what the spool throws, and `NOT_A_DATABASE`. */
  write(chunk: Uint8Array): void;
  /** The statistics of all that was written; bytes behind the last page, such as a trailer, do not matter. Throws `SnapshotError`. Ends the pass. */
  finish(): SnapshotStatistics;
}

export interface StatisticsOptions {
  /** Where pages put aside what is needed of them: some bytes for each revision, in a usual cluster an eighth of the snapshot. Default: 16 MiB of memory. */
  readonly spool?: Spool;
}

/** Pages that are followed through their overflow at one time: one of the database, and old ones whose tail was used anew. */
const maxOpenRuns = 64;
const maxOpenRunBytes = 8 * 1024 * 1024;
/** Of offsets into the spool, four bytes a page; taken as they are needed. */
const offsetsPerBlock = 16 * 1024;
/** The table of live keys may take this, or sixteen bytes for each page if that is more; with more keys the spool is read again for each part of them. */
const minTableBytes = 4 * 1024 * 1024;

/**
 * Statistics of an etcd database while it streams by once, in memory of at most 32 bytes a page.
 *
 * Pages come in the order of the file, with old contents among them, and only the end tells which belong to the database: so each page leaves a short record
 * in the spool, and `finish` walks the tree through those. docs/adr/0041 says more.
 */
export function createStatisticsPass(options: StatisticsOptions = {}): StatisticsPass {
  return new Pass(options.spool ?? createMemorySpool());
}

class Pass implements StatisticsPass {
  readonly #spool: RecordSpool;
  readonly #record = new RecordBuffer();
  /** The first bytes, for both meta pages whatever their size. */
  #beginning = Buffer.alloc(0);
  /** 0 until a meta page has told it. */
  #pageSize = 0;
  /** The page that is coming in. */
  #page = new Uint8Array(0);
  #pageBytes = 0;
  #pages = 0;
  #runs: OpenRun[] = [];
  readonly #offsets: Uint32Array[] = [];

  constructor(spool: Spool) {
    this.#spool = new RecordSpool(spool);
    // Offset 0 stands for a page without a record.
    this.#spool.append(new Uint8Array(8));
  }

  write(chunk: Uint8Array): void {
    const wanted = maxPageSize + metaSize - this.#beginning.length;
    if (wanted > 0) this.#beginning = Buffer.concat([this.#beginning, chunk.subarray(0, wanted)]);
    if (this.#pageSize > 0) this.#take(chunk);
    else {
      this.#learnPageSize();
      // What came before the page size was known has been held whole: a chunk can be longer than that.
      if (this.#pageSize > 0) {
        this.#take(this.#beginning);
        if (chunk.length > wanted) this.#take(chunk.subarray(wanted));
      }
    }
  }

  #learnPageSize(): void {
    const first = readMeta(this.#beginning, 0);
    if (first === undefined && this.#beginning.length < maxPageSize + metaSize) return;
    const { pageSize } = first ?? newestMeta(this.#beginning);
    this.#pageSize = pageSize;
    this.#page = new Uint8Array(pageSize);
  }

  #take(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#pageBytes === 0 && bytes.length - at >= this.#pageSize) {
        this.#digest(bytes.subarray(at, at + this.#pageSize));
        at += this.#pageSize;
        continue;
      }
      const part = bytes.subarray(at, at + this.#pageSize - this.#pageBytes);
      this.#page.set(part, this.#pageBytes);
      this.#pageBytes += part.length;
      at += part.length;
      if (this.#pageBytes === this.#pageSize) {
        this.#pageBytes = 0;
        this.#digest(this.#page);
      }
    }
  }

  #digest(bytes: Uint8Array): void {
    const page = this.#pages;
    this.#pages += 1;
    if (page % offsetsPerBlock === 0) this.#offsets.push(new Uint32Array(offsetsPerBlock));
    for (const run of this.#runs) run.feed(bytes, (page - run.page) * this.#pageSize);
    if (this.#runs.length > 0) this.#closeRuns(page);
    const flags = u16(bytes, 8);
    // Whatever is not itself is old or the inside of a value: the tree cannot refer to it.
    if ((flags !== pageFlags.branch && flags !== pageFlags.leaf) || u64(bytes, 0) !== page) return;
    const overflow = u32(bytes, 12);
    if (overflow === 0) {
      this.#put(page, recordOfPage(this.#record, bytes));
      return;
    }
    const held = this.#runs.reduce((sum, run) => sum + run.bytes, 0);
    if (this.#runs.length >= maxOpenRuns || held > maxOpenRunBytes) {
      this.#put(page, recordWithout(this.#record, recordKinds.undecided, overflow));
      return;
    }
    const run = new OpenRun(page, bytes, this.#pageSize);
    run.feed(bytes, 0);
    this.#runs.push(run);
    this.#closeRuns(page);
  }

  #closeRuns(page: number): void {
    this.#runs = this.#runs.filter((run) => {
      if (run.isTooLarge) this.#put(run.page, recordWithout(this.#record, recordKinds.undecided, run.overflow));
      else if (run.isComplete && !run.isDamaged) this.#put(run.page, recordOfPage(this.#record, run.short, true));
      else if (run.isDamaged || page >= run.page + run.overflow)
        this.#put(run.page, recordWithout(this.#record, recordKinds.damaged, run.overflow));
      else return true;
      return false;
    });
  }

  #put(page: number, record: Uint8Array): void {
    const offset = this.#spool.size / 8;
    if (offset > 0xffff_ffff) throw new SnapshotError("LIMIT_EXCEEDED", "more than 32 GiB to put aside");
    const block = this.#offsets[Math.floor(page / offsetsPerBlock)];
    if (block !== undefined) block[page % offsetsPerBlock] = offset;
    this.#spool.append(record);
  }

  finish(): SnapshotStatistics {
    const meta = newestMeta(this.#beginning);
    if (this.#pageSize === 0) {
      // The first meta page is damaged and the whole is shorter than the largest page.
      this.#pageSize = meta.pageSize;
      this.#page = new Uint8Array(meta.pageSize);
      this.#take(this.#beginning);
    }
    if (meta.pageSize !== this.#pageSize) throw new SnapshotError("CORRUPT", "the meta pages differ in their page size");
    if (meta.pages > this.#pages)
      throw new SnapshotError("TRUNCATED", `${this.#pages} pages of ${meta.pageSize} bytes are there, ${meta.pages} were written`);
    this.#spool.flush();
    return new Summary(this.#spool, this.#offsets, meta.pages).make(meta.root, meta.pageSize);
  }
}

interface Bucket {
  readonly name: string;
  readonly root: number;
}

/** Walks the tree through the records. */
class Summary {
  readonly #spool: RecordSpool;
  readonly #offsets: readonly Uint32Array[];
  readonly #pages: number;
  /** A bit for each page that was referred to. */
  readonly #seen: Uint8Array;
  readonly #facts = new StoreFactsBuilder();
  readonly #inline = new RecordBuffer();
  #entries = 0;
  #revisions = 0;
  #newest = 0;

  constructor(spool: RecordSpool, offsets: readonly Uint32Array[], pages: number) {
    this.#spool = spool;
    this.#offsets = offsets;
    this.#pages = pages;
    this.#seen = new Uint8Array(Math.ceil(pages / 8));
  }

  make(root: number, pageSize: number): SnapshotStatistics {
    // The meta pages are referred to by nothing.
    this.#mark(0);
    this.#mark(1);
    const buckets: Bucket[] = [];
    let keys: readonly Uint8Array[] | number | undefined;
    this.#walk(root, true, (payload, count) => {
      const entries = [...keptEntries(payload)];
      if (entries.length !== count || entries.some(({ kind }) => kind !== entryKinds.bucket))
        throw new SnapshotError("CORRUPT", "an entry beside the buckets");
      for (const entry of entries) {
        const name = Buffer.from(entry.key).toString("latin1");
        const child = u64(entry.value, 0);
        if (entry.value.length < bucketHeaderSize) throw new SnapshotError("CORRUPT", "a bucket without a root");
        if (child !== 0) buckets.push({ name, root: child });
        else {
          const inline = this.#inlineBucket(name, entry.value.slice(bucketHeaderSize));
          if (name === "key") keys = [inline];
        }
      }
    });
    for (const { name, root: child } of buckets) {
      if (name === "key") keys = child;
      this.#walk(child, true, (payload, count) => this.#look(name, payload, count));
    }
    const liveKeys = keys === undefined ? 0 : this.#countLive(keys);
    return {
      ...this.#facts.build(),
      revision: this.#newest,
      totalKey: liveKeys,
      liveKeys,
      entries: this.#entries,
      revisions: this.#revisions,
      totalSize: this.#pages * pageSize,
      pageSize,
    };
  }

  /** The payload of its record. */
  #inlineBucket(name: string, page: Uint8Array): Uint8Array {
    if (u16(page, 8) !== pageFlags.leaf) throw new SnapshotError("CORRUPT", "an inline bucket is no leaf");
    const record = recordOfPage(this.#inline, page).slice();
    const header = readRecordHeader(record);
    if (header.kind !== recordKinds.leaf) throw new SnapshotError("CORRUPT", "an inline bucket is damaged");
    const payload = record.subarray(recordHeaderSize, recordHeaderSize + header.payloadBytes);
    this.#look(name, payload, header.count);
    return payload;
  }

  /** Counts the entries of a leaf; in the bucket of the keys they are revisions, in their order. */
  #look(bucket: string, payload: Uint8Array, count: number): void {
    this.#entries += count;
    if (bucket === "key") {
      let revisions = 0;
      for (let at = 0; at < payload.length; at += revisionEntrySize, revisions += 1) {
        const kind = payload[at] ?? 0;
        if (kind !== entryKinds.write && kind !== entryKinds.deletion) throw new SnapshotError("CORRUPT", "an entry that is no revision");
        const main = mainRevision(payload, at + 1);
        if (main < this.#newest || main > Number.MAX_SAFE_INTEGER) throw new SnapshotError("CORRUPT", "revisions out of order");
        this.#newest = main;
      }
      if (revisions !== count) throw new SnapshotError("CORRUPT", "an entry that is no revision");
      this.#revisions += count;
      return;
    }
    for (const entry of keptEntries(payload)) {
      if (entry.kind === entryKinds.bucket) throw new SnapshotError("CORRUPT", "a bucket within a bucket");
      this.#facts.add(bucket, entry.key, entry.value.slice());
    }
  }

  /** Keys whose newest revision is a write. Where the table would be too large, one part of the hashes after the other. */
  #countLive(keys: readonly Uint8Array[] | number): number {
    const room = Math.max(minTableBytes, this.#pages * 16);
    let parts = 1;
    while (LiveKeys.bytesFor(Math.ceil((this.#revisions / parts) * (parts === 1 ? 1 : 1.1))) > room) parts += 1;
    let live = 0;
    for (let part = 0; part < parts; part += 1) {
      const table = new LiveKeys(Math.ceil((this.#revisions / parts) * 1.1) + 1000);
      const count = (payload: Uint8Array): void => {
        for (let at = 0; at < payload.length; at += revisionEntrySize) {
          const low = u32(payload, at + 9);
          if (parts > 1 && low % parts !== part) continue;
          table.set(low, u32(payload, at + 13), payload[at] === entryKinds.write);
        }
      };
      if (typeof keys === "number") this.#walk(keys, false, count);
      else keys.forEach(count);
      live += table.count;
    }
    return live;
  }

  /** The leaves of a tree from left to right; `isFirst`: pages must not have been referred to before. */
  #walk(root: number, isFirst: boolean, leaf: (payload: Uint8Array, count: number) => void): void {
    const waiting = [root];
    for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
      const offset = page < this.#pages ? this.#offsets[Math.floor(page / offsetsPerBlock)]?.[page % offsetsPerBlock] : undefined;
      if (offset === undefined || offset === 0) throw new SnapshotError("CORRUPT", `page ${page} is not the one that is referred to`);
      const { kind, overflow, count, payloadBytes } = readRecordHeader(this.#spool.read(offset * 8, recordHeaderSize));
      if (kind === recordKinds.undecided)
        throw new SnapshotError("LIMIT_EXCEEDED", `page ${page} goes on through others in a way that one pass cannot follow`);
      if (kind === recordKinds.damaged) throw new SnapshotError("CORRUPT", `page ${page} is damaged`);
      if (page + overflow >= this.#pages) throw new SnapshotError("CORRUPT", `page ${page} goes on beyond the end`);
      if (isFirst) for (let id = page; id <= page + overflow; id += 1) this.#mark(id);
      const payload = this.#spool.read(offset * 8 + recordHeaderSize, payloadBytes);
      if (kind === recordKinds.leaf) leaf(payload, count);
      else for (let index = count - 1; index >= 0; index -= 1) waiting.push(u32(payload, index * 4));
    }
  }

  #mark(page: number): void {
    const byte = page >>> 3;
    const bit = 1 << (page & 7);
    const seen = this.#seen[byte] ?? 0;
    if ((seen & bit) !== 0) throw new SnapshotError("CORRUPT", `page ${page} is referred to twice`);
    this.#seen[byte] = seen | bit;
  }
}

interface KeptEntry {
  readonly kind: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Those of a leaf that were kept whole. */
function* keptEntries(payload: Uint8Array): Generator<KeptEntry, void> {
  let at = 0;
  while (at < payload.length) {
    const kind = payload[at] ?? 0;
    if (kind === entryKinds.write || kind === entryKinds.deletion || kind === entryKinds.badRevision) {
      at += revisionEntrySize;
      continue;
    }
    const keySize = u16(payload, at + 1);
    const valueSize = u32(payload, at + 3);
    const keyAt = at + keptEntryHeaderSize;
    at = keyAt + keySize + valueSize;
    yield { kind, key: payload.subarray(keyAt, keyAt + keySize), value: payload.subarray(keyAt + keySize, at) };
  }
}
