import { annotations } from "@talos-operator/api";
import { machineApiFacts } from "@talos-operator/talos/client";
import { elapsedMs } from "../../elapsed.ts";
import { isReadyNode } from "../../assess/machine-state.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import { isPodTaken } from "../../disruption/other-node.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { INSTALL_MS } from "../../effects/install-talos.ts";
import { pullInstaller } from "../../effects/pull-installer.ts";
import { extensionsLetGo } from "../../planning/upgrade-plan.ts";
import { withIntent } from "../../record/facts.ts";
import { troubleOf, wasJustHeldBack } from "../configure/config-probe.ts";
import { openRun } from "../../record/upgrades.ts";
import { awaitsNodesOfRun } from "../nodes/upgrade-taints.ts";
import { imageFor } from "./image.ts";
import type { UpgradeImage } from "./image.ts";
import { areNodesListed, lookAtNodes, NODES_UNLISTED } from "./look-again.ts";
import { isImageGone, pullWords } from "./pull-words.ts";
import { brokenBy } from "./quarantine.ts";
import { bootActions } from "./settle.ts";
import { ARRIVES_MS, PULL_AGAIN_MS, PULLED_FOR_MS, WELL_WITHIN_MS } from "./times.ts";
import { slotFor } from "./slot-for.ts";
import { argumentsAfter, isAboutArguments, misfitOf } from "./misfit.ts";
import { builtFrom } from "./words.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";
import type { Begun, Candidate } from "./candidate.ts";

type Installer = Extract<UpgradeImage, { readonly kind: "image" }>;

/** What a machine that has its turn does now. */
export function begin(assessed: Assessment, facts: ClusterFacts, candidate: Candidate): Begun {
  const { seen } = assessed;
  const { machine, name, hop } = candidate;
  const { look, declared } = machine;
  const hold = (why: string): Begun => ({ kind: "hold", why });
  const isBroken = brokenBy(facts, machine) !== undefined;
  // An upgrade takes the place of a boot that does not end.
  const isUp = look.kind === "running" && (look.stage === "running" || (isBroken && look.stage === "booting"));
  if (!isUp) return hold("it does not run as it should");
  if (seen.held?.has(name) === true)
    return { kind: "hold", why: `it is paused by the annotation ${annotations.reconcileMode}`, needsPerson: true };
  if (wasJustHeldBack(seen, name)) return hold(`it could not be asked a moment ago (${seen.notes?.get(name)?.heldBack?.why ?? ""})`);
  // Until it was ready once in this boot META may lose the word that another Talos is installed. One that a Talos broke never gets ready without another.
  if (!isReadyNode(machine) && !isBroken) return hold(troubleOf(machine, "ready") ?? "its node is not ready");
  const config = seen.configs?.get(name);
  if (config?.kind !== "known" || machine.fact === undefined) return hold("it is being read");
  if (!isSameVersion(config.version, hop.from.version)) return hold("it is read again");
  const image = imageFor(declared, hop.to);
  if (image.kind === "none") return { kind: "hold", why: image.why, needsPerson: true };
  const misfit = misfitOf(assessed, candidate, config, image);
  if (misfit !== undefined) return { kind: "hold", why: misfit, needsPerson: true };
  const other = machine.fact.installed;
  if (other !== undefined && !candidate.isInstalled)
    return {
      kind: "hold",
      why: `Talos ${other.version} is installed on it and not booted: its next boot starts that, and nothing is installed over it`,
      needsPerson: true,
    };
  // On a machine that never was ready with what it runs META still names what ran before that.
  const isFilled = config.talos?.isStaged === true || (config.talos?.fallback !== undefined && !isBroken);
  if (!candidate.isInstalled && isFilled)
    return {
      kind: "hold",
      why: `somebody else installed a Talos on it that was not booted yet, and no machine reports which. Boot it (talosctl reboot): if it runs ${toWords(candidate, image)} then, the others follow. Or take it back (talosctl rollback, which boots, too)`,
      needsPerson: true,
    };
  // LifecycleService gives an installer none of the kernel arguments of the configuration: GRUB would lose them (siderolabs/talos issue 13967).
  const keepsArguments = config.arguments?.bySettings === true && config.arguments.asked.length > 0;
  // Nothing would show that an installation has ended: what META names stands there already.
  const inSteps = machineApiFacts(hop.from.version).upgrade === "in-steps" && !keepsArguments && !isBroken;
  if (!candidate.isInstalled) {
    const pulled = pull(assessed, candidate, image);
    if (typeof pulled !== "string") return pulled;
    if (inSteps) return install(assessed, facts, candidate, config, { image, stored: pulled });
  }
  return boot(assessed, facts, candidate, config, { what: inSteps ? "Reboot" : "UpgradeTalos", image });
}

