import type { ListedBackup } from "@talos-operator/backup/reading";
import type { BackupObject } from "./open-place.ts";
import { printable, sizeText } from "./words.ts";

const HEAD = ["CLUSTER", "TIME", "SIZE", "REVISION", "KEYS", "OBJECT", "NOTES"] as const;
/** Columns of numbers. */
const RIGHT = new Set([2, 3, 4]);

const FAULTS = {
  "object-missing": "DAMAGED: its snapshot is not there",
  "object-size": "DAMAGED: its snapshot has another size",
  "keys-missing": "DAMAGED: the cluster's keys are not there any more",
} as const;

const PUBLISHED = "written by the published operator; retention neither counts nor removes it";

export function cellsOf(listed: ListedBackup, known: BackupObject | undefined): readonly string[] {
  switch (listed.kind) {
    case "backup": {
      const { facts, signature, fault } = listed;
      const notes = [
        ...(fault === undefined ? [] : [FAULTS[fault]]),
        facts.encryption === "age" ? "encrypted" : "not encrypted",
        ...(facts.keysObject === undefined ? [] : ["with the cluster's keys"]),
        ...(signature === "checked" ? ["signature checked"] : []),
        ...(known === undefined ? [] : [`talosetcdbackup/${known.name}`]),
        ...(known?.proof === undefined ? [] : [`proved ${shortTime(known.proof.at)} (${known.proof.how}, ${known.proof.on})`]),
      ];
      const { revision, liveKeys } = facts;
      return [
        listed.cluster,
        shortTime(facts.startedAt),
        sizeText(facts.size),
        String(revision),
        String(liveKeys),
        listed.manifest,
        notes.join("; "),
      ];
    }
    case "refused":
      return [listed.cluster, "", "", "", "", listed.manifest, `REFUSED: ${listed.why}`];
    case "unnamed":
      return [
        listed.cluster,
        shortTime(listed.time),
        sizeText(listed.size),
        "",
        "",
        listed.object,
        "no backup: no manifest names it, its try has not ended or another one won",
      ];
    case "published":
      return [listed.cluster, shortTime(listed.time), sizeText(listed.size), "", "", listed.object, `plain; ${PUBLISHED}`];
    case "published-keys":
      return [listed.cluster, shortTime(listed.time), sizeText(listed.size), "", "", listed.object, `HOLDS KEYS IN CLEAR; ${PUBLISHED}`];
  }
}

/** Lines of a table that is longer than anybody waits for: columns grow with what comes. */
export function createTable(): (rows: readonly (readonly string[])[]) => string {
  let widths: readonly number[] | undefined;
  return (rows) => {
    const shown = (widths === undefined ? [HEAD, ...rows] : rows).map((row) => row.map(printable));
    widths = HEAD.map((_, column) => Math.max(widths?.[column] ?? 0, ...shown.map((row) => (row[column] ?? "").length)));
    const padded = (cell: string, column: number): string =>
      RIGHT.has(column) ? cell.padStart(widths?.[column] ?? 0) : cell.padEnd(widths?.[column] ?? 0);
    return shown.map((row) => `${row.map(padded).join("  ").trimEnd()}\n`).join("");
  };
}

function shortTime(time: string | undefined): string {
  return time === undefined ? "" : time.replace(/\.\d+Z$/, "Z");
}
