import type { BackupCodec } from "../worker/deps.ts";
import { ReadFault } from "./read-fault.ts";
import { formOf, HEAD_BYTES } from "./stored-form.ts";

export interface PlainBytesOptions {
  readonly codec: Pick<BackupCodec, "decompress" | "decrypt">;
  /** An age identity file as a text. */
  readonly identity?: string;
  /** Called for each wrap that is undone, from the outside to the inside. */
  readonly onLayer?: (layer: "age" | "zstd") => void;
}

/** Compressed in encrypted, or the other way round. */
const MOST_LAYERS = 3;

/**
 * What is inside of stored bytes, whatever they are wrapped in: their own beginning says it. Does not look at what comes out.
 *
 * @param name of the object, for messages
 * @throws ReadFault, CodecFailure, and what `stored` throws
 */
export async function* plainBytes(
  stored: AsyncIterable<Uint8Array>,
  name: string,
  { codec, identity, onLayer }: PlainBytesOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = stored;
  for (let layers = 0; ; layers += 1) {
    const { head, rest, close } = await peeked(bytes);
    const form = formOf(head);
    if ((form !== "age" && form !== "zstd") || layers === MOST_LAYERS) {
      yield* rest;
      return;
    }
    onLayer?.(form);
    if (form === "zstd") bytes = codec.decompress(rest);
    else if (identity !== undefined) bytes = codec.decrypt(rest, identity);
    else {
      await close();
      throw new ReadFault("no-identity", `${name} is encrypted, and no identity is given`);
    }
  }
}

interface Peeked {
  readonly head: Uint8Array;
  /** All of them, the head included. */
  readonly rest: AsyncIterable<Uint8Array>;
  /** For who does not want the rest. */
  readonly close: () => Promise<unknown>;
}

async function peeked(chunks: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let size = 0; size < HEAD_BYTES;) {
    const next = await iterator.next();
    if (next.done === true) break;
    first.push(next.value);
    size += next.value.length;
  }
  const rest = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* first;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  };
  return { head: Buffer.concat(first).subarray(0, HEAD_BYTES), rest: rest(), close: async () => iterator.return?.() };
}
