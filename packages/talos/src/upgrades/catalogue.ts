import type { YamlNode } from "../config/yaml/node.ts";
import { StructReader } from "../config/yaml/struct-reader.ts";
import { talosMinors, type TalosMinor, type TalosMinors } from "../versions/matrix.ts";
import { tryParseVersion, type Version } from "../versions/version.ts";

/** Releases that upgrades go through, and what goes with what. */
export interface ReleaseCatalogue {
  readonly talos: TalosMinors;
  /** Newest patch of each Kubernetes 1 minor that is known, without `v`. Never a pre-release. */
  readonly kubernetes: ReadonlyMap<number, string>;
}

/** What this release knows by itself, without asking anybody. */
export const builtInCatalogue: ReleaseCatalogue = {
  talos: talosMinors,
  kubernetes: new Map(
    [...talosMinors.values()].flatMap(({ defaultKubernetes }) => {
      const { minor, prerelease } = tryParseVersion(defaultKubernetes) ?? { minor: 0, prerelease: "none" };
      return prerelease === "" ? [[minor, defaultKubernetes] as const] : [];
    }),
  ),
};

/**
 * A catalogue with what a text adds to it:
 *
 * ```yaml
 * talos:
 *   - release: v1.13.10 # a minor that is known: upgrades that pass through 1.13 go by this release
 *   - release: v1.16.0 # one that is not: what its compatibility tables say
 *     kubernetes: { oldest: v1.34, newest: v1.39 }
 *     replaces: { oldest: v1.14, newest: v1.17 } # minors that its installer goes over, up and down
 *     etcd: v3.7
 * kubernetes:
 *   - v1.36.4
 * ```
 *
 * A release that is older than the one that is known counts, too: it may be the one that the own registry holds. Ranges of known minors cannot be changed.
 *
 * @throws ConfigError `UNKNOWN_FIELD`, `WRONG_TYPE`, `INVALID_VALUE`, and the codes of reading YAML; `detail` lists every problem of the text
 */
export function extendCatalogue(base: ReleaseCatalogue, text: string): ReleaseCatalogue {
  const reader = new StructReader({ generation: "1.14", unknown: "refuse" });
  const talos = new Map(base.talos);
  const kubernetes = new Map(base.kubernetes);
  reader.fields(reader.root(text), "Catalogue", "", {
    talos: (list, path) => {
      const rows = items(reader, list, path).map(({ node, at }) => readRow(reader, node, at));
      for (const row of unique(reader, rows).toSorted((a, b) => a.release.minor - b.release.minor)) addTalos(reader, talos, row);
    },
    kubernetes: (list, path) => {
      const rows = items(reader, list, path).map(({ node, at }) => ({ node, at, release: readRelease(reader, node, at) }));
      for (const { release } of unique(reader, rows)) kubernetes.set(release.minor, textOf(release));
    },
  });
  reader.throwProblems();
  return { talos, kubernetes };
}

/** Enough for every minor of ten years. */
const MOST_RELEASES = 100;

interface Row {
  readonly node: YamlNode;
  readonly at: string;
  readonly release: Version | undefined;
  readonly kubernetes?: Range;
  readonly replaces?: Range;
  readonly etcd?: number;
}

type Range = readonly [oldest: number, newest: number];

function items(reader: StructReader, list: YamlNode, path: string): readonly { readonly node: YamlNode; readonly at: string }[] {
  const all = reader.items(list, "[]Release", path).map((node, index) => ({ node, at: `${path}[${index}]` }));
  if (all.length > MOST_RELEASES) refuse(reader, list, path, `${all.length} releases are too many: ${MOST_RELEASES} is the most`);
  return all.slice(0, MOST_RELEASES);
}

function readRow(reader: StructReader, node: YamlNode, at: string): Row {
  let row: Row = { node, at, release: undefined };
  const before = reader.problemCount;
  reader.fields(node, "Release", at, {
    release: (value, path) => (row = { ...row, release: readRelease(reader, value, path) }),
    kubernetes: (value, path) => (row = { ...row, ...present("kubernetes", readRange(reader, value, path)) }),
    replaces: (value, path) => (row = { ...row, ...present("replaces", readRange(reader, value, path)) }),
    etcd: (value, path) => (row = { ...row, ...present("etcd", readMinor(reader, value, path, 3)) }),
  });
  if (row.release === undefined && reader.problemCount === before) refuse(reader, node, at, "release is missing");
  return row;
}

function present<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });
}

