import type { FailureKind } from "@talos-operator/api";
import { failureWords } from "../../report/failures.ts";
import { isUpgrade } from "../../record/upgrades.ts";
import type { FactsDraft } from "../../record/facts-draft.ts";
import type { ClusterFacts, FailedConfigFact, IntentFact, MachineFact } from "../../model/record.ts";
import type { Observed } from "../../model/observation.ts";

/** How long a machine keeps a configuration that it tries, unless it is told to keep it. Long enough for services to restart and be seen healthy. */
export const TRY_MS = 180_000;

/** How long a machine must look well from outside before a tried configuration is kept. */
export const SOAK_MS = 15_000;

/** A tried configuration is told to stay no later than this before the machine takes it back. */
export const KEEP_BEFORE_MS = 30_000;

/** Between the writing of an intent and the arrival of its call, at most. */
export const ARRIVES_MS = 60_000;

/** A machine that reboots is back within this time; firmware of large machines takes minutes. */
export const REBOOT_MS = 15 * 60_000;

/** A machine that follows new network settings is to be seen again by then. */
export const META_MS = 180_000;

/** Open effects on the configuration of machines, their META and boots included, but for boots into another Talos. */
export function configIntents(facts: ClusterFacts): readonly IntentFact[] {
  return facts.intents.filter(
    (intent) => intent.what === "ApplyConfig" || (intent.what === "Reboot" && !isUpgrade(intent)) || intent.what === "WriteMeta",
  );
}

/** True while the configuration of a running machine is being changed, its boot included. */
export function isChangingConfig(seen: Observed): boolean {
  return seen.record.kind === "present" && configIntents(seen.record.value.facts).length > 0;
}

/** How an effect ended, as it is written down. */
export interface Ending {
  readonly reason:
    | "Applied"
    | "Tried"
    | "Staged"
    | "Booted"
    | "Refused"
    | "TakenBack"
    | "NotHeardOf"
    | "HeldBack"
    | "Gone"
    | "Installed"
    | "Upgraded"
    | "FellBack"
    | "NeverHealthy"
    | "RolledBack";
  readonly message: string;
  /** What is known of the machine from now on; absent = as before. */
  readonly fact?: (before: MachineFact) => MachineFact;
}

/** Closes the intent and remembers its ending. */
export function endIntent(draft: FactsDraft, intent: IntentFact, now: number, ending: Ending): void {
  const before = draft.machine(intent.machine);
  draft.close(intent.machine, intent.what);
  if (before !== undefined && ending.fact !== undefined) draft.put(ending.fact(before));
  draft.decide({ at: now, action: intent.what, reason: ending.reason, machine: intent.machine, message: ending.message });
}

/** The machine runs these settings. */
export function applied(settings: string, appliedHash: string): (before: MachineFact) => MachineFact {
  return ({ staged: _staged, failed: _failed, ...rest }) => ({ ...rest, configHash: settings, appliedHash });
}

/** The settings are on disk, in a text with this hash where the machine tells it, and wait for a boot. */
export function staged(settings: string, bootId: string, textHash: string | undefined): (before: MachineFact) => MachineFact {
  return ({ failed: _failed, ...rest }) => ({
    ...rest,
    staged: { configHash: settings, bootId, ...(textHash === undefined ? {} : { textHash }) },
  });
}

/** These settings are not sent to the machine again. */
export function failed(settings: string, kind: FailureKind, why: string): (before: MachineFact) => MachineFact {
  return (before) => ({ ...before, failed: { configHash: settings, kind, why: why.slice(0, 512) } });
}

/**
 * Nobody knows why these settings did not come into force: they are sent again, after a longer pause each time.
 *
 * @param most after so many times in a row they are not sent again; default: no end
 */
export function unheard(
  settings: string,
  kind: FailureKind,
  why: string,
  most = Number.POSITIVE_INFINITY,
): (before: MachineFact) => MachineFact {
  return (before) => {
    const tries = before.failed?.configHash === settings ? (before.failed.tries ?? 0) : 0;
    if (tries + 1 >= most) return failed(settings, kind, failureWords.times(why, tries + 1))(before);
    const next: FailedConfigFact = { configHash: settings, kind, why: why.slice(0, 512), tries: tries + 1 };
    return { ...before, failed: next };
  };
}

/** META holds the settings with this hash. */
export function metaWritten(hash: string): (before: MachineFact) => MachineFact {
  return ({ failed: _failed, ...rest }) => ({ ...rest, metaHash: hash });
}
