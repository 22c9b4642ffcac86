import { isPlainSchematic, isSameSchematic, noSchematic } from "../versions/images.ts";
import { compareContracts, contractFor } from "../versions/contract.ts";
import { supportsTalosUpgrade } from "../versions/matrix.ts";
import { compareVersions, tryParseVersion, type Version } from "../versions/version.ts";
import type { ReleaseCatalogue } from "./catalogue.ts";
import type { Product, Refusal, UpgradeMachine, UpgradeWish } from "./upgrade.ts";

/** The versions that lie before a machine, or before Kubernetes, with `v`; empty = nothing is asked for that does not run. */
export type Path = { readonly versions: readonly string[] } | { readonly refusal: Refusal };

/**
 * The way of one machine through the minors between what it runs and what is asked for: each by its newest release. A change of the schematic or of kernel
 * arguments alone is a way of one hop to the version that runs.
 *
 * @param machines names of all that go this way
 */
export function talosPath(machine: UpgradeMachine, machines: readonly string[], wish: UpgradeWish, { talos }: ReleaseCatalogue): Path {
  const { runs, asked } = machine;
  const ends = endsOf("talos", runs.version, asked.version, machines);
  if ("refusal" in ends) return ends;
  const { from, to } = ends;
  const order = compareVersions(runs.version, asked.version);
  if (order === 0 && isSameBuild(machine)) return { versions: [] };
  const lost = extensionsLost(machine, wish);
  if (lost.length > 0) return { refusal: { kind: "ExtensionsLost", extensions: lost, machines } };
  if (order === 0) return { versions: [withV(from)] };
  if (asked.schematic === noSchematic && runs.schematic !== undefined && !isPlainSchematic(runs.schematic))
    return { refusal: { kind: "SchematicLost", schematic: runs.schematic, machines } };
  if (to.major !== 1 || !talos.has(to.minor)) return { refusal: { kind: "UnknownMinor", of: "talos", version: withV(to), machines } };
  const { configContract } = machine;
  if (order > 0 && configContract !== undefined && compareContracts(contractFor(asked.version), configContract) < 0)
    return { refusal: { kind: "ConfigNewer", contract: configContract, to: withV(to), machines } };
  if (order > 0 && !isAllowed(wish, asked.version))
    return { refusal: { kind: "DowngradeAsked", of: "talos", from: withV(from), to: withV(to), machines } };
  const way = throughMinors(from, to, (minor) => talos.get(minor)?.newest);
  if (typeof way === "string") return { refusal: { kind: "NoRelease", of: "talos", minor: way, machines } };
  let host = withV(from);
  for (const version of way) {
    if (!supportsTalosUpgrade(host, version, talos).ok) return { refusal: { kind: "InstallerRefuses", from: host, to: version, machines } };
    host = version;
  }
  return { versions: way };
}

/** The way of Kubernetes: every minor between, each by its newest release. */
export function kubernetesPath(wish: UpgradeWish, { kubernetes, talos }: ReleaseCatalogue): Path {
  if (wish.kubernetes === undefined) return { versions: [] };
  const { runs, asked } = wish.kubernetes;
  const ends = endsOf("kubernetes", runs, asked, []);
  if ("refusal" in ends) return ends;
  const { from, to } = ends;
  const order = compareVersions(runs, asked);
  if (order === 0) return { versions: [] };
  const isKnown =
    to.major === 1 && [...talos.values()].some(({ kubernetes: [oldest, newest] }) => oldest <= to.minor && to.minor <= newest);
  if (!isKnown || from.major !== 1) return { refusal: { kind: "UnknownMinor", of: "kubernetes", version: withV(to), machines: [] } };
  if (order > 0 && to.minor < from.minor) return { refusal: { kind: "KubernetesMinorBack", from: withV(from), to: withV(to) } };
  if (order > 0 && !isAllowed(wish, asked))
    return { refusal: { kind: "DowngradeAsked", of: "kubernetes", from: withV(from), to: withV(to), machines: [] } };
  const way = throughMinors(from, to, (minor) => kubernetes.get(minor));
  return typeof way === "string" ? { refusal: { kind: "NoRelease", of: "kubernetes", minor: way, machines: [] } } : { versions: way };
}

/** A version as it is written everywhere here. */
export function withV({ major, minor, patch, prerelease }: Version): string {
  return `v${major}.${minor}.${patch}${prerelease === "" ? "" : `-${prerelease}`}`;
}

function endsOf(
  of: Product,
  runs: string,
  asked: string,
  machines: readonly string[],
): { readonly from: Version; readonly to: Version } | { readonly refusal: Refusal } {
  const from = tryParseVersion(runs);
  const to = tryParseVersion(asked);
  if (from === undefined || to === undefined)
    return { refusal: { kind: "BadVersion", of, text: from === undefined ? runs : asked, machines } };
  return { from, to };
}

function isAllowed({ allowDowngrade }: UpgradeWish, asked: string): boolean {
  return allowDowngrade !== undefined && tryParseVersion(allowDowngrade) !== undefined && compareVersions(allowDowngrade, asked) === 0;
}

/** The versions after `from` up to `to`; the minor of which no release is known where there is one. */
function throughMinors(from: Version, to: Version, newest: (minor: number) => string | undefined): readonly string[] | string {
  const versions: string[] = [];
  const isBack = to.minor < from.minor;
  const between = Math.abs(to.minor - from.minor) - 1;
  for (let index = 1; index <= between; index += 1) {
    const minor = from.minor + (isBack ? -index : index);
    const release = newest(minor);
    if (release === undefined) return `1.${minor}`;
    versions.push(`v${release}`);
  }
  return [...versions, withV(to)];
}

/** What runs on a machine, is known not to be in the image that is asked for, and nobody lets go. */
function extensionsLost({ runs, asked }: UpgradeMachine, { allowExtensionLoss = [] }: UpgradeWish): readonly string[] {
  const { extensions } = asked;
  if (extensions === undefined) return [];
  return (runs.extensions ?? []).filter((name) => !extensions.includes(name) && !allowExtensionLoss.includes(name)).toSorted();
}

/** Who asks for an installer of Talos itself asks for no change of the schematic. */
function isSameBuild({ runs, asked }: UpgradeMachine): boolean {
  const words = (list: readonly string[] | undefined): string | undefined => (list === undefined ? undefined : JSON.stringify(list));
  if (asked.schematic !== noSchematic && !isSameSchematic(runs.schematic, asked.schematic)) return false;
  const [before, after] = [words(runs.kernelArguments), words(asked.kernelArguments)];
  return before === undefined || after === undefined || before === after;
}
