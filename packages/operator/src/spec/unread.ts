import { compareVersions, tryParseVersion } from "@talos-operator/talos";
import { checkConfig, troubleWords } from "../config/check.ts";
import { wantedDisk } from "../config/wanted-disk.ts";
import { asksAnotherTalos } from "../planning/upgrade-plan.ts";
import { upgradeIntents } from "../record/upgrades.ts";
import { asMade } from "./fixed-properties.ts";
import { machineContract } from "./pool-contract.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Observed } from "../model/observation.ts";

/**
 * The oldest Talos that has to read what is sent while an upgrade is under way or asked for: what machines run that are still to come, and what those that have just
 * got another one would go back to. `undefined` = every machine runs what is asked for.
 */
export function oldestReader({ machines }: Pick<Observed, "machines">, facts: ClusterFacts): string | undefined {
  const before = upgradeIntents(facts).map(({ talosBefore }) => talosBefore);
  const toCome = machines.flatMap((machine) =>
    asksAnotherTalos(machine) && machine.look.kind === "running" ? (machine.look.version ?? []) : [],
  );
  return olderOf(...before, ...toCome);
}

/** The oldest of versions; what is no version counts for nothing. */
export function olderOf(...versions: readonly (string | undefined)[]): string | undefined {
  return versions
    .filter((version) => version !== undefined)
    .filter((version) => tryParseVersion(version) !== undefined)
    .toSorted(compareVersions)
    .at(0);
}

/** What in the settings of a machine a Talos does not read though the one that is asked for does, in words; `undefined` = it reads everything. */
export function unreadBy(
  reader: string,
  declared: DeclaredMachine,
  { spec, metadata }: Observed["controlPlane"],
  facts: ClusterFacts,
  platform: string | undefined,
): string | undefined {
  // What is no version is said of the spec.
  if (spec === undefined || tryParseVersion(declared.version) === undefined) return undefined;
  if (compareVersions(reader, declared.version) >= 0) return undefined;
  const { role, machineSpec, address } = declared;
  const check = checkConfig({
    role,
    clusterName: metadata.name,
    endpoint: facts.endpoint,
    controlPlane: asMade(spec, facts),
    machineSpec,
    version: reader,
    contract: machineContract(facts, declared, reader),
    readBy: undefined,
    platform,
    installDisk: wantedDisk(machineSpec) ?? "/dev/sda",
    addresses: [address],
  });
  return check.kind === "trouble" ? troubleWords(check) : undefined;
}
