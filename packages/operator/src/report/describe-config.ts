import { annotations, conditionFor, rfc3339 } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import type { ConfigChange } from "@talos-operator/talos";
import { STARTS_FROM_UKI } from "../looking/kernel-arguments.ts";
import { failureKind } from "../record/read-before.ts";
import { adoptingPatch } from "../procedures/configure/adopting-patch.ts";
import { codesOf, hazardWords } from "../procedures/configure/hazards.ts";
import { configIntents } from "../procedures/configure/config-intents.ts";
import { routeOfState } from "../procedures/configure/plan.ts";
import { changeText, pathsOf } from "../procedures/configure/config-words.ts";
import { isToBeReverted } from "../procedures/configure/rollout.ts";
import { countOf, listed } from "./listed.ts";
import { schematicsKept } from "./schematics-kept.ts";
import type { WithheldPart } from "../model/config.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { ConfigPlan, Rollout } from "../model/plans.ts";
import type { Assessment } from "../model/assessment.ts";

/** Changes of one machine that are told with their values. */
const MOST_CHANGES = 6;

/** What is said of the configurations of running machines; nothing before the cluster is bootstrapped, or where nobody reads them. */
export function configConditions(assessed: Assessment): readonly ConditionInput[] {
  const { seen } = assessed;
  return configConditionsOf(assessed, () => true, seen.controlPlane.metadata.generation);
}

/**
 * The same of some machines.
 *
 * @param generation of the object that these conditions are for
 */
export function configConditionsOf(
  assessed: Assessment,
  isMeant: (machine: DeclaredMachine) => boolean,
  generation: number | undefined,
): readonly ConditionInput[] {
  const { seen } = assessed;
  if (seen.record.kind !== "present" || seen.configs === undefined) return [];
  const { facts } = seen.record.value;
  const { rollout } = assessed;
  const plans = assessed.configs.filter(({ machine }) => isMeant(machine.declared));
  if (plans.length === 0 || rollout === undefined) return [];
  const { reason, message } = upToDate(seen, facts, plans, rollout);
  return [conditionFor("ConfigUpToDate", reason, message, generation), ...drift(seen, plans, rollout, generation)];
}

interface Words {
  readonly reason: ReasonOf<"ConfigUpToDate">;
  readonly message: string;
}

