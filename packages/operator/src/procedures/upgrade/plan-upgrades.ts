import { machineApiFacts } from "@talos-operator/talos/client";
import type { MachineHop, TalosHop } from "@talos-operator/talos";
import { elapsedMs } from "../../elapsed.ts";
import { removalsOf } from "../../report/describe-removal.ts";
import { isReadyNode } from "../../assess/machine-state.ts";
import { controlPlaneMargin } from "../../disruption/control-plane-margin.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import { poolBudgets } from "../../disruption/pool-budget.ts";
import { releaseOf, whyHeld } from "../../disruption/slot-words.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { INSTALL_MS } from "../../effects/install-talos.ts";
import { pullInstaller } from "../../effects/pull-installer.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { withIntent } from "../../record/facts.ts";
import { intentsThatFit } from "../../record/room.ts";
import { isUpgrade, openRun, upgradeIntents } from "../../record/upgrades.ts";
import { wasJustHeldBack } from "../configure/config-probe.ts";
import { nextHop } from "./next-hop.ts";
import type { NextHop } from "./next-hop.ts";
import { notBack } from "./not-back.ts";
import { imageFor } from "./image.ts";
import { withRun, withoutRun } from "./run.ts";
import { bootActions } from "./settle.ts";
import { ARRIVES_MS, PULL_AGAIN_MS, PULLED_FOR_MS, WELL_WITHIN_MS } from "./times.ts";
import type { Action } from "../../model/effect.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { MachineName } from "../../model/machine.ts";
import type { UpgradeStep } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/**
 * What is done next about another Talos: one hop of the plan at a time, control planes one by one, those that follow before the one that leads, then workers as far
 * as the budget of their pool allows. A version that no machine of the role was well with goes to one alone.
 */
export function planUpgrades(assessed: Assessment, facts: ClusterFacts): UpgradeStep {
  const next = nextHop(assessed, facts);
  const open = upgradeIntents(facts);
  const step = (kind: UpgradeStep["kind"], says: string, reason?: UpgradeStep["reason"], after = facts): UpgradeStep => ({
    facts: after,
    actions: [],
    kind,
    says,
    ...(reason === undefined ? {} : { reason }),
  });
  const withdrawn = open.length > 0 ? undefined : withdrawnFrom(assessed, next);
  if (withdrawn !== undefined) return takeBack(assessed, facts, withdrawn);
  if (open.length > 0 && next.kind !== "hop") return step("running", `${open.map(wordsOf).join("; ")}.`, "Upgrading");
  switch (next.kind) {
    case "none":
      return step("none", "", undefined, withoutRun(assessed, facts));
    case "stopped":
      return step("stopped", next.why, next.isQuarantined ? "VersionFailed" : "VersionDiffers", withoutRun(assessed, facts));
    case "held":
      return step("held", `${next.why}.`, "UpgradeWaits");
    case "hop":
      return planHop(assessed, facts, next.hop);
  }
}

/** A machine with a Talos on it, not booted yet, that the spec does not ask for any more. What failed elsewhere stays where it is: nobody else is touched. */
function withdrawnFrom({ machines }: Assessment, next: NextHop): AssessedMachine | undefined {
  if (next.kind === "held" || (next.kind === "stopped" && next.isQuarantined)) return undefined;
  return machines.find(({ declared: { name, version }, fact }) => {
    if (fact?.installed === undefined || isSameVersion(fact.installed.version, version)) return false;
    const hop = next.kind === "hop" ? next.hop.machines.find((one) => one.name === name) : undefined;
    return hop === undefined || !isSameVersion(hop.to.version, fact.installed.version);
  });
}

