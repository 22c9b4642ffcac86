import { createHash } from "node:crypto";
import type { Clock, ObjectStore, ObjectStoreFailure, ObjectStoreFailureKind, OpenUpload, StoredObject } from "@talos-operator/ports";

interface Kept {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly modifiedAt: number;
}

/** A bucket in memory that never fails by itself, and what is in it past every fault. */
export interface MemoryObjectStore extends ObjectStore {
  /** Bytes by key. */
  contents(): ReadonlyMap<string, Uint8Array>;
  uploads(): readonly Required<OpenUpload>[];
  /** Puts or replaces an object, as somebody does who has the keys too. */
  plant(key: string, bytes: Uint8Array): void;
  /** While set, what an upload makes has one wrong byte. */
  garbles: boolean;
  /** Takes an object away so. */
  lose(key: string): void;
  /** All bytes that are kept under a key, oldest first: what was replaced or removed stays behind in a bucket with versions. */
  versions(key: string): readonly Uint8Array[];
  /** Keys under which anything is kept, whether it is still shown or not. */
  keptKeys(): readonly string[];
}

/** What a bucket does with what is removed. */
export type Keeping =
  | { readonly kind: "nothing" }
  /** Every version stays, behind a delete marker; one more removal makes one more marker, also where nothing was. */
  | { readonly kind: "versions" }
  /** Objects that `isLocked` says are refused to be removed for so long after they were stored. Milliseconds. */
  | { readonly kind: "lock"; readonly forMs: number; readonly isLocked: (key: string) => boolean };

/** How many keys one page of a list has. */
const PAGE = 1_000;

/** @param options.ignoresConditions `ifAbsent` is read and not kept, as some stores do it */
export function createMemoryObjectStore(
  clock: Clock,
  options: { readonly ignoresConditions?: boolean; readonly keeping?: Keeping } = {},
): MemoryObjectStore {
  const { keeping = { kind: "nothing" } } = options;
  const kept = new Map<string, Kept>();
  /** What is not shown any more, by key, oldest first. */
  const behind = new Map<string, Uint8Array[]>();
  const hide = (key: string): void => {
    const one = kept.get(key);
    kept.delete(key);
    if (one !== undefined && keeping.kind === "versions") behind.set(key, [...(behind.get(key) ?? []), one.bytes]);
  };
  const uploads = new Map<string, { readonly upload: Required<OpenUpload>; readonly parts: Map<number, Uint8Array> }>();
  let begun = 0;
  const shown = (key: string, { bytes, etag, modifiedAt }: Kept): StoredObject => ({ key, size: bytes.length, etag, modifiedAt });
  const keep = (key: string, bytes: Uint8Array): StoredObject => {
    const one = { bytes: Uint8Array.from(bytes), etag: createHash("md5").update(bytes).digest("hex"), modifiedAt: clock.now() };
    hide(key);
    kept.set(key, one);
    return shown(key, one);
  };
  const partsOf = (id: string): Map<number, Uint8Array> => {
    const found = uploads.get(id);
    if (found === undefined) throw storeFailure("missing", "the store knows no such upload");
    return found.parts;
  };
  const store: MemoryObjectStore = {
    garbles: false,
    place: "a bucket in memory",
    async *list(prefix, { after = "" } = {}) {
      await Promise.resolve();
      for (let last = after; ;) {
        const page = [...kept.keys()]
          .filter((key) => key.startsWith(prefix) && key > last)
          .toSorted()
          .slice(0, PAGE);
        for (const key of page) {
          const one = kept.get(key);
          if (one !== undefined) yield shown(key, one);
        }
        const end = page.at(-1);
        if (end === undefined || page.length < PAGE) return;
        last = end;
      }
    },
    async head(key) {
      await Promise.resolve();
      const one = kept.get(key);
      return one === undefined ? undefined : shown(key, one);
    },
    async get(key, { offset = 0 } = {}) {
      await Promise.resolve();
      const one = kept.get(key);
      return one === undefined ? undefined : { ...shown(key, one), body: pieces(one.bytes.subarray(offset)) };
    },
    async put(key, bytes, { ifAbsent = false } = {}) {
      await Promise.resolve();
      if (ifAbsent && options.ignoresConditions !== true && kept.has(key)) throw storeFailure("exists", "an object of this key is there");
      return keep(key, bytes);
    },
    async createUpload(key) {
      await Promise.resolve();
      begun += 1;
      const id = `upload-${begun}`;
      uploads.set(id, { upload: { key, id, startedAt: clock.now() }, parts: new Map() });
      return {
        key,
        id,
        async part(number, bytes) {
          await Promise.resolve();
          partsOf(id).set(number, Uint8Array.from(bytes));
        },
        async complete() {
          await Promise.resolve();
          const parts = [...partsOf(id)].toSorted(([left], [right]) => left - right).map(([, bytes]) => bytes);
          uploads.delete(id);
          const whole = Buffer.concat(parts);
          if (store.garbles && whole.length > 0) whole.writeUInt8(whole.readUInt8(whole.length >> 1) ^ 1, whole.length >> 1);
          return keep(key, whole);
        },
        async abort() {
          await Promise.resolve();
          uploads.delete(id);
        },
      };
    },
    async *listUploads(prefix) {
      await Promise.resolve();
      for (const upload of store.uploads()) if (upload.key.startsWith(prefix)) yield upload;
    },
    async abortUpload({ id }) {
      await Promise.resolve();
      uploads.delete(id);
    },
    async remove(key) {
      await Promise.resolve();
      const one = kept.get(key);
      if (one !== undefined && keeping.kind === "lock" && keeping.isLocked(key) && clock.now() < one.modifiedAt + keeping.forMs)
        throw storeFailure("locked", "object lock keeps the object");
      hide(key);
      return { removed: keeping.kind === "versions" ? "marked" : "gone" };
    },
    close: () => undefined,
    contents: () => new Map([...kept].map(([key, { bytes }]) => [key, bytes])),
    uploads: () => [...uploads.values()].map(({ upload }) => upload),
    plant(key, bytes) {
      keep(key, bytes);
    },
    lose: hide,
    versions: (key) => [...(behind.get(key) ?? []), ...[kept.get(key)?.bytes].filter((bytes) => bytes !== undefined)],
    keptKeys: () => [...new Set([...behind.keys(), ...kept.keys()])].toSorted(),
  };
  return store;
}

export function storeFailure(kind: ObjectStoreFailureKind, message: string): ObjectStoreFailure {
  return Object.assign(new Error(message), { name: "ObjectStoreFailure" as const, kind });
}

const PIECE = 16 * 1024;

async function* pieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  await Promise.resolve();
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
