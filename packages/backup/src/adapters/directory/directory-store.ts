import { createHash, randomBytes } from "node:crypto";
import { createReadStream, constants } from "node:fs";
import type { Dirent } from "node:fs";
import { link, lstat, mkdir, open, readdir, realpath, rename, rm, rmdir, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { ObjectBody, ObjectStore, ObjectStoreFailureKind, ObjectUpload, OpenUpload, StoredObject } from "@talos-operator/ports";
import { isStoreFailure, StoreFailure } from "../../store/failure.ts";
import { demandKey, demandPrefix, isKey } from "../../store/key.ts";

/** Uploads that are not complete; no key begins with a dot. */
const UPLOADS = ".uploads";

/** Nobody but the operator reads what is stored. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Longest key of a store. */
const MAX_KEY_BYTES = 1_024;

/** A slow disk is not waited for without end: the next look at the signal comes after so many bytes. */
const READ_BYTES = 1 << 18;

/**
 * A folder as a store of objects: a key is a path below it. An object is there as a whole or not at all: files are written beside and moved into place once the
 * disk has them, and `ifAbsent` is the file system's own link, which of two writers only one can make.
 *
 * @param root the operator's folder of backups; `path` the folder below it, relative, without `.` and `..`. No link leads out of it.
 */
export function createDirectoryStore(root: string, path: string): ObjectStore {
  const folder = openFolder(root, path);
  const { place, base, failing, fileOf, uploads, describe } = folder;
  return {
    place,
    async *list(prefix, options) {
      demandPrefix(prefix);
      try {
        await demandFolder(root, base, false);
        for await (const key of keysBelow(base, prefix)) {
          options?.signal?.throwIfAborted();
          // What others put there, by names that no key can have.
          if (!isKey(key)) continue;
          if (options?.after !== undefined && key <= options.after) continue;
          const found = await describe(key);
          if (found !== undefined) yield found;
        }
      } catch (thrown) {
        throw failureOf(thrown, place);
      }
    },
    head: (key) => failing(() => describe(key)),
    get: (key, options) =>
      failing(async (): Promise<ObjectBody | undefined> => {
        const found = await describe(key);
        if (found === undefined) return undefined;
        return { ...found, body: bytesOf(await fileOf(key, false), found.size, options?.offset ?? 0, place, options?.signal) };
      }),
    put: (key, bytes, options) =>
      failing(async () => {
        options?.signal?.throwIfAborted();
        const file = await fileOf(key, true);
        const draft = join(await uploads(true), `put-${newId()}`);
        try {
          await writeFile(draft, [bytes]);
          // Of several that link only one succeeds; a rename would replace what is there.
          if (options?.ifAbsent === true) await link(draft, file);
          else await rename(draft, file);
        } finally {
          await rm(draft, { force: true });
        }
        await syncFolder(dirname(file));
        return (await describe(key)) ?? gone(key, place);
      }),
    createUpload: (key) =>
      failing(async () => {
        await fileOf(key, true);
        const id = newId();
        await writeFile(join(await uploads(true, id), "key"), [Buffer.from(key)]);
        return uploadIn(folder, key, id);
      }),
    async *listUploads(prefix) {
      demandPrefix(prefix);
      try {
        yield* openUploads(await uploads(false), prefix);
      } catch (thrown) {
        throw failureOf(thrown, place);
      }
    },
    abortUpload: ({ id }) =>
      failing(async () => {
        demandKey(id);
        await rm(join(await uploads(false), id), { recursive: true, force: true });
      }),
    remove: (key) =>
      failing(async () => {
        const file = await fileOf(key, false);
        await unlink(file).catch(missing);
        await removeEmpty(dirname(file), base);
        return { removed: "gone" as const };
      }),
    close: () => undefined,
  };
}

/** The folder of a store, and where in it things are. */
interface Folder {
  /** In words, for failures. */
  readonly place: string;
  readonly base: string;
  /** Runs `act`; what it throws becomes a failure of the store. */
  readonly failing: <T>(act: () => Promise<T>) => Promise<T>;
  /** The file of a key, in a folder that lies below the root whatever links there are. */
  readonly fileOf: (key: string, make: boolean) => Promise<string>;
  /** Where drafts and parts are; nor does it lead elsewhere. */
  readonly uploads: (make: boolean, ...names: readonly string[]) => Promise<string>;
  readonly describe: (key: string) => Promise<StoredObject | undefined>;
}

function openFolder(root: string, path: string): Folder {
  if (path !== "") demandKey(path);
  const place = path === "" ? "the folder of backups" : `folder ${path} of the folder of backups`;
  const base = join(root, path);
  const failing: Folder["failing"] = async (act) => {
    try {
      return await act();
    } catch (thrown) {
      throw failureOf(thrown, place);
    }
  };

  const fileOf: Folder["fileOf"] = async (key, make) => {
    demandKey(key);
    const file = join(base, ...key.split("/"));
    await demandFolder(root, dirname(file), make);
    return file;
  };

  const uploads: Folder["uploads"] = async (make, ...names) => {
    const folder = join(base, UPLOADS, ...names);
    await demandFolder(root, folder, make);
    return folder;
  };

  const describe: Folder["describe"] = async (key) => {
    const file = await fileOf(key, false);
    const facts = await lstat(file).catch(missing);
    if (facts === undefined || facts.isDirectory()) return undefined;
    if (!facts.isFile()) throw new StoreFailure("denied", `${place}: ${key} is a link or a device, not a file of ours.`);
    return { key, size: facts.size, etag: `${facts.ino}-${facts.size}-${facts.mtimeMs}`, modifiedAt: facts.mtimeMs };
  };

  return { place, base, failing, fileOf, uploads, describe };
}

async function uploadIn({ place, failing, fileOf, uploads, describe }: Folder, key: string, id: string): Promise<ObjectUpload> {
  const parts = new Map<number, { readonly digest: string; readonly size: number }>();
  const folder = await uploads(true, id);
  const abort = (): Promise<void> => failing(async () => rm(join(await uploads(false), id), { recursive: true, force: true }));
  return {
    key,
    id,
    part: (number, bytes, options) =>
      failing(async () => {
        options?.signal?.throwIfAborted();
        await writeFile(join(folder, String(number)), [bytes]);
        parts.set(number, { digest: digestOf(bytes), size: bytes.length });
      }),
    complete: (options) =>
      failing(async () => {
        const file = await fileOf(key, true);
        const whole = join(folder, "whole");
        await writeFile(whole, joined(folder, parts, options?.signal));
        await rename(whole, file);
        await syncFolder(dirname(file));
        await rm(folder, { recursive: true, force: true });
        return (await describe(key)) ?? gone(key, place);
      }),
    abort,
  };
}

/** Demands that a folder lies below the root when all links are followed. @throws StoreFailure `denied` */
async function demandFolder(root: string, folder: string, make: boolean): Promise<void> {
  const real = await realpath(root);
  // Before anything is made: a folder behind a link would be made where the link leads.
  await demandBelow(real, folder);
  if (!make) return;
  await makeFolder(folder);
  await demandBelow(real, folder);
}

/** @param real the root, without links */
async function demandBelow(real: string, folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await realpath(at).catch(missing);
    if (found === undefined) continue;
    if (found !== real && !found.startsWith(real + sep))
      throw new StoreFailure("denied", "A link leads out of the folder of backups: take it away.");
    return;
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
}

async function writeFile(path: string, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, FILE_MODE);
  try {
    for await (const piece of pieces) await writeAll(file, piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/** The parts in the order of their numbers, each checked against what was sent. */
async function* joined(
  folder: string,
  parts: ReadonlyMap<number, { readonly digest: string; readonly size: number }>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for (const [number, { digest, size }] of [...parts].toSorted(([a], [b]) => a - b)) {
    signal?.throwIfAborted();
    const hash = createHash("sha256");
    let read = 0;
    for await (const piece of createReadStream(join(folder, String(number)), { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
      hash.update(piece);
      read += piece.length;
      yield piece;
    }
    if (read !== size || hash.digest("hex") !== digest)
      throw new StoreFailure("damaged", `Part ${number} of an upload is not what was sent.`);
  }
}

async function* bytesOf(
  file: string,
  size: number,
  offset: number,
  place: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  try {
    // The buffer of a manifest is no larger than the manifest: a list reads many.
    const highWaterMark = Math.max(1, Math.min(READ_BYTES, size - offset));
    const stream = createReadStream(file, { start: offset, highWaterMark, ...(signal === undefined ? {} : { signal }) });
    for await (const piece of stream as AsyncIterable<Buffer>) {
      read += piece.length;
      yield piece;
    }
  } catch (thrown) {
    throw failureOf(thrown, place);
  }
  if (read < size - offset) throw new StoreFailure("cut-off", `${place}: a file ends after ${read} bytes of ${size - offset}.`);
}

/** Keys below a folder in their order: that of their letters, with `/` among them. */
async function* keysBelow(base: string, prefix: string): AsyncGenerator<string> {
  const walk = async function* (folder: string, parent: string): AsyncGenerator<string> {
    const entries = (await readdir(folder, { withFileTypes: true }).catch(missing)) ?? [];
    const names = entries
      .filter((entry) => !entry.name.startsWith("."))
      .map((entry) => ({ entry, sortedBy: entry.isDirectory() ? `${entry.name}/` : entry.name }));
    for (const { entry } of names.toSorted((a, b) => (a.sortedBy < b.sortedBy ? -1 : 1))) {
      const key = `${parent}${entry.name}`;
      if (entry.isDirectory()) {
        if (prefix.startsWith(`${key}/`) || `${key}/`.startsWith(prefix)) yield* walk(join(folder, entry.name), `${key}/`);
      } else if (isFile(entry) && key.startsWith(prefix)) yield key;
    }
  };
  yield* walk(base, "");
}

function isFile(entry: Dirent): boolean {
  return entry.isFile();
}

async function* openUploads(folder: string, prefix: string): AsyncGenerator<OpenUpload> {
  for (const id of ((await readdir(folder).catch(missing)) ?? []).toSorted()) {
    const named = join(folder, id, "key");
    // A pipe that nobody writes to would be waited for without end.
    const file = await open(named, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(missing);
    if (file === undefined) continue;
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > MAX_KEY_BYTES) continue;
      const key = await file.readFile("utf8");
      if (key.startsWith(prefix)) yield { key, id, startedAt: facts.mtimeMs };
    } finally {
      await file.close();
    }
  }
}

/** What has become empty goes, up to the base. */
async function removeEmpty(folder: string, base: string): Promise<void> {
  for (let at = folder; at !== base && at.startsWith(base + sep); at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

/** Names are on the disk once their folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function newId(): string {
  return randomBytes(12).toString("hex");
}

function gone(key: string, place: string): never {
  throw new StoreFailure("missing", `${place}: ${key} was taken away while it was stored.`);
}

function missing(thrown: unknown): undefined {
  const code = codeOf(thrown);
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw thrown;
}

const KINDS: Readonly<Record<string, ObjectStoreFailureKind>> = {
  ENOENT: "missing",
  ENOTDIR: "missing",
  EEXIST: "exists",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ELOOP: "denied",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  ENAMETOOLONG: "invalid",
  ESTALE: "unreachable",
  ETIMEDOUT: "unreachable",
};

const WORDS: Readonly<Partial<Record<ObjectStoreFailureKind, string>>> = {
  missing: "it is not there: mount it, or make it",
  exists: "there is an object of this name",
  denied: "the operator may not write there: give it the right",
  full: "no room is left: make some",
  invalid: "it takes no such name",
  unreachable: "it does not answer",
};

function failureOf(thrown: unknown, place: string): unknown {
  if (isStoreFailure(thrown) || (thrown instanceof Error && thrown.name === "AbortError")) return thrown;
  const code = codeOf(thrown);
  const kind = KINDS[code] ?? "failing";
  return new StoreFailure(kind, `${place}: ${WORDS[kind] ?? "the disk fails"} (${code}).`, { cause: thrown });
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "unknown";
}
