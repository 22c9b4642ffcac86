import { conditionFor, rfc3339 } from "@talos-operator/api";
import type { AddonPreview, AddonRun, ConditionInput, TalosClusterAddonRelease } from "@talos-operator/api";
import type { ObjectChange, PreviewedResult } from "@talos-operator/helm";
import { addonRunId, addonRunName } from "../../addons/runner.ts";
import type { AddonRunState } from "../../addons/runner.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import { hold } from "./decide.ts";
import { startOf, taskTimeoutMs } from "./begin.ts";
import { failureOf } from "./failures.ts";
import { isManifestsWish } from "./manifests.ts";
import { isHeldBack } from "./rollback.ts";
import { isLate, timesOfRun } from "./time-of-run.ts";
import { waitsForTurn } from "./turns.ts";
import type { ReleaseAct, ReleaseDecision, ReleaseNews, ReleaseSeen } from "./model.ts";

/** How often a run is looked at, and how soon what cannot be told is tried again. Milliseconds. */
const LOOK_MS = 2_000;
const AGAIN_MS = 5 * 60_000;

/**
 * Decides about a release whose reconcile-mode is dryrun: Helm is asked once what the spec would change, and nothing is changed. The conditions are those that
 * come beside `Paused`. Pure.
 */
export function decidePreview(seen: ReleaseSeen): ReleaseDecision {
  const { release, wish } = seen;
  const { run } = release.status ?? {};
  if (run?.task === "preview") return afterPreview(seen, run);
  if (run !== undefined)
    return unknownPlan(seen, `The run ${run.name} was begun before, and is not over. It is looked at when the annotation is removed.`);
  const held = hold(seen)?.conditions.find(({ type }) => type === "Ready")?.message;
  if (held !== undefined) return unknownPlan(seen, held);
  if (wish.kind !== "there") return unknownPlan(seen, "What is to be installed is being read.");
  if (isManifestsWish(wish.wish)) return unknownPlan(seen, "No plan is made of spec.manifests: kubectl diff shows what they change.");
  return towardPreview(seen, wish.wish);
}

function towardPreview(seen: ReleaseSeen, wish: ReleaseWish): ReleaseDecision {
  const { release, now } = seen;
  const { inputs, preview } = release.status ?? {};
  if (inputs === wish.inputs || isHeldBack(release, wish))
    return say(seen, conditionFor("DryRun", "NothingToDo", "What the spec asks for is installed."), { preview: undefined });
  const askedAt = Date.parse(preview?.checkTime ?? "");
  if (preview?.inputs === wish.inputs && (preview.problem === undefined || (now >= askedAt && now - askedAt < AGAIN_MS)))
    return say(seen, toldOf(release, preview), { preview }, { requeueAfterMs: AGAIN_MS });
  if (seen.cluster.kind === "paused") return unknownPlan(seen, seen.cluster.message);
  const taskMs = taskTimeoutMs(release);
  const turn = waitsForTurn(seen, taskMs);
  if (turn !== undefined) return pending(seen, turn);
  const id = addonRunId(release.metadata.uid ?? "", "preview", rfc3339(now));
  const run: AddonRun = { name: addonRunName(id), id, task: "preview", inputs: wish.inputs, ...timesOfRun(now, taskMs) };
  return pending(seen, `The run ${run.name} asks Helm.`, { kind: "begin", run }, { run, preview: undefined });
}

