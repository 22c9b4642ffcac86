import { elapsedMs, timeWords } from "../../elapsed.ts";
import { forfeitLeadership } from "../../effects/forfeit-leadership.ts";
import { isSameBuild, isSameVersion } from "../../effects/demand-talos.ts";
import { rebootMachine } from "../../effects/reboot-machine.ts";
import { rollBackTalos } from "../../effects/roll-back-talos.ts";
import { upgradeTalos } from "../../effects/upgrade-talos.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import { missingOn, notSent, sentUnder, wasJustHeldBack } from "../configure/config-probe.ts";
import { endIntent } from "../configure/config-intents.ts";
import type { Ending } from "../configure/config-intents.ts";
import { configOf, progressOf } from "./evidence.ts";
import type { Progress } from "./evidence.ts";
import { notBack } from "./not-back.ts";
import { lookAtNodes } from "./look-again.ts";
import { leavesFirst } from "./leaves-first.ts";
import { imageFor } from "./image.ts";
import { mayAskUnder } from "./may-ask-under.ts";
import { mayRollBack } from "./may-roll-back.ts";
import { isImageGone } from "./pull-words.ts";
import { brokenBy, quarantined, rolledBackWords } from "./quarantine.ts";
import { builtFrom } from "./words.ts";
import { isOver } from "../../observe/step-times.ts";
import { ARRIVES_MS, WELL_WITHIN_MS } from "./times.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Rule } from "../../model/decision.ts";
import { withLateInstallations } from "./late-installations.ts";
import { withUnaskedBoots } from "./unasked-boots.ts";
import type { ClusterFacts, InstalledFact } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** How a step of an upgrade goes on. */
type Step =
  | { readonly kind: "wait" }
  | { readonly kind: "act"; readonly actions: readonly Action[] }
  | { readonly kind: "end"; readonly ending: Ending }
  /** The version failed there: a sentence, and the end of the intent where it is over with that. */
  | {
      readonly kind: "fail";
      readonly why: string;
      readonly ending?: Ending;
      readonly next?: UpgradeIntent;
      /** Only that image of it did. */
      readonly blames?: "image";
    }
  | { readonly kind: "replace"; readonly next: UpgradeIntent };

const wait: Step = { kind: "wait" };

/**
 * Ends the steps of an upgrade by what the machines show, and goes on with those that are open.
 *
 * ```
 *  InstallTalos ──META names the slot before──► installed ┐
 *      │ exit code: quarantine                             ├─ (drained) ─► Reboot ──► well ──bake time──► done
 *                     UpgradeTalos (Talos up to 1.12) ─────┘     │  └─ the Talos of before runs: quarantine
 *                                                                │ not well in time: quarantine ──► rolled back once
 *                                                                └ silent: quarantine, and nothing is sent
 * ```
 */
export const settleUpgrade: Rule = {
  name: "settleUpgrade",
  decide(assessed) {
    const { seen, facts } = assessed;
    if (seen.record.kind !== "present" || facts === undefined) return undefined;
    let next = facts;
    const actions: Action[] = [];
    for (const intent of upgradeIntents(facts)) {
      const step = stepOf(assessed, intent);
      if (step.kind === "act") actions.push(...step.actions);
      else next = taken(assessed, next, intent, step);
    }
    next = withUnaskedBoots(assessed, withLateInstallations(assessed, next));
    const { resourceVersion } = seen.record.value;
    if (next !== facts) actions.unshift({ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "UpgradeSettled" });
    return actions.length === 0 ? undefined : { actions: onceOnly(actions) };
  },
};

/** The facts after a step. */
function taken(assessed: Assessment, facts: ClusterFacts, intent: UpgradeIntent, step: Step): ClusterFacts {
  const { seen } = assessed;
  if (step.kind === "wait" || step.kind === "act") return facts;
  const draft = new FactsDraft(facts);
  const open = facts.intents.find((one) => one.machine === intent.machine && one.what === intent.what) ?? intent;
  if (step.kind === "end" || step.kind === "fail") if (step.ending !== undefined) endIntent(draft, open, seen.now, step.ending);
  if ((step.kind === "replace" || step.kind === "fail") && step.next !== undefined) draft.replace(open, step.next);
  const after = draft.facts();
  return step.kind === "fail" ? quarantined(assessed, after, intent, step.why, step.blames) : after;
}

/** Nodes are listed once, whoever asks. */
function onceOnly(actions: readonly Action[]): readonly Action[] {
  const first = actions.findIndex(({ kind }) => kind === "LookAtNodes");
  return actions.filter(({ kind }, index) => kind !== "LookAtNodes" || index === first);
}

