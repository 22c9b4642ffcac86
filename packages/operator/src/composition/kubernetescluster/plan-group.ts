/** One Machine of a group, as far as its name and its end matter. */
export interface GroupMember {
  readonly name: string;
  /** Somebody deletes it: it is on its way out, whoever asked for it. */
  readonly isGoing: boolean;
}

/** What a group has and should have. */
export interface GroupWish {
  /** Names are `<prefix>-<index>`, from 0. */
  readonly prefix: string;
  readonly replicas: number;
  readonly members: readonly GroupMember[];
  /** Names that must not be given again: something of an earlier machine of that name is still there. */
  readonly isTaken: (name: string) => boolean;
}

/** Names of the Machines of a group. */
export interface GroupPlan {
  /** In the order of their indexes: those that stay, then new ones. */
  readonly wanted: readonly string[];
  /** Those that leave the cluster, highest index first; they are released when it has released them. */
  readonly leaving: readonly string[];
  /** Names that new ones were not given because they are taken, though no member has them: a list may have told too little. */
  readonly passedOver: readonly string[];
}

/**
 * Chooses who stays, who comes and who leaves. Pure.
 *
 * Machines keep their names, also ones that other operators gave (`<id>-ctp0`, `<id>-wrk3`). The lowest free indexes come, the highest leave (A103). One that
 * is being deleted leaves, and another index comes in its place at once: it has joined before the old one is released where that matters.
 */
export function planGroup({ prefix, replicas, members, isTaken }: GroupWish): GroupPlan {
  const staying = members.filter(({ isGoing }) => !isGoing).toSorted(byIndex);
  const kept = staying.slice(0, replicas).map(({ name }) => name);
  const existing = new Set(members.map(({ name }) => name));
  const added: string[] = [];
  const passedOver: string[] = [];
  for (let index = 0; kept.length + added.length < replicas; index += 1) {
    const name = `${prefix}-${index}`;
    if (existing.has(name)) continue;
    (isTaken(name) ? passedOver : added).push(name);
  }
  const wanted = [...kept, ...added].map((name) => ({ name })).toSorted(byIndex);
  const leaving = [...staying.slice(replicas), ...members.filter(({ isGoing }) => isGoing)].toSorted((a, b) => byIndex(b, a));
  return { wanted: wanted.map(({ name }) => name), leaving: leaving.map(({ name }) => name), passedOver };
}

/** By the number at the end, then by the whole name: 2 before 10. */
function byIndex(a: { readonly name: string }, b: { readonly name: string }): number {
  return indexOf(a.name) - indexOf(b.name) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

function indexOf(name: string): number {
  const digits = /(\d{1,9})$/.exec(name)?.[1];
  return digits === undefined ? Number.MAX_SAFE_INTEGER : Number(digits);
}