/** Takes back what was installed and not booted: its next boot would start what nobody asks for. */
function takeBack(assessed: Assessment, facts: ClusterFacts, machine: AssessedMachine): UpgradeStep {
  const { seen } = assessed;
  const { name, role, address } = machine.declared;
  const { version = "", before = "", bootId = "" } = machine.fact?.installed ?? {};
  const says = `Talos ${version} is installed on ${name} and not asked for any more: it is taken back, for which ${name} boots what it runs.`;
  const step = (why: string, actions: readonly Action[] = []): UpgradeStep => ({
    facts,
    actions,
    kind: "running",
    reason: "Upgrading",
    says: why === "" ? says : `${says} ${why[0]?.toUpperCase() ?? ""}${why.slice(1)}.`,
  });
  const held = whatElseIsOpen(assessed, facts);
  if (held !== undefined) return step(held.replace(/\.$/, ""));
  const away = role === "controlplane" ? notBack(assessed, name) : undefined;
  if (away !== undefined) return step(`${away.declared.name} is not ready, and comes back first`);
  const place = role === "worker" ? poolBudgets(assessed).placeFor(machine, "upgrade") : undefined;
  if (place?.kind === "none") return step(`${place.count} of at most ${place.limit} machine(s) of its pool are down`);
  const slot = slotFor(assessed, facts, { machine, name });
  if (slot?.kind === "hold") return step(slot.why, slot.actions);
  const drain = readyToDisturb(assessed, name);
  if (drain.kind !== "ready") return step(drain.message.replace(/\.$/, ""), drain.kind === "act" ? drain.actions : []);
  const intent: UpgradeIntent = {
    machine: name,
    address,
    uuid: machine.fact?.uuid ?? "",
    role,
    at: seen.now,
    talosVersion: version,
    talosBefore: before,
    what: "Reboot",
    deadline: seen.now + (seen.upgradeWithinMs ?? WELL_WITHIN_MS),
    bootIdBefore: bootId,
    rollsBackFrom: bootId,
    why: `Talos ${version} was installed and is not asked for any more.`,
  };
  const draft = new FactsDraft(facts);
  draft.open(intent);
  draft.decide({ at: seen.now, action: "Reboot", reason: "Withdrawn", machine: name, message: intent.why });
  return { ...step(""), facts: draft.facts() };
}

/** What is open on one machine, for people. */
function wordsOf({ what, machine, talosVersion, rollsBackFrom, provenAt }: UpgradeIntent): string {
  if (rollsBackFrom !== undefined) return `${machine} goes back from Talos ${talosVersion}`;
  if (provenAt !== undefined) return `${machine} runs Talos ${talosVersion} and is looked at for a while longer`;
  return what === "InstallTalos" ? `Talos ${talosVersion} is being installed on ${machine}` : `${machine} boots Talos ${talosVersion}`;
}

/** One machine of the hop. */
interface Candidate {
  readonly machine: AssessedMachine;
  readonly hop: MachineHop;
  readonly name: string;
  readonly isInstalled: boolean;
}

/** What a machine does now. */
type Begun =
  | { readonly kind: "hold"; readonly why: string; readonly actions?: readonly Action[]; readonly needsPerson?: true }
  | { readonly kind: "act"; readonly says: string; readonly actions: readonly Action[] }
  | { readonly kind: "open"; readonly intent: UpgradeIntent; readonly action: readonly Action[] };

function planHop(assessed: Assessment, facts: ClusterFacts, hop: TalosHop): UpgradeStep {
  const open = upgradeIntents(facts);
  const all = candidatesOf(assessed, hop);
  const others = open.filter(({ role, talosVersion }) => role !== hop.role || !isSameVersion(talosVersion, hop.version));
  const busy = open.length === 0 ? "" : `${open.map(wordsOf).join("; ")}.`;
  const held = others.length > 0 ? busy : whatElseIsOpen(assessed, facts);
  if (held !== undefined)
    return {
      facts,
      actions: [],
      kind: open.length > 0 ? "running" : "held",
      reason: open.length > 0 ? "Upgrading" : "UpgradeWaits",
      says: held,
    };
  const chosen = hop.role === "controlplane" ? chooseControlPlane(assessed, facts, all) : chooseWorkers(assessed, facts, hop, all);
  const draft = new FactsDraft(facts);
  const actions: Action[] = [];
  const says: string[] = busy === "" ? [] : [busy];
  let needsPerson = false;
  for (const { name, begun } of chosen) {
    if (begun.kind === "open") {
      draft.open(begun.intent);
      draft.decide({ at: assessed.seen.now, action: begun.intent.what, reason: "VersionAsked", machine: name, message: begun.intent.why });
      says.push(`${wordsOf(begun.intent)}.`);
    } else says.push(begun.kind === "hold" ? `${name} is next: ${begun.why}.` : begun.says);
    needsPerson ||= begun.kind === "hold" && begun.needsPerson === true;
  }
  const opened = draft.facts();
  const next = opened === facts ? facts : withRun(assessed, opened, hop);
  for (const { begun } of chosen) actions.push(...(begun.kind === "open" ? begun.action : (begun.actions ?? [])));
  const isActive = open.length > 0 || next !== facts || chosen.some(({ begun }) => begun.kind === "act") || openRun(facts) !== undefined;
  const left = all.length - chosen.length;
  return {
    facts: next,
    actions,
    kind: needsPerson ? "stopped" : isActive ? "running" : "held",
    reason: needsPerson || !isActive ? "UpgradeWaits" : "Upgrading",
    says: [...says, ...(left > 0 ? [`${left} more machine(s) follow.`] : [])].join(" "),
  };
}

