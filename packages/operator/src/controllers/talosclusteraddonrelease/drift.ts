import { createHash } from "node:crypto";
import { conditionFor, rfc3339 } from "@talos-operator/api";
import type { AddonDrift, ConditionInput, TalosClusterAddonRelease, TalosClusterAddonReleaseSpec } from "@talos-operator/api";
import type { InspectedResult } from "@talos-operator/helm";
import { driftIntervalMs } from "../../addons/drift-interval.ts";

/** What is looked for, how often, and what follows. */
export interface DriftPolicy {
  readonly mode: "report" | "revert";
  readonly intervalMs: number;
  readonly ignore: readonly string[];
}

/** Part of the interval that comes on top of it, so that releases do not all look at once. */
const JITTER = 0.1;

/** `undefined` = nobody asked for it. */
export function driftPolicy({ drift }: TalosClusterAddonReleaseSpec): DriftPolicy | undefined {
  const { mode = "off", interval, ignore = [] } = drift ?? {};
  return mode === "off" ? undefined : { mode, intervalMs: driftIntervalMs(interval) ?? driftIntervalMs() ?? 0, ignore };
}

/** How long until what runs is compared again; zero or less: it is time. Milliseconds. */
export function driftDueIn({ spec, status }: TalosClusterAddonRelease, now: number): number | undefined {
  const policy = driftPolicy(spec);
  if (policy === undefined) return undefined;
  const next = Date.parse(status?.drift?.nextCheckTime ?? "");
  // A clock that was set back and an interval that was made shorter must not make it wait for longer than they would have.
  return Number.isNaN(next) || next - now > policy.intervalMs * (1 + JITTER) ? 0 : next - now;
}

/** The revision that is to be put right; `undefined` = none, or nobody asked for that. */
export function driftToRevert({ spec, status }: TalosClusterAddonRelease): number | undefined {
  return driftPolicy(spec)?.mode === "revert" ? status?.drift?.beyond : undefined;
}

/** What was found. Whatever is put right is put right once an interval: the next comparison is that far away. */
export function inspectedDrift(release: TalosClusterAddonRelease, { drifted, total, revision }: InspectedResult, now: number): AddonDrift {
  const isReverted = total > 0 && driftPolicy(release.spec)?.mode === "revert" && release.status?.rolledBack?.from === undefined;
  return {
    checkTime: rfc3339(now),
    ...nextCheck(release, now),
    total,
    objects: drifted.map(({ object, isGone, paths, more = 0 }) =>
      isGone ? `${object} is gone` : `${object}: ${paths.join(", ")}${more > 0 ? `, and ${more} more` : ""}`,
    ),
    ...(isReverted ? { beyond: revision } : {}),
  };
}

/** It could not be compared: what was known is not known any more. */
export function unknownDrift(release: TalosClusterAddonRelease, problem: string, now: number): AddonDrift {
  return { ...nextCheck(release, now), problem };
}

/** After a revision was made: it is as Helm just wrote it. */
export function driftAfterApply(release: TalosClusterAddonRelease, now: number): AddonDrift | undefined {
  return driftPolicy(release.spec) === undefined
    ? undefined
    : { checkTime: rfc3339(now), ...nextCheck(release, now), total: 0, objects: [] };
}

/** What is remembered of it: nothing once nobody asks any more, and nothing to put right where it is only to be told. */
export function keptDrift({ spec, status }: TalosClusterAddonRelease): AddonDrift | undefined {
  const mode = driftPolicy(spec)?.mode;
  if (mode === undefined || status?.drift === undefined) return undefined;
  const { beyond: _not, ...told } = status.drift;
  return mode === "revert" ? status.drift : told;
}

function nextCheck({ metadata: { uid = "" }, spec }: TalosClusterAddonRelease, now: number): Pick<AddonDrift, "nextCheckTime"> {
  const { intervalMs = 0 } = driftPolicy(spec) ?? {};
  const fraction = createHash("sha256").update(`${uid}/${now}`).digest().readUInt16BE() / 2 ** 16;
  // Whole seconds are kept of it: never less than the interval.
  return { nextCheckTime: rfc3339(now + Math.ceil(intervalMs * (1 + JITTER * fraction))) };
}

export function driftCondition({ metadata: { generation }, spec, status }: TalosClusterAddonRelease): ConditionInput | undefined {
  const { drift } = status ?? {};
  if (driftPolicy(spec) === undefined || drift === undefined) return undefined;
  if (drift.problem !== undefined) return conditionFor("Drifted", "DriftUnknown", drift.problem, generation);
  if ((drift.total ?? 0) === 0) return conditionFor("Drifted", "AsDeployed", "What runs is as Helm deployed it.", generation);
  return conditionFor("Drifted", "ChangedByOthers", driftWords(drift), generation);
}

/** What differs, for people: names and paths. */
export function driftWords({ total = 0, objects = [], beyond }: AddonDrift): string {
  const others = total > objects.length ? `; and ${total - objects.length} more` : "";
  return `Not as Helm deployed it: ${objects.join("; ")}${others}.${beyond === undefined ? "" : " It is corrected."}`;
}
