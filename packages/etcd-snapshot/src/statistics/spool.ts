import { SnapshotError } from "../errors.ts";

/** Where the statistics of a stream put aside what they need at its end: appended once, then read at any place. Errors of it go through as they are. */
export interface Spool {
  /** The bytes are copied or written before it returns. */
  append(bytes: Uint8Array): void;
  /** Fills `into` from `offset` on, and returns how many bytes there were. */
  read(offset: number, into: Uint8Array): number;
}

/** A spool in memory, for small databases. `limitBytes`: default 16 MiB, that of a database of some 128 MiB; `SPOOL_FAILED` beyond. */
export function createMemorySpool(limitBytes = 16 * 1024 * 1024): Spool {
  let bytes = new Uint8Array(4096);
  let size = 0;
  return {
    append(added) {
      const needed = size + added.length;
      if (needed > limitBytes) throw new SnapshotError("SPOOL_FAILED", `more than ${limitBytes} bytes to put aside`);
      if (needed > bytes.length) {
        const larger = new Uint8Array(Math.max(needed, bytes.length * 2));
        larger.set(bytes.subarray(0, size));
        bytes = larger;
      }
      bytes.set(added, size);
      size = needed;
    },
    read(offset, into) {
      const part = bytes.subarray(offset, Math.min(size, offset + into.length));
      into.set(part);
      return part.length;
    },
  };
}

/** Records that are written through a buffer, and read back block by block. */
export class RecordSpool {
  readonly #spool: Spool;
  readonly #out = new Uint8Array(64 * 1024);
  #outBytes = 0;
  #written = 0;
  readonly #block = new Uint8Array(16 * 1024);
  #blockAt = -1;
  #blockBytes = 0;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** Where the next record begins. */
  get size(): number {
    return this.#written + this.#outBytes;
  }

  append(bytes: Uint8Array): void {
    if (this.#outBytes + bytes.length > this.#out.length) this.flush();
    if (bytes.length > this.#out.length) {
      this.#spool.append(bytes);
      this.#written += bytes.length;
      return;
    }
    this.#out.set(bytes, this.#outBytes);
    this.#outBytes += bytes.length;
  }

  flush(): void {
    this.#spool.append(this.#out.subarray(0, this.#outBytes));
    this.#written += this.#outBytes;
    this.#outBytes = 0;
  }

  /** Good until the next read. */
  read(offset: number, length: number): Uint8Array {
    if (length > this.#block.length) {
      const large = new Uint8Array(length);
      if (this.#spool.read(offset, large) !== length) throw shortSpool();
      return large;
    }
    if (this.#blockAt < 0 || offset < this.#blockAt || offset + length > this.#blockAt + this.#blockBytes) {
      this.#blockBytes = this.#spool.read(offset, this.#block);
      this.#blockAt = offset;
      if (this.#blockBytes < length) throw shortSpool();
    }
    return this.#block.subarray(offset - this.#blockAt, offset - this.#blockAt + length);
  }
}

function shortSpool(): SnapshotError {
  return new SnapshotError("SPOOL_FAILED", "the spool gives back less than was put there");
}
