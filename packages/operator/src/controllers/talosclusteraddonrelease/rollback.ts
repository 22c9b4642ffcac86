import { annotations } from "@talos-operator/api";
import type { AddonChart, AddonRun, TalosClusterAddonRelease, TalosClusterAddonReleaseStatus } from "@talos-operator/api";
import type { Revision } from "@talos-operator/helm";
import type { ReleaseWish } from "../../addons/wish.ts";

/** The number that the annotation rollback-to names; `undefined` where there is none, or something else. */
function rollbackAsked({ metadata }: TalosClusterAddonRelease): number | undefined {
  const word = metadata.annotations?.[annotations.rollbackTo];
  return word !== undefined && /^[1-9]\d{0,8}$/.test(word) ? Number(word) : undefined;
}

/** What is wrong with the annotation, for people. */
export function rollbackProblem(release: TalosClusterAddonRelease): string | undefined {
  const word = release.metadata.annotations?.[annotations.rollbackTo];
  if (word === undefined) return undefined;
  const asked = rollbackAsked(release);
  const { to, problem } = release.status?.rolledBack ?? {};
  if (asked !== undefined) return asked === to ? problem : undefined;
  return `The annotation rollback-to names no revision: write the number of one, as status.history has it.`;
}

/** The revision that is still to be gone back to. What was carried out once is not repeated, whatever was installed since. */
export function openRollback(release: TalosClusterAddonRelease): number | undefined {
  const asked = rollbackAsked(release);
  const isDone = asked === release.status?.rolledBack?.to;
  return asked === undefined || isDone || release.status?.revision === undefined ? undefined : asked;
}

/** What the spec asks for is what a person went back from. */
export function isHeldBack({ status }: TalosClusterAddonRelease, { inputs }: Pick<ReleaseWish, "inputs">): boolean {
  return status?.rolledBack?.from === inputs;
}

/** Stands for a try: of a rollback its revision, of all else what is installed by it. */
export function triedBy({ task, inputs, revision }: Pick<AddonRun, "task" | "inputs" | "revision">): string | undefined {
  return task === "rollback" ? `rollback-${revision ?? 0}` : inputs;
}

/** After a pass without the annotation the same revision can be asked for once more. */
export function rememberedRollback({ metadata, status }: TalosClusterAddonRelease): TalosClusterAddonReleaseStatus["rolledBack"] {
  const { rolledBack } = status ?? {};
  if (rolledBack?.to === undefined || metadata.annotations?.[annotations.rollbackTo] !== undefined) return rolledBack;
  return rolledBack.from === undefined ? undefined : { from: rolledBack.from };
}

/** What an edit leaves of it: the annotation, if it still stands, was carried out. */
export function afterEdit(release: TalosClusterAddonRelease): TalosClusterAddonReleaseStatus["rolledBack"] {
  const { to, problem } = rememberedRollback(release) ?? {};
  return to === undefined ? undefined : { to, ...(problem === undefined ? {} : { problem }) };
}

/** What is kept of a rollback that Helm refuses for what it asks: the annotation is answered, and what is installed stays what it is. */
export function refusedRollback(
  { status }: TalosClusterAddonRelease,
  { revision }: AddonRun,
  problem: string,
): TalosClusterAddonReleaseStatus["rolledBack"] {
  const { from } = status?.rolledBack ?? {};
  return { ...(revision === undefined ? {} : { to: revision }), ...(from === undefined ? {} : { from }), problem };
}

/** The chart as it is now. Where the spec names no version the one that runs is the one that stays; where it names one, the next edit installs that. */
export function chartAfter({ spec, status }: TalosClusterAddonRelease, { chartVersion, appVersion }: Revision): AddonChart | undefined {
  const before = status?.chart;
  if (before === undefined || before.version === chartVersion) return before;
  const asked = (spec.helmSpec?.version ?? "") === "" ? before.asked : "";
  return { name: before.name, version: chartVersion, ...(appVersion === undefined ? {} : { appVersion }), asked };
}
