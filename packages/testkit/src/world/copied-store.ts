import { createMemoryStore, type Store, type StoreContent } from "@talos-operator/apiserver";

/** A store that begins with what another one held. Objects are shared: nobody changes them in place. */
export function copiedStore({ revision, entries }: StoreContent): Store {
  const store = createMemoryStore();
  for (const entry of entries.toSorted((a, b) => a.revision - b.revision)) store.commit(entry);
  // The counter goes on where the other one stood, also past objects that are gone.
  store.commit({ resource: "", key: "", revision });
  return store;
}
