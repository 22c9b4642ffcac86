import type { ObjectBody, ObjectStore, ObjectUpload, StoredObject } from "@talos-operator/ports";
import { storeFailure } from "../../world/memory-object-store.ts";
import type { StoreEffectId } from "../effects.ts";
import { settled, settledQuietly, whileAlive, withFault, type FaultyPortOptions } from "../faulty-ports.ts";
import { never } from "../life.ts";
import type { StoreCall } from "../interference.ts";

/** A store keeps a request that was sent for at most so long. */
const LATEST_MS = 60_000;

export interface FaultyStoreOptions extends Pick<FaultyPortOptions, "life" | "plan" | "random" | "timers" | "interference" | "onLate"> {
  /** Before a call that changes something is sent. */
  readonly onSent: (effect: StoreEffectId, call: StoreCall) => void;
  /** When it is about to take place. */
  readonly onEffect: (effect: StoreEffectId, call: StoreCall, bytes: Uint8Array | undefined) => void;
  readonly onLie: (effect: StoreEffectId, fault: "E" | "X") => void;
}

/** A store as an unlucky worker sees it. */
export function faultyStore(inner: ObjectStore, options: FaultyStoreOptions): ObjectStore {
  const { life, interference } = options;
  const demandSend = async (): Promise<void> => {
    await life.awake();
    if (!life.maySend()) await never();
  };

  const read = async <T>(call: StoreCall, perform: () => Promise<T>): Promise<T> => {
    await demandSend();
    const lie = interference.store?.(call);
    return settled(life, lie === undefined ? perform() : Promise.reject(lie.answer));
  };
  async function* listed<T>(call: StoreCall, items: () => AsyncIterable<T>): AsyncIterable<T> {
    await read(call, () => Promise.resolve());
    for await (const item of whileAlive(items(), life)) {
      const lie = interference.store?.(call);
      if (lie !== undefined) throw lie.answer;
      yield item;
    }
  }
  const change = async <T>(
    effect: StoreEffectId,
    call: StoreCall,
    bytes: Uint8Array | undefined,
    perform: () => Promise<T>,
  ): Promise<T> => {
    await demandSend();
    options.onSent(effect, call);
    const act = async (): Promise<T> => {
      options.onEffect(effect, call, bytes);
      return perform();
    };
    const lie = interference.store?.(call);
    if (lie !== undefined) {
      options.onLie(effect, lie.isDone ? "X" : "E");
      if (lie.isDone) await settledQuietly(act());
      return settled(life, Promise.reject(lie.answer));
    }
    return withFault(effect, options, {
      perform: act,
      fail: () => storeFailure("unreachable", "the connection to the store broke"),
      latestMs: LATEST_MS,
    });
  };

  const upload = (one: ObjectUpload): ObjectUpload => {
    const { key } = one;
    return {
      key,
      id: one.id,
      part: (number, bytes, given) => change("S3-2", { method: "part", key }, bytes, () => one.part(number, Uint8Array.from(bytes), given)),
      complete: (given) => change("S3-3", { method: "complete", key }, undefined, () => one.complete(given)),
      abort: (given) => change("S3-5", { method: "abort", key }, undefined, () => one.abort(given)),
    };
  };
  return {
    place: inner.place,
    list: (prefix, given) => listed<StoredObject>({ method: "list", key: prefix }, () => inner.list(prefix, given)),
    head: (key, given) => read({ method: "head", key }, () => inner.head(key, given)),
    async get(key, given): Promise<ObjectBody | undefined> {
      const call = { method: "get", key } as const;
      const found = await read(call, () => inner.get(key, given));
      return found === undefined ? undefined : { ...found, body: listed(call, () => found.body) };
    },
    put: (key, bytes, given) =>
      change(key.endsWith(".json") ? "S3-4" : "S3-2", { method: "put", key }, bytes, () => inner.put(key, Uint8Array.from(bytes), given)),
    createUpload: async (key, given) =>
      upload(await change("S3-1", { method: "createUpload", key }, undefined, () => inner.createUpload(key, given))),
    listUploads: (prefix, given) => listed({ method: "listUploads", key: prefix }, () => inner.listUploads(prefix, given)),
    abortUpload: (one, given) => change("S3-5", { method: "abortUpload", key: one.key }, undefined, () => inner.abortUpload(one, given)),
    remove: (key, given) => change("S3-5", { method: "remove", key }, undefined, () => inner.remove(key, given)),
    close: () => inner.close(),
  };
}