function stepOf(assessed: Assessment, intent: UpgradeIntent): Step {
  const { seen } = assessed;
  // Who has just begun and has not met the machine yet knows nothing of it.
  const met = assessed.byName.get(intent.machine);
  if (met === undefined) return wait;
  if (met.look.kind !== "running" && elapsedMs(seen.watchedSince, seen.now) < ARRIVES_MS) return wait;
  return intent.what === "InstallTalos" ? installStep(assessed, intent) : bootStep(assessed, intent);
}

/** An installation is over when META says so; nobody sees an installer that runs. */
function installStep(assessed: Assessment, intent: UpgradeIntent): Step {
  const { seen } = assessed;
  const { machine, talosVersion, talosBefore, bootIdBefore = "" } = intent;
  const end = (reason: Ending["reason"], message: string, fact?: Ending["fact"]): Step => ({
    kind: "end",
    ending: { reason, message, ...(fact === undefined ? {} : { fact }) },
  });
  const unseen: Ending["fact"] = (before) => ({ ...before, installing: broughtBy(intent) });
  const why = notSent(seen, "InstallTalos", intent);
  if (why !== undefined) return end("HeldBack", `Nothing was sent to ${machine}: ${why}.`);
  const over = seen.sent.get(`InstallTalosEnded/${machine}`);
  const sent = sentUnder(seen, "InstallTalos", intent);
  if (sent !== undefined && over?.outcome === "refused" && over.at >= sent.at) {
    if (isImageGone(over)) return end("HeldBack", `The image of Talos ${talosVersion} is not on ${machine} any more, and is pulled again.`);
    const said = `The installer of Talos ${talosVersion} ended with an error: ${over.detail}`;
    const sentence = said.replace(/\.?$/, ".");
    return { kind: "fail", why: sentence, ending: { reason: "Refused", message: `${machine}: ${sentence}` } };
  }
  const config = configOf(assessed, intent);
  const isLate = isOver(seen, intent);
  if (config === undefined)
    return isLate && elapsedMs(intent.deadline, seen.now) > ARRIVES_MS
      ? end("NotHeardOf", `${machine} does not report how the installation ended.`, unseen)
      : wait;
  if (config.bootId !== bootIdBefore) {
    const words = `${machine} was booted while Talos was installed, and runs ${config.version}.`;
    // Whether it is well with that is judged as after any boot that nobody asked for.
    return end("NotHeardOf", words, (before) => ({ ...withoutInstalled(before), installed: broughtBy(intent) }));
  }
  // META is written before an installer has ended: while its stream is open nothing boots amid it.
  if (sent?.outcome === "answered" && over === undefined && !isLate) return wait;
  if (config.talos?.fallback !== undefined)
    return end("Installed", `Talos ${talosVersion} is installed on ${machine}, beside ${talosBefore}.`, (before) => ({
      ...withoutInstalled(before),
      installed: broughtBy(intent),
    }));
  if (isLate && config.at > intent.deadline)
    return end("NotHeardOf", `Nothing was seen of the installation on ${machine} by its deadline.`, unseen);
  return wait;
}

/** What an installation brings, once it is through. */
function broughtBy({ talosVersion, talosBefore, talosSchematic, talosImage, bootIdBefore = "" }: UpgradeIntent): InstalledFact {
  return {
    version: talosVersion,
    ...(talosSchematic === undefined ? {} : { schematic: talosSchematic }),
    ...(talosImage === undefined ? {} : { image: talosImage }),
    before: talosBefore,
    bootId: bootIdBefore,
  };
}

function bootStep(assessed: Assessment, intent: UpgradeIntent): Step {
  const { seen } = assessed;
  const progress = progressOf(assessed, intent);
  // Who has just begun has not read what runs: that nobody told it is no silence of the machine, whenever the deadline was.
  if (["away", "unreported"].includes(progress.kind) && elapsedMs(seen.watchedSince, seen.now) < ARRIVES_MS) return wait;
  if (intent.rollsBackFrom !== undefined) return rollBackStep(assessed, intent, progress);
  switch (progress.kind) {
    case "well":
      return bakeStep(assessed, intent);
    case "fell-back":
      return failed(fellBackWords(intent, progress.lacks), intent, "FellBack");
    case "another":
      return failed(`it booted ${progress.talos}, which was not asked for.`, intent, "FellBack");
    case "not-booted":
      return notBootedStep(assessed, intent);
    default:
  }
  if (progress.kind === "missing" && progress.isFinal === true) return unwellStep(assessed, intent, progress);
  if (intent.provenAt !== undefined) {
    const { provenAt: _provenAt, ...rest } = intent;
    return { kind: "replace", next: rest };
  }
  if (!isOver(seen, intent) || (progress.kind === "missing" && progress.isUnreported === true))
    return progress.kind === "missing" && progress.isNode ? { kind: "act", actions: lookAtNodes(assessed) } : wait;
  if (progress.kind !== "missing") return failed("it was asked to boot it and does not answer since.", intent, "NotHeardOf");
  return unwellStep(assessed, intent, progress);
}

