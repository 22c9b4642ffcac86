import type { Store, StoreContent, StoreWrite, StoredEntry } from "./store.ts";

/** A store that lives as long as the process. It may be given to another server after the first was closed: a restart in simulation. */
export function createMemoryStore(): Store {
  const entries = new Map<string, StoredEntry>();
  let revision = 0;
  return {
    load: (): StoreContent => ({ revision, entries: [...entries.values()] }),
    commit(write: StoreWrite): void {
      const id = `${write.resource}|${write.key}`;
      if (write.object === undefined) {
        entries.delete(id);
      } else {
        entries.set(id, { resource: write.resource, key: write.key, revision: write.revision, object: write.object });
      }
      revision = write.revision;
    },
    close(): void {
      // Nothing to release; the content stays for the next server.
    },
  };
}