function candidatesOf(assessed: Assessment, hop: TalosHop): readonly Candidate[] {
  const view = assessed.etcdMembership;
  const leads = ({ look }: AssessedMachine): boolean =>
    view.kind === "known" && look.kind === "running" && look.etcd?.localMember !== undefined && look.etcd.localMember === view.leader;
  const weight = ({ machine, isInstalled }: Candidate): number =>
    isInstalled ? 0 : machine.drain !== undefined ? 1 : leads(machine) ? 3 : 2;
  return hop.machines
    .flatMap((one): readonly Candidate[] => {
      const machine = assessed.byName.get(one.name);
      // What is open on it is settled elsewhere.
      if (machine === undefined || machine.intents.some((intent) => isUpgrade(intent))) return [];
      const installed = machine.fact?.installed;
      return [
        { machine, hop: one, name: one.name, isInstalled: installed !== undefined && isSameVersion(installed.version, one.to.version) },
      ];
    })
    .toSorted((a, b) => weight(a) - weight(b) || (a.name < b.name ? -1 : 1));
}

/** What goes before an upgrade, or beside which none is begun; a sentence. */
function whatElseIsOpen(assessed: Assessment, facts: ClusterFacts): string | undefined {
  const { seen } = assessed;
  if (!seen.mayDisturb) return "An upgrade goes on once nothing of an earlier leader can be under way any more.";
  const effect = facts.intents.find((intent) => !isUpgrade(intent));
  if (effect !== undefined) return `An upgrade waits until ${effect.machine} is done (${effect.what}).`;
  const leaving = removalsOf(assessed).find(({ reason }) => reason !== "MachineUnreachable");
  if (leaving !== undefined) return `An upgrade waits until ${leaving.machine} has left.`;
  const joining = assessed.joining?.configure[0]?.machine.name;
  if (joining !== undefined) return `An upgrade waits until ${joining} has joined.`;
  const changing = assessed.configs.find(({ state }) => state.kind === "change" || state.kind === "staged" || state.kind === "learn");
  if (changing !== undefined) return `An upgrade waits until the settings of ${changing.machine.declared.name} are in force.`;
  return undefined;
}

function chooseControlPlane(
  assessed: Assessment,
  facts: ClusterFacts,
  all: readonly Candidate[],
): readonly { readonly name: string; readonly begun: Begun }[] {
  if (upgradeIntents(facts).length > 0) return [];
  const [first] = all;
  if (first === undefined) return [];
  const other = notBack(assessed, first.name);
  const begun: Begun =
    other === undefined
      ? begin(assessed, facts, first)
      : { kind: "hold", why: `${other.declared.name} is not ready, and comes back first` };
  return [{ name: first.name, begun }];
}

function chooseWorkers(
  assessed: Assessment,
  facts: ClusterFacts,
  hop: TalosHop,
  all: readonly Candidate[],
): readonly { readonly name: string; readonly begun: Begun }[] {
  const budgets = poolBudgets(assessed);
  const isProven = assessed.machines.some(
    (machine) =>
      machine.declared.role === "worker" &&
      machine.intents.length === 0 &&
      isReadyNode(machine) &&
      machine.look.kind === "running" &&
      machine.look.version !== undefined &&
      isSameVersion(machine.look.version, hop.version),
  );
  const under = upgradeIntents(facts).length;
  const most = isProven ? Number.POSITIVE_INFINITY : 1;
  const margin = controlPlaneMargin(assessed, facts);
  const chosen: { readonly name: string; readonly begun: Begun }[] = [];
  let places = 0;
  for (const one of isProven ? all : all.slice(0, 1)) {
    if (under + places >= most) break;
    const { name, machine } = one;
    if (margin.kind === "none") return [{ name, begun: { kind: "hold", why: whyHeld(margin.holder) } }];
    const place = budgets.placeFor(machine, "upgrade");
    if (place.kind === "none") {
      if (chosen.length === 0 && under === 0)
        chosen.push({
          name,
          begun: {
            kind: "hold",
            why: `${place.count} of at most ${place.limit} machine(s) of ${machine.declared.owner.name} are down, leaving or being changed`,
          },
        });
      continue;
    }
    const begun = begin(assessed, facts, one);
    chosen.push({ name, begun });
    // One that a person holds up holds up nobody else.
    if (begun.kind === "hold" && begun.needsPerson === true) continue;
    budgets.take(machine);
    places += 1;
  }
  return fitting(facts, chosen);
}