/** The version failed there, and nothing more is sent. */
function failed(why: string, intent: UpgradeIntent, reason: Ending["reason"]): Extract<Step, { readonly kind: "fail" }> {
  return { kind: "fail", why, ending: { reason, message: `${intent.machine}: ${why}`, fact: withoutInstalled } };
}

function fellBackWords({ talosVersion, talosBefore, talosSchematic }: UpgradeIntent, lacks: readonly string[] | undefined): string {
  if (lacks !== undefined) return `it does not run the kernel arguments ${lacks.join(", ")} after its boot.`;
  return talosSchematic !== undefined && isSameVersion(talosVersion, talosBefore)
    ? `it booted the image of before by itself after the one ${builtFrom(talosSchematic)} was started.`
    : `it booted ${talosBefore} again by itself after Talos ${talosVersion} was started.`;
}

const withoutInstalled: NonNullable<Ending["fact"]> = ({ installed: _installed, installing: _installing, ...rest }) => rest;

/** What it was upgraded from is known by its name alone, where that tells no schematic. */
function upgradedBy({ talosImage }: UpgradeIntent): NonNullable<Ending["fact"]> {
  return (fact) => {
    const { talosImage: _before, ...rest } = withoutInstalled(fact);
    return talosImage === undefined ? rest : { ...rest, talosImage };
  };
}

/** It shows everything: done when it has done so for the bake time. */
function bakeStep({ seen }: Assessment, intent: UpgradeIntent): Step {
  if (intent.provenAt === undefined) return { kind: "replace", next: { ...intent, provenAt: seen.now } };
  if (seen.baking?.has(intent.machine) !== false) return wait;
  const message = `${intent.machine} runs Talos ${intent.talosVersion} and is well.`;
  return { kind: "end", ending: { reason: "Upgraded", message, fact: upgradedBy(intent) } };
}

/** The call did not come, or did nothing so far. */
function notBootedStep(assessed: Assessment, intent: UpgradeIntent): Step {
  const { seen } = assessed;
  const { machine } = intent;
  const word = intent.what === "Reboot" ? "Reboot" : "UpgradeTalos";
  const sent = sentUnder(seen, word, intent);
  const over = seen.sent.get(`${word}Ended/${machine}`);
  if (sent?.outcome === "refused")
    return {
      kind: "end",
      ending: { reason: "Refused", message: `${machine} refused to boot another Talos: ${over?.detail ?? sent.detail}` },
    };
  const why = notSent(seen, word, intent);
  // What goes before the boot was sent: the boot itself follows it.
  const isBegun = sentUnder(seen, "ForfeitLeadership", intent) !== undefined || sentUnder(seen, "EvictOperator", intent) !== undefined;
  if (why !== undefined && !isBegun) return { kind: "end", ending: { reason: "HeldBack", message: `${machine} was not booted: ${why}.` } };
  if (isOver(seen, intent)) return { kind: "end", ending: { reason: "HeldBack", message: `${machine} did not boot.` } };
  return { kind: "act", actions: bootActions(assessed, intent) };
}

/** What is sent under a boot's intent: the leadership of etcd goes first, and what was free when it was written down is asked again. */
export function bootActions(
  assessed: Assessment,
  intent: UpgradeIntent,
  facts: ClusterFacts | undefined = assessed.facts,
): readonly Action[] {
  const { seen } = assessed;
  const met = assessed.byName.get(intent.machine);
  if (!seen.mayDisturb || facts === undefined || met === undefined || met.look.kind !== "running") return [];
  const { machine, role, uuid, talosBefore, talosVersion, talosSchematic, bootIdBefore = "" } = intent;
  if (wasJustHeldBack(seen, machine)) return [];
  const target = { machine, address: met.declared.address, ifUuid: uuid };
  if (role === "controlplane") {
    const member = met.look.etcd?.localMember;
    const slot = controlPlaneSlot(assessed, facts, { machine, why: "upgrade", member, under: intent });
    if (slot.kind === "held" || notBack(assessed, machine) !== undefined) return [];
    const view = assessed.etcd;
    if (view.kind === "known" && view.voters.length > 1 && view.leader === member)
      return mayAskUnder(seen, forfeitLeadership, intent) ? [{ kind: "ForfeitLeadership", ...target }] : [];
  }
  const leaving = leavesFirst(assessed, intent);
  if (leaving !== undefined) return leaving;
  if (intent.what === "Reboot")
    return mayAskUnder(seen, rebootMachine, intent) ? [{ kind: "RebootMachine", ...target, role, ifBootId: bootIdBefore }] : [];
  const image = imageFor(met.declared, { version: talosVersion, schematic: talosSchematic });
  if (image.kind !== "image" || image.schematic !== talosSchematic || !mayAskUnder(seen, upgradeTalos, intent)) return [];
  const runs = { version: talosBefore, schematic: met.look.schematic };
  const isReinstalled = isSameBuild(runs, { version: talosVersion, schematic: talosSchematic });
  const step = {
    ...target,
    role,
    ifBootId: bootIdBefore,
    ifVersion: talosBefore,
    ...(isReinstalled ? { ifLacking: true as const } : {}),
    ...(brokenBy(facts, met) === undefined ? {} : { ifBroken: true as const }),
  };
  return [{ kind: "UpgradeTalos", ...step, version: talosVersion, schematic: talosSchematic, image: image.reference }];
}

