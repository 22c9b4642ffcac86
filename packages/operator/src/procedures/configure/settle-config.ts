import { nextRoute } from "../../config/compare.ts";
import { elapsedMs } from "../../elapsed.ts";
import { isOver as hasHadItsTime } from "../../observe/step-times.ts";
import {
  applied,
  ARRIVES_MS,
  configIntents,
  endIntent,
  failed,
  KEEP_BEFORE_MS,
  metaWritten,
  SOAK_MS,
  staged,
  TRY_MS,
  unheard,
} from "./config-intents.ts";
import type { Ending } from "./config-intents.ts";
import { memberTroubleOf, missingOn, notSent, sentUnder, troubleOf, wasJustHeldBack } from "./config-probe.ts";
import { bootsForSpace, forSpace } from "./larger-quota.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { keepConfig } from "../../effects/keep-config.ts";
import { rebootMachine } from "../../effects/reboot-machine.ts";
import { withoutAwaited } from "../../report/awaited-network.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import { factsOf } from "../../record/facts.ts";
import { isOfAnother } from "../../gates/adoption.ts";
import { metaSettings } from "./meta-plan.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { failureWords } from "../../report/failures.ts";
import { GOING_STAGES } from "../../assess/quorum.ts";
import type { IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { KnownConfig } from "../../model/config.ts";

/** A machine that boots, or takes settings back, during so many trials does so because of what it tries. */
const MOST_TRIALS = 3;

/**
 * Ends open effects on configurations by what the machines show, and tells a machine to keep what it tries once it looks well from outside.
 *
 * Nothing is tried a second time while a trial may still run: a machine that tries during a trial comes back to the first tried text. A process that finds
 * a trial of another one waits until it has run out.
 */
export const settleConfig: Rule = {
  name: "settleConfig",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const draft = new FactsDraft(facts);
    const actions: Action[] = [];
    for (const intent of configIntents(facts)) {
      const step = stepOf(assessed, intent);
      if (step === undefined) continue;
      if ("kind" in step) actions.push(step);
      else endIntent(draft, intent, seen.now, step);
    }
    const next = draft.facts();
    if (next !== facts) actions.unshift({ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "ConfigSettled" });
    return actions.length === 0 ? undefined : { actions };
  },
};

/**
 * Lets go of effects on machines that leave the cluster: what they run is of no interest any more, and their wipe must not wait for the end of a trial.
 *
 * A boot that was ordered is waited for all the same, so that no two control planes are out at once.
 */
export const releaseConfig: Rule = {
  name: "releaseConfig",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present" || isOfAnother(seen)) return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const leaving = [...configIntents(facts), ...upgradeIntents(facts)].filter(
      (intent) => isLeaving(seen, intent) && mayBeForgotten(seen, intent),
    );
    if (leaving.length === 0) return undefined;
    const draft = new FactsDraft(facts);
    for (const intent of leaving) endIntent(draft, intent, seen.now, { reason: "Gone", message: `${intent.machine} leaves the cluster.` });
    return { actions: [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: draft.facts(), why: "ConfigReleased" }] };
  },
};

function isLeaving(seen: Observed, intent: IntentFact): boolean {
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined) return true;
  const machine = seen.machines.find((one) => one.declared.name === intent.machine);
  return (
    machine === undefined ||
    seen.workers.some((worker) => worker.metadata.name === machine.declared.owner.name && worker.metadata.deletionTimestamp !== undefined)
  );
}

function mayBeForgotten(seen: Observed, intent: IntentFact): boolean {
  if (intent.what === "ApplyConfig" || intent.what === "InstallTalos" || hasHadItsTime(seen, intent)) return true;
  const look = [...seen.machines, ...seen.former].find((one) => one.declared.name === intent.machine)?.look;
  return look?.kind === "maintenance" || (look?.kind === "running" && look.stage === "running" && seen.now > intent.at + ARRIVES_MS);
}

