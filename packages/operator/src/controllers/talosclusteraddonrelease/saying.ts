import { annotations, conditionFor, findCondition } from "@talos-operator/api";
import { idleHelmFields } from "../../addons/helm-options.ts";
import { driftCondition, keptDrift } from "./drift.ts";
import { rollbackProblem } from "./rollback.ts";
import { LOOK_MS, WAIT_MS } from "./times.ts";
import type { AddonRun, ConditionInput, ReadyReason, TalosClusterAddonRelease } from "@talos-operator/api";
import type { ReleaseAct, ReleaseDecision, ReleaseFields, ReleaseNews, ReleaseSeen } from "./model.ts";

/** How many runs are remembered: a lock that one of them left may be released. */
const REMEMBERED_RUNS = 8;

/** No try is waited for, and none counts. */
export const untried = { failedInputs: undefined, attempts: undefined, nextAttemptTime: undefined } as const;

export function ended({ status }: TalosClusterAddonRelease, run: AddonRun): ReleaseFields {
  return { run: undefined, endedRuns: [...(status?.endedRuns ?? []), run.id].slice(-REMEMBERED_RUNS) };
}

export function acting(seen: ReleaseSeen, act: ReleaseAct, news: readonly ReleaseNews[] = []): ReleaseDecision {
  const ready = findCondition(seen.release.status?.conditions, "Ready");
  return saying(seen, (ready?.reason ?? "Installing") as ReadyReason, ready?.message ?? "It is being looked at.", {}, { act, news });
}

export function waiting(
  seen: ReleaseSeen,
  reason: ReadyReason,
  message: string,
  requeueAfterMs = WAIT_MS,
  over: ReleaseFields = {},
): ReleaseDecision {
  return saying(seen, reason, message, over, { requeueAfterMs });
}

/** A run that is at work, or about to be. */
export function busy(seen: ReleaseSeen, reason: ReadyReason, message: string, act: ReleaseAct, over: ReleaseFields = {}): ReleaseDecision {
  return saying(seen, reason, message, over, { act, isBusy: true, requeueAfterMs: LOOK_MS });
}

/** A run that is over, and what it left is looked at in the next pass. */
export function over(
  seen: ReleaseSeen,
  run: AddonRun,
  words: string,
  fields: ReleaseFields,
  news: readonly ReleaseNews[],
): ReleaseDecision {
  const all = { ...ended(seen.release, run), ...untried, ...fields };
  return saying(seen, "Installing", `${words} What it runs is being looked at.`, all, { news, requeueAfterMs: 0 });
}

/** @param over fields of the status that become others */
export function saying(
  seen: ReleaseSeen,
  reason: ReadyReason,
  message: string,
  over: ReleaseFields,
  more: Partial<Omit<ReleaseDecision, "fields" | "conditions">>,
): ReleaseDecision {
  const fields = { ...fieldsOf(seen.release), ...over };
  return { act: { kind: "none" }, fields, conditions: conditionsOf(seen, reason, message), isBusy: false, news: [], ...more };
}

/** Ready, and what the spec asks for that has no effect. */
export function conditionsOf(seen: ReleaseSeen, reason: ReadyReason, message: string): readonly ConditionInput[] {
  const { metadata, spec } = seen.release;
  const { generation } = metadata;
  const idle = spec.helmSpec === undefined ? [] : idleHelmFields(spec.helmSpec);
  const isSetSyntax = seen.wish.kind === "there" && seen.wish.isSetSyntax;
  const drift = driftCondition(seen.release);
  const problem = rollbackProblem(seen.release);
  const notes = [
    ...(problem === undefined ? [] : [problem]),
    ...(idle.length === 0 ? [] : [`Set and without effect: ${idle.join(", ")}.`]),
    ...(isSetSyntax ? ["spec.helmSpec.valuesTemplate has the form a=b,c=d and is read as helm --set reads it; write YAML instead."] : []),
  ];
  const isLeft = metadata.annotations?.[annotations.addonNotSelected] !== undefined;
  return [
    conditionFor("Ready", reason, message, generation),
    ...(drift === undefined ? [] : [drift]),
    ...(isLeft
      ? [
          conditionFor(
            "NoLongerSelected",
            "ClusterNotSelected",
            "The addon does not select this cluster any more; the release stays as it is.",
            generation,
          ),
        ]
      : []),
    ...(notes.length === 0 ? [] : [conditionFor("FieldNotSupported", "FieldNotSupported", notes.join(" "), generation)]),
  ];
}

export function fieldsOf(release: TalosClusterAddonRelease): ReleaseFields {
  const { conditions: _kept, observedGeneration: _generation, ...fields } = release.status ?? {};
  return { ...fields, drift: keptDrift(release), preview: undefined };
}
