import { elapsedMs } from "../elapsed.ts";
import { factsOf } from "../record/facts.ts";
import { openRun, upgradeIntents } from "../record/upgrades.ts";
import { forecastOf } from "./forecast-of.ts";
import type { Assessment } from "../model/assessment.ts";

/** What would hold up drains is asked again after this while; pods and budgets of a whole cluster are read for it. */
const AGAIN_MS = 5 * 60_000;

/** The same when nobody answered. */
const UNANSWERED_AGAIN_MS = 30_000;

/** Another Talos is asked for and could be brought on, and nothing of it has begun: it waits, or is only tried. */
export function isUpgradeAhead(assessed: Assessment): boolean {
  const { seen, upgrade } = assessed;
  const facts = factsOf(seen);
  const isWaiting = upgrade?.kind === "held" || (upgrade?.kind === "stopped" && upgrade.reason !== "VersionFailed");
  if (seen.mode !== "dryrun" && !(seen.mode === "reconcile" && isWaiting)) return false;
  if (facts === undefined || openRun(facts) !== undefined || upgradeIntents(facts).length > 0) return false;
  return forecastOf(assessed) !== undefined;
}

/** Whether it is time to ask the cluster's own API what would hold up the drains of an upgrade that is ahead. */
export function isLookAheadDue(assessed: Assessment): boolean {
  const { ahead, now } = assessed.seen;
  if (ahead === undefined || ahead.isAsking) return false;
  return elapsedMs(ahead.at, now) >= (ahead.isUnanswered ? UNANSWERED_AGAIN_MS : AGAIN_MS) && isUpgradeAhead(assessed);
}
