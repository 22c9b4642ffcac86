import type { FileTree } from "@talos-operator/ports";

/** Files in memory, and the failures that a test wants. */
export interface MemoryFiles extends FileTree {
  /** Texts by `folder/file`. */
  readonly texts: ReadonlyMap<string, string>;
  /** Writes and removals so far, in order: `write demo/a.yaml`. */
  readonly log: readonly string[];
  /** From now on every write fails with this code; `undefined` ends it. */
  failWith(code: string | undefined): void;
  /** From now on no operation ends, as on a share whose server is away; `false` ends those that wait, in their order. */
  hang(isHanging: boolean): void;
  /** Operations that hang now. */
  hanging(): number;
  /** Puts a file there as a person would. */
  put(path: string, text: string): void;
}

export function createMemoryFiles(): MemoryFiles {
  const texts = new Map<string, string>();
  const folders = new Set<string>();
  const log: string[] = [];
  let failure: string | undefined;
  let isHanging = false;
  const hanging: (() => void)[] = [];
  const answered = async (): Promise<void> => {
    if (isHanging) await new Promise<void>((resolve) => hanging.push(resolve));
  };
  const change = (what: string): void => {
    if (failure !== undefined) throw Object.assign(new Error(`${failure}: ${what}`), { code: failure });
    log.push(what);
  };
  const inside = (folder: string): readonly string[] => [...texts.keys()].filter((path) => path.startsWith(`${folder}/`));
  return {
    texts,
    log,
    failWith: (code) => {
      failure = code;
    },
    hang(hangs) {
      isHanging = hangs;
      if (!hangs) for (const release of hanging.splice(0)) release();
    },
    hanging: () => hanging.length,
    put(path, text) {
      folders.add(path.slice(0, path.indexOf("/")));
      texts.set(path, text);
    },
    async list(folder) {
      await answered();
      return folders.has(folder)
        ? inside(folder)
            .map((path) => path.slice(folder.length + 1))
            .toSorted()
        : undefined;
    },
    async read(folder, file) {
      await answered();
      return texts.get(`${folder}/${file}`);
    },
    async write(folder, file, text) {
      await answered();
      change(`write ${folder}/${file}`);
      folders.add(folder);
      texts.set(`${folder}/${file}`, text);
    },
    async remove(folder, file) {
      await answered();
      if (!texts.has(`${folder}/${file}`)) return;
      change(`remove ${folder}/${file}`);
      texts.delete(`${folder}/${file}`);
    },
    async removeFolder(folder) {
      await answered();
      // As rmdir, of which one that is gone or not empty is no failure.
      if (inside(folder).length === 0) folders.delete(folder);
    },
  };
}
