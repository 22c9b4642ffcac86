import type { ConditionInput } from "@talos-operator/api";
import { defaultSchematicId, isPlainSchematic, noSchematic, sayPlan, schematicOfImage } from "@talos-operator/talos";
import type { UpgradePlan } from "@talos-operator/talos";
import { upgradePendingOf } from "../controllers/shared/upgrade-pending.ts";
import type { KubernetesVersions, MachineBuilds } from "../controllers/shared/upgrade-pending.ts";
import { failedHere } from "../procedures/upgrade/quarantine.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import { upgradeIntents } from "../record/upgrades.ts";
import { argumentsToCome, asksAnotherTalos, upgradePlanOf } from "../planning/upgrade-plan.ts";
import { listed } from "./listed.ts";
import type { Look } from "../model/look.ts";
import type { Observed, SeenMachine, SeenReleases } from "../model/observation.ts";
import type { UpgradeStep } from "../model/plans.ts";

/**
 * `UpgradePending` of some machines of a bootstrapped cluster: of all of them for its TalosControlPlane, of those of a pool for its TalosWorker.
 *
 * @param kubeVersion what that pool asks for; absent = the control plane is meant
 * @param step what is done about another Talos
 */
export function upgradePending(
  seen: Observed,
  machines: readonly SeenMachine[],
  generation: number | undefined,
  kubeVersion?: string,
  step?: UpgradeStep & { readonly headline?: string | undefined },
): readonly ConditionInput[] {
  if (factsOf(seen)?.bootstrapDone === undefined) return [];
  const differing = machines.flatMap(({ declared: { name, version: asked }, look }) =>
    look.kind === "running" && look.version !== undefined && look.version !== asked
      ? [{ name, runs: look.version, asked, isContainer: look.platform === "container" }]
      : [],
  );
  const versions = differing.filter(({ isContainer }) => !isContainer);
  const containers = differing.filter(({ isContainer }) => isContainer);
  const builds = machines.filter((machine) => asksAnotherTalos(machine)).flatMap((machine) => buildsOf(machine));
  const lacking = machines.flatMap(({ declared: { name } }) => {
    const names = argumentsToCome(seen.configs?.get(name));
    return names.length === 0 ? [] : [{ name, names }];
  });
  const proving = provingOf(seen, machines).filter((name) => ![...versions, ...builds].some((one) => one.name === name));
  const failed = machines.flatMap((machine) => (failedHere(factsOf(seen), machine) === undefined ? [] : [machine.declared.name]));
  const kubernetes = kubernetesPending(seen, kubeVersion);
  const components = componentsThatDiffer(seen, machines);
  const way =
    versions.length + builds.length + lacking.length === 0 && kubernetes === undefined
      ? ""
      : withProblem(wayThere(upgradePlanOf(seen), machines), seen.releases);
  const said = step?.reason === undefined ? undefined : { reason: step.reason, says: step.says, headline: step.headline };
  const images = imagesThatDiffer(
    seen,
    machines.filter(({ declared: { name } }) => !builds.some((one) => one.name === name)),
  );
  return upgradePendingOf(
    { machines: versions, builds, lacking, containers, proving, failed, kubernetes, components, images, way, step: said },
    generation,
  );
}

/** Nothing where the version differs as well. */
function buildsOf({ declared: { name, version, machineSpec }, look }: SeenMachine): readonly MachineBuilds[] {
  const asked = schematicOfImage(machineSpec.image ?? "");
  if (look.kind !== "running" || look.version !== version || look.schematic === undefined || asked === undefined) return [];
  return [{ name, runs: look.schematic, asked }];
}

/** The hops of these machines; that a downgrade has to be allowed is told by the condition itself. */
function wayThere(plan: UpgradePlan, machines: readonly SeenMachine[]): string {
  const refusals = plan.kind === "none" ? plan.refusals.filter(({ kind }) => kind !== "DowngradeAsked") : [];
  if (plan.kind === "none" && refusals.length === 0) return "";
  return sayPlan(plan.kind === "none" ? { ...plan, refusals } : plan, new Set(machines.map(({ declared }) => declared.name)));
}

/** Machines whose upgrade is not over: what runs is what is asked for, and nothing is settled yet. */
function provingOf(seen: Observed, machines: readonly SeenMachine[]): readonly string[] {
  const open = new Set(upgradeIntents(factsOf(seen)).map(({ machine }) => machine));
  return machines.flatMap(({ declared: { name } }) => (open.has(name) ? [name] : []));
}

/** What a person adds to the releases does not count, and this may be why. */
function withProblem(way: string, releases: SeenReleases | undefined): string {
  return [way, releases?.problem ?? ""].filter((words) => words !== "").join(". ");
}

/** The schema gives workers this version, which says nothing about the author. */
const DEFAULT_OF_POOLS = "v1.35.0";

function kubernetesPending(seen: Observed, ofPool: string | undefined): KubernetesVersions | undefined {
  const runs = factsOf(seen)?.kubernetesVersion ?? "";
  const ofControlPlane = seen.controlPlane.spec?.kubeVersion;
  const isOverruled = ofPool !== undefined && ofPool !== ofControlPlane;
  const asked = isOverruled ? ofPool : ofControlPlane;
  if (runs === "" || asked === undefined || asked === runs || (isOverruled && asked === DEFAULT_OF_POOLS)) return undefined;
  return { runs, asked, isOverruled };
}

/** Machines that were installed from another image than the spec asks for; those with the same two images are told together. */
function imagesThatDiffer(seen: Observed, machines: readonly SeenMachine[]): readonly string[] {
  const differing = machines.flatMap(({ declared: { name }, look }) => {
    const config = seen.configs?.get(name);
    const image = config?.kind === "known" ? config.install?.image : undefined;
    return image === undefined || isRunning(look, image.asked) || machineFact(factsOf(seen), name)?.talosImage === image.asked
      ? []
      : [{ name, words: `installed from ${image.runs}, the spec asks for ${image.asked}` }];
  });
  return together(differing);
}

/**
 * An upgrade writes no configuration, so that names the image of the first installation for ever. What the machine shows tells more, for images that tell their
 * schematic by their name.
 */
function isRunning(look: Look, image: string): boolean {
  if (look.kind !== "running" || look.version === undefined || look.schematic === undefined) return false;
  const asked = schematicOfImage(image);
  // It stays with its schematic, whatever version comes: ConfigUpToDate says so.
  if (asked !== undefined && isPlainSchematic(asked) && !isPlainSchematic(look.schematic)) return true;
  const [, tag] = /:([^:/@]+)(?:@[^@]+)?$/.exec(image) ?? [];
  const plain = (schematic: string): string => (schematic === defaultSchematicId ? noSchematic : schematic);
  return asked !== undefined && tag === look.version && plain(asked) === plain(look.schematic);
}

/** Components that patches ask for in versions of their own. */
function componentsThatDiffer({ configs }: Observed, machines: readonly SeenMachine[]): readonly string[] {
  const differing = machines.flatMap(({ declared: { name } }) => {
    const config = configs?.get(name);
    return (config?.kind === "known" ? (config.components ?? []) : []).map(({ component, asked, runs }) => ({
      name,
      words: `${component} ${runs} runs, and a patch or written config asks for ${asked}`,
    }));
  });
  return together(differing);
}

/** Machines of which the same is said, in one sentence. */
function together(found: readonly { readonly name: string; readonly words: string }[]): readonly string[] {
  return [...Map.groupBy(found, ({ words }) => words)].map(([words, all]) => `${listed(all.map(({ name }) => name))}: ${words}`);
}
