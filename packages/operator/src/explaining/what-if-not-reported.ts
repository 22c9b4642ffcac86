import { annotations } from "@talos-operator/api";
import { noSchematic } from "@talos-operator/talos";
import type { HazardCode } from "@talos-operator/talos";
import { askedSchematic } from "../planning/upgrade-plan.ts";
import { machineFact, mayHoldConfig } from "../record/facts.ts";
import { listed } from "../report/listed.ts";
import { hazardsOfFirst, needsAddresses } from "../spec/first-config.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Plan } from "../model/decision.ts";

/** The plan with what it cannot know, for no status reports it. */
export function withNotReported(plan: Plan, seen: Observed): Plan {
  const words = [schematics(seen), kernelArguments(seen), serviceFamily(seen)].filter((sentence) => sentence !== "");
  if (words.length === 0 || seen.controlPlane.metadata.deletionTimestamp !== undefined) return plan;
  return { ...plan, pending: [...(plan.pending === undefined ? [] : [plan.pending]), ...words].join(" ") };
}

/** Machines whose image tells a schematic, and of which nobody knows whether they run it. Another version boots them anyway. */
function schematics({ machines }: Observed): string {
  const names = machines.flatMap(({ declared, look }) => {
    const asked = askedSchematic(declared.machineSpec.image);
    const isOpen = isOnMetal(look) && look.version === declared.version && look.schematic === undefined;
    return isOpen && asked !== undefined && asked !== noSchematic ? [declared.name] : [];
  });
  return names.length === 0
    ? ""
    : `The schematic that runs is not reported yet: ${listed(names)}. If it is not that of its image, the machine is drained, upgraded and booted.`;
}

/** Machines whose kernel arguments change: which boot loader starts them stands in no status. */
function kernelArguments({ machines, configs }: Observed): string {
  const names = machines.flatMap(({ declared: { name }, look }) => {
    const config = configs?.get(name);
    const isChanged = config?.kind === "known" && config.changes.some(({ path }) => isOfKernelArguments(path));
    return isChanged && isOnMetal(look) ? [name] : [];
  });
  return names.length === 0
    ? ""
    : `The boot loader is not reported: ${listed(names)}. Kernel arguments of the settings come with an installation and a boot where GRUB starts the machine, and not at all where a UKI does.`;
}

/** New control planes that are reached at an address of another family than services have: whether they have a further one stands in no status. */
function serviceFamily({ machines, controlPlane, record }: Observed): string {
  const facts = record.kind === "present" ? record.value.facts : undefined;
  const { spec, metadata } = controlPlane;
  if (spec === undefined || metadata.annotations?.[annotations.acceptHazard]?.includes(FAMILY_ABSENT) === true) return "";
  const found = machines.flatMap(({ declared }) => {
    if (mayHoldConfig(machineFact(facts, declared.name)) || !needsAddresses(declared, spec)) return [];
    const shown = { version: declared.version, platform: "metal", addresses: [declared.address] };
    const hazard = hazardsOfFirst(declared, shown, controlPlane, facts).find(({ code }) => code === FAMILY_ABSENT);
    return hazard === undefined ? [] : [{ name: declared.name, message: hazard.message }];
  });
  const [first] = found;
  if (first === undefined) return "";
  const names = listed(found.map(({ name }) => name));
  return `The addresses are not reported: ${names}. ${FAMILY_ABSENT} holds back the settings where ${first.message}.`;
}

const FAMILY_ABSENT: HazardCode = "SERVICE_FAMILY_ABSENT";

function isOfKernelArguments(path: string): boolean {
  return /^machine\.install\.(extraKernelArgs|grubUseUKICmdline)\b/.test(path);
}

function isOnMetal(look: SeenMachine["look"]): look is Extract<SeenMachine["look"], { readonly kind: "running" }> {
  return look.kind === "running" && look.platform !== "container";
}