/** As many as can be written down; the others follow. */
function fitting<T extends { readonly begun: Begun }>(facts: ClusterFacts, chosen: readonly T[]): readonly T[] {
  const first = chosen.find(({ begun }) => begun.kind === "open")?.begun;
  if (first?.kind !== "open") return chosen;
  let left = Math.max(1, intentsThatFit(facts, first.intent));
  return chosen.filter(({ begun }) => begun.kind !== "open" || left-- > 0);
}

/** What a machine that has its turn does now. */
function begin(assessed: Assessment, facts: ClusterFacts, candidate: Candidate): Begun {
  const { seen } = assessed;
  const { machine, name, hop } = candidate;
  const { look, declared } = machine;
  const hold = (why: string): Begun => ({ kind: "hold", why });
  if (look.kind !== "running" || look.stage !== "running") return hold("it does not run as it should");
  if (seen.held?.has(name) === true) return { kind: "hold", why: "it is paused by the annotation reconcile-mode", needsPerson: true };
  if (wasJustHeldBack(seen, name)) return hold(`it could not be asked a moment ago (${seen.notes?.get(name)?.heldBack?.why ?? ""})`);
  // Until it was ready once in this boot META may lose the word that another Talos is installed.
  if (!isReadyNode(machine)) return hold("it is no ready node");
  const config = seen.configs?.get(name);
  if (config?.kind !== "known" || machine.fact === undefined) return hold("it is being read");
  if (!isSameVersion(config.version, hop.from.version)) return hold("it is read again");
  const image = imageFor(declared, hop.to.version);
  if (image.kind === "none") return { kind: "hold", why: image.why, needsPerson: true };
  const other = machine.fact.installed;
  if (other !== undefined && !candidate.isInstalled)
    return {
      kind: "hold",
      why: `Talos ${other.version} is installed on it and not booted: its next boot starts that, and nothing is installed over it`,
      needsPerson: true,
    };
  if (!candidate.isInstalled && (config.talos?.fallback !== undefined || config.talos?.isStaged === true))
    return {
      kind: "hold",
      why: "somebody else installed a Talos on it that was not booted yet, and nothing is installed over it: boot it, or roll it back",
      needsPerson: true,
    };
  const inSteps = machineApiFacts(hop.from.version).upgrade === "in-steps";
  if (!candidate.isInstalled) {
    const pulled = pull(assessed, candidate, image.reference);
    if (typeof pulled !== "string") return pulled;
    if (inSteps) return install(assessed, facts, candidate, config, pulled);
  }
  return boot(assessed, facts, candidate, config, inSteps ? "Reboot" : "UpgradeTalos");
}

/** The name under which the installer is in the machine's store, or what is done to get it there. */
function pull({ seen }: Assessment, { name, machine, hop }: Candidate, image: string): string | Begun {
  const ended = seen.sent.get(`PullInstallerEnded/${name}`);
  const begun = seen.sent.get("PullInstaller/" + name);
  const isFresh = ended?.pulled?.asked === image && elapsedMs(ended.at, seen.now) < PULLED_FOR_MS;
  if (isFresh && ended.outcome === "answered" && ended.pulled !== undefined) return ended.pulled.stored;
  // A node takes two minutes to say that there is no such image: what it said last is told meanwhile.
  const words = isFresh ? `the installer ${image} could not be pulled: ${ended.detail}` : undefined;
  const isPulling = begun !== undefined && begun.outcome === "answered" && (ended === undefined || ended.at < begun.at);
  if (isPulling && elapsedMs(begun.at, seen.now) < PULLED_FOR_MS)
    return {
      kind: "act",
      says: words === undefined ? `The installer ${image} is being pulled on ${name}.` : `${name}: ${words}. It is pulled once more.`,
      actions: [],
    };
  const isTooSoon = isFresh && elapsedMs(ended.at, seen.now) < PULL_AGAIN_MS;
  if (isTooSoon || !mayAskAgain(seen, pullInstaller, name)) return { kind: "hold", why: words ?? "the installer is pulled in a moment" };
  const target = { machine: name, address: machine.declared.address, ifUuid: machine.fact?.uuid ?? "", ifVersion: hop.from.version };
  return {
    kind: "hold",
    why: words ?? `the installer ${image} is pulled`,
    actions: [{ kind: "PullInstaller", ...target, version: hop.to.version, image }],
  };
}

