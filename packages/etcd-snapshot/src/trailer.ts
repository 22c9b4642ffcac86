import { createHash } from "node:crypto";

/** SHA-256 of everything before it, raw, at the end of what etcd streams as a snapshot. */
export const trailerSize = 32;
/** A database is a whole number of pages, and every page size is a multiple of this. */
const sectorSize = 512;

/**
 * What is wrong with the end of a snapshot: `too-short` for one that cannot hold a page and a trailer, `no-trailer` where the size is not that of
 * pages and a trailer (size % 512 = 32; a database copied from a member's disk has none), `wrong-digest` where the trailer is not that of the bytes.
 */
export type TrailerFault = "too-short" | "no-trailer" | "wrong-digest";

export interface TrailerVerdict {
  /** `undefined`: the bytes are those that etcd sent. */
  readonly fault: TrailerFault | undefined;
  /** All bytes, with the trailer. */
  readonly size: number;
  /** Hex of the digest of everything before the last 32 bytes: what the trailer must say. Of nothing when there is less. */
  readonly sha256: string;
}

export interface TrailerCheck {
  /** The next bytes, in pieces of any size; the piece may be used again afterwards. */
  write(chunk: Uint8Array): void;
  /** The verdict on all that was written. Ends the check. */
  finish(): TrailerVerdict;
}

/**
 * Checks the trailer of a snapshot while it streams by: memory is 32 bytes and the state of a SHA-256.
 *
 * The same rule as `talosctl etcd snapshot`, which refuses a stream of a wrong size, and `etcdutl snapshot restore`, which compares the digest.
 */
export function createTrailerCheck(): TrailerCheck {
  const hash = createHash("sha256");
  const held = Buffer.alloc(trailerSize);
  let heldBytes = 0;
  let size = 0;
  return {
    write(chunk) {
      size += chunk.length;
      const spill = heldBytes + chunk.length - trailerSize;
      if (spill > 0) {
        // What cannot be the trailer any more: first of what is held, then of the new bytes.
        const fromHeld = Math.min(spill, heldBytes);
        hash.update(held.subarray(0, fromHeld));
        held.copyWithin(0, fromHeld, heldBytes);
        heldBytes -= fromHeld;
        if (spill > fromHeld) hash.update(chunk.subarray(0, spill - fromHeld));
        chunk = chunk.subarray(spill - fromHeld);
      }
      held.set(chunk, heldBytes);
      heldBytes += chunk.length;
    },
    finish() {
      const digest = hash.digest();
      return { fault: faultOf(size, digest.equals(held)), size, sha256: digest.toString("hex") };
    },
  };
}

function faultOf(size: number, isEqual: boolean): TrailerFault | undefined {
  if (size < sectorSize + trailerSize) return "too-short";
  if (size % sectorSize !== trailerSize) return "no-trailer";
  return isEqual ? undefined : "wrong-digest";
}
