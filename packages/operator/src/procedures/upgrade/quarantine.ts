import { annotations } from "@talos-operator/api";
import { intentOn, withDecisions } from "../../record/facts.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { quarantineOf, upgradeIntents } from "../../record/upgrades.ts";
import { sentenceAbout } from "../../report/about.ts";
import { builtFrom } from "./words.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { SeenMachine } from "../../model/observation.ts";
import type { Action } from "../../model/effect.ts";
import type { ClusterFacts, QuarantineFact } from "../../model/record.ts";
import type { TalosBuild, UpgradeIntent } from "../../record/upgrades.ts";

/**
 * The facts with a Talos that failed on a machine; the run is over. Where the version ran before, it is the image that failed.
 *
 * @param why a sentence
 * @param blames `image` = the version has no part in it; where the name of the image tells nothing, nobody can tell the two apart
 */
export function quarantined(
  assessed: Assessment,
  facts: ClusterFacts,
  intent: UpgradeIntent,
  why: string,
  blames: "image" | "what changed" = "what changed",
): ClusterFacts {
  const { seen } = assessed;
  const { machine, talosVersion: version, talosBefore, talosSchematic } = intent;
  const isImage = talosSchematic !== undefined && (blames === "image" || isSameVersion(version, talosBefore));
  const config = seen.configs?.get(machine);
  const { manufacturer = "", product = "" } = (config?.kind === "known" ? config.talos : undefined) ?? {};
  const row: QuarantineFact = {
    version,
    ...(isImage ? { schematic: talosSchematic } : {}),
    machine,
    at: seen.now,
    why,
    ...(manufacturer === "" ? {} : { manufacturer }),
    ...(product === "" ? {} : { product }),
  };
  const { operations = [], ...rest } = facts;
  const left = operations.filter(({ kind }) => kind !== "UpgradeTalos");
  const goesBack = intentOn(facts, machine)?.rollsBackFrom !== undefined;
  const stopped: ClusterFacts = {
    ...rest,
    ...(left.length === 0 ? {} : { operations: left }),
    quarantine: [
      ...(facts.quarantine ?? []).filter((one) => one.version !== version || one.schematic !== row.schematic || one.machine !== machine),
      row,
    ],
  };
  return withDecisions(stopped, {
    at: seen.now,
    action: "Quarantine",
    reason: "VersionFailed",
    machine,
    message: `Upgrade to ${failedWords(row)} stopped: ${sentenceAbout(machine, why)}${goesBack ? ` It is rolled back to Talos ${talosBefore}.` : ""} No other machine gets it.`,
  });
}

/** A person lets a version be tried again: the facts without its quarantine, and the answer. `undefined` = nobody asks for that, or what is under way may end in it. */
export function lifted({ seen }: Assessment, facts: ClusterFacts): { readonly facts: ClusterFacts; readonly answer: Action } | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.liftQuarantine];
  if (value === undefined) return undefined;
  const answered = (answer: string): Action => ({ kind: "AnswerAnnotation", annotation: annotations.liftQuarantine, value, answer });
  const { quarantine = [], ...rest } = facts;
  const left = quarantine.filter(({ version }) => !isSameVersion(version, value));
  if (left.length === quarantine.length) {
    if (upgradeIntents(facts).length > 0) return undefined;
    const kept = [...new Set(quarantine.map(({ version }) => version))].join(", ");
    const answer = `Nothing is lifted: ${annotations.liftQuarantine} names ${JSON.stringify(value).slice(0, 64)}, and ${kept === "" ? "no Talos" : `only ${kept}`} is in quarantine; the annotation is removed.`;
    return { facts, answer: answered(answer) };
  }
  const answer = `Talos ${value} may be tried again, as ${annotations.liftQuarantine} said; the annotation acts once and is removed.`;
  const next = withDecisions(left.length === 0 ? rest : { ...rest, quarantine: left }, {
    at: seen.now,
    action: "LiftQuarantine",
    reason: "AskedByPerson",
    message: answer,
  });
  return { facts: next, answer: answered(answer) };
}

/** What failed on a machine that runs it still, for it is not rolled back, and is not well; `undefined` = nothing did, or it is well. */
export function failedHere(facts: Pick<ClusterFacts, "quarantine"> | undefined, machine: SeenMachine): QuarantineFact | undefined {
  const { declared, look } = machine;
  return look.kind === "running" && look.version === declared.version ? brokenBy(facts, machine) : undefined;
}

/** The same, whatever is asked for on it by now. */
export function brokenBy(
  facts: Pick<ClusterFacts, "quarantine"> | undefined,
  { declared, look }: Pick<SeenMachine, "declared" | "look">,
): QuarantineFact | undefined {
  if (look.kind !== "running" || look.version === undefined || look.ready) return undefined;
  return quarantineOf(facts, { version: look.version, schematic: look.schematic }).findLast(({ machine }) => machine === declared.name);
}

/** What failed. */
export function failedWords({ version, schematic }: TalosBuild): string {
  return schematic === undefined ? `Talos ${version}` : `Talos ${version} ${builtFrom(schematic)}`;
}

/** What lets a Talos that failed, or another one, go on: as a sentence. */
export function quarantineRelease({ version, schematic }: TalosBuild): string {
  return `Ask for another ${schematic === undefined ? "version" : "image"}, or annotate the TalosControlPlane with ${annotations.liftQuarantine}: ${version} to try it again.`;
}

/** What became of a machine that runs the Talos of before again. */
export function rolledBackWords(facts: Pick<ClusterFacts, "quarantine"> | undefined, intent: UpgradeIntent): string {
  const { machine, talosBefore, talosVersion: version, talosSchematic: schematic } = intent;
  const row = quarantineOf(facts, { version, schematic }).findLast((one) => one.machine === machine);
  if (row === undefined) return `${machine} was rolled back to ${talosBefore}, for Talos ${version} is not asked for any more.`;
  return `${sentenceAbout(machine, row.why).replace(/\.$/, "")} and was rolled back to ${talosBefore}.`;
}

/** Manufacturer and product, for people; empty where the machine told neither. */
export function classWords({ manufacturer, product }: QuarantineFact): string {
  const isNamed = product !== undefined && product.startsWith(manufacturer ?? product);
  const words = [isNamed ? undefined : manufacturer, product].filter((word) => word !== undefined).join(" ");
  return words === "" ? "" : ` (${words})`;
}
