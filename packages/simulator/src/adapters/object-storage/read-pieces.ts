import { open } from "node:fs/promises";
import type { BucketFolder, Piece } from "./bucket-folder.ts";

const READ_BYTES = 1 << 16;

/** Bytes `first` to `last` of what lies in several files. Who reads holds them (`BucketFolder.hold`). */
export async function* readPieces(folder: BucketFolder, pieces: readonly Piece[], first: number, last: number): AsyncGenerator<Uint8Array> {
  let begin = 0;
  for (const { file, size } of pieces) {
    const [from, to] = [Math.max(first - begin, 0), Math.min(last - begin, size - 1)];
    if (from <= to) yield* bytesOfFile(folder.pathOf(file), from, to);
    begin += size;
  }
}

async function* bytesOfFile(path: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r");
  try {
    for (let at = from; at <= to;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(READ_BYTES, to - at + 1)), 0, null, at);
      if (bytesRead === 0) throw new Error("a file of the bucket is shorter than it was");
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
