/** What the system says of one entry of a folder. */
export interface EntryFacts {
  /** Below the data folder, with `/`; the folder itself is the empty text. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Owner. */
  readonly uid: number;
  /** Permission bits. */
  readonly mode: number;
}

/** What is to be done before anything is read from a data folder or written to it. */
export type PrivacyVerdict =
  | { readonly kind: "refused"; readonly why: string; readonly remedy: string }
  /** Paths whose permissions are closed to everybody but the owner. */
  | { readonly kind: "accepted"; readonly close: readonly string[] };

const ourFolders: readonly RegExp[] = [/^(pki|clusters|machines|etcd)$/, /^clusters\/[^/]+(\/[^/]+)?$/];

const ourFiles: readonly RegExp[] = [
  /^api(\.\d+)?\.db(\.tmp)?(-wal|-shm|-journal)?$/,
  /^api\.db\.lock(-wal|-shm|-journal)?$/,
  /^(\.writable|demo\.log|kubeconfig(\.new)?)$/,
  /^pki\/authority\.json(\.new)?$/,
  /^clusters\/[^/]+\/[^/]+\/(kubeconfig|talosconfig)(\.new)?$/,
  /^(machines|etcd)\/[^/]+\.json(\.new)?$/,
];

/** True for a path below the data folder that this program may have made, whatever is there now. */
export function isNameOfOurs(path: string): boolean {
  return [...ourFolders, ...ourFiles].some((pattern) => pattern.test(path));
}

/** Anybody but the owner may do something with it. */
export const isOpen = ({ mode }: Pick<EntryFacts, "mode">): boolean => (mode & 0o077) !== 0;

/**
 * Whether keys may be kept in a folder. Pure.
 *
 * A folder that others may enter is closed when all in it is ours, for then nobody else uses it. In one that is closed already, files of the owner's
 * other programs are none of our business.
 *
 * @param root the folder as it was found
 * @param entries what is in it, and in folders of ours below it
 * @param user effective user of this process
 */
export function judgeFolder(root: EntryFacts, entries: readonly EntryFacts[], user: number): PrivacyVerdict {
  if (root.kind !== "folder") return refused("it is no folder", "Name a folder of its own with --data-dir.");
  if (root.uid !== user)
    return refused(
      `it belongs to user ${root.uid}, who may read all that is in it, and this process is user ${user}`,
      "Run it as the owner, or name a folder of its own with --data-dir: one that is not there yet is made.",
    );
  const foreign = entries.filter(({ path }) => !isNameOfOurs(path) && path !== "lost+found");
  if (isOpen(root) && foreign.length > 0)
    return refused(
      `other users may enter it (mode ${octal(root.mode)}), and it holds what is not talos-operator's: ${names(foreign)}`,
      "Name a folder of its own with --data-dir (one that is not there yet is made), or close this one with chmod 700.",
    );
  const ours = entries.filter(({ path }) => isNameOfOurs(path));
  const wrong = ours.filter(({ path, kind }) => kind !== (ourFolders.some((pattern) => pattern.test(path)) ? "folder" : "file"));
  if (wrong.length > 0)
    return refused(`a link, or something that is no file, is in the place of ${names(wrong)}`, "Remove it, and start again.");
  const planted = ours.filter(({ uid }) => uid !== user);
  if (planted.length > 0)
    return refused(
      `files in it belong to another user: ${names(planted)}`,
      `Look at whose they are; give them to user ${user} with chown where they are yours, or name a folder of its own with --data-dir.`,
    );
  return { kind: "accepted", close: [root, ...ours].filter(isOpen).map(({ path }) => path) };
}

/** Permission bits as `ls` and `chmod` count them. */
export const octal = (mode: number): string => `0${(mode & 0o7777).toString(8)}`;

function names(entries: readonly EntryFacts[]): string {
  const shown = entries.slice(0, 3).map(({ path }) => JSON.stringify(path));
  return entries.length > shown.length ? `${shown.join(", ")} and ${entries.length - shown.length} more` : shown.join(", ");
}

function refused(why: string, remedy: string): PrivacyVerdict {
  return { kind: "refused", why, remedy };
}
