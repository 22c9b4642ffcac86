import { createTrailerCheck, isSnapshotError, readSnapshot } from "@talos-operator/etcd-snapshot";
import type { Count, SnapshotContents, TrailerFault } from "@talos-operator/etcd-snapshot";
import { openSnapshotFile } from "@talos-operator/etcd-snapshot/files";
import type { SnapshotFile } from "@talos-operator/etcd-snapshot/files";
import { CliError, errorCode } from "../cli-error.ts";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { outputForm } from "./asked-object.ts";

/** Bytes that are read at once. */
const PIECE = 1 << 20;
/** Namespaces that are named for each kind. */
const MOST_NAMESPACES = 6;

/** What was found, as `-o json` prints it. */
interface Inspection extends SnapshotContents {
  readonly file: string;
  readonly size: number;
  /** SHA-256 of the database, hex. */
  readonly sha256: string;
  /** The bytes are those that etcd sent. `false`: a copy of a member's database, which ends without a SHA-256, and cannot be checked. */
  readonly hasTrailer: boolean;
}

/** @throws CliError when there is no such file, or it is no snapshot that could be restored */
export function runBackupInspect(flags: FlagValues, { stdout }: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const found = inspect(requiredString(flags, "file"));
  stdout.write(form === "json" ? `${JSON.stringify(found, undefined, 2)}\n` : inspectionText(found));
  return Promise.resolve();
}

function inspect(file: string): Inspection {
  const source = opened(file);
  try {
    const check = createTrailerCheck();
    for (let at = 0; at < source.size; at += PIECE) check.write(source.read(at, PIECE));
    const { fault, size, sha256 } = check.finish();
    if (fault === "too-short" || fault === "wrong-digest") throw damaged(file, fault);
    return { file, size, sha256, hasTrailer: fault === undefined, ...readSnapshot(source) };
  } catch (error) {
    if (isSnapshotError(error)) throw new CliError(`${file}: ${error.message}`, "Inspect another snapshot.", { cause: error });
    throw error;
  } finally {
    source.close();
  }
}

function opened(file: string): SnapshotFile {
  try {
    return openSnapshotFile(file);
  } catch (error) {
    throw new CliError(`${file} cannot be read (${errorCode(error) ?? "unknown"})`, "Name a file that holds a snapshot.", { cause: error });
  }
}

function damaged(file: string, fault: Exclude<TrailerFault, "no-trailer">): CliError {
  return fault === "too-short"
    ? new CliError(`${file} is too short for a snapshot`, "Fetch it again: its end is missing.")
    : new CliError(
        `${file} is damaged: its bytes are not those that etcd sent, the SHA-256 at its end is another one`,
        "Fetch it again, or inspect another snapshot. Do not restore this one.",
      );
}

/** What people read. Names come from the snapshot, whoever wrote it: nothing in them reaches the terminal but letters. */
export function inspectionText(found: Inspection): string {
  const { members, removedMembers, hasTrailer } = found;
  const facts = [
    ["File", `${found.file} (${sizeText(found.size)})`],
    [
      "Checked",
      hasTrailer ? `every byte, SHA-256 ${found.sha256}` : "not: it ends without a SHA-256, as a copy of a member's database does",
    ],
    ["Revision", `${found.revision}${found.compactRevision === undefined ? "" : `, compacted up to ${found.compactRevision}`}`],
    ["Keys", `${found.liveKeys} live, ${found.revisions} revisions of them and of deleted ones`],
    ["etcd", `storage ${found.storageVersion ?? "before 3.6"}, cluster ${found.clusterVersion ?? "unknown"}, raft term ${found.term}`],
    [
      "Members",
      members.length === 0
        ? "none"
        : members.map(({ id, name, isLearner }) => `${name || "(not started)"} ${id}${isLearner ? " learner" : ""}`).join(", "),
    ],
    ...(removedMembers.length === 0 ? [] : [["Removed", removedMembers.join(", ")]]),
  ];
  const lines = facts.map(([what = "", value = ""]) => `${what.padEnd(9)} ${printable(value)}`);
  const rows = [
    ...found.kinds.map(({ apiVersion, kind, ...count }) => [kind, apiVersion, String(count.total), places(count)]),
    ...found.encrypted.map(({ resource, ...count }) => [resource, "(encrypted)", String(count.total), places(count)]),
  ].map((row) => row.map(printable));
  const rest = [
    ...(found.otherKinds + found.otherEncrypted === 0 ? [] : [`${found.otherKinds + found.otherEncrypted} objects of further kinds`]),
    ...(found.unreadable === 0 ? [] : [`${found.unreadable} keys at places of objects whose values are none`]),
    ...(found.otherKeys === 0 ? [] : [`${found.otherKeys} keys of others than objects`]),
    `${found.sample.decoded} objects decoded and compared with their keys, ${found.sample.mismatched} of them named otherwise`,
  ];
  const objects =
    rows.length === 0 ? ["No object of Kubernetes is in it."] : table([["KIND", "API VERSION", "OBJECTS", "NAMESPACES"], ...rows]);
  return `${[...lines, "", ...objects, "", ...rest].join("\n")}\n`;
}

function places({ namespaces, others }: Count): string {
  const named = Object.entries(namespaces);
  const shown = named.slice(0, MOST_NAMESPACES).map(([namespace, count]) => (namespace === "" ? "" : `${namespace} ${count}`));
  const more = named.length - shown.length + others.namespaces;
  return [...shown.filter((one) => one !== ""), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Control characters could move the cursor of whoever reads it. */
function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, "\u{fffd}");
}
