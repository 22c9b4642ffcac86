import type { SnapshotErrorCode } from "./errors.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/etcd-snapshot.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<SnapshotErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "etcd-snapshot",
  title: "Errors of etcd-snapshot",
  intro: [
    "Reading or writing an etcd database fails with a `SnapshotError`: `code` and a message, which begins with the code and ends with the remedy.",
    "No message quotes a key or a value. Whether the bytes are those that the member sent is said by the check of the trailer, not by these codes.",
  ],
  codes: {
    NOT_A_DATABASE: {
      cause: "No meta page is valid: the file is something else, is compressed or encrypted, or both of its first pages are damaged.",
      effect: "Nothing was read.",
      remedy: "Check which file it is; unpack and decrypt it first. Otherwise take the snapshot again.",
    },
    TRUNCATED: {
      cause: "The newest meta page counts more pages than there are: the end is missing.",
      effect: "Nothing was counted.",
      remedy: "Fetch the file again, or take the snapshot again.",
    },
    CORRUPT: {
      cause:
        "A page that belongs to the database is damaged: not the page that is referred to, referred to twice, keys out of order, lengths beyond the page, or an entry that is no revision of etcd.",
      effect: "Nothing was counted; etcd would refuse the database or lose data.",
      remedy: "Fetch the file again, or take the snapshot again, best from another member; look at the disk of the one it came from.",
    },
    LIMIT_EXCEEDED: {
      cause:
        "The database has more keys than fit into the memory that reading may take, or what it shows lies so that one pass cannot tell.",
      effect: "Nothing was counted; the database may be good.",
      remedy: "Use `etcdutl snapshot status`.",
    },
    SPOOL_FAILED: {
      cause: "The spool of the statistics is full, could not be written, or gave back something else than was written.",
      effect: "Nothing was counted; the snapshot itself was not touched.",
      remedy: "Give it a file on a disk with room: an eighth of the snapshot's size is usual.",
    },
    INVALID_INPUT: {
      cause:
        "A database was to be written from something that etcd could not read: an empty or repeated key, a revision below 1, an odd page size.",
      effect: "Nothing was written.",
      remedy: "Correct the input as the message says.",
    },
  },
};
