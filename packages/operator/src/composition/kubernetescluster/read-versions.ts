import { askedAs, isCompleteVersion } from "@talos-operator/api";
import type { ReadVersions, ResolvedVersion, TalosControlPlane, VersionOf } from "@talos-operator/api";
import { poolAnnotations } from "./keys.ts";

/** Longest text that is read: a handful of groups, each with a version of its own. */
const LONGEST = 16_384;

/**
 * How the versions of a cluster were read that its spec writes short, or not at all. Where the release before composed it nothing tells what was asked for: what the
 * pools ask for by now stays, for every spelling of it. While a cluster is taken over, what runs is what such a spec means.
 */
export function readBefore(controlPlane: TalosControlPlane | undefined, isTakenOver: boolean): ReadVersions {
  if (controlPlane === undefined) return {};
  const { spec, status } = controlPlane;
  const text = controlPlane.metadata.annotations?.[poolAnnotations.readVersions];
  const told = (text === undefined ? undefined : parsed(text)) ?? {
    talos: everySpelling(spec?.version),
    kubernetes: everySpelling(spec?.kubeVersion),
  };
  if (!isTakenOver) return told;
  return {
    talos: { ...told.talos, ...everySpelling(status?.observedVersion) },
    kubernetes: { ...told.kubernetes, ...everySpelling(status?.observedKubeVersion) },
  };
}

function everySpelling(version: string | undefined): Readonly<Record<string, string>> {
  const minor = version === undefined || !isCompleteVersion(version) ? undefined : /^v?(\d+\.\d+)/.exec(version)?.[1];
  return version === undefined || minor === undefined ? {} : { "": version, [minor]: version };
}

/** The annotation that keeps them. It is there, and empty, where the spec says every version itself: then an edit that leaves one out reads it anew. */
export function printReadVersions(versions: readonly ResolvedVersion[]): string {
  const of = (product: VersionOf): Readonly<Record<string, string>> =>
    Object.fromEntries(
      versions
        .filter((one) => one.of === product)
        .map(({ written, version }) => [askedAs(written), version] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  const all = { talos: of("talos"), kubernetes: of("kubernetes") };
  return JSON.stringify(Object.fromEntries(Object.entries(all).filter(([, read]) => Object.keys(read).length > 0)));
}

/** For people: what stands for what, and what moves it. */
export function sayReadVersions(versions: readonly ResolvedVersion[]): string {
  if (versions.length === 0) return "";
  // Groups say what their cluster says.
  const first = [...new Map(versions.toReversed().map((one) => [`${one.of} ${askedAs(one.written)}`, one])).values()].toReversed();
  const words = first.map(({ field, written, version }) =>
    written === "" ? `${field} is not set and is read as ${version}` : `${field} ${written} is read as ${version}`,
  );
  return ` ${words.join("; ")}. An edit of it moves that, and no other release of the operator does.`;
}

/** `undefined` where somebody wrote something else there. */
function parsed(text: string): ReadVersions | undefined {
  if (text.length > LONGEST) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // not ours: as if it were not there
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { talos, kubernetes } = value as Readonly<Record<string, unknown>>;
  return { talos: versionsIn(talos), kubernetes: versionsIn(kubernetes) };
}

function versionsIn(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string" && isCompleteVersion(entry[1])),
  );
}