/** What is to be done about one open intent: its end, an action, or nothing but waiting. */
function stepOf(assessed: Assessment, intent: IntentFact): Ending | Action | undefined {
  const { seen } = assessed;
  const met = [...seen.machines, ...seen.former].find((one) => one.declared.name === intent.machine);
  const machine = met === undefined ? undefined : withoutAwaited(seen, factsOf(seen), met);
  const isOver = hasHadItsTime(seen, intent);
  if (machine === undefined || machine.look.kind === "maintenance")
    return isOver || machine !== undefined
      ? { reason: "Gone", message: `${intent.machine} is no part of the cluster any more.` }
      : undefined;
  // Who has just begun and has not met the machine yet knows nothing of it.
  if (machine.look.kind !== "running" && elapsedMs(seen.watchedSince, seen.now) < ARRIVES_MS) return undefined;
  const known = seen.configs?.get(intent.machine);
  const config = known?.kind === "known" ? known : undefined;
  if (intent.what === "Reboot") return rebootStep(assessed, intent, machine, config, isOver);
  if (intent.what === "WriteMeta") return metaStep(seen, intent, machine, config, isOver);
  const settings = intent.configHash ?? "";
  const sent = sentUnder(seen, "ApplyConfig", intent);
  if (sent?.outcome === "refused")
    return {
      reason: "Refused",
      message: `${intent.machine} refused the configuration: ${sent.detail}`,
      fact: failed(settings, "refused", failureWords.refused(sent.detail)),
    };
  const why = notSent(seen, "ApplyConfig", intent);
  if (why !== undefined) return { reason: "HeldBack", message: `Nothing was sent to ${intent.machine}: ${why}.` };
  const compared = config?.settings === settings ? config : undefined;
  if (intent.applyMode !== "try") return writeStep(seen, intent, compared, isOver);
  return tryStep(seen, intent, machine, compared, isOver) ?? (isOver ? triedInVain(seen, intent, machine, config) : undefined);
}

function tryStep(
  seen: Observed,
  intent: IntentFact,
  machine: SeenMachine,
  config: KnownConfig | undefined,
  isOver: boolean,
): Ending | Action | undefined {
  const settings = intent.configHash ?? "";
  const sent = sentUnder(seen, "ApplyConfig", intent);
  const isActive = isTried(config);
  // What is left then waits for a boot: with it the disk would be another one, and without it is as it runs.
  const isOnlyPart = isActive && config.changes.length > 0;
  // Without a word about the disk (Talos up to 1.9) only that the trial ran out tells a kept configuration.
  const isKept =
    isActive && (config.onDisk === (isOnlyPart ? "active" : "wanted") || (config.onDisk === "unknown" && config.at > intent.deadline));
  if (isKept && isOnlyPart)
    return { reason: "Tried", message: `${intent.machine} runs and keeps what of the new configuration needs no boot.` };
  if (isKept)
    return {
      reason: "Applied",
      message: `${intent.machine} runs the new configuration and keeps it.`,
      fact: applied(settings, config.activeHash),
    };
  if (isActive) {
    const isInTime = sent !== undefined && seen.now < sent.at + TRY_MS - KEEP_BEFORE_MS;
    // After its time a trial that did not end stays until the next boot; what is well is kept, what is not is left to a person.
    if (!isInTime && !(isOver && config.at > intent.deadline)) return undefined;
    const since = sent?.at ?? intent.deadline;
    const trouble = troubleOf(machine, sent?.before ?? "ready");
    if (trouble !== undefined) {
      const why = failureWords.trialStays(trouble);
      return isOver ? { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: failed(settings, "reverted", why) } : undefined;
    }
    const { look } = machine;
    const isLookedAt =
      look.kind === "running" &&
      look.at >= since + SOAK_MS &&
      elapsedMs(since, seen.now) >= SOAK_MS &&
      seen.soaking?.has(intent.machine) !== true;
    if (!isLookedAt || !seen.mayDisturb || !mayAskAgain(seen, keepConfig, intent.machine) || wasJustHeldBack(seen, intent.machine))
      return undefined;
    return {
      kind: "KeepConfig",
      machine: intent.machine,
      address: machine.declared.address,
      ifUuid: intent.uuid,
      settings,
      ifActiveHash: config.activeHash,
    };
  }
  return undefined;
}

/** The machine runs what is tried: all that is wanted, or what of it needs no boot. */
function isTried(config: KnownConfig | undefined): config is KnownConfig {
  return config !== undefined && nextRoute(config) !== "guarded";
}

/**
 * The end of a trial of which the machine kept nothing. The settings are to blame where the machine was seen not to be well with them, or would not keep them.
 * Otherwise nobody told it to keep them in time, as in a pause, while the Kubernetes API was away, or because others were asked for meanwhile.
 *
 * @param config as it is now, compared with whatever is wanted now
 */