/** The name under which the installer is in the machine's store, or what is done to get it there. */
function pull({ seen }: Assessment, { name, machine, hop }: Candidate, { reference: image, schematic }: Installer): string | Begun {
  const ended = seen.sent.get(`PullInstallerEnded/${name}`);
  const begun = seen.sent.get("PullInstaller/" + name);
  const tried = seen.sent.get(`InstallTalosEnded/${name}`);
  const isGone = isImageGone(tried) && ended !== undefined && tried !== undefined && tried.at >= ended.at;
  const isFresh = ended?.pulled?.asked === image && elapsedMs(ended.at, seen.now) < PULLED_FOR_MS && !isGone;
  if (isFresh && ended.outcome === "answered" && ended.pulled !== undefined) return ended.pulled.stored;
  // A node takes two minutes to say that there is no such image: what it said last is told meanwhile.
  const words = isFresh ? pullWords(image, ended) : undefined;
  const isPulling = begun !== undefined && begun.outcome === "answered" && (ended === undefined || ended.at < begun.at);
  if (isPulling && elapsedMs(begun.at, seen.now) < PULLED_FOR_MS)
    return {
      kind: "act",
      says: words === undefined ? `The installer ${image} is being pulled on ${name}.` : `${name}: ${words}. It is pulled once more.`,
      actions: [],
    };
  const isTooSoon = isFresh && elapsedMs(ended.at, seen.now) < PULL_AGAIN_MS;
  // The pull of another image has ended, and says nothing of this one.
  const wasAnother = begun?.outcome === "answered" && ended?.pulled !== undefined && ended.pulled.asked !== image;
  if (isTooSoon || !(wasAnother || mayAskAgain(seen, pullInstaller, name)))
    return { kind: "hold", why: words ?? "the installer is pulled in a moment" };
  const target = { machine: name, address: machine.declared.address, ifUuid: machine.fact?.uuid ?? "", ifVersion: hop.from.version };
  return {
    kind: "hold",
    why: words ?? `the installer ${image} is pulled`,
    actions: [
      {
        kind: "PullInstaller",
        ...target,
        version: hop.to.version,
        schematic,
        image,
        ...(isAboutArguments({ hop }) ? { ifLacking: true } : {}),
      },
    ],
  };
}

function common(
  assessed: Assessment,
  candidate: Candidate,
  config: KnownConfig,
  { schematic, reference }: Installer,
): Omit<UpgradeIntent, "what" | "deadline" | "why"> {
  const { seen } = assessed;
  const { name, machine, hop } = candidate;
  const args = argumentsAfter(assessed, candidate, config);
  const letGo = new Set(extensionsLetGo(seen));
  const kept = (hop.from.extensions ?? []).filter((extension) => !letGo.has(extension));
  return {
    machine: name,
    address: machine.declared.address,
    uuid: machine.fact?.uuid ?? "",
    role: machine.declared.role,
    at: seen.now,
    talosVersion: hop.to.version,
    talosBefore: hop.from.version,
    ...(schematic === undefined ? { talosImage: machine.fact?.installed?.image ?? reference } : { talosSchematic: schematic }),
    ...(kept.length === 0 ? {} : { talosExtensions: kept }),
    ...(args.length === 0 ? {} : { talosArguments: args }),
  };
}

