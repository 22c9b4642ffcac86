// How the gate chooses: what it begins with, and where it stops. Plain JavaScript for Node 20.

/** How far back the gate looks where it has not passed yet. */
const COMMITS = 20;
/** Git's name for a tree without files: against it everything is new. */
const NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/**
 * The newest ancestor on which the gate passed, else the commit of 20 commits ago, else the oldest one that is there.
 *
 * @param ancestors newest first; none in a first commit, and in a clone of one commit, which does not tell what is new
 * @param passed commits on which the gate passed
 */
export function baseOf(ancestors, passed) {
  return ancestors.find((commit) => passed.has(commit)) ?? ancestors[COMMITS - 1] ?? ancestors.at(-1) ?? NOTHING;
}

/** The list from another place in each turn, so that everything comes round. */
export function rotated(list, turn) {
  const from = turn % Math.max(1, list.length);
  return [...list.slice(from), ...list.slice(0, from)];
}

/** Takes from the front what fits while the sum of costs stays below the limit. */
export function within(limit, files, costOf) {
  const taken = [];
  let spent = 0;
  for (const file of files) {
    if (spent + costOf(file) > limit) continue;
    spent += costOf(file);
    taken.push(file);
  }
  return { taken, spent };
}
