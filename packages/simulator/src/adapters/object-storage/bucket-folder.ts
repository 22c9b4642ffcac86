import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";

/** Layout of the index, kept as `user_version`; "TalS" marks the file as ours. */
const LAYOUT = 1;
const APPLICATION = 0x54616c53;
const TABLES = `
CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key BLOB, size INTEGER NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL, about TEXT NOT NULL,
  PRIMARY KEY (bucket, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key BLOB NOT NULL, begun INTEGER NOT NULL, about TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (upload TEXT, number INTEGER, file TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
  PRIMARY KEY (upload, number)) WITHOUT ROWID;`;

/** A file of bytes: a part of an object, or all of it. */
export interface Piece {
  readonly file: string;
  readonly size: number;
}

/** What is kept of an object in one text. */
interface About {
  /** The media type that it was sent with. */
  readonly type?: string | undefined;
  /** The upload that made it: who asks to complete that once more is told what came of it. */
  readonly upload?: string;
  readonly pieces: readonly Piece[];
}

export interface KeptObject extends About {
  readonly key: string;
  readonly size: number;
  /** With its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface KeptUpload extends Pick<About, "type"> {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly begunAt: number;
}

export interface KeptPart extends Piece {
  readonly number: number;
  readonly etag: string;
  readonly modifiedAt: number;
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

  object(bucket: string, key: string): KeptObject | undefined {
    const [row] = this.#all("SELECT * FROM objects WHERE bucket = ? AND key = ?", bucket, Buffer.from(key));
    return row === undefined ? undefined : objectOf(row);
  }

  /** Up to `most` objects whose keys begin with `prefix`, behind the key `after`, in the order of bytes. */
  objects(bucket: string, prefix: string, after: string, most: number): KeptObject[] {
    const sql = "SELECT * FROM objects WHERE bucket = ? AND key >= ? AND key > ? ORDER BY key LIMIT ?";
    return withPrefix(this.#all(sql, bucket, Buffer.from(prefix), Buffer.from(after), most), prefix).map(objectOf);
  }

  /** Puts an object in the place of what has its key. */
  putObject(bucket: string, object: KeptObject): void {
    const present = this.object(bucket, object.key);
    this.#writeObject(bucket, object);
    this.#drop(present?.pieces ?? []);
  }

  removeObject(bucket: string, key: string): void {
    const present = this.object(bucket, key);
    if (present === undefined) return;
    this.#run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, Buffer.from(key));
    this.#drop(present.pieces);
  }

  /** @returns the id of the upload */
  createUpload(bucket: string, key: string, begunAt: number, type: string | undefined): string {
    // Ids sort by their beginning, so that uploads of one key are listed in that order.
    const id = `${begunAt.toString(16).padStart(12, "0")}${randomBytes(16).toString("hex")}`;
    this.#run("INSERT INTO uploads VALUES (?, ?, ?, ?, ?)", id, bucket, Buffer.from(key), begunAt, JSON.stringify({ type }));
    return id;
  }

  upload(bucket: string, key: string, id: string): KeptUpload | undefined {
    const [row] = this.#all("SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?", id, bucket, Buffer.from(key));
    return row === undefined ? undefined : uploadOf(row);
  }

  /** Open uploads of keys that begin with `prefix`. */
  uploads(bucket: string, prefix: string): KeptUpload[] {
    const sql = "SELECT * FROM uploads WHERE bucket = ? AND key >= ? ORDER BY key, id";
    return withPrefix(this.#all(sql, bucket, Buffer.from(prefix)), prefix).map(uploadOf);
  }

  /** Puts a part in the place of what has its number. */
  putPart(upload: string, { number, file, size, etag, modifiedAt }: KeptPart): void {
    const replaced = this.#all("SELECT * FROM parts WHERE upload = ? AND number = ?", upload, number).map(partOf);
    const sql = "INSERT OR REPLACE INTO parts (upload, number, file, size, etag, modified) VALUES (?, ?, ?, ?, ?, ?)";
    this.#run(sql, upload, number, file, size, etag, modifiedAt);
    this.#drop(replaced);
  }

  /** In the order of their numbers. */
  parts(upload: string): KeptPart[] {
    return this.#all("SELECT * FROM parts WHERE upload = ? ORDER BY number", upload).map(partOf);
  }

  /** Ends an upload and frees its parts. */
  removeUpload(id: string): void {
    const parts = this.parts(id);
    this.#transaction(() => this.#forgetUpload(id));
    this.#drop(parts);
  }

  /** Makes the object of an upload's parts, in one step: they become its pieces as they lie. Parts that it does not name are freed. */
  completeUpload({ id, bucket }: KeptUpload, object: KeptObject): void {
    const named = new Set(object.pieces.map(({ file }) => file));
    const freed = [...this.parts(id).filter(({ file }) => !named.has(file)), ...(this.object(bucket, object.key)?.pieces ?? [])];
    this.#transaction(() => {
      this.#writeObject(bucket, object);
      this.#forgetUpload(id);
    });
    this.#drop(freed);
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
    const sql = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)";
    this.#run(sql, bucket, Buffer.from(key), size, etag, modifiedAt, JSON.stringify(about satisfies About));
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
    for (const { about } of this.#all("SELECT about FROM objects"))
      for (const { file } of (JSON.parse(about as string) as About).pieces) named.add(file);
    for (const { file } of this.#all("SELECT file FROM parts")) named.add(file as string);
    for (const file of readdirSync(this.#bytes)) if (!named.has(file)) rmSync(join(this.#bytes, file), { recursive: true, force: true });
  }

  #transaction(work: () => void): void {
    this.#index.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#index.exec("COMMIT");
    } catch (thrown) {
      // A full disk has ended the transaction already.
      if (this.#index.isTransaction) this.#index.exec("ROLLBACK");
      throw thrown;
    }
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

/** The first of these rows, which are in the order of their keys, whose keys begin so. */
function withPrefix(rows: readonly Row[], prefix: string): readonly Row[] {
  const begin = Buffer.from(prefix);
  const end = rows.findIndex(
    ({ key }) =>
      !Buffer.from(key as Uint8Array)
        .subarray(0, begin.length)
        .equals(begin),
  );
  return end === -1 ? rows : rows.slice(0, end);
}

function objectOf(row: Row): KeptObject {
  return {
    ...(JSON.parse(row["about"] as string) as About),
    key: keyOf(row),
    size: row["size"] as number,
    etag: row["etag"] as string,
    modifiedAt: row["modified"] as number,
  };
}

function uploadOf(row: Row): KeptUpload {
  return {
    ...(JSON.parse(row["about"] as string) as Pick<About, "type">),
    id: row["id"] as string,
    bucket: row["bucket"] as string,
    key: keyOf(row),
    begunAt: row["begun"] as number,
  };
}

function partOf(row: Row): KeptPart {
  return {
    number: row["number"] as number,
    file: row["file"] as string,
    size: row["size"] as number,
    etag: row["etag"] as string,
    modifiedAt: row["modified"] as number,
  };
}

function keyOf(row: Row): string {
  return Buffer.from(row["key"] as Uint8Array).toString("utf8");
}