function triedInVain(seen: Observed, intent: IntentFact, machine: SeenMachine, config: KnownConfig | undefined): Ending | undefined {
  const settings = intent.configHash ?? "";
  const isCompared = config?.settings === settings;
  if (config !== undefined && config.at <= intent.deadline) return undefined;
  if (config === undefined && seen.now < intent.deadline + ARRIVES_MS) return undefined;
  if (isCompared && isTried(config)) return undefined;
  if (config !== undefined && config.bootId !== intent.bootIdBefore) {
    const why = failureWords.bootedInTrial();
    return { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: unheard(settings, "reverted", why, MOST_TRIALS) };
  }
  const isPaused = seen.held?.has(intent.machine) === true;
  const silence = machine.look.kind === "running" || isPaused ? undefined : troubleOf(machine, "ready");
  const trouble = seen.troubles?.get(intent.machine) ?? silence;
  const sent = sentUnder(seen, "ApplyConfig", intent);
  if (trouble !== undefined && sent !== undefined) {
    const why = failureWords.unwellInTrial(trouble);
    return { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: failed(settings, "reverted", why) };
  }
  const keeping = sentUnder(seen, "KeepConfig", intent);
  if (keeping?.outcome === "refused") {
    const why = failureWords.notKept(keeping.detail);
    return { reason: "Refused", message: `${intent.machine}: ${why}.`, fact: failed(settings, "refused", why) };
  }
  if (config !== undefined && !isCompared)
    return { reason: "TakenBack", message: `${intent.machine} took back settings that were asked for no more before they were kept.` };
  const before = sent?.ranBefore;
  if (config !== undefined && before !== undefined && config.activeHash !== before) {
    const why = failureWords.replacedInTrial();
    return { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: failed(settings, "reverted", why) };
  }
  if (sent?.outcome === "answered") {
    const why = failureWords.notToldToKeep();
    return { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: unheard(settings, "reverted", why, MOST_TRIALS) };
  }
  const why = failureWords.neverInForce();
  return { reason: "NotHeardOf", message: `${intent.machine}: ${why}.`, fact: unheard(settings, "unknown", why) };
}

/** A configuration that only the disk takes: for the next boot, or what is in force already. */
function writeStep(seen: Observed, intent: IntentFact, config: KnownConfig | undefined, isOver: boolean): Ending | undefined {
  const settings = intent.configHash ?? "";
  const sent = sentUnder(seen, "ApplyConfig", intent);
  const isOnDisk = config !== undefined && (config.onDisk === "wanted" || (config.onDisk === "unknown" && sent?.outcome === "answered"));
  if (isOnDisk && intent.applyMode === "staged")
    return {
      reason: "Staged",
      message: `${intent.machine} has the new configuration and needs a boot for it.`,
      fact: staged(settings, intent.bootIdBefore ?? config.bootId, config.diskHash),
    };
  if (isOnDisk && config.changes.length === 0)
    return {
      reason: "Applied",
      message: `${intent.machine} has on its disk what is in force.`,
      fact: applied(settings, config.activeHash),
    };
  if (!isOver || (config !== undefined && config.at <= intent.deadline)) return undefined;
  const why = failureWords.neverOnDisk();
  return { reason: "NotHeardOf", message: `${intent.machine}: ${why}.`, fact: unheard(settings, "unknown", why) };
}

