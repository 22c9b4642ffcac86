import type { UpgradeIntent } from "../../record/upgrades.ts";

/** What is open on one machine, for people. */
export function wordsOf({ what, machine, talosVersion, rollsBackFrom, provenAt }: UpgradeIntent): string {
  if (rollsBackFrom !== undefined) return `${machine} goes back from Talos ${talosVersion}`;
  if (provenAt !== undefined) return `${machine} runs Talos ${talosVersion} and is watched for its bake time`;
  return what === "InstallTalos" ? `Talos ${talosVersion} is being installed on ${machine}` : `${machine} boots Talos ${talosVersion}`;
}
