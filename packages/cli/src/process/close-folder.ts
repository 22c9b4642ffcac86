import { chmodSync, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path";
import { CliError, errorCode } from "../cli-error.ts";
import { isNameOfOurs, isOpen, judgeFolder, octal, type EntryFacts } from "./folder-privacy.ts";

/**
 * Makes sure that nobody but its owner may read what is in a data folder, before anything in it is opened.
 *
 * The folder is closed first, and what is in it judged again afterwards: from then on nobody else can put anything there, so what is looked at by its
 * path stays what it was. Windows keeps no such permissions; there nothing is asked.
 *
 * @returns the folder's own path, without a link
 * @throws CliError `DATA_FOLDER_NOT_PRIVATE` with the remedy
 * @throws Error of `node:fs`
 */
export function closeFolder(path: string): string {
  const user = process.geteuid?.();
  if (user === undefined) return path;
  // In a folder for everybody, as /tmp is, a link of somebody else leads to where they want our keys.
  const link = lstatSync(path);
  if (link.isSymbolicLink() && link.uid !== user && link.uid !== 0)
    throw notPrivate(path, `it is a link of user ${link.uid}`, "Name a folder of its own with --data-dir.");
  const root = realpathSync(path);

  const first = judged(root, user);
  if (first.includes("")) {
    close(root, root);
    close(root, ...judged(root, user).map((inside) => join(root, inside)));
  } else close(root, ...first.map((inside) => join(root, inside)));
  return root;
}

function judged(root: string, user: number): readonly string[] {
  const verdict = judgeFolder(factsOf("", lstatSync(root)), entriesBelow(root, ""), user);
  if (verdict.kind === "refused") throw notPrivate(root, verdict.why, verdict.remedy);
  return verdict.close;
}

function close(root: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    const before = present(path);
    if (before === undefined) continue;
    let why = "its file system keeps no permissions";
    try {
      chmodSync(path, before.isDirectory() ? 0o700 : 0o600);
    } catch (error) {
      if (errorCode(error) === "ENOENT") continue;
      // Nothing can be kept there in any case.
      if (errorCode(error) === "EROFS") throw error;
      why = errorCode(error) ?? String(error);
    }
    const after = present(path);
    if (after !== undefined && isOpen(after))
      throw notPrivate(
        root,
        `other users may read ${path} (mode ${octal(after.mode)}), and it cannot be closed (${why})`,
        "Name a folder on a file system that keeps permissions with --data-dir, one of your own.",
      );
  }
}

/** What is in the folder and in those of ours below it. Files of another process of ours come and go meanwhile. */
function entriesBelow(root: string, folder: string): readonly EntryFacts[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = folder === "" ? name : `${folder}/${name}`;
    const stats = present(join(root, path));
    if (stats === undefined) return [];
    const facts = factsOf(path, stats);
    return facts.kind === "folder" && isNameOfOurs(path) ? [facts, ...entriesBelow(root, path)] : [facts];
  });
}

function present(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function factsOf(path: string, stats: Stats): EntryFacts {
  const kind = stats.isSymbolicLink() ? "link" : stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  return { path, kind, uid: stats.uid, mode: stats.mode & 0o7777 };
}

function notPrivate(root: string, why: string, remedy: string): CliError {
  return new CliError(`DATA_FOLDER_NOT_PRIVATE: ${root} would hold keys: ${why}`, remedy);
}
