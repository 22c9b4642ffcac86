import { canonicalAddress, findCondition } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import type { ClusterFacts, MachineFact } from "../record/facts.ts";
import type { Observed } from "../model.ts";

/** A TalosMachine says that a configuration of its cluster was sent to the machine; it goes on saying so while the record is away. */
export function saysConfigured({ status }: TalosMachine): boolean {
  const reason = findCondition(status?.conditions, "ConfigApplied")?.reason;
  return reason !== undefined && reason !== "WaitingForMachine" && reason !== "WaitingForControlPlane";
}

/** Where a machine is that its TalosMachine tells of, and what for. */
export function placeOfTold({ metadata, spec }: TalosMachine): Pick<MachineFact, "name" | "role" | "address"> {
  return {
    name: metadata.name,
    role: spec?.workerRef === undefined ? "controlplane" : "worker",
    address: canonicalAddress(spec?.endpoint ?? ""),
  };
}

/**
 * Machines that hold a configuration of this cluster as far as their TalosMachines tell: what is left to go by when the record is lost.
 *
 * Their hardware is learned once they run. One that waits in maintenance mode is the machine that was configured only where it shows the key that its
 * TalosMachine names; with any other it was wiped, or is another machine, and a person says what may become of it.
 */
export function toldMachines(seen: Observed): readonly MachineFact[] {
  return seen.machineObjects.filter(saysConfigured).map((object): MachineFact => {
    const look = seen.machines.find(({ declared }) => declared.name === object.metadata.name)?.look;
    const named = findCondition(object.status?.conditions, "MaintenanceIdentityPinned")?.message ?? "";
    const same = look?.kind === "maintenance" && named.includes(look.spki) ? look : undefined;
    return {
      ...placeOfTold(object),
      uuid: same?.uuid ?? "",
      macs: same?.macs ?? [],
      spki: same?.spki,
      platform: same?.platform,
      installDisk: undefined,
      configHash: undefined,
      pinnedAt: seen.now,
      vouchedAt: undefined,
      configuredAt: seen.now,
      releasedAt: undefined,
    };
  });
}

/** What is known of the machine is what its TalosMachine told: it was not seen since the record was made anew. */
export function isOnlyTold({ uuid, macs, spki, configuredAt, releasedAt }: MachineFact): boolean {
  return uuid === "" && macs.length === 0 && spki === undefined && configuredAt !== undefined && releasedAt === undefined;
}

/** The record was made for keys that were there before, by an operator of ours: the one before it was lost, and what it said of settings with it. */
export function isMadeAnew({ bundle, importedAt }: ClusterFacts): boolean {
  return bundle.wasFound && importedAt === undefined;
}