function common({ seen }: Assessment, { name, machine, hop }: Candidate): Omit<UpgradeIntent, "what" | "deadline" | "why"> {
  return {
    machine: name,
    address: machine.declared.address,
    uuid: machine.fact?.uuid ?? "",
    role: machine.declared.role,
    at: seen.now,
    talosVersion: hop.to.version,
    talosBefore: hop.from.version,
  };
}

function slotFor(assessed: Assessment, facts: ClusterFacts, { machine, name }: Pick<Candidate, "machine" | "name">): Begun | undefined {
  if (machine.declared.role === "worker") return undefined;
  const member = machine.look.kind === "running" ? machine.look.etcd?.localMember : undefined;
  const slot = controlPlaneSlot(assessed, facts, { machine: name, why: "upgrade", member });
  if (slot.kind === "granted") return undefined;
  const take = slot.holder.kind === "before-risk" ? slot.holder.snapshot.take : undefined;
  return {
    kind: "hold",
    why: `${whyHeld(slot.holder)}. ${releaseOf(slot.holder)}`.replace(/\.$/, ""),
    ...(take === undefined ? {} : { actions: [{ kind: "TakeSnapshot" as const, ...take }] }),
  };
}

function install(assessed: Assessment, facts: ClusterFacts, candidate: Candidate, config: KnownConfig, image: string): Begun {
  const held = slotFor(assessed, facts, candidate);
  if (held !== undefined) return held;
  const { seen } = assessed;
  const { name, machine, hop } = candidate;
  const intent: UpgradeIntent = {
    ...common(assessed, candidate),
    what: "InstallTalos",
    deadline: seen.now + ARRIVES_MS + INSTALL_MS,
    bootIdBefore: config.bootId,
    why: `The spec asks for another Talos: ${hop.to.version} is installed beside ${hop.from.version}.`,
  };
  const target = { machine: name, address: machine.declared.address, ifUuid: intent.uuid, role: machine.declared.role };
  const versions = { ifBootId: config.bootId, ifVersion: hop.from.version, version: hop.to.version };
  return { kind: "open", intent, action: [{ kind: "InstallTalos", ...target, ...versions, image }] };
}

function hasOtherNode({ machines }: Assessment, name: MachineName): boolean {
  return machines.some(({ declared, isMember, isReady }) => declared.name !== name && isMember && isReady);
}

/** Drained first, under no intent; the intent of the boot ends the drain. */
function boot(
  assessed: Assessment,
  facts: ClusterFacts,
  candidate: Candidate,
  config: KnownConfig,
  what: "Reboot" | "UpgradeTalos",
): Begun {
  const held = slotFor(assessed, facts, candidate);
  if (held !== undefined) return held;
  const { seen } = assessed;
  const { name, hop } = candidate;
  // Pods have nowhere to go where no other Node takes any.
  const drain = hasOtherNode(assessed, name) ? readyToDisturb(assessed, name) : ({ kind: "ready" } as const);
  if (drain.kind === "act") return { kind: "act", says: drain.message, actions: drain.actions };
  if (drain.kind === "wait") return { kind: "act", says: drain.message, actions: [] };
  const intent: UpgradeIntent = {
    ...common(assessed, candidate),
    what,
    deadline: seen.now + (seen.upgradeWithinMs ?? WELL_WITHIN_MS),
    bootIdBefore: config.bootId,
    why: `Talos ${hop.to.version} is booted in the place of ${hop.from.version}.`,
  };
  const action = bootActions(assessed, intent, withIntent(facts, intent));
  // An intent under which nothing is sent would be closed again at once.
  return action.length === 0
    ? { kind: "hold", why: "it was asked a moment ago, and is asked again in a while" }
    : { kind: "open", intent, action };
}
