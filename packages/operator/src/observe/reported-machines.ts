import { canonicalAddress, findCondition, isConditionTrue } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { NOTHING_REPORTED, reportedIdentity } from "./reported-identity.ts";
import type { ReportedHardware } from "./reported-identity.ts";
import { provenLook } from "./proven-look.ts";
import type { ClusterFacts, MachineFact, MachinePlace } from "../model/record.ts";
import type { Look } from "../model/look.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";

/** A machine that took its configuration installs and boots meanwhile; one that is silent for longer took none that anybody remembers. */
export const COMES_BACK_MS = 10 * 60_000;

/** However long ago the keys were found, a process that has just begun waits for an answer so long. Milliseconds. */
const SILENT_AT_LEAST_MS = 60_000;

/**
 * Until when a machine that the record does not know may come back with a configuration. Milliseconds since the epoch.
 *
 * Since the keys were found nothing was sent that is not written down: leaders that come and go after that add no time to it.
 *
 * @param since it does not answer, or is not asked, as far as this process knows
 * @param foundAt `undefined` = the record does not say
 */
export function comesBackBy(since: number, foundAt: number | undefined): number {
  const latest = since + COMES_BACK_MS;
  return foundAt === undefined ? latest : Math.min(latest, Math.max(foundAt + COMES_BACK_MS, since + SILENT_AT_LEAST_MS));
}

/** A TalosMachine says that a configuration of its cluster was sent to the machine; it goes on saying so while the record is away. */
export function saysConfigured({ status }: TalosMachine): boolean {
  const reason = findCondition(status?.conditions, "ConfigApplied")?.reason;
  return reason !== undefined && reason !== "WaitingForMachine" && reason !== "WaitingForControlPlane";
}

/** What says that a control plane is no new cluster, or `undefined`: its status outlives record, keys and TalosMachines. */
export function signOfEarlierLife({ controlPlane: { status } }: Pick<Observed, "controlPlane">): string | undefined {
  if (isConditionTrue(status?.conditions, "Bootstrapped") || status?.state === "Bootstrapped" || status?.state === "Ready")
    return "The status says that this cluster was bootstrapped";
  return undefined;
}

/**
 * The keys are there and no record ever was: an operator ended between the two. Nothing is sent to a machine before there is a record, and its TalosMachine is made
 * before that, and kept by a finalizer. So the keys were made for this very object, and nothing of it ever had a TalosMachine or shows these keys.
 */
export function wasNeverRecorded({ controlPlane, bundle, machineObjects, machines, installed = [] }: Observed): boolean {
  const { metadata, status } = controlPlane;
  if (bundle.kind !== "present" || metadata.uid === undefined || bundle.value.madeFor !== metadata.uid) return false;
  if (signOfEarlierLife({ controlPlane }) !== undefined || status?.configContract !== undefined) return false;
  return machineObjects.length + installed.length === 0 && machines.every(({ look }) => look.kind !== "running");
}

/** Where a machine is that its TalosMachine reports, and what for. */
export function placeOfReported({ metadata, spec }: TalosMachine): MachinePlace {
  const pool = spec?.workerRef?.name;
  return {
    name: metadata.name,
    role: spec?.workerRef === undefined ? "controlplane" : "worker",
    ...(pool === undefined ? {} : { pool }),
    address: canonicalAddress(spec?.endpoint ?? ""),
  };
}

/**
 * Machines that hold a configuration of this cluster as far as their TalosMachines report: what is left to go by when the record is lost.
 *
 * The rest is learned once they run, of the machine that its TalosMachine names. One that waits in maintenance mode is the machine that was configured only where it
 * shows the key that its TalosMachine names; with any other it was wiped, or is another machine, and a person says what may become of it.
 */
export function reportedMachines(seen: Observed): readonly MachineFact[] {
  const told = seen.machineObjects.filter(saysConfigured).map((object): MachineFact => {
    const look = seen.machines.find(({ declared }) => declared.name === object.metadata.name)?.look;
    const same = look?.kind === "maintenance" && look.spki === reportedIdentity(object).maintenanceKey ? look : undefined;
    const fact = reportedFact(object, seen.now);
    return same === undefined ? fact : { ...fact, uuid: same.uuid ?? "", macs: same.macs, spki: same.spki, platform: same.platform };
  });
  return [...told, ...installedMachines(seen, told)];
}

