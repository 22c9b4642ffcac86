import type { FileTree, Timers } from "@talos-operator/ports";

/** What a tree with a deadline needs. */
export interface TimedFilesOptions {
  readonly tree: FileTree;
  readonly timers: Timers;
  /** How long one operation may take. Milliseconds. */
  readonly timeoutMs: number;
}

/**
 * A tree that always answers, though its file system may not (a share whose server is away).
 *
 * An operation on files cannot be called back, and each one that hangs holds one of the few threads of the process, which names are resolved on, too.
 * So one is under way at a time, and while it has exceeded its deadline nothing else is tried:
 *
 * ```
 *   free ──► under way ──► free
 *                │ deadline: its caller, who waits behind it and who comes later hear NO_ANSWER at once
 *                ▼
 *              hangs ──► free, when the file system answers after all, whatever it says
 * ```
 */
export function createTimedFiles({ tree, timers, timeoutMs }: TimedFilesOptions): FileTree {
  let last: Promise<void> = Promise.resolve();
  let hangs = false;

  const noAnswer = (): Error =>
    Object.assign(new Error(`the file system has not answered within ${timeoutMs / 1000} s, and is not asked again before it does`), {
      code: "NO_ANSWER",
    });

  /** One after the other. Whoever waits goes on, to its end, as soon as the one before is over or hangs. */
  async function timed<T>(work: () => Promise<T>): Promise<T> {
    if (hangs) throw noAnswer();
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    await before;
    try {
      if (hangs) throw noAnswer();
      return await withDeadline(work());
    } finally {
      turn.resolve();
    }
  }

  async function withDeadline<T>(answer: Promise<T>): Promise<T> {
    const tooLate = Promise.withResolvers<never>();
    const timer = timers.schedule(timeoutMs, () => {
      hangs = true;
      const over = (): void => {
        hangs = false;
      };
      answer.then(over, over);
      tooLate.reject(noAnswer());
    });
    try {
      return await Promise.race([answer, tooLate.promise]);
    } finally {
      timer.cancel();
    }
  }

  return {
    list: (folder) => timed(() => tree.list(folder)),
    read: (folder, file) => timed(() => tree.read(folder, file)),
    write: (folder, file, text) => timed(() => tree.write(folder, file, text)),
    remove: (folder, file) => timed(() => tree.remove(folder, file)),
    removeFolder: (folder) => timed(() => tree.removeFolder(folder)),
  };
}
