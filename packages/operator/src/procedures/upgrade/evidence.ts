import { annotations } from "@talos-operator/api";
import { isSameSchematic } from "@talos-operator/talos";
import { isSameBuild, isSameVersion } from "../../effects/demand-talos.ts";
import { withoutAwaited } from "../../report/awaited-network.ts";
import { GOING_STAGES } from "../../assess/quorum.ts";
import { machineFact } from "../../record/facts.ts";
import { nodeNamedBy } from "../../workload/seen-node.ts";
import { troubleOf } from "../configure/config-probe.ts";
import { areNodesListed, areNodesListedSince, NODES_UNLISTED } from "./look-again.ts";
import { letGoWords } from "./misfit.ts";
import { failedWords } from "./quarantine.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { SeenMachine } from "../../model/observation.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** How far a machine is that was asked to boot another Talos, by what it shows. */
export type Progress =
  /** It did not boot since. */
  | { readonly kind: "not-booted" }
  /** It does not answer, or goes down. */
  | { readonly kind: "away" }
  /** It booted, and what runs is not reported yet. */
  | { readonly kind: "unreported" }
  /** It booted the Talos of before. */
  | { readonly kind: "fell-back"; readonly bootId: string; readonly lacks?: readonly string[] }
  /** It booted one that nobody asked for. */
  | { readonly kind: "another"; readonly talos: string }
  /** It runs the Talos that was asked for, and something is missing: without a full stop. `isNode`: the Nodes are to be listed; `isFinal`: no waiting cures it; `isUnreported`: the Nodes are not listed. */
  | {
      readonly kind: "missing";
      readonly bootId: string;
      readonly what: string;
      readonly isNode: boolean;
      readonly isFinal?: true;
      readonly isUnreported?: true;
    }
  /** It shows everything. */
  | { readonly kind: "well"; readonly bootId: string };

/**
 * What a machine shows of its boot into another Talos. Done is only what all of these say: another boot id, the version and the schematic that it tells, its member of
 * etcd, its readiness, and the Node as its kubelet registered it. Where the version stays, the schematic alone tells the two slots apart.
 */
export function progressOf(assessed: Assessment, intent: UpgradeIntent): Progress {
  const { seen, facts } = assessed;
  const met = assessed.byName.get(intent.machine);
  const machine = met === undefined ? undefined : withoutAwaited(seen, facts, met);
  if (machine?.look.kind !== "running" || GOING_STAGES.has(machine.look.stage ?? "")) return { kind: "away" };
  const config = configOf(assessed, intent);
  if (config === undefined) return { kind: "unreported" };
  if (config.bootId === intent.bootIdBefore) return { kind: "not-booted" };
  const asked = { version: intent.talosVersion, schematic: intent.talosSchematic };
  const runs = { version: config.version, schematic: config.talos?.schematic };
  const isImage = isSameVersion(intent.talosBefore, intent.talosVersion);
  if (isImage && runs.schematic === undefined) return { kind: "unreported" };
  if (isSameVersion(runs.version, intent.talosBefore) && !(isImage && isSameBuild(runs, asked)))
    return { kind: "fell-back", bootId: config.bootId };
  if (!isSameVersion(runs.version, asked.version)) return { kind: "another", talos: `Talos ${runs.version}` };
  if (!isSameSchematic(runs.schematic, asked.schematic)) return { kind: "another", talos: failedWords(runs) };
  const lost = lostExtensions(intent, config);
  if (lost.length > 0)
    return {
      kind: "missing",
      bootId: config.bootId,
      what: `it lacks the extensions ${lost.join(", ")}, which ran before: name an image that has them, or annotate the TalosControlPlane with ${annotations.allowExtensionLoss}: ${lost.join(",")}`,
      isNode: false,
      isFinal: true,
    };
  const gone = lostArguments(intent, config);
  if (gone === "unreported") return { kind: "unreported" };
  // Nothing else tells the two slots apart.
  if (gone.length > 0 && isImage && config.arguments?.bySettings === true) return { kind: "fell-back", bootId: config.bootId, lacks: gone };
  if (gone.length > 0)
    return {
      kind: "missing",
      bootId: config.bootId,
      what: `it lacks the kernel arguments ${gone.join(", ")}, which ran before: name an image that has them, or ${letGoWords(gone)}`,
      isNode: false,
      isFinal: true,
    };
  return wellness(assessed, intent, machine, config.bootId);
}

/** Kernel arguments that it was to run, and does not; a release that does not tell what runs lost none, unless that is what it is about. */
function lostArguments(intent: UpgradeIntent, { arguments: seen }: KnownConfig): readonly string[] | "unreported" {
  const { talosArguments = [] } = intent;
  const { bySettings = false, lacks, names } = seen ?? {};
  if (talosArguments.length === 0) return [];
  if (bySettings ? lacks === undefined : names === undefined)
    return isSameVersion(intent.talosBefore, intent.talosVersion) ? "unreported" : [];
  return talosArguments.filter((name) => (bySettings ? lacks?.includes(name) === true : names?.includes(name) === false));
}

/** A name tells an id, and no id tells what is in an image: only what runs does. */
function lostExtensions({ talosExtensions = [] }: UpgradeIntent, { talos }: KnownConfig): readonly string[] {
  const { extensions } = talos ?? {};
  return extensions === undefined ? [] : talosExtensions.filter((name) => !extensions.includes(name));
}

/** What was read of the machine since the intent was written. */
export function configOf({ seen }: Assessment, { machine, at }: UpgradeIntent): KnownConfig | undefined {
  const config = seen.configs?.get(machine);
  return config?.kind === "known" && config.at > at ? config : undefined;
}

function wellness(assessed: Assessment, intent: UpgradeIntent, machine: SeenMachine, bootId: string): Progress {
  const missing = (what: string, isNode = false): Progress => ({ kind: "missing", bootId, what, isNode });
  const { look } = machine;
  if (look.kind !== "running") return missing("it boots");
  if (look.version === undefined || !isSameVersion(look.version, intent.talosVersion)) return missing("it is looked at again");
  const trouble = troubleOf(machine, "ready");
  if (trouble !== undefined || look.stage !== "running") return missing(trouble ?? "it boots");
  if (intent.role === "controlplane") {
    const view = assessed.etcd;
    if (view.kind === "unsafe") return missing(view.message);
    const voter = view.voters.find(({ id }) => id === look.etcd?.localMember);
    if (voter?.isHealthy !== true) return missing("its member of etcd is no healthy voter");
  }
  const fact = machineFact(assessed.facts, intent.machine);
  const { nodes } = assessed.seen;
  // Without a client of the cluster's own API nobody sees Nodes.
  if (nodes === undefined || fact === undefined) return { kind: "well", bootId };
  const node = nodes.nodes === undefined ? undefined : nodeNamedBy(nodes.nodes, look, fact);
  const isShown = node?.osImage?.includes(intent.talosVersion) === true;
  // It is as well as it can tell itself: an API that is out of reach is no fault of its Talos.
  const areListed = areNodesListedSince(assessed, intent.at) && ((isShown && node.isReady) || areNodesListed(assessed));
  if (!areListed) return { kind: "missing", bootId, what: NODES_UNLISTED, isNode: true, isUnreported: true };
  if (!isShown) return missing("its Node does not show the version yet", true);
  if (!node.isReady && machine.look === assessed.byName.get(intent.machine)?.look) return missing("its Node is not ready", true);
  return { kind: "well", bootId };
}
