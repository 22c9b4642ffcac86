import type { BackupCodec } from "../worker/deps.ts";
import { ReadFault } from "./read-fault.ts";

/** Of a snapshot whose size nobody vouches for, so many bytes are unpacked in any case: a new etcd is small, and has room before it. */
const ALWAYS = 256 * 2 ** 20;
/** And so many for each that is stored. Snapshots of etcd have become a tenth, and of members that just grew a thirtieth. */
const FOR_EACH = 100;

/**
 * The codec with an end to what comes out of compressed bytes: a few of them may stand for more than any disk holds.
 *
 * @param stored bytes that were read so far
 * @param most bytes, whatever is stored; default: as many as snapshots of etcd have
 */
export function boundedCodec(
  codec: Pick<BackupCodec, "decompress" | "decrypt">,
  object: string,
  stored: () => number,
  most?: number,
): Pick<BackupCodec, "decompress" | "decrypt"> {
  return {
    decrypt: codec.decrypt,
    async *decompress(compressed) {
      let size = 0;
      for await (const chunk of codec.decompress(compressed)) {
        size += chunk.length;
        const limit = most ?? Math.max(ALWAYS, stored() * FOR_EACH);
        if (size > limit)
          throw new ReadFault(
            "too-large",
            `${object} unpacks to more than ${limit} bytes, and nothing that was checked says how many it has`,
          );
        yield chunk;
      }
    },
  };
}
