import { createMemorySpool } from "@talos-operator/etcd-snapshot";

import type { Scratch } from "../worker/deps.ts";

/** Room in memory: for simulated worlds, whose databases are small. Its files have no place on a disk: a simulated drill takes them by their path. */
export function memoryScratch(): Scratch & { readonly files: ReadonlyMap<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>();
  let count = 0;
  return {
    files,
    spool: () => ({ ...createMemorySpool(), close: () => undefined }),
    file() {
      const path = `memory-${(count += 1)}`;
      files.set(path, new Uint8Array());
      return {
        path,
        write: (chunk) => void files.set(path, Buffer.concat([files.get(path) ?? new Uint8Array(), chunk])),
        close: () => void files.delete(path),
      };
    },
  };
}