/** @param stored what `image` is called in the machine's store */
function install(
  assessed: Assessment,
  facts: ClusterFacts,
  candidate: Candidate,
  config: KnownConfig,
  { image, stored }: { readonly image: Installer; readonly stored: string },
): Begun {
  const held = slotFor(assessed, facts, candidate);
  if (held !== undefined) return held;
  const { seen } = assessed;
  const { name, machine, hop } = candidate;
  const intent: UpgradeIntent = {
    ...common(assessed, candidate, config, image),
    what: "InstallTalos",
    deadline: seen.now + ARRIVES_MS + INSTALL_MS,
    bootIdBefore: config.bootId,
    why: `The spec asks for another Talos: ${toWords(candidate, image)} is installed beside ${hop.from.version}.`,
  };
  const target = { machine: name, address: machine.declared.address, ifUuid: intent.uuid, role: machine.declared.role };
  const versions = { ifBootId: config.bootId, ifVersion: hop.from.version, version: hop.to.version };
  const action = { kind: "InstallTalos", ...target, ...versions, schematic: image.schematic, image: stored } as const;
  return { kind: "open", intent, action: [action] };
}

function toWords({ hop: { from, to } }: Candidate, { schematic }: Installer): string {
  return schematic !== undefined && isSameVersion(from.version, to.version) ? `${to.version} ${builtFrom(schematic)}` : to.version;
}

/** Nodes that are still to come bear their taint before the first pod is evicted, which is up to an open run: one that installs has one by now. */
function beforeDrain(assessed: Assessment, facts: ClusterFacts, { name, machine }: Candidate): Begun | undefined {
  if (assessed.seen.nodes === undefined || machine.drain !== undefined || !isDrained(assessed, facts, { name, machine })) return undefined;
  const says = `The Nodes of the cluster are looked at before ${name} is drained.`;
  if (openRun(facts) === undefined) return { kind: "act", says, actions: [], beginsRun: true };
  return assessed.seen.nodes.isAsking || awaitsNodesOfRun(assessed) ? { kind: "act", says, actions: [] } : undefined;
}

/** Pods have somewhere to go. A machine that a Talos broke evicts nothing: what it runs goes with its boot, as when it is rolled back. */
function isDrained(assessed: Assessment, facts: ClusterFacts, { name, machine }: Pick<Candidate, "name" | "machine">): boolean {
  return isPodTaken(assessed, name) && brokenBy(facts, machine) === undefined;
}

/** Drained first, under no intent; the intent of the boot ends the drain. */
function boot(
  assessed: Assessment,
  facts: ClusterFacts,
  candidate: Candidate,
  config: KnownConfig,
  { what, image }: { readonly what: "Reboot" | "UpgradeTalos"; readonly image: Installer },
): Begun {
  const held = slotFor(assessed, facts, candidate);
  if (held !== undefined) return held;
  const { seen } = assessed;
  const { name, hop } = candidate;
  // Nobody could tell after the boot whether it is well.
  if (!areNodesListed(assessed)) {
    const actions = lookAtNodes(assessed);
    return seen.nodes?.isUnanswered === true
      ? { kind: "hold", why: NODES_UNLISTED, actions }
      : { kind: "act", says: `${name} is drained next.`, actions };
  }
  const first = beforeDrain(assessed, facts, candidate);
  if (first !== undefined) return first;
  const drain = isDrained(assessed, facts, candidate) ? readyToDisturb(assessed, name, true) : ({ kind: "ready" } as const);
  if (drain.kind === "act") return { kind: "act", says: drain.message, actions: drain.actions };
  if (drain.kind === "wait") return { kind: "act", says: drain.message, actions: [] };
  const intent: UpgradeIntent = {
    ...common(assessed, candidate, config, image),
    what,
    deadline: seen.now + (seen.upgradeWithinMs ?? WELL_WITHIN_MS),
    bootIdBefore: config.bootId,
    why: `Talos ${toWords(candidate, image)} is booted in the place of ${hop.from.version}.`,
  };
  const action = bootActions(assessed, intent, withIntent(facts, intent));
  // An intent under which nothing is sent would be closed again at once.
  return action.length === 0
    ? { kind: "hold", why: "it was asked a moment ago, and is asked again in a while" }
    : { kind: "open", intent, action };
}