/** The gravest first. */
function upToDate(seen: Observed, facts: ClusterFacts, plans: readonly ConfigPlan[], rollout: Rollout): Words {
  const failed = plans.flatMap(({ machine, state }) =>
    state.kind === "failed" ? [{ name: machine.declared.name, failure: state.failure }] : [],
  );
  if (failed.length > 0)
    return {
      reason: failed.some(({ failure }) => failureKind(failure) === "refused") ? "ConfigRejected" : "RolloutStopped",
      message: `The rollout stopped, and these settings are sent to no further machine. ${named(failed.map(({ name, failure }) => `${name}: ${failure.why}`))}. Correct the settings, or annotate the TalosControlPlane with ${annotations.retryConfig}: ${failed[0]?.name ?? ""} to send them once more.`,
    };
  const intents = configIntents(facts).filter((intent) => plans.some(({ machine }) => machine.declared.name === intent.machine));
  if (intents.length > 0)
    return {
      reason: "RollingOut",
      message: `${named(intents.map((intent) => `${intent.machine} (${wordFor(intent, plans)})`))}.${left(plans)}`,
    };
  const hazard = hazardIn(plans);
  if (hazard !== undefined) return hazard;
  const never = plans.flatMap(({ machine, state }) =>
    state.kind === "never" ? [{ name: machine.declared.name, changes: state.config.changes }] : [],
  );
  if (never.length > 0)
    return {
      reason: "NotSent",
      message: `Never sent to a running machine: ${named(
        never.map(({ name, changes }) => {
          const grave = changes.filter(({ effect }) => effect === "reinstall" || effect === "destroys-data" || effect === "forbidden");
          const others = changes.filter((change) => !grave.includes(change));
          return `${name}: ${grave
            .slice(0, MOST_CHANGES)
            .map((change) => `${pathsOf([change])} (${change.effect}: ${change.reason})`)
            .join(", ")}${others.length === 0 ? "" : `, which holds up ${pathsOf(others)}`}`;
        }),
      )}. Set the paths back, and the rest is sent; or reset the machine and let it join again.`,
    };
  const notSent = withheldIn(seen, plans) ?? takenNames(plans);
  if (notSent !== undefined) return { reason: "NotSent", message: notSent };
  const waiting = plans.flatMap(({ machine, state }) => {
    const why = rollout.waiting.get(machine.declared.name);
    return why === undefined ? [] : [{ name: machine.declared.name, state, why }];
  });
  const reboot = waiting.filter(({ state }) => state.kind === "staged");
  if (reboot.length > 0)
    return {
      reason: "RebootPending",
      message: `Waits for a boot: ${named(byReason(reboot))}.${left(plans)}`,
    };
  const changing = waiting.filter(({ state }) => state.kind === "change");
  if (changing.length > 0) return { reason: "Waiting", message: `Not changed yet: ${named(byReason(changing))}.` };
  const next = plans.filter(({ state }) => state.kind === "change" || state.kind === "staged");
  if (next.length > 0) return { reason: "RollingOut", message: `Next: ${named(next.map(({ machine }) => machine.declared.name))}.` };
  const held = plans.flatMap(({ machine, state }) => (state.kind === "held" ? [`${machine.declared.name} (${state.why})`] : []));
  if (held.length > 0)
    return { reason: "Waiting", message: `Sent when no machine runs, or may go back to, a Talos that cannot read it: ${named(held)}.` };
  const unread = plans.filter(({ fact, settings, state }) => state.kind === "unknown" && fact.configHash !== settings);
  if (unread.length > 0)
    return {
      reason: "NotRead",
      message: `The settings changed, and the configuration was not read back: ${named(
        unread.map(({ machine, state }) => `${machine.declared.name} (${state.kind === "unknown" ? state.detail : ""})`),
      )}.`,
    };
  const installed = [installedOtherwise(seen, plans), schematicsKept(plans.map(({ machine }) => machine))]
    .filter((words) => words !== undefined)
    .join(" ");
  const rendered = renderedOtherwise(plans, facts);
  if (rendered !== undefined) return installed === "" ? rendered : { ...rendered, message: `${rendered.message} ${installed}` };
  const message = "Every machine runs the settings that the spec asks for.";
  return installed === "" ? { reason: "UpToDate", message } : { reason: "InstalledOtherwise", message: `${message} ${installed}` };
}

const withheldWords = {
  added: ["The encryption", "Talos encrypts no volume that has data, and the machine would fail at its next boot. Recreate the machine."],
  removed: ["The end of the encryption", "Talos decrypts no volume, and the machine would fail at its next boot. Recreate the machine."],
  "all-keys-changed": [
    "The change of all keys",
    "nothing would unlock the volume at the next boot. Add the new key first, and remove the old one in a second edit.",
  ],
} as const;

/** Settings that are not sent because the host name in them is another machine's. */
function takenNames(plans: readonly ConfigPlan[]): string | undefined {
  const taken = plans.flatMap(({ machine, state }) =>
    state.kind === "held" && state.isName ? [`${machine.declared.name}: ${state.why}`] : [],
  );
  if (taken.length === 0) return undefined;
  return `The changed settings are not sent. ${named(taken)}. Give each machine a host name of its own.`;
}

