import { compareVersions, parseVersion } from "../versions/version.ts";
import { builtInCatalogue, type ReleaseCatalogue } from "./catalogue.ts";
import { kubernetesPath, talosPath } from "./paths.ts";
import type { Path } from "./paths.ts";
import { RunningCluster } from "./running-cluster.ts";
import type { Build, Hop, KubernetesHop, MachineHop, Refusal, TalosHop, UpgradeMachine, UpgradePlan, UpgradeWish } from "./upgrade.ts";

/**
 * The shortest legal sequence of hops from what runs to what is asked for, or why there is none. A plan of what any of its hops leaves behind is the rest of it.
 *
 * What is legal: a machine goes to the next minor, through minors between by their newest release, and only where the installer agrees; Talos runs the
 * Kubernetes of the cluster before and after each hop; Kubernetes goes a minor at a time, when Talos needs it or at the end; workers never run a newer minor than
 * a control plane. Back goes only what a person allowed, and no control plane to an etcd that does not read its data.
 */
export function planUpgrade(wish: UpgradeWish, catalogue: ReleaseCatalogue = builtInCatalogue): UpgradePlan {
  const ways = waysOf(wish, catalogue);
  const kubernetes = kubernetesPath(wish, catalogue);
  const refusals = [...ways.map(({ path }) => path), kubernetes].flatMap((path) => ("refusal" in path ? [path.refusal] : []));
  if (refusals.length > 0) return { kind: "none", refusals: together(refusals) };
  const versions = "versions" in kubernetes ? kubernetes.versions : [];
  const moves = ways.flatMap((way) => ("versions" in way.path ? movesOf(way, way.path.versions) : []));
  if (moves.length === 0 && versions.length === 0) return { kind: "settled" };
  if (wish.kubernetes === undefined) return { kind: "none", refusals: [{ kind: "KubernetesUnseen" }] };
  return sequence(stepsOf(moves), versions, { wish, kubernetes: wish.kubernetes.runs, catalogue });
}

/** What lies before machines of a role that run the same and ask for the same: thousands of machines go few ways. */
interface Way {
  /** Of the first of them. */
  readonly name: string;
  readonly like: UpgradeMachine;
  readonly names: readonly string[];
  readonly path: Path;
}

function waysOf(wish: UpgradeWish, catalogue: ReleaseCatalogue): readonly Way[] {
  const groups = Map.groupBy(wish.machines, ({ role, runs, asked, configContract }) => JSON.stringify([role, runs, asked, configContract]));
  return [...groups.values()]
    .map((all) => all.toSorted(byName))
    .flatMap((all): readonly Way[] => {
      const [like] = all;
      if (like === undefined) return [];
      const names = all.map(({ name }) => name);
      return [{ name: like.name, like, names, path: talosPath(like, names, wish, catalogue) }];
    })
    .toSorted(byName);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** One hop of machines that go the same way. */
interface Move {
  readonly role: TalosHop["role"];
  readonly version: string;
  readonly isDowngrade: boolean;
  readonly machines: readonly MachineHop[];
}

function movesOf({ like: { role, runs, asked }, names }: Way, versions: readonly string[]): readonly Move[] {
  let from: Build = runs;
  return versions.map((version, index) => {
    const before = from;
    const to: Build = index === versions.length - 1 ? { ...runs, ...asked, version } : { ...runs, version };
    from = to;
    const isDowngrade = compareVersions(version, before.version) < 0;
    return { role, version, isDowngrade, machines: names.map((name) => ({ name, from: before, to })) };
  });
}

/** Moves of a role to one version are one step. First what goes back, newest minor and workers first; then the others, oldest minor and control planes first. */
function stepsOf(moves: readonly Move[]): { readonly back: readonly TalosHop[]; readonly forth: readonly TalosHop[] } {
  const groups = Map.groupBy(moves, ({ role, version, isDowngrade }) => `${role} ${version} ${isDowngrade}`);
  const steps = [...groups.values()].flatMap((all): readonly TalosHop[] => {
    const [first] = all;
    if (first === undefined) return [];
    const { role, version, isDowngrade } = first;
    const machines = all.flatMap((move) => move.machines).toSorted(byName);
    return [{ kind: "talos", role, version, isDowngrade, machines }];
  });
  const ordered = steps.toSorted(
    (a, b) =>
      parseVersion(a.version).minor - parseVersion(b.version).minor ||
      Number(a.role === "worker") - Number(b.role === "worker") ||
      compareVersions(a.version, b.version),
  );
  return { back: ordered.filter(({ isDowngrade }) => isDowngrade).toReversed(), forth: ordered.filter(({ isDowngrade }) => !isDowngrade) };
}

/** Takes Talos as far as it goes before each hop of Kubernetes: a later Kubernetes never lacks a Talos that could have come before it. */
function sequence(
  { back, forth }: ReturnType<typeof stepsOf>,
  way: readonly string[],
  { wish, kubernetes, catalogue }: { readonly wish: UpgradeWish; readonly kubernetes: string; readonly catalogue: ReleaseCatalogue },
): UpgradePlan {
  const cluster = new RunningCluster(wish.machines.toSorted(byName), { kubernetes, etcdStorage: wish.etcdStorage, talos: catalogue.talos });
  const hops: Hop[] = [];
  const [backLeft, forthLeft, wayLeft] = [[...back], [...forth], [...way]];
  for (;;) {
    const lists = [backLeft, forthLeft].filter((list) => list.length > 0);
    const open = lists.find(([next]) => next !== undefined && cluster.refusalOf(next) === undefined);
    const step = open?.shift();
    if (step !== undefined) {
      cluster.take(step);
      hops.push(step);
      continue;
    }
    const [version] = wayLeft;
    if (version === undefined && lists.length === 0) return planOf(hops, wish);
    const next: KubernetesHop | undefined = version === undefined ? undefined : { kind: "kubernetes", from: cluster.kubernetes, version };
    const refusal = next === undefined ? undefined : cluster.refusalOf(next);
    if (next === undefined || refusal !== undefined) {
      const stuck = lists.flatMap(([first]) => (first === undefined ? [] : (cluster.refusalOf(first) ?? [])));
      return { kind: "none", refusals: together(refusal === undefined ? stuck : [...stuck, refusal]) };
    }
    wayLeft.shift();
    cluster.take(next);
    hops.push(next);
  }
}

function planOf(hops: readonly Hop[], { upgradesKubernetes }: UpgradeWish): UpgradePlan {
  const heldBy = upgradesKubernetes === true ? undefined : hops.find((hop) => hop.kind === "kubernetes");
  return { kind: "hops", hops, ...(heldBy === undefined ? {} : { heldBy }) };
}

/** The same said of several machines is said once. */
function together(refusals: readonly Refusal[]): readonly Refusal[] {
  const groups = Map.groupBy(refusals, (refusal) => JSON.stringify({ ...refusal, machines: [] }));
  return [...groups.values()].flatMap((all): readonly Refusal[] => {
    const [first] = all;
    if (first === undefined) return [];
    if (!("machines" in first)) return [first];
    return [{ ...first, machines: [...new Set(all.flatMap((one) => ("machines" in one ? one.machines : [])))].toSorted() }];
  });
}