function afterPreview(seen: ReleaseSeen, run: AddonRun): ReleaseDecision {
  const { release, now, wish } = seen;
  const state: AddonRunState = seen.run ?? { kind: "absent" };
  const over = (found: Omit<AddonPreview, "inputs" | "checkTime">): ReleaseDecision => {
    const preview = { inputs: run.inputs ?? "", checkTime: rfc3339(now), ...found };
    const told = toldOf(release, preview);
    const news: readonly ReleaseNews[] = preview.problem === undefined ? [{ reason: "DryRun", note: told.message }] : [];
    return say(seen, told, { run: undefined, preview }, { requeueAfterMs: 0, news });
  };
  if (state.kind === "ended") {
    const { result } = state;
    if (result?.kind === "previewed") return over(foundBy(result));
    return over({ problem: result?.kind === "failed" ? failureOf(result).message : `The run ${run.name} ended without a result.` });
  }
  if (isLate(run, now, taskTimeoutMs(release))) return over({ problem: `The run ${run.name} did not end in its time.` });
  const isStale = wish.kind !== "there" || wish.wish.inputs !== run.inputs || seen.cluster.kind !== "present";
  // Nobody has started it, and it is not what would be asked for now.
  if (state.kind === "absent" && isStale) return pending(seen, "Helm is asked in a moment.", { kind: "none" }, { run: undefined }, 0);
  const waits = state.kind === "waiting" ? ` It waits: ${state.why}.` : "";
  return pending(seen, `The run ${run.name} asks Helm.${waits}`, startOf(seen, run, state));
}

function foundBy({ chart, changes, total }: PreviewedResult): Omit<AddonPreview, "inputs" | "checkTime"> {
  return { chart: `${chart.name} ${chart.version}`, total, changes: changes.map(wordsOf) };
}

const VERBS = { create: "is made", change: "is changed", delete: "is deleted" } as const;

function wordsOf({ object, change, fields, more = 0 }: ObjectChange): string {
  const others = more > 0 ? `, and ${more} more` : "";
  return `${object} ${VERBS[change]}${fields.length === 0 ? "" : `: ${fields.join(", ")}${others}`}`;
}

/** What Helm would do, for people who ask for it themselves. */
export function planned(
  release: TalosClusterAddonRelease,
  result: PreviewedResult,
): { readonly words: string; readonly changes: readonly string[] } {
  const { chart = "", total = 0, changes = [] } = foundBy(result);
  const more = total > changes.length ? `, and ${total - changes.length} that are not named` : "";
  return {
    words: `${whatFollows(release, chart)}; ${total === 0 ? "no object changes" : total === 1 ? "one object changes" : `${total} objects change${more}`}.`,
    changes,
  };
}

/** What a preview found, as its condition. */
function toldOf(
  release: TalosClusterAddonRelease,
  { chart = "The chart", total = 0, changes = [], problem }: AddonPreview,
): ConditionInput {
  if (problem !== undefined) return conditionFor("DryRun", "PlanUnknown", problem);
  const what = whatFollows(release, chart);
  if (total === 0) return conditionFor("DryRun", "ActionsPlanned", `${what}; no object changes.`);
  const more = total > changes.length ? `; and ${total - changes.length} more` : "";
  return conditionFor("DryRun", "ActionsPlanned", `${what}: ${changes.join("; ")}${more}.`);
}

function whatFollows({ status }: Pick<TalosClusterAddonRelease, "status">, chart: string): string {
  return status?.revision === undefined ? `${chart} would be installed` : `${chart} would follow revision ${status.revision}`;
}

/** Nobody can be asked, or nobody answers. A run that was to begin has not begun. */
export function unknownPlan(seen: ReleaseSeen, message: string): ReleaseDecision {
  return say(seen, conditionFor("DryRun", "PlanUnknown", message), {}, { requeueAfterMs: AGAIN_MS });
}

function pending(
  seen: ReleaseSeen,
  message: string,
  act: ReleaseAct = { kind: "none" },
  fields: ReleaseDecision["fields"] = {},
  requeueAfterMs = LOOK_MS,
): ReleaseDecision {
  return say(seen, conditionFor("DryRun", "NotLookedYet", `Pending: ${message}`), fields, { act, requeueAfterMs });
}

function say(
  { release }: ReleaseSeen,
  condition: ConditionInput,
  fields: ReleaseDecision["fields"],
  more: Partial<Pick<ReleaseDecision, "act" | "news" | "requeueAfterMs">> = {},
): ReleaseDecision {
  const { conditions: _told, observedGeneration: _generation, ...kept } = release.status ?? {};
  return { act: { kind: "none" }, fields: { ...kept, ...fields }, conditions: [condition], isBusy: false, news: [], ...more };
}
