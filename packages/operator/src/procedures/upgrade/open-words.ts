import { progressOf } from "./evidence.ts";
import { wordsOf } from "./words.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** What is open, for people, and what is waited for where a person may have to see to it. A sentence; empty = nothing is. */
export function openWords(assessed: Assessment, open: readonly UpgradeIntent[]): string {
  return open.length === 0 ? "" : `${open.map((intent) => wordsOf(intent) + waitsFor(assessed, intent)).join("; ")}.`;
}

function waitsFor(assessed: Assessment, intent: UpgradeIntent): string {
  if (intent.what === "InstallTalos") return "";
  const progress = progressOf(assessed, intent);
  const isSilent = assessed.seen.nodes?.isUnanswered === true;
  return isSilent && progress.kind === "missing" && progress.isUnreported === true ? `; it runs that, and ${progress.what}` : "";
}
