/** How many objects of a kind there are, and where. */
export interface Count {
  readonly total: number;
  /** Objects by namespace, the fullest first; empty name: of the cluster. */
  readonly namespaces: Readonly<Record<string, number>>;
  /** What `namespaces` leaves out. */
  readonly others: { readonly namespaces: number; readonly objects: number };
}

/** Counts by name and namespace within a bound: pairs beyond it are counted without their namespace, names beyond it not by name. */
export class Tally {
  readonly #names = new Map<string, { total: number; readonly namespaces: Map<string, number>; unplaced: number }>();
  readonly #maxNames: number;
  #room: number;
  #unnamed = 0;

  constructor(limits: { readonly names: number; readonly pairs: number }) {
    this.#maxNames = limits.names;
    this.#room = limits.pairs;
  }

  add(name: string, namespace: string): void {
    let one = this.#names.get(name);
    if (one === undefined) {
      if (this.#names.size >= this.#maxNames) {
        this.#unnamed += 1;
        return;
      }
      one = { total: 0, namespaces: new Map(), unplaced: 0 };
      this.#names.set(name, one);
    }
    one.total += 1;
    const count = one.namespaces.get(namespace);
    if (count === undefined) {
      if (this.#room === 0) {
        one.unplaced += 1;
        return;
      }
      this.#room -= 1;
    }
    one.namespaces.set(namespace, (count ?? 0) + 1);
  }

  /** Objects whose name had no room. */
  get unnamed(): number {
    return this.#unnamed;
  }

  /** Sorted by name; at most `maxNamespaces` each. */
  counts(maxNamespaces: number): readonly (readonly [name: string, count: Count])[] {
    return [...this.#names]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, { total, namespaces, unplaced }]) => {
        const sorted = [...namespaces].toSorted(([left, some], [right, more]) => more - some || (left < right ? -1 : 1));
        const shown = sorted.slice(0, maxNamespaces);
        const rest = sorted.slice(maxNamespaces);
        const others = { namespaces: rest.length, objects: rest.reduce((sum, [, count]) => sum + count, unplaced) };
        return [name, { total, namespaces: Object.fromEntries(shown), others }] as const;
      });
  }
}
