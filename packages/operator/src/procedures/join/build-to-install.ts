import { compareVersions, defaultInstallerImage, isSameSchematic, schematicOfImage, tryParseVersion } from "@talos-operator/talos";
import { onceFor } from "../../assess/once.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { mayHoldConfig, machineFact } from "../../record/facts.ts";
import { quarantineOf } from "../../record/upgrades.ts";
import { schematicAsked, withSchematic } from "../upgrade/image.ts";
import type { DeclaredMachine, MachineSettings } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { ClusterFacts, QuarantineFact } from "../../model/record.ts";

/** What a machine in maintenance mode is installed with: no upgrade is needed then, and none is sent. */
export interface BuildToInstall {
  readonly version: string;
  /** The machine's settings, with an image of that Talos. */
  readonly machineSpec: MachineSettings;
  /** That Talos failed, and no other one is known that could be installed: the machine waits. */
  readonly failed?: QuarantineFact;
}

/**
 * What is installed on a machine that joins: what is asked for once another machine of its role is well with that version, and one of its pool with that schematic, else
 * what runs there. A Talos that failed is not tried on it: it gets what runs, or waits where that is not known. Nothing is beside it yet that it could fall back to.
 */
export function buildToInstall({ machines }: Pick<Observed, "machines">, facts: ClusterFacts, declared: DeclaredMachine): BuildToInstall {
  const { role, version: asked, machineSpec, owner } = declared;
  if (facts.bootstrapDone === undefined || facts.talosVersion === "") return { version: asked, machineSpec };
  const peers = whatRuns(machines)(facts);
  const ofRole = peers.get(role);
  const ofPool = peers.get(`${role}/${owner.name}`);
  const isBad = (version: string, schematic: string | undefined): boolean => quarantineOf(facts, { version, schematic }).length > 0;
  const isProven = ofRole?.versions.some((version) => isSameVersion(version, asked)) === true;
  // The first worker has nobody to ask but the control planes, which it must not be above.
  const isFirst = role === "worker" && ofRole === undefined && !isNewer(asked, facts.talosVersion);
  const runs = role === "controlplane" ? facts.talosVersion : ((ofPool ?? ofRole)?.usual ?? facts.talosVersion);
  const candidates = [...(isProven || isFirst ? [asked] : []), runs, ...(ofPool?.versions ?? []), ...(ofRole?.versions ?? [])];
  const version = candidates.find((one) => !isBad(one, undefined)) ?? runs;
  const { image } = machineSpec;
  if (image === undefined || image === "")
    return unlessFailed(facts, { version, machineSpec }, schematicOfImage(defaultInstallerImage(version)));
  const wanted = schematicAsked(declared);
  const [usual] = ofPool?.schematics ?? [];
  const isTried = usual === undefined || ofPool?.schematics.some((one) => isSameSchematic(one, wanted)) === true;
  const built = (!isTried || isBad(version, wanted)) && !isBad(version, usual) ? withSchematic(image, usual) : image;
  return unlessFailed(facts, { version, machineSpec: { ...machineSpec, image: withTag(built, version) } }, schematicOfImage(built));
}

function unlessFailed(facts: ClusterFacts, build: BuildToInstall, schematic: string | undefined): BuildToInstall {
  const [failed] = quarantineOf(facts, { version: build.version, schematic });
  return failed === undefined ? build : { ...build, failed };
}

/** What machines run that are well. */
interface Running {
  readonly versions: readonly string[];
  /** Of most of them, of two the older one. */
  readonly usual: string | undefined;
  /** As far as they are told, in the order of machines. */
  readonly schematics: readonly string[];
}

/** By role, and by role and pool. Many machines join at once. */
const whatRuns = onceFor((machines: readonly SeenMachine[]) =>
  onceFor((facts: ClusterFacts): ReadonlyMap<string, Running> => {
    const busy = new Set(facts.intents.map(({ machine }) => machine));
    const well = machines.filter(
      (one) => isWell(one) && mayHoldConfig(machineFact(facts, one.declared.name)) && !busy.has(one.declared.name),
    );
    const groups = [
      ...Map.groupBy(well, ({ declared }): string => declared.role),
      ...Map.groupBy(well, ({ declared: { role, owner } }) => `${role}/${owner.name}`),
    ];
    return new Map(groups.map(([key, all]) => [key, runningOf(all)]));
  }),
);

function runningOf(all: readonly SeenMachine[]): Running {
  const told = all.flatMap(({ look }) => (look.kind === "running" ? (look.version ?? []) : []));
  const counts = [
    ...Map.groupBy(
      told.filter((version) => tryParseVersion(version) !== undefined),
      (version) => version,
    ),
  ];
  const usual = counts.toSorted(([a, some], [b, others]) => others.length - some.length || compareVersions(a, b))[0]?.[0];
  const schematics = new Set(all.flatMap(({ look }) => (look.kind === "running" ? (look.schematic ?? []) : [])));
  return { versions: counts.map(([version]) => version), usual, schematics: [...schematics] };
}

function isWell({ look }: SeenMachine): boolean {
  return look.kind === "running" && look.stage === "running" && look.ready && look.version !== undefined;
}

function isNewer(version: string, than: string): boolean {
  return tryParseVersion(version) !== undefined && tryParseVersion(than) !== undefined && compareVersions(version, than) > 0;
}

/** An image that is named for another version than is installed; a digest says which it is, whatever its tag says. */
function withTag(image: string, version: string): string {
  return image.includes("@") ? image : image.replace(/:[^:/]+$/, `:${version}`);
}
