/** A bucket in memory that breaks off at any call, and notes what was asked of it. For tests of the worker. */
import type { ObjectStore, ObjectStoreFailure, ObjectStoreFailureKind, StoredObject } from "@talos-operator/ports";

type Removal = "gone" | "marked" | "locked";

export interface TestBucket {
  readonly objects: Map<string, Uint8Array>;
  readonly uploads: Map<string, { readonly key: string; readonly startedAt: number; readonly parts: Map<number, Uint8Array> }>;
  /** `name key` of every call, in order. */
  readonly calls: string[];
  /** What a call with this number from 1 on does, before or after its effect. */
  fault:
    | ((
        call: number,
        name: string,
      ) => { readonly when: "before" | "after"; readonly kind: ObjectStoreFailureKind; readonly isLast: boolean } | undefined)
    | undefined;
  /** `ignored`: a put stores whatever stands there; `refused`: 501. */
  conditions: "honoured" | "ignored" | "refused";
  /** What becomes of an object that is removed. */
  onRemove: Removal | ((key: string) => Removal);
  now: number;
  open(): ObjectStore;
}

export function createTestBucket(): TestBucket {
  let ids = 0;
  const bucket: TestBucket = {
    objects: new Map(),
    uploads: new Map(),
    calls: [],
    fault: undefined,
    conditions: "honoured",
    onRemove: "gone",
    now: Date.UTC(2026, 10, 23),
    open: () => openBucket(bucket, () => `upload-${(ids += 1)}`),
  };
  return bucket;
}

function storeFailure(kind: ObjectStoreFailureKind): ObjectStoreFailure {
  return Object.assign(new Error(`the store says ${kind}`), { name: "ObjectStoreFailure" as const, kind });
}

function openBucket(bucket: TestBucket, nextId: () => string): ObjectStore {
  let isDead = false;
  /** Every effect is whole or did not happen; the answer may be lost. */
  const call = async <T>(name: string, key: string, effect: () => T): Promise<T> => {
    if (isDead) throw storeFailure("unreachable");
    bucket.calls.push(`${name} ${key}`);
    const fault = bucket.fault?.(bucket.calls.length, name);
    if (fault?.isLast === true) isDead = true;
    if (fault?.when === "before") throw storeFailure(fault.kind);
    const result = effect();
    if (fault?.when === "after") throw storeFailure(fault.kind);
    await Promise.resolve();
    return result;
  };
  const facts = (key: string): StoredObject | undefined => {
    const bytes = bucket.objects.get(key);
    return bytes === undefined ? undefined : { key, size: bytes.length, etag: `"${bytes.length}"` };
  };
  const stored = (key: string): StoredObject => {
    const object = facts(key);
    if (object === undefined) throw storeFailure("missing");
    return object;
  };
  return {
    place: "test bucket",
    async *list(prefix) {
      yield* await call("list", prefix, () =>
        [...bucket.objects.keys()]
          .filter((key) => key.startsWith(prefix))
          .toSorted()
          .map(stored),
      );
    },
    head: (key) => call("head", key, () => facts(key)),
    get: (key, options) =>
      call("get", key, () => {
        const object = facts(key);
        const bytes = bucket.objects.get(key)?.subarray(options?.offset ?? 0);
        return object === undefined || bytes === undefined ? undefined : { ...object, body: pieces(bytes) };
      }),
    put: (key, bytes, options) =>
      call("put", key, () => {
        if (options?.ifAbsent === true && bucket.conditions === "refused") throw storeFailure("unsupported");
        if (options?.ifAbsent === true && bucket.conditions === "honoured" && bucket.objects.has(key)) throw storeFailure("exists");
        bucket.objects.set(key, Buffer.from(bytes));
        return stored(key);
      }),
    async createUpload(key) {
      const id = nextId();
      await call("createUpload", key, () => bucket.uploads.set(id, { key, startedAt: bucket.now, parts: new Map() }));
      const upload = (): NonNullable<ReturnType<typeof bucket.uploads.get>> => {
        const found = bucket.uploads.get(id);
        if (found === undefined) throw storeFailure("missing");
        return found;
      };
      return {
        key,
        id,
        part: (number, bytes) => call("part", key, () => void upload().parts.set(number, Buffer.from(bytes))),
        complete: () =>
          call("complete", key, () => {
            const { parts } = upload();
            bucket.objects.set(key, Buffer.concat([...parts].toSorted(([left], [right]) => left - right).map(([, bytes]) => bytes)));
            bucket.uploads.delete(id);
            return stored(key);
          }),
        abort: () => call("abort", key, () => void bucket.uploads.delete(id)),
      };
    },
    async *listUploads(prefix) {
      yield* await call("listUploads", prefix, () =>
        [...bucket.uploads].filter(([, { key }]) => key.startsWith(prefix)).map(([id, { key, startedAt }]) => ({ id, key, startedAt })),
      );
    },
    abortUpload: ({ key, id }) => call("abortUpload", key, () => void bucket.uploads.delete(id)),
    remove: (key) =>
      call("remove", key, () => {
        const removed = typeof bucket.onRemove === "string" ? bucket.onRemove : bucket.onRemove(key);
        if (removed === "locked") throw storeFailure("locked");
        bucket.objects.delete(key);
        return { removed };
      }),
    close: () => undefined,
  };
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += 4096) yield bytes.subarray(at, at + 4096);
}
