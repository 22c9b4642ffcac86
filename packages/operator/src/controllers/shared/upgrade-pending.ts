import { annotations, conditionFor } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import { compareVersions, tryParseVersion } from "@talos-operator/talos";
import { listed } from "../../report/listed.ts";

/** A machine that runs another Talos version than its pool asks for. */
export interface MachineVersions {
  readonly name: string;
  readonly runs: string;
  readonly asked: string;
}

/** A machine whose Talos is built from another schematic than its pool asks for; ids, or `none`. */
export interface MachineBuilds {
  readonly name: string;
  readonly runs: string;
  readonly asked: string;
}

/** The Kubernetes version that runs, and the one that a spec asks for. */
export interface KubernetesVersions {
  readonly runs: string;
  readonly asked: string;
  /** True for a worker pool that asks for another version than its control plane does, whose version decides for all pools. */
  readonly isOverruled?: boolean;
}

/** What a pool asks for and does not run. */
export interface VersionsSeen {
  readonly machines: readonly MachineVersions[];
  /** Those that run the version that is asked for, built from another schematic. */
  readonly builds?: readonly MachineBuilds[];
  /** Machines without kernel arguments that their settings name, with the names of those. */
  readonly lacking?: readonly { readonly name: string; readonly names: readonly string[] }[];
  /** Containers that run another one: nobody can upgrade them but by another image. */
  readonly containers?: readonly MachineVersions[];
  /** Names of machines that run it already, and whose upgrade is not over. */
  readonly proving?: readonly string[];
  /** Names of machines that run it, and that it failed on. */
  readonly failed?: readonly string[];
  /** `undefined` = it runs what is asked for, or nobody knows what runs. */
  readonly kubernetes?: KubernetesVersions | undefined;
  /** Sentences about components whose version a patch sets. */
  readonly components?: readonly string[];
  /** Sentences about installer images. */
  readonly images?: readonly string[];
  /** What leads there, or why nothing does, without a full stop; absent or empty = nothing is to be told of it. */
  readonly way?: string;
  /** What is done about another Talos, or what is in the way; absent = nobody says. */
  readonly step?:
    | {
        readonly reason: ReasonOf<"UpgradePending">;
        readonly says: string;
        /** What goes on, how far and how long still: it stands for the versions. Absent = nothing does. */
        readonly headline?: string | undefined;
      }
    | undefined;
}

/**
 * The condition `UpgradePending` of a pool: both versions, the hops between, and what would release it. Nothing where everything asked for runs.
 *
 * @param generation of the pool
 */
export function upgradePendingOf(
  {
    machines,
    builds = [],
    lacking = [],
    containers = [],
    proving = [],
    failed = [],
    kubernetes,
    components = [],
    images = [],
    way = "",
    step,
  }: VersionsSeen,
  generation: number | undefined,
): readonly ConditionInput[] {
  const sentences = [
    ...grouped(
      machines,
      ({ runs, asked }) => `Talos ${runs}, the spec asks for ${asked}${isDowngrade(runs, asked) ? " (a downgrade)" : ""}`,
    ),
    ...grouped(builds, ({ runs, asked }) => `the schematic ${runs}, the spec asks for ${asked}`),
    ...grouped(lacking, ({ names }) => `without the kernel arguments ${names.join(", ")} that its settings name`),
    ...grouped(containers, ({ runs, asked }) => `Talos ${runs} in a container, the spec asks for ${asked}`),
    // What is done about it says so itself.
    ...(proving.length === 0 || (step?.says ?? "") !== ""
      ? []
      : [`${proving.join(", ")} shows what the spec asks for, and is watched for its bake time`]),
    ...(kubernetes === undefined ? [] : [kubernetesSentence(kubernetes)]),
    ...components,
    ...images,
  ];
  if (sentences.length + proving.length + failed.length === 0) return [];
  const reason = reasonOf({ machines, containers, kubernetes, components, images });
  const isOpen = machines.length + builds.length + lacking.length > 0 || proving.length + failed.length > 0;
  const isTaken = isOpen && step !== undefined && step.reason !== "VersionDiffers";
  const said = isOpen && step !== undefined && step.says !== "" ? [step.says] : [];
  // What failed, and what a person can do, is what somebody comes for; the way is closed.
  const hasFailed = isTaken && step.reason === "VersionFailed";
  const headline = isTaken ? step.headline : undefined;
  const isOneHop = headline !== undefined && way.startsWith("in 1 hop");
  return [
    conditionFor(
      "UpgradePending",
      isTaken ? step.reason : reason,
      [
        ...(hasFailed ? said : []),
        ...(headline === undefined ? (sentences.length === 0 ? [] : [`${sentences.join("; ")}.`]) : [headline]),
        ...(way === "" || hasFailed || isOneHop ? [] : [`${way[0]?.toUpperCase() ?? ""}${way.slice(1)}.`]),
        ...(hasFailed ? [] : said),
        ...releaseOf({ machines: isTaken ? [] : machines, containers, kubernetes, components, images }),
      ].join(" "),
      generation,
    ),
  ];
}