/** What is asked for and not sent, of the pool and part that come first; `undefined` = all of it is. */
export function withheldIn({ configs }: Observed, plans: readonly ConfigPlan[]): string | undefined {
  const found = plans.flatMap(({ machine: { declared }, settings }) => {
    const config = configs?.get(declared.name);
    const [first] = config?.kind === "known" && config.settings === settings ? (config.withheld ?? []) : [];
    return first === undefined ? [] : [{ declared, ...wordsOfPart(first) }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const { what, why, declared } = first;
  const alike = found.filter((one) => one.what === what && one.why === why && one.declared.owner.name === declared.owner.name);
  const pool = `${declared.owner.kind} ${declared.owner.name}`;
  return `${what} of ${pool} is not sent (${listed(alike.map((one) => one.declared.name))}): ${why} Other settings are sent.`;
}

/** What the part is, and why it is not sent: a sentence. */
function wordsOfPart(part: WithheldPart): { readonly what: string; readonly why: string } {
  if ("changes" in part) return { what: pathsOf(part.changes), why: `${part.changes[0]?.reason ?? ""}.` };
  const [what, why] = withheldWords[part.why];
  return { what: `${what} of ${part.volume}`, why };
}

/** Machines whose settings are held back by the same hazards as those of the first one. */
export function hazardIn(plans: readonly ConfigPlan[]): Words | undefined {
  const held = plans.flatMap(({ machine, state }) => (state.kind === "hazard" ? [{ machine, hazards: state.hazards }] : []));
  const [first] = held;
  if (first === undefined) return undefined;
  const codes = codesOf(first.hazards);
  const alike = held.filter(
    ({ machine, hazards }) => machine.declared.owner.name === first.machine.declared.owner.name && codesOf(hazards).join() === codes.join(),
  );
  const names = listed(alike.map(({ machine }) => machine.declared.name));
  const what = `${codes.join(", ")} ${codes.length === 1 ? "holds" : "hold"} back the settings of ${names}.`;
  return { reason: "HazardFound", message: `${what} ${hazardWords(first.hazards, first.machine.declared)}` };
}

/** What acts when a machine is installed, and was changed since; machines that were installed alike are told together. */
function installedOtherwise({ configs }: Observed, plans: readonly ConfigPlan[]): string | undefined {
  const inert = argumentsOfNoUse(plans, configs);
  const otherwise = plans.flatMap(({ machine: { declared } }) => {
    const config = configs?.get(declared.name);
    const { disk, wipe } = (config?.kind === "known" ? config.install : undefined) ?? {};
    const words = [
      ...(disk === undefined ? [] : [`installDisk ${disk.asked} (installed on ${disk.runs})`]),
      ...(wipe === undefined ? [] : [`wipe ${wipe.asked} (installed with ${wipe.runs})`]),
    ].join(" and ");
    return words === "" ? [] : [{ name: declared.name, words }];
  });
  if (otherwise.length === 0) return inert;
  const groups = [...Map.groupBy(otherwise, ({ words }) => words)].map(
    ([words, all]) => `${listed(all.map(({ name }) => name))}: ${words}`,
  );
  const words = `Only an installation brings what changed since theirs: ${named(groups)}. To have it now, take the machine off its list, and list it again when it was wiped.`;
  return inert === undefined ? words : `${inert} ${words}`;
}

/** Kernel arguments in the configuration of machines that take none from there. */
function argumentsOfNoUse(plans: readonly ConfigPlan[], configs: Observed["configs"]): string | undefined {
  const inert = plans.flatMap(({ machine: { declared } }) => {
    const config = configs?.get(declared.name);
    const seen = config?.kind === "known" ? config.arguments : undefined;
    const names = seen?.loader === "uki" ? (seen.lacks ?? seen.asked) : [];
    return names.length === 0 ? [] : [{ name: declared.name, names: names.join(", ") }];
  });
  if (inert.length === 0) return undefined;
  const groups = [...Map.groupBy(inert, ({ names }) => names)].map(([names, all]) => `${listed(all.map(({ name }) => name))}: ${names}`);
  return `Kernel arguments of machine.install do nothing on these machines: ${named(groups)}. Each ${STARTS_FROM_UKI}.`;
}

/** What is set in the spec and acts with the installation, though the machine takes it later too: nobody sends it by itself. */
function isImageCache({ document, path }: ConfigChange): boolean {
  return /^v1alpha1\/(ImageCacheConfig\/|VolumeConfig\/IMAGECACHE$)/.test(document) || /^machine\.features\.imageCache\b/.test(path);
}

/** Machines that differ in the same places are told together. */
function renderedOtherwise(plans: readonly ConfigPlan[], facts: ClusterFacts): Words | undefined {
  const otherwise = plans.flatMap(({ machine, state }) =>
    state.kind === "settled" && state.otherwise.length > 0 ? [{ name: machine.declared.name, changes: state.otherwise }] : [],
  );
  const [first] = otherwise;
  if (first === undefined) return undefined;
  const told = (what: string, isMeant: (change: ConfigChange) => boolean): string => {
    const meant = otherwise.flatMap(({ name, changes }) =>
      changes.some(isMeant) ? [{ name, paths: pathsOf(changes.filter(isMeant)) }] : [],
    );
    const groups = [...Map.groupBy(meant, ({ paths }) => paths)].map(
      ([paths, machines]) => `${listed(machines.map(({ name }) => name))}: ${paths}`,
    );
    return groups.length === 0 ? "" : ` ${what}: ${named(groups)}.`;
  };
  const before =
    facts.importedAt === undefined
      ? "Machines run what was last applied."
      : "Machines run what they had when they were taken over, or what was applied since.";
  const cache = told("imageCache was changed since, which alone is not sent to machines that are installed", isImageCache);
  const rest = told("This release would write otherwise", (change) => !isImageCache(change));
  return {
    reason: "RenderedOtherwise",
    message: `${before}${cache}${rest} It is sent with the next change of the settings. To send it now, annotate the TalosControlPlane with ${annotations.retryConfig}: ${first.name}, then the next machine.`,
  };
}

function wordFor(intent: ReturnType<typeof configIntents>[number], plans: readonly ConfigPlan[]): string {
  if (intent.what === "Reboot") return "rebooting";
  if (intent.what === "WriteMeta") return "writing its static network settings";
  if (intent.applyMode !== "try") return "writing it to disk";
  const wanted = plans.find(({ machine }) => machine.declared.name === intent.machine)?.settings;
  // Nobody can break off a trial without a second one: what was asked for since comes after it.
  return wanted === undefined || wanted === intent.configHash
    ? "applying in try mode"
    : `trying settings that were replaced since and reverts them by itself; the new ones follow after ${rfc3339(intent.deadline)}`;
}

function left(plans: readonly ConfigPlan[]): string {
  const count = plans.filter(({ state }) => state.kind === "change" || state.kind === "staged").length;
  return count === 0 ? "" : ` ${countOf(count, "machine")} left to change.`;
}

function drift(
  seen: Observed,
  plans: readonly ConfigPlan[],
  { waiting }: Rollout,
  generation: number | undefined,
): readonly ConditionInput[] {
  const drifted = plans.flatMap((plan) => (plan.state.kind === "drifted" ? [{ plan, config: plan.state.config }] : []));
  if (drifted.length === 0) return [];
  const mustStay = drifted.every(({ plan }) => routeOfState(plan.state) === undefined);
  const reason = !isToBeReverted(seen) ? "DriftReported" : mustStay ? "DriftStays" : "DriftReverting";
  const held = drifted.flatMap(({ plan }) => {
    const why = waiting.get(plan.machine.declared.name);
    return why === undefined ? [] : [`${plan.machine.declared.name} (${why})`];
  });
  const told = drifted.map(({ plan, config }) => {
    const { name } = plan.machine.declared;
    if (plan.state.kind === "drifted" && plan.state.part === "meta")
      return `${name}: META key 0x0a does not hold the static network settings that meta asks for`;
    if (config.changes.length === 0) return `${name}: another configuration waits on its disk for the next boot`;
    const more = config.changes.length - MOST_CHANGES;
    const texts = config.changes
      .slice(0, MOST_CHANGES)
      .map((change) => changeText({ ...change, before: change.after, after: change.before }));
    return `${name}: ${texts.join("; ")}${more > 0 ? ` and ${more} more` : ""}`;
  });
  const patch = adoptingPatch(
    drifted.flatMap(({ plan, config }) => (plan.state.kind === "drifted" && plan.state.part === "meta" ? [] : config.changes)),
  );
  const later = held.length === 0 ? "" : ` Not brought back yet: ${named(held)}.`;
  const message = `Changed by somebody else: ${named(told)}.${later}${patch === undefined ? "" : ` To keep it, add to configPatches: ${patch}`}`;
  return [conditionFor("ConfigDrift", reason, message, generation)];
}

/** `one, two (what they wait for)`: those that wait for the same are named together. */
function byReason(waiting: readonly { readonly name: string; readonly why: string }[]): readonly string[] {
  const groups = [...Map.groupBy(waiting, ({ why }) => why)];
  return groups.map(([why, all]) => `${listed(all.map(({ name }) => name))} (${why})`);
}

function named(texts: readonly string[]): string {
  return listed(texts, "; ");
}
