import { annotations } from "@talos-operator/api";
import { isPlainSchematic, isSameSchematic } from "@talos-operator/talos";
import { isSameBuild } from "../../effects/demand-talos.ts";
import { argumentsLetGo } from "../../planning/upgrade-plan.ts";
import { isForSecureBoot, isUnsigned } from "./image.ts";
import { builtFrom } from "./words.ts";
import type { UpgradeImage } from "./image.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { Candidate } from "./candidate.ts";

/** The version and the schematic stay: it is about kernel arguments of the configuration. */
export function isAboutArguments({ hop: { from, to } }: Pick<Candidate, "hop">): boolean {
  return isSameBuild(from, to);
}

/** Why an image does not go to a machine, by what it boots with: a person is needed. Without a full stop. */
export function misfitOf(
  assessed: Assessment,
  candidate: Candidate,
  config: KnownConfig,
  image: Extract<UpgradeImage, { readonly kind: "image" }>,
): string | undefined {
  const { talos, arguments: seen } = config;
  const { reference } = image;
  if (talos?.isSecureBoot === true && isUnsigned(reference))
    return `it boots with Secure Boot, and its firmware does not start what ${reference} brings: name an installer-secureboot`;
  if (seen?.loader === "grub" && isForSecureBoot(reference))
    return `GRUB starts it, and ${reference} is made for Secure Boot: name an installer that is not`;
  if (seen !== undefined && seen.asked.length > 0 && (seen.loader === undefined || seen.lacks === undefined))
    return `its settings name kernel arguments (${seen.asked.join(", ")}), and it does not report whether they would still be there: take machine.install.extraKernelArgs away`;
  const { look } = candidate.machine;
  const runs = look.kind === "running" ? look.schematic : undefined;
  if (isAboutArguments(candidate) && (runs === undefined || image.schematic === undefined || !isSameSchematic(runs, image.schematic)))
    return `its kernel arguments come with an installation of what runs, and ${reference} is not known to be that${runs === undefined ? "" : `: it runs the schematic ${runs}`}. Name its image, or ask for another version`;
  const lost = argumentsLost(assessed, candidate, config, image.schematic);
  return lost.length === 0
    ? undefined
    : `${reference}, ${builtFrom(image.schematic ?? "")}, lacks the kernel arguments ${lost.join(", ")}, which run: name an image that has them, or ${letGoWords(lost)}`;
}

/** What a person says of kernel arguments that may go. */
export function letGoWords(lost: readonly string[]): string {
  return `annotate the TalosControlPlane with ${annotations.allowKernelArgumentLoss}: ${lost.join(",")}`;
}

/** Kernel arguments of its image that run, that another one is known to lack, and that nobody lets go. No id tells what is in an image: what runs elsewhere does. */
function argumentsLost(
  { seen, machines }: Assessment,
  { name, machine: { look } }: Candidate,
  { arguments: own }: KnownConfig,
  schematic: string | undefined,
): readonly string[] {
  if (own?.names === undefined || own.bySettings || schematic === undefined || look.kind !== "running") return [];
  if (isSameSchematic(look.schematic, schematic)) return [];
  const shown = machines.flatMap(({ declared, look: other }) => {
    const config = seen.configs?.get(declared.name);
    const isMeant = declared.name !== name && other.kind === "running" && other.schematic === schematic;
    return isMeant && config?.kind === "known" && config.arguments?.bySettings === false ? [config.arguments.names] : [];
  });
  const known = isPlainSchematic(schematic) ? [] : shown.find((names) => names !== undefined);
  const stay = new Set([...(known ?? own.names), ...argumentsLetGo(seen)]);
  return own.names.filter((one) => !stay.has(one));
}

/** Names of the kernel arguments that a machine is to run after a step. */
export function argumentsAfter(
  { seen }: Pick<Assessment, "seen">,
  candidate: Candidate,
  { arguments: args }: KnownConfig,
): readonly string[] {
  if (args?.bySettings !== true) return (args?.names ?? []).filter((name) => !argumentsLetGo(seen).includes(name));
  const lacks = new Set(args.lacks);
  const isMeant = isAboutArguments(candidate) ? (name: string) => lacks.has(name) : (name: string) => !lacks.has(name);
  return args.asked.filter(isMeant).slice(0, 32);
}