function rebootStep(
  assessed: Assessment,
  intent: IntentFact,
  machine: SeenMachine,
  config: KnownConfig | undefined,
  isOver: boolean,
): Ending | Action | undefined {
  const { seen } = assessed;
  const { look } = machine;
  const before = intent.bootIdBefore;
  const isBooted = config !== undefined && config.bootId !== before && config.at > intent.at;
  const trouble = afterBoot(assessed, intent, machine);
  if (isBooted && look.kind === "running" && look.stage === "running" && trouble === undefined)
    return { reason: "Booted", message: `${intent.machine} has booted and runs.` };
  if (isOver && (isBooted || config === undefined)) {
    const why = failureWords.unwellAfterBoot(trouble);
    return { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: failed(intent.configHash ?? "", "reverted", why) };
  }
  if (isBooted || config === undefined || look.kind !== "running" || GOING_STAGES.has(look.stage ?? "")) return undefined;
  if (isOver && (seen.overdue !== undefined || config.at > intent.deadline))
    return { reason: "HeldBack", message: `${intent.machine} did not reboot.` };
  const why = notSent(seen, "Reboot", intent);
  if (why !== undefined) return { reason: "HeldBack", message: `${intent.machine} was not rebooted: ${why}.` };
  // Bound to the boot id: a machine that has rebooted meanwhile is not rebooted a second time.
  if (isOver || !mayAskAgain(seen, rebootMachine, intent.machine) || wasJustHeldBack(seen, intent.machine)) return undefined;
  if (!mayStillBoot(assessed, intent, config, look.etcd?.localMember)) return undefined;
  return {
    kind: "RebootMachine",
    machine: intent.machine,
    role: intent.role,
    address: machine.declared.address,
    ifUuid: intent.uuid,
    ifBootId: before ?? "",
    ...forSpace(assessed, config),
  };
}

/** From the order to boot until a Node that says nothing is waited for no longer. Milliseconds. */
const WITHOUT_NODE_MS = 5 * 60_000;

/**
 * What is wrong with a machine after its boot. While files are full no kubelet can tell that its Node is ready: one that was so before stays so, and any other is waited
 * for in vain. The rest the machine says by itself.
 */
function afterBoot({ seen, etcdMembership: view }: Assessment, { at }: IntentFact, machine: SeenMachine): string | undefined {
  const isFull = view.kind === "unsafe" && view.isOnlyFull === true;
  const isSpeechless = isFull && elapsedMs(at, seen.now) >= WITHOUT_NODE_MS;
  return isSpeechless ? (memberTroubleOf(machine) ?? missingOn(machine, "nodeReady")) : troubleOf(machine, "ready");
}

/** What was free when it was written down may not be any more. */
function mayStillBoot(assessed: Assessment, under: IntentFact, config: KnownConfig, member: string | undefined): boolean {
  const { seen, facts } = assessed;
  if (!seen.mayDisturb || facts === undefined) return false;
  if (under.role === "worker") return true;
  const why = bootsForSpace(assessed, config) ? "enlarge" : "boot";
  return controlPlaneSlot(assessed, facts, { machine: under.machine, why, member, under }).kind === "granted";
}

/** New network settings are in force at once: they are done when the machine shows them and is still as well as before. */
function metaStep(
  seen: Observed,
  intent: IntentFact,
  machine: SeenMachine,
  config: KnownConfig | undefined,
  isOver: boolean,
): Ending | undefined {
  const wanted = intent.configHash ?? "";
  const sent = sentUnder(seen, "WriteMeta", intent);
  const settings = metaSettings(wanted);
  if (sent?.outcome === "refused")
    return {
      reason: "Refused",
      message: `${intent.machine} refused the static network settings for its META: ${sent.detail}`,
      fact: failed(settings, "refused", failureWords.refused(sent.detail)),
    };
  const held = notSent(seen, "WriteMeta", intent);
  if (held !== undefined) return { reason: "HeldBack", message: `Nothing was written to META of ${intent.machine}: ${held}.` };
  const meta = config !== undefined && config.at > intent.at ? config.meta : undefined;
  const trouble = troubleOf(machine, sent?.before ?? "ready");
  // A machine that loses its network by them says so only after a while. Who did not send them cannot know when they arrived.
  const since = (sent?.at ?? intent.at + ARRIVES_MS) + SOAK_MS;
  const isLookedAt = machine.look.kind === "running" && machine.look.at >= since && seen.soaking?.has(intent.machine) !== true;
  if (meta?.live === wanted && trouble === undefined && isLookedAt)
    return { reason: "Applied", message: `${intent.machine} has the static network settings in its META.`, fact: metaWritten(wanted) };
  if (!isOver || (config !== undefined && config.at <= intent.deadline && trouble === undefined)) return undefined;
  if (trouble !== undefined) {
    const why = failureWords.unwellWithMeta(trouble);
    return { reason: "TakenBack", message: `${intent.machine}: ${why}.`, fact: failed(settings, "reverted", why) };
  }
  const why = failureWords.neverInMeta();
  return { reason: "NotHeardOf", message: `${intent.machine}: ${why}.`, fact: unheard(settings, "unknown", why) };
}
