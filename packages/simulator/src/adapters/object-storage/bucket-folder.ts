import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import type { Checksum, ChecksumAlgorithm, ChecksumType } from "../../object-storage/checksums.ts";

/** Layout of the index, kept as `user_version`; "TalS" marks the file as ours. */
const LAYOUT = 1;
const APPLICATION = 0x54616c53;
const TABLES = `
CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, created INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key BLOB, size INTEGER NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL, about TEXT NOT NULL,
  PRIMARY KEY (bucket, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key BLOB NOT NULL, begun INTEGER NOT NULL, about TEXT NOT NULL) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS uploads_in_order ON uploads (bucket, key, id);
CREATE TABLE IF NOT EXISTS parts (upload TEXT, number INTEGER, file TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
  checksum TEXT, PRIMARY KEY (upload, number)) WITHOUT ROWID;`;
/** Rows that are read from the index at a time. */
const BATCH = 256;

/** A file of bytes: a part of an object, or all of it. */
export interface Piece {
  readonly file: string;
  readonly size: number;
}

/** Headers that were sent with an object, to be given back. */
export interface Described {
  readonly headers: Readonly<Record<string, string>>;
}

export interface KeptObject extends Described {
  readonly key: string;
  readonly size: number;
  /** With its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly checksum?: Checksum;
  /** The upload that made it: who asks to complete that once more is told what came of it. */
  readonly upload?: string;
  readonly pieces: readonly Piece[];
}

export interface KeptUpload extends Described {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly begunAt: number;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly type: ChecksumType };
}

export interface KeptPart extends Piece {
  readonly number: number;
  readonly etag: string;
  readonly modifiedAt: number;
  readonly checksum?: Omit<Checksum, "type">;
}

type Row = Readonly<Record<string, SQLInputValue>>;

/**
 * A folder that holds buckets: an index (SQLite), and files of bytes with names that are drawn by lot. No key becomes a path, and nothing counts that the
 * index does not name: bytes come first, then one transaction. What a process left behind that died between is removed at the next start.
 *
 * Survives the death of the process; the loss of power may take the last writes.
 */
export class BucketFolder {
  readonly #bytes: string;
  readonly #index: DatabaseSync;
  /** Files that are being read, and how often; those without a name in the index go when the last reader has. */
  readonly #readers = new Map<string, number>();
  readonly #doomed = new Set<string>();

