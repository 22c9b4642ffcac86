import type { Clock, FileTree } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";

/** The cluster that a folder of results belongs to. */
export interface ResultsOwner {
  readonly namespace: string;
  /** Name of the folder that it wants. */
  readonly name: string;
  readonly uid: string;
}

/** Where the files of a cluster are. */
export interface ResultsPlace {
  readonly folder: string;
  /** Why it is not the folder that the cluster's name stands for; a sentence. */
  readonly remark: string | undefined;
}

/** One thing that was done to a file, for figures. */
export type FileOperation = "create" | "update" | "delete";

/**
 * Files for people, one folder for each cluster. Nothing is decided by what stands in them.
 *
 * Every method throws FileTreeFailure, and can be repeated.
 */
export interface Results {
  /** Brings the files of a cluster to this, touching only those that differ. Costs no access while nothing changes, but for a look now and then. */
  keep(owner: ResultsOwner, files: ReadonlyMap<string, string>): Promise<ResultsPlace>;
  /** Removes the files of a cluster, and its folders when nothing else is in them. */
  remove(owner: ResultsOwner): Promise<void>;
}

/** What keeping results needs. */
export interface ResultsOptions {
  readonly tree: FileTree;
  readonly clock: Clock;
  /** True while there is a cluster with this UID. */
  readonly isAlive: (uid: string) => boolean;
  /** After this time the files are compared with the disk again. Milliseconds. */
  readonly freshMs: number;
  readonly onOperation?: (operation: FileOperation, isDone: boolean) => void;
}

/** Holds the UID of the cluster that a folder belongs to. */
const OWNER_FILE = ".owner";

/** First line of every file that is ours, so that no other one is removed. */
export const RESULTS_HEADER = "# Written by talos-operator before it is applied. Changes here have no effect and are written over.\n";

interface Kept {
  readonly place: ResultsPlace;
  readonly files: ReadonlyMap<string, string>;
  readonly at: number;
}

export function createResults({ tree, clock, isAlive, freshMs, onOperation }: ResultsOptions): Results {
  const kept = new Map<string, Kept>();

  const counted = async (operation: FileOperation, work: Promise<void>): Promise<void> => {
    try {
      await work;
      onOperation?.(operation, true);
    } catch (thrown) {
      onOperation?.(operation, false);
      throw thrown;
    }
  };

  /** The folder of a cluster: the one of its name, or where a living cluster of the same name has that, one with its namespace. */
  const placeFor = async ({ namespace, name, uid }: ResultsOwner): Promise<ResultsPlace> => {
    const other = `${namespace}.${name}`;
    const places: readonly ResultsPlace[] = [
      { folder: name, remark: undefined },
      {
        folder: other,
        remark: `The folder ${name} was another cluster's of that name when these files were first written, so they are in ${other}.`,
      },
    ];
    const holders = await Promise.all(places.map(async ({ folder }) => (await tree.read(folder, OWNER_FILE))?.trim()));
    // Whoever has a folder stays in it: files that move about help nobody.
    const own = places[holders.indexOf(uid)];
    if (own !== undefined) return own;
    for (const [index, place] of places.entries()) {
      const holder = holders[index];
      if (holder === undefined ? await isUnused(place.folder) : !isAlive(holder)) return place;
    }
    throw Object.assign(new Error(`the folders ${name} and ${other} belong to somebody else`), { code: "IN_USE" });
  };

  /** Without an owner only a folder without files of ours may be taken: what is in it stays. */
  const isUnused = async (folder: string): Promise<boolean> => {
    const names = await tree.list(folder);
    return names === undefined || names.length === 0;
  };

  const isOurs = async (folder: string, file: string): Promise<boolean> =>
    file.endsWith(".yaml") && (await tree.read(folder, file))?.startsWith(RESULTS_HEADER) === true;

  return {
    async keep(owner, wanted) {
      const files = new Map([...wanted].map(([name, text]) => [name, RESULTS_HEADER + text] as const));
      const before = kept.get(owner.uid);
      const isFresh = before !== undefined && elapsedMs(before.at, clock.now()) < freshMs;
      if (isFresh && isSame(before.files, files)) return before.place;
      kept.delete(owner.uid);
      const place = await placeFor(owner);
      const { folder } = place;
      // The owner first: files without one would be nobody's.
      if ((await tree.read(folder, OWNER_FILE)) !== `${owner.uid}\n`)
        await counted("create", tree.write(folder, OWNER_FILE, `${owner.uid}\n`));
      const there = new Set(await tree.list(folder));
      for (const [file, text] of files) {
        const old = there.has(file) ? await tree.read(folder, file) : undefined;
        if (old !== text) await counted(old === undefined ? "create" : "update", tree.write(folder, file, text));
      }
      for (const file of there) if (!files.has(file) && (await isOurs(folder, file))) await counted("delete", tree.remove(folder, file));
      kept.set(owner.uid, { place, files, at: clock.now() });
      return place;
    },

    async remove({ namespace, name, uid }) {
      kept.delete(uid);
      for (const folder of [name, `${namespace}.${name}`]) {
        if ((await tree.read(folder, OWNER_FILE))?.trim() !== uid) continue;
        for (const file of (await tree.list(folder)) ?? [])
          if (await isOurs(folder, file)) await counted("delete", tree.remove(folder, file));
        await counted("delete", tree.remove(folder, OWNER_FILE));
        await tree.removeFolder(folder);
      }
    },
  };
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, text]) => b.get(name) === text);
}