/**
 * The facts with machines that TalosMachines report and that a record does not know which was made anew; the same object when there is none. The API server may
 * have listed fewer when it was made, and one whose machine nobody knows would be deleted as if there were nothing behind it.
 */
export function withReported(seen: Observed, facts: ClusterFacts): ClusterFacts {
  if (!isMadeAnew(facts)) return facts;
  const isUnrecorded = (name: string): boolean => facts.machines.every((machine) => machine.name !== name);
  const isReported = seen.machineObjects.some((object) => isUnrecorded(object.metadata.name) && saysConfigured(object));
  const told = isReported ? reportedMachines({ ...seen, installed: [] }).filter(({ name }) => isUnrecorded(name)) : [];
  const installed = installedMachines(seen, [...facts.machines, ...told]);
  return told.length + installed.length === 0 ? facts : { ...facts, machines: [...facts.machines, ...told, ...installed] };
}

/**
 * Machines that a KubernetesCluster still holds, that nobody lists any more, and that nothing else reports: their TalosMachines went while there was no record. Whoever
 * has released them would leave them with their configuration.
 */
function installedMachines({ installed = [], machines, now }: Observed, known: readonly MachineFact[]): readonly MachineFact[] {
  const declared = machines.map((machine) => machine.declared);
  return onlyInstalled(installed, [...declared, ...known]).map((place) => toldBy(place, NOTHING_REPORTED, now));
}

/**
 * Those of the places that none of the others is: neither by its name, nor by its address, where a second Machine for the same machine says of itself what is
 * true of the first.
 */
export function onlyInstalled(
  installed: readonly MachinePlace[],
  others: readonly (Pick<MachinePlace, "name" | "address"> & Partial<Pick<MachineFact, "releasedAt">>)[],
): readonly MachinePlace[] {
  return installed.filter(
    ({ name, address }, index) =>
      address !== "" &&
      installed.findIndex((other) => other.address === address) === index &&
      others.every((other) => other.name !== name && (other.releasedAt !== undefined || other.address !== address)),
  );
}

function reportedFact(object: TalosMachine, now: number): MachineFact {
  const { uuid, macs } = reportedIdentity(object);
  return toldBy(placeOfReported(object), { uuid, macs }, now);
}

function toldBy(place: MachinePlace, hardware: ReportedHardware, now: number): MachineFact {
  return {
    ...place,
    ...hardware,
    spki: undefined,
    platform: undefined,
    installDisk: undefined,
    configHash: undefined,
    pinnedAt: now,
    vouchedAt: undefined,
    configuredAt: now,
    releasedAt: undefined,
  };
}

/**
 * The look at a machine while there is no record, as rules may believe it: another machine than the TalosMachine names says nothing about it, and must not be
 * written down in its place.
 */
export function reportedLook(objects: readonly TalosMachine[], declared: DeclaredMachine, look: Look, now: number): Look {
  if (look.kind !== "running") return look;
  const machines = objects.filter(saysConfigured).map((object): MachineFact => {
    const told = reportedFact(object, now);
    // Where it was is of no weight here: it may have moved while nobody wrote that down.
    return told.name === declared.name ? { ...told, address: declared.address } : told;
  });
  return provenLook({ machines }, declared, look);
}

/** What is known of the machine is what its TalosMachine reported: it was not seen since the record was made anew. */
export function isOnlyReported({ spki, platform, configHash, metaHash, configuredAt, releasedAt }: MachineFact): boolean {
  const isSeen = spki !== undefined || platform !== undefined || configHash !== undefined || metaHash !== undefined;
  return !isSeen && configuredAt !== undefined && releasedAt === undefined;
}

/** The record was made for keys that were there before, by an operator of ours: the one before it was lost, and what it said of settings with it. */
export function isMadeAnew({ bundle, importedAt }: ClusterFacts): boolean {
  return bundle.wasFound && importedAt === undefined;
}