function readRelease(reader: StructReader, node: YamlNode, path: string): Version | undefined {
  const text = reader.text(node, path);
  if (text === undefined) return undefined;
  const version = tryParseVersion(text);
  if (version === undefined) return refuse(reader, node, path, `${quoted(text)} is no version, such as v1.13.9`);
  if (version.prerelease !== "" || version.build !== "")
    return refuse(reader, node, path, `${quoted(text)} is no release: upgrades pass through releases only`);
  return version.major === 1 ? version : refuse(reader, node, path, `${quoted(text)} is of another major version than 1`);
}

function readRange(reader: StructReader, node: YamlNode, path: string): Range | undefined {
  let oldest: number | undefined;
  let newest: number | undefined;
  const before = reader.problemCount;
  reader.fields(node, "Range", path, {
    oldest: (value, at) => (oldest = readMinor(reader, value, at, 1)),
    newest: (value, at) => (newest = readMinor(reader, value, at, 1)),
  });
  if (reader.problemCount > before) return undefined;
  if (oldest === undefined || newest === undefined) return refuse(reader, node, path, "it takes oldest and newest");
  return oldest <= newest ? [oldest, newest] : refuse(reader, node, path, "oldest is newer than newest");
}

/** The minor in `v1.34`. YAML takes 1.30 without `v` for the number 1.3, but its text is kept. */
function readMinor(reader: StructReader, node: YamlNode, path: string, major: number): number | undefined {
  const text = reader.text(node, path);
  if (text === undefined) return undefined;
  const [, ofMajor, minor] = /^v?(\d{1,3})\.(\d{1,4})$/.exec(text) ?? [];
  return Number(ofMajor) === major && minor !== undefined
    ? Number(minor)
    : refuse(reader, node, path, `${quoted(text)} is no minor, such as v${major}.7`);
}

/** Rows with a release, one for each minor. */
function unique<T extends { readonly node: YamlNode; readonly at: string; readonly release: Version | undefined }>(
  reader: StructReader,
  rows: readonly T[],
): readonly (T & { readonly release: Version })[] {
  const seen = new Set<number>();
  return rows.flatMap((row) => {
    const { release } = row;
    if (release === undefined) return [];
    if (seen.has(release.minor)) {
      refuse(reader, row.node, row.at, `1.${release.minor} is named twice`);
      return [];
    }
    seen.add(release.minor);
    return [{ ...row, release }];
  });
}

function addTalos(reader: StructReader, talos: Map<number, TalosMinor>, row: Row & { readonly release: Version }): void {
  const { node, at, release } = row;
  const known = talos.get(release.minor);
  const next = known === undefined ? newMinor(row, talos.get(release.minor - 1)) : otherRelease(row, known);
  if (typeof next === "string") refuse(reader, node, at, next);
  else talos.set(release.minor, next);
}

/** A known minor with another release, or why not. */
function otherRelease(
  { release, kubernetes, replaces, etcd }: Row & { readonly release: Version },
  known: TalosMinor,
): TalosMinor | string {
  const isKnown =
    isSame(kubernetes, known.kubernetes) &&
    isSame(replaces, [known.oldestHost, known.refusedHost - 1]) &&
    (etcd === undefined || etcd === known.etcd);
  if (!isKnown) return `Talos 1.${release.minor} is known, and what goes with it cannot be changed: name its release alone`;
  return { ...known, newest: textOf(release) };
}

/** A minor that is not known, or why not. */
function newMinor(
  { release, kubernetes, replaces, etcd }: Row & { readonly release: Version },
  before: TalosMinor | undefined,
): TalosMinor | string {
  const name = `Talos 1.${release.minor}`;
  const earlier = `Talos 1.${release.minor - 1}`;
  if (before === undefined) return `nothing is known of ${earlier}, through which upgrades to ${name} go`;
  if (kubernetes === undefined || replaces === undefined || etcd === undefined)
    return `${name} is new, and takes kubernetes, replaces and etcd too`;
  if (kubernetes[1] < before.kubernetes[1] || etcd < before.etcd) return `${name} runs no older Kubernetes or etcd than ${earlier} does`;
  if (replaces[0] >= release.minor || replaces[1] < release.minor) return `${name} replaces the minor before it, and itself`;
  return { kubernetes, oldestHost: replaces[0], refusedHost: replaces[1] + 1, etcd, newest: textOf(release) };
}

function isSame(given: Range | undefined, known: Range): boolean {
  return given === undefined || (given[0] === known[0] && given[1] === known[1]);
}

function refuse(reader: StructReader, node: YamlNode, path: string, text: string): undefined {
  reader.problem("INVALID_VALUE", node, path, text);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

function textOf({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}
