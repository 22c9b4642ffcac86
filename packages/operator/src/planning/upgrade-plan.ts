import { annotations } from "@talos-operator/api";
import {
  compareVersions,
  defaultSchematicId,
  isSameSchematic,
  noSchematic,
  planUpgrade,
  schematicOfImage,
  tryParseVersion,
} from "@talos-operator/talos";
import type { UpgradeMachine, UpgradePlan, UpgradeWish } from "@talos-operator/talos";
import { factsOf, machineFact } from "../record/facts.ts";
import type { SeenConfig } from "../model/config.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";

/** Pools are told of one after the other, and one plan serves them all. */
const plans = new WeakMap<Observed, UpgradePlan>();

/** The hops from what the machines of a cluster run to what its pools ask for. Machines that nobody hears, and containers, are no part of it. */
export function upgradePlanOf(seen: Observed): UpgradePlan {
  const made = plans.get(seen) ?? planOf(seen);
  plans.set(seen, made);
  return made;
}

function planOf(seen: Observed): UpgradePlan {
  const { spec, metadata } = seen.controlPlane;
  const runs = factsOf(seen)?.kubernetesVersion ?? "";
  const allowDowngrade = metadata.annotations?.[annotations.allowDowngrade];
  const etcdStorage = storageOf(seen);
  const known = extensionsBySchematic(seen);
  const facts = factsOf(seen);
  const wish: UpgradeWish = {
    machines: seen.machines.flatMap((machine) => {
      const { name } = machine.declared;
      return partOf(machine, known, seen.configs?.get(name), machineFact(facts, name)?.contract) ?? [];
    }),
    kubernetes: runs === "" ? undefined : { runs, asked: spec?.kubeVersion ?? runs },
    ...(allowDowngrade === undefined ? {} : { allowDowngrade }),
    allowExtensionLoss: extensionsLetGo(seen),
    ...(etcdStorage === undefined ? {} : { etcdStorage }),
  };
  return planUpgrade(wish, seen.releases?.catalogue);
}

/**
 * What a machine runs and is to run. Kernel arguments are part of it where GRUB gets them from the configuration in force: those that do not run come with an
 * installation. A schematic brings its own.
 */
function partOf(
  { declared: { name, role, version, machineSpec }, look }: SeenMachine,
  known: ReadonlyMap<string, readonly string[]>,
  config: SeenConfig | undefined,
  configContract: string | undefined,
): UpgradeMachine | undefined {
  if (look.kind !== "running" || look.platform === "container" || look.version === undefined) return undefined;
  const image = askedSchematic(machineSpec.image);
  // Without an image the version that runs stays what it is built from.
  const schematic = image === noSchematic && look.version === version ? undefined : image;
  const { asked = [] } = config?.kind === "known" ? (config.arguments ?? {}) : {};
  const lacks = argumentsToCome(config);
  const [before, after] = lacks.length === 0 ? [] : [asked.filter((one) => !lacks.includes(one)), asked];
  const extensions = schematic === undefined || schematic === look.schematic ? undefined : known.get(schematic);
  return {
    name,
    role,
    ...(configContract === undefined ? {} : { configContract }),
    runs: {
      version: look.version,
      ...(look.schematic === undefined ? {} : { schematic: look.schematic }),
      ...(look.extensions === undefined ? {} : { extensions: look.extensions }),
      ...(before === undefined ? {} : { kernelArguments: before }),
    },
    asked: {
      version,
      ...(schematic === undefined ? {} : { schematic }),
      ...(extensions === undefined ? {} : { extensions }),
      ...(after === undefined ? {} : { kernelArguments: after }),
    },
  };
}

/** What is known to be in images: nothing but Talos in those of no schematic, and in others what machines show that run them. */
function extensionsBySchematic({ machines }: Observed): ReadonlyMap<string, readonly string[]> {
  const shown = machines.flatMap(({ look }): readonly (readonly [string, readonly string[]])[] =>
    look.kind === "running" && look.schematic !== undefined && look.extensions !== undefined ? [[look.schematic, look.extensions]] : [],
  );
  return new Map([...shown, [noSchematic, []], [defaultSchematicId, []]]);
}

/** Names of the kernel arguments of a machine's configuration that an installation would bring. */
export function argumentsToCome(config: SeenConfig | undefined): readonly string[] {
  const seen = config?.kind === "known" ? config.arguments : undefined;
  return seen?.bySettings === true ? (seen.lacks ?? []) : [];
}

/** Names of extensions that a person lets go. */
export function extensionsLetGo(seen: Pick<Observed, "controlPlane">): readonly string[] {
  return namedBy(seen, annotations.allowExtensionLoss);
}

/** Names of kernel arguments that a person lets go. */
export function argumentsLetGo(seen: Pick<Observed, "controlPlane">): readonly string[] {
  return namedBy(seen, annotations.allowKernelArgumentLoss);
}

function namedBy({ controlPlane: { metadata } }: Pick<Observed, "controlPlane">, annotation: string): readonly string[] {
  return (metadata.annotations?.[annotation] ?? "").split(",").map((name) => name.trim());
}

/** It runs another Talos than is asked for: another version, or the same one built from another schematic. */
export function asksAnotherTalos({ declared: { version, machineSpec }, look }: SeenMachine): boolean {
  if (look.kind !== "running" || look.platform === "container" || look.version === undefined) return false;
  if (look.version !== version) return true;
  const asked = askedSchematic(machineSpec.image);
  return asked !== noSchematic && !isSameSchematic(look.schematic, asked);
}

/** Without an image of its own a machine gets the installer of Talos itself, from 1.14 on by the schematic that holds nothing. */
export function askedSchematic(image: string | undefined): string | undefined {
  return image === undefined || image === "" ? noSchematic : schematicOfImage(image);
}

/** The newest that a member tells: all members follow. */
function storageOf(seen: Observed): string | undefined {
  const told = seen.machines.flatMap(({ look }) => (look.kind === "running" ? (look.etcd?.storage ?? []) : []));
  return told
    .filter((version) => tryParseVersion(version) !== undefined)
    .toSorted(compareVersions)
    .at(-1);
}