  /** @throws Error of `node:fs` or SQLite, or one that says that the folder is another program's, or another process's */
  constructor(folder: string) {
    this.#bytes = join(folder, "bytes");
    mkdirSync(this.#bytes, { recursive: true, mode: 0o700 });
    this.#index = openIndex(join(folder, "index.db"));
    try {
      this.#sweep();
    } catch (thrown) {
      this.#index.close();
      throw thrown;
    }
  }

  /** A name for new bytes, and where they go. */
  newFile(): { readonly file: string; readonly path: string } {
    const file = randomBytes(16).toString("hex");
    return { file, path: this.pathOf(file) };
  }

  pathOf(file: string): string {
    return join(this.#bytes, file);
  }

  /** Makes a bucket where there is none; since when there is one, in milliseconds since the epoch. */
  makeBucket(name: string, now: number): number {
    this.#run("INSERT OR IGNORE INTO buckets VALUES (?, ?)", name, now);
    return Number(this.#get("SELECT created FROM buckets WHERE name = ?", name)?.["created"]);
  }

  object(bucket: string, key: string): KeptObject | undefined {
    const row = this.#get("SELECT * FROM objects WHERE bucket = ? AND key = ?", bucket, Buffer.from(key));
    return row === undefined ? undefined : objectOf(row);
  }

  /** Objects whose keys begin with `prefix`, from these bytes on, in the order of bytes. */
  *objects(bucket: string, prefix: string, from: Uint8Array): Generator<KeptObject> {
    const begin = Buffer.from(prefix);
    for (let at = Buffer.compare(from, begin) < 0 ? begin : Buffer.from(from); ;) {
      const rows = this.#all("SELECT * FROM objects WHERE bucket = ? AND key >= ? ORDER BY key LIMIT ?", bucket, at, BATCH);
      for (const row of rows) {
        const key = bytesOf(row["key"]);
        if (!key.subarray(0, begin.length).equals(begin)) return;
        yield objectOf(row);
        at = Buffer.concat([key, Buffer.from([0])]);
      }
      if (rows.length < BATCH) return;
    }
  }

  /**
   * Puts an object in the place of what has its key, in one step.
   *
   * @param decide called with what is there; throws to keep it
   */
  putObject(bucket: string, object: KeptObject, decide: (present: KeptObject | undefined) => void): void {
    const before = this.#transaction(() => {
      const present = this.object(bucket, object.key);
      decide(present);
      this.#writeObject(bucket, object);
      return present;
    });
    this.#drop(before?.pieces ?? []);
  }

  removeObject(bucket: string, key: string): void {
    const present = this.object(bucket, key);
    if (present === undefined) return;
    this.#run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, Buffer.from(key));
    this.#drop(present.pieces);
  }

  createUpload(bucket: string, key: string, begunAt: number, about: Described & Pick<KeptUpload, "checksum">): KeptUpload {
    // Ids sort by their beginning, so that uploads of one key are listed in that order.
    const id = `${begunAt.toString(16).padStart(12, "0")}${randomBytes(16).toString("hex")}`;
    this.#run("INSERT INTO uploads VALUES (?, ?, ?, ?, ?)", id, bucket, Buffer.from(key), begunAt, JSON.stringify(about));
    return { ...about, id, bucket, key, begunAt };
  }

  upload(bucket: string, key: string, id: string): KeptUpload | undefined {
    const row = this.#get("SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?", id, bucket, Buffer.from(key));
    return row === undefined ? undefined : uploadOf(row);
  }

  /** Up to `most` uploads whose keys begin with `prefix`, behind this key, and of that key behind this id. */
  uploads(bucket: string, prefix: string, after: { readonly key: string; readonly id?: string } | undefined, most: number): KeptUpload[] {
    const begin = Buffer.from(prefix);
    const found: KeptUpload[] = [];
    // Without an id the key is done with: "~" comes behind every id.
    let [key, id] = after === undefined ? [Buffer.alloc(0), ""] : [Buffer.from(after.key), after.id ?? "~"];
    if (Buffer.compare(key, begin) < 0) [key, id] = [begin, ""];
    const rows = this.#all("SELECT * FROM uploads WHERE bucket = ? AND (key, id) > (?, ?) ORDER BY key, id LIMIT ?", bucket, key, id, most);
    for (const row of rows) {
      if (!bytesOf(row["key"]).subarray(0, begin.length).equals(begin)) break;
      found.push(uploadOf(row));
    }
    return found;
  }

  /** False when the upload has ended meanwhile; then nothing is kept. */
  putPart(upload: KeptUpload, part: KeptPart): boolean {
    const before = this.#transaction(() => {
      if (this.upload(upload.bucket, upload.key, upload.id) === undefined) return undefined;
      const replaced = this.#get("SELECT * FROM parts WHERE upload = ? AND number = ?", upload.id, part.number);
      this.#run(
        "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)",
        upload.id,
        part.number,
        part.file,
        part.size,
        part.etag,
        part.modifiedAt,
        part.checksum === undefined ? null : JSON.stringify(part.checksum),
      );
      return replaced === undefined ? [] : [partOf(replaced)];
    });
    if (before !== undefined) this.#drop(before);
    return before !== undefined;
  }

  /** Parts behind a number, in their order. */
  parts(upload: string, after = 0, most = 10_000): KeptPart[] {
    return this.#all("SELECT * FROM parts WHERE upload = ? AND number > ? ORDER BY number LIMIT ?", upload, after, most).map(partOf);
  }

  /** Ends an upload and frees its parts. */
  removeUpload(id: string): void {
    this.#drop(
      this.#transaction(() => {
        const parts = this.parts(id);
        this.#forgetUpload(id);
        return parts;
      }),
    );
  }

  /**
   * Makes the object of an upload's parts, in one step: they become its pieces as they lie. Parts that it does not name are freed.
   *
   * @param decide called with what has the key; throws to keep it
   * @returns false when the upload, or one of the parts, is not what it was
   */
  completeUpload(upload: KeptUpload, object: KeptObject, decide: (present: KeptObject | undefined) => void): boolean {
    const named = new Set(object.pieces.map(({ file }) => file));
    const freed = this.#transaction(() => {
      if (this.upload(upload.bucket, upload.key, upload.id) === undefined) return undefined;
      const parts = this.parts(upload.id);
      const rest = parts.filter(({ file }) => !named.has(file));
      if (parts.length - rest.length !== named.size) return undefined;
      const present = this.object(upload.bucket, object.key);
      decide(present);
      this.#writeObject(upload.bucket, object);
      this.#forgetUpload(upload.id);
      return [...rest, ...(present?.pieces ?? [])];
    });
    if (freed !== undefined) this.#drop(freed);
    return freed !== undefined;
  }

  /** Keeps files until the end of the reading, even when their object is replaced or removed meanwhile. */
  hold(pieces: readonly Piece[]): () => void {
    for (const { file } of pieces) this.#readers.set(file, (this.#readers.get(file) ?? 0) + 1);
    return () => {
      for (const { file } of pieces) {
        const left = (this.#readers.get(file) ?? 1) - 1;
        if (left > 0) this.#readers.set(file, left);
        else {
          this.#readers.delete(file);
          if (this.#doomed.delete(file)) rmSync(this.pathOf(file), { force: true });
        }
      }
    };
  }

  /** Removes bytes that no object came to name. */
  async discard(file: string): Promise<void> {
    await rm(this.pathOf(file), { force: true });
  }

  close(): void {
    this.#index.close();
  }

  #writeObject(bucket: string, { key, size, etag, modifiedAt, ...about }: KeptObject): void {
    this.#run(
      "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)",
      bucket,
      Buffer.from(key),
      size,
      etag,
      modifiedAt,
      JSON.stringify(about),
    );
  }

  #forgetUpload(id: string): void {
    this.#run("DELETE FROM parts WHERE upload = ?", id);
    this.#run("DELETE FROM uploads WHERE id = ?", id);
  }

  #drop(pieces: readonly Piece[]): void {
    for (const { file } of pieces) {
      if (this.#readers.has(file)) this.#doomed.add(file);
      else rmSync(this.pathOf(file), { force: true });
    }
  }

  /** Takes away bytes that the index does not name: of writes that were cut off by the end of the process. */
  #sweep(): void {
    const named = new Set<string>();
    for (const row of this.#index.prepare("SELECT about FROM objects").iterate())
      for (const { file } of (JSON.parse(textOf(row["about"])) as Pick<KeptObject, "pieces">).pieces) named.add(file);
    for (const row of this.#index.prepare("SELECT file FROM parts").iterate()) named.add(textOf(row["file"]));
    for (const file of readdirSync(this.#bytes)) if (!named.has(file)) rmSync(join(this.#bytes, file), { recursive: true, force: true });
  }

  #transaction<T>(work: () => T): T {
    this.#index.exec("BEGIN IMMEDIATE");
    try {
      const done = work();
      this.#index.exec("COMMIT");
      return done;
    } catch (thrown) {
      // A full disk has ended the transaction already.
      if (this.#index.isTransaction) this.#index.exec("ROLLBACK");
      throw thrown;
    }
  }

  #get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#index.prepare(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#index.prepare(sql).all(...values);
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#index.prepare(sql).run(...values);
  }
}

function openIndex(file: string): DatabaseSync {
  // Made by us before SQLite opens it, which would let everybody read it.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) closeSync(openSync(file, "wx", 0o600));
  const index = new DatabaseSync(file, { timeout: 0 });
  try {
    // Held from the first access to the end: two processes in one folder would remove each other's bytes.
    index.exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; BEGIN EXCLUSIVE");
    const [layout, owner] = [pragma(index, "user_version"), pragma(index, "application_id")];
    if (layout !== 0 && owner !== APPLICATION) throw new Error(`${file} is a file of another program`);
    if (layout > LAYOUT) throw new Error(`${file} was written by a newer version`);
    index.exec(`${TABLES}; PRAGMA application_id=${APPLICATION}; PRAGMA user_version=${LAYOUT}; COMMIT`);
    return index;
  } catch (thrown) {
    index.close();
    throw thrown;
  }
}

function pragma(index: DatabaseSync, name: string): number {
  return Number(index.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

function objectOf(row: Row): KeptObject {
  const about = JSON.parse(textOf(row["about"])) as Pick<KeptObject, "headers" | "checksum" | "upload" | "pieces">;
  return {
    ...about,
    key: bytesOf(row["key"]).toString("utf8"),
    size: Number(row["size"]),
    etag: textOf(row["etag"]),
    modifiedAt: Number(row["modified"]),
  };
}

function uploadOf(row: Row): KeptUpload {
  const about = JSON.parse(textOf(row["about"])) as Pick<KeptUpload, "headers" | "checksum">;
  return {
    ...about,
    id: textOf(row["id"]),
    bucket: textOf(row["bucket"]),
    key: bytesOf(row["key"]).toString("utf8"),
    begunAt: Number(row["begun"]),
  };
}

function partOf(row: Row): KeptPart {
  return {
    number: Number(row["number"]),
    file: textOf(row["file"]),
    size: Number(row["size"]),
    etag: textOf(row["etag"]),
    modifiedAt: Number(row["modified"]),
    ...(row["checksum"] === null ? {} : { checksum: JSON.parse(textOf(row["checksum"])) as NonNullable<KeptPart["checksum"]> }),
  };
}

function textOf(value: SQLInputValue | undefined): string {
  if (typeof value !== "string") throw new TypeError("the index holds something else than a text");
  return value;
}

function bytesOf(value: SQLInputValue | undefined): Buffer {
  if (!(value instanceof Uint8Array)) throw new TypeError("the index holds something else than bytes");
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