/** It runs the new Talos and did not get well in time: it goes back once, where the slot of before and the data of etcd allow that. */
function unwellStep(assessed: Assessment, intent: UpgradeIntent, progress: Extract<Progress, { readonly kind: "missing" }>): Step {
  const { seen } = assessed;
  const withinMs = seen.upgradeWithinMs ?? WELL_WITHIN_MS;
  const lacks = lackOf(assessed, intent, progress.what);
  const why = progress.isFinal === true ? `it is not healthy: ${lacks}.` : `it was not healthy within ${timeWords(withinMs)} (${lacks}).`;
  // What no waiting cures is what the image lacks.
  const blames = progress.isFinal === true ? ({ blames: "image" } as const) : {};
  const forbidden = mayRollBack(assessed.machines, intent);
  if (forbidden !== undefined) return { ...failed(`${why} It is not rolled back: ${forbidden}.`, intent, "NeverHealthy"), ...blames };
  const deadline = seen.now + withinMs;
  const { recorded: _recorded, ...rest } = intent;
  return { kind: "fail", why, next: { ...rest, rollsBackFrom: progress.bootId, deadline }, ...blames };
}

/** What is missing, in the machine's own words where its node is what is. */
function lackOf({ byName }: Assessment, { machine }: UpgradeIntent, what: string): string {
  const met = byName.get(machine);
  if (met?.look.kind !== "running" || what !== missingOn(met)) return what;
  return met.look.unmet.find(({ reason }) => reason !== "")?.reason ?? what;
}

function rollBackStep(assessed: Assessment, intent: UpgradeIntent, progress: Progress): Step {
  const { seen } = assessed;
  const { machine, role, uuid, talosBefore, talosVersion, rollsBackFrom = "" } = intent;
  const ends = (reason: Ending["reason"], message: string, fact = withoutInstalled): Step => ({
    kind: "end",
    ending: { reason, message, fact },
  });
  const met = assessed.byName.get(machine);
  const isBack = progress.kind === "fell-back";
  if (isBack && (met?.isReady === true || isOver(seen, intent))) return ends("RolledBack", rolledBackWords(assessed.facts, intent));
  // What was never booted is still installed, and stays written down until it is taken back.
  if (isOver(seen, intent) && progress.kind === "not-booted")
    return ends("HeldBack", `${machine} did not boot, and Talos ${talosVersion} is still installed on it.`, (fact) => fact);
  if (isOver(seen, intent)) return ends("NeverHealthy", `${machine} was to go back to Talos ${talosBefore} and does not show it.`);
  // Once it was asked to go back, what it showed before that counts no more.
  if (progress.kind === "well" && sentUnder(seen, "RollBackTalos", intent) === undefined)
    return ends("Upgraded", `${machine} runs Talos ${talosVersion} and got well late; it is not rolled back.`, upgradedBy(intent));
  const isUnbooted = progress.kind === "not-booted" && intent.bootIdBefore === rollsBackFrom;
  if (!isUnbooted && (progress.kind !== "missing" || progress.bootId !== rollsBackFrom)) return wait;
  if (!seen.mayDisturb) return wait;
  if (met === undefined || wasJustHeldBack(seen, machine) || !mayAskUnder(seen, rollBackTalos, intent)) return wait;
  const target = { machine, address: met.declared.address, ifUuid: uuid, role };
  const ifVersion = isUnbooted ? talosBefore : talosVersion;
  return { kind: "act", actions: [{ kind: "RollBackTalos", ...target, ifBootId: rollsBackFrom, ifVersion, back: talosBefore }] };
}