function reasonOf({ machines, containers = [], kubernetes, components = [] }: VersionsSeen): ReasonOf<"UpgradePending"> {
  if (downgrades(machines, kubernetes).length > 0) return "DowngradeAsked";
  if (machines.length + containers.length + components.length > 0 || (kubernetes !== undefined && kubernetes.isOverruled !== true))
    return "VersionDiffers";
  return kubernetes === undefined ? "ImageDiffers" : "ControlPlaneDecides";
}

function kubernetesSentence({ runs, asked, isOverruled }: KubernetesVersions): string {
  if (isOverruled === true)
    return `Kubernetes runs ${runs}, and this pool asks for ${asked}: the kubeVersion of the TalosControlPlane decides for every pool`;
  return `Kubernetes runs ${runs}, the spec asks for ${asked}${isDowngrade(runs, asked) ? " (a downgrade)" : ""}`;
}

function releaseOf({ machines, containers = [], kubernetes, components = [], images = [] }: VersionsSeen): readonly string[] {
  const back = downgrades(machines, isMinorBack(kubernetes) ? undefined : kubernetes);
  const isKubernetes = (kubernetes !== undefined && kubernetes.isOverruled !== true) || components.length > 0;
  return [
    ...(back.length === 0 ? [] : [`A downgrade needs the annotation ${annotations.allowDowngrade}: ${back[0]}.`]),
    ...(containers.length === 0
      ? []
      : ["A container keeps the Talos of its image: recreate it from the image of the version, one control plane at a time."]),
    ...(isKubernetes ? ["Kubernetes keeps what it runs: its upgrades are not supported yet."] : []),
    ...(images.length === 0
      ? []
      : [
          "Running machines keep the image that they were installed from. Another one comes with the next version, or alone where its name shows its schematic of the Image Factory.",
        ]),
  ];
}

function downgrades(machines: readonly MachineVersions[], kubernetes: KubernetesVersions | undefined): readonly string[] {
  const asked = [...machines, ...(kubernetes === undefined || kubernetes.isOverruled === true ? [] : [kubernetes])];
  return asked.filter(({ runs, asked: wanted }) => isDowngrade(runs, wanted)).map((one) => one.asked);
}

/** Kubernetes does not go back a minor, and nobody can allow it. */
function isMinorBack(kubernetes: KubernetesVersions | undefined): boolean {
  const from = tryParseVersion(kubernetes?.runs ?? "");
  const to = tryParseVersion(kubernetes?.asked ?? "");
  return from !== undefined && to !== undefined && (to.major < from.major || (to.major === from.major && to.minor < from.minor));
}

function isDowngrade(runs: string, asked: string): boolean {
  return tryParseVersion(runs) !== undefined && tryParseVersion(asked) !== undefined && compareVersions(asked, runs) < 0;
}

/** Machines of which the same is said, in one sentence. */
function grouped<T extends { readonly name: string }>(found: readonly T[], say: (one: T) => string): readonly string[] {
  return [...Map.groupBy(found, say)].map(([words, all]) => {
    return `${listed(all.map(({ name }) => name))} ${all.length === 1 ? "runs" : "run"} ${words}`;
  });
}
