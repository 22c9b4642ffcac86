import { isSameSchematic } from "@talos-operator/talos";
import type { ClusterFacts, IntentFact, OperationFact, QuarantineFact } from "../model/record.ts";

/** A Talos, and what it is built from where that is known: `none` = from no schematic. */
export interface TalosBuild {
  readonly version: string;
  readonly schematic?: string | undefined;
}

/** An open step of an upgrade of Talos on one machine. */
export type UpgradeIntent = IntentFact & {
  readonly what: "InstallTalos" | "Reboot" | "UpgradeTalos";
  readonly talosVersion: string;
  readonly talosBefore: string;
};

/** True for the steps of an upgrade; a boot that is about settings names no Talos. */
export function isUpgrade(intent: IntentFact | undefined): intent is UpgradeIntent {
  return intent?.talosVersion !== undefined && intent.talosBefore !== undefined;
}

/** Open steps of upgrades. */
export function upgradeIntents(facts: ClusterFacts | undefined): readonly UpgradeIntent[] {
  return facts === undefined || facts.intents.length === 0 ? [] : facts.intents.filter((intent) => isUpgrade(intent));
}

/** The run that is open; `undefined` = none is. */
export function openRun(facts: Pick<ClusterFacts, "operations"> | undefined): OperationFact | undefined {
  return facts?.operations?.find(({ kind }) => kind === "UpgradeTalos");
}

/** What is known against a build, the newest failure last; empty = nothing. A version that failed is bad in every image; one image of it says nothing of the others. */
export function quarantineOf(
  facts: Pick<ClusterFacts, "quarantine"> | undefined,
  { version, schematic }: TalosBuild,
): readonly QuarantineFact[] {
  return (facts?.quarantine ?? []).filter(
    (row) =>
      row.version === version && (row.schematic === undefined || (schematic !== undefined && isSameSchematic(row.schematic, schematic))),
  );
}
