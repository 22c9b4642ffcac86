import { closeSync, openSync, writeSync } from "node:fs";
import { writeEtcdSnapshot } from "@talos-operator/etcd-snapshot";

/** Each with its key on a page of its own. */
const VALUE_BYTES = 3_700;
const PAGE_BYTES = 4_096;
/** Of each value so many bytes do not get smaller by compression. */
const RANDOM_BYTES = 800;
const MEMBER = 0x8e9e05c52164694dn;

export const memberId = MEMBER.toString(16).padStart(16, "0");

/**
 * Writes a genuine etcd snapshot of about so many bytes, three quarters of which compression takes away: objects of JSON with names and numbers of their own.
 * Takes three times as much memory: a process of its own does it.
 */
function writeLargeSnapshot(path: string, bytes: number): void {
  const count = Math.ceil(bytes / PAGE_BYTES);
  const filler = "the same words as in other objects, ".repeat(Math.ceil(VALUE_BYTES / 36));
  const random = createWords();
  const snapshot = writeEtcdSnapshot({
    keys: Array.from({ length: count }, (_, index) => ({
      key: `/registry/configmaps/namespace-${index % 100}/map-${index}`,
      value: Buffer.from(
        JSON.stringify({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: `map-${index}`, namespace: `namespace-${index % 100}` },
          data: { own: random(RANDOM_BYTES), common: filler.slice(0, VALUE_BYTES - RANDOM_BYTES - 120) },
        }),
      ),
      modRevision: index + 2,
    })),
    members: [{ id: MEMBER, name: "cp-1", peerURLs: ["https://127.0.0.1:2380"], clientURLs: ["https://127.0.0.1:2379"] }],
    clusterVersion: "3.6.0",
    storageVersion: "3.6.0",
    term: 2,
    consistentIndex: count + 5,
  });
  const file = openSync(path, "w");
  for (let at = 0; at < snapshot.length;) at += writeSync(file, snapshot, at, Math.min(snapshot.length - at, 2 ** 28));
  closeSync(file);
}

/** Letters that follow from each other and look as if they did not. */
function createWords(): (length: number) => string {
  let state = 1;
  return (length) => {
    const letters = Buffer.alloc(length);
    for (let at = 0; at < length; at += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      letters[at] = 48 + ((state >>> 16) % 75);
    }
    // Quotes and backslashes would be escaped.
    return letters.toString("latin1").replaceAll(/["\\]/g, "_");
  };
}

const [, , path, bytes] = process.argv;
if (import.meta.main && path !== undefined) writeLargeSnapshot(path, Number(bytes));
