import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, gunzipSync, gzipSync } from "node:zlib";
import type { Scratch, ScratchFile } from "../worker/deps.ts";

/** What a release's record may unpack to. Bytes. */
const LARGEST_RELEASE = 100 * 2 ** 20;

/** Files of one run below a folder that is there and its owner's alone. Whoever made the folder removes it. */
export function createScratch(path: string): Scratch {
  return {
    write(name, text) {
      const file = join(path, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
    folder(name) {
      const folder = join(path, name);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    only(folder) {
      const names = readdirSync(folder);
      const [name] = names;
      return name === undefined || names.length > 1 ? undefined : fileAt(join(folder, name));
    },
    gzip: (bytes) => gzipSync(bytes),
    gunzip: (bytes) => gunzipSync(bytes, { maxOutputLength: LARGEST_RELEASE }),
  };
}

function fileAt(path: string): ScratchFile {
  return {
    path,
    bytes: statSync(path).size,
    async sha256() {
      const hash = createHash("sha256");
      for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
      return hash.digest("hex");
    },
    async unpackedBytes(limit) {
      let bytes = 0;
      try {
        await pipeline(createReadStream(path), createGunzip(), async (unpacked) => {
          for await (const chunk of unpacked as AsyncIterable<Buffer>) {
            bytes += chunk.length;
            if (bytes > limit) return;
          }
        });
      } catch (thrown) {
        if (bytes > limit) return bytes;
        const { code } = thrown as NodeJS.ErrnoException;
        if (code?.startsWith("Z_") === true || code === "ERR_STREAM_PREMATURE_CLOSE") return undefined;
        throw thrown;
      }
      return bytes;
    },
  };
}
