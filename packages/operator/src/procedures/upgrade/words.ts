import { noSchematic } from "@talos-operator/talos";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** From what an image is built, for people. Ids are told apart by their beginning. */
export function builtFrom(schematic: string): string {
  return schematic === noSchematic ? "built from no schematic" : `of the schematic ${schematic.slice(0, 12)}`;
}

/** What is open on one machine, for people. */
export function wordsOf({ what, machine, talosVersion, talosBefore, talosSchematic, rollsBackFrom, provenAt }: UpgradeIntent): string {
  const isImage = talosSchematic !== undefined && talosVersion === talosBefore;
  const talos = `Talos ${talosVersion}${isImage ? ` ${builtFrom(talosSchematic)}` : ""}`;
  if (rollsBackFrom !== undefined) return `${machine} goes back from ${talos}`;
  if (provenAt !== undefined) return `${machine} runs ${talos} and is watched for its bake time`;
  return what === "InstallTalos" ? `${talos} is being installed on ${machine}` : `${machine} boots ${talos}`;
}
