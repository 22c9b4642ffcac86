import { controlPlaneMargin } from "../../disruption/control-plane-margin.ts";
import { poolBudgets } from "../../disruption/pool-budget.ts";
import { whyHeld } from "../../disruption/slot-words.ts";
import { isSameBuild, isSameVersion } from "../../effects/demand-talos.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { intentsThatFit } from "../../record/room.ts";
import { isUpgrade, openRun, upgradeIntents } from "../../record/upgrades.ts";
import { ownMachine } from "../../disruption/own-node.ts";
import { lookAtNodes } from "./look-again.ts";
import { outageOf } from "./outage.ts";
import { isProvenOn } from "./proven.ts";
import { notBack } from "./not-back.ts";
import { withRun } from "./run.ts";
import { brokenBy } from "./quarantine.ts";
import { openWords } from "./open-words.ts";
import { wordsOf } from "./words.ts";
import { whatElseIsOpen } from "./what-else-is-open.ts";
import { begin } from "./begin.ts";
import { isAboutArguments } from "./misfit.ts";
import { countOf } from "../../report/listed.ts";
import type { TalosHop } from "@talos-operator/talos";
import type { Action } from "../../model/effect.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { UpgradeStep } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";
import type { Candidate, Begun } from "./candidate.ts";

const ITSELF_UNKNOWN = "An upgrade waits until the cluster's own API says whether this operator runs in it.";

export function planHop(assessed: Assessment, facts: ClusterFacts, hop: TalosHop): UpgradeStep {
  const open = upgradeIntents(facts);
  const all = candidatesOf(assessed, hop);
  const others = open.filter(({ role, talosVersion }) => role !== hop.role || !isSameVersion(talosVersion, hop.version));
  const busy = openWords(assessed, open);
  const isUnknown = open.length === 0 && ownMachine(assessed).kind === "unknown";
  const held = others.length > 0 ? busy : isUnknown ? ITSELF_UNKNOWN : whatElseIsOpen(assessed, facts);
  if (held !== undefined)
    return {
      facts,
      actions: isUnknown ? lookAtNodes(assessed) : [],
      kind: open.length > 0 ? "running" : "held",
      reason: open.length > 0 ? "Upgrading" : "UpgradeWaits",
      says: held,
    };
  const chosen = hop.role === "controlplane" ? chooseControlPlane(assessed, facts, all) : chooseWorkers(assessed, facts, hop, all);
  const draft = new FactsDraft(facts);
  const actions: Action[] = [];
  const says: string[] = busy === "" ? [] : [busy];
  for (const { name, begun, outage } of chosen) {
    if (begun.kind === "open") {
      draft.open(begun.intent);
      if (outage !== undefined && begun.intent.what !== "Reboot")
        draft.decide({ at: assessed.seen.now, action: "Announce", reason: "Outage", machine: name, message: outage });
      const message = [begun.intent.why, ...snapshotBefore(assessed, begun.intent)].join(" ");
      draft.decide({ at: assessed.seen.now, action: begun.intent.what, reason: "VersionAsked", machine: name, message });
      says.push(`${wordsOf(begun.intent)}.`);
    } else says.push(begun.kind === "hold" ? `${name} is next: ${begun.why}.` : begun.says);
    if (outage !== undefined) says.push(outage);
  }
  const reason = open.length > 0 ? undefined : stoppedBy(chosen);
  const opened = draft.facts();
  const isBegun = opened !== facts || chosen.some(({ begun }) => begun.kind === "act" && begun.beginsRun === true);
  const next = isBegun ? withRun(assessed, opened, hop) : facts;
  for (const { begun } of chosen) actions.push(...(begun.kind === "open" ? begun.action : (begun.actions ?? [])));
  const isActive = open.length > 0 || next !== facts || chosen.some(({ begun }) => begun.kind === "act") || openRun(facts) !== undefined;
  return {
    facts: next,
    actions,
    kind: reason !== undefined ? "stopped" : isActive ? "running" : "held",
    reason: reason ?? (isActive ? "Upgrading" : "UpgradeWaits"),
    says: says.join(" "),
  };
}

/** What came of the snapshot before a control plane is upgraded. */
function snapshotBefore({ beforeUpgrade }: Assessment, { role, what }: UpgradeIntent): readonly string[] {
  return role === "worker" || what === "Reboot" || beforeUpgrade === undefined ? [] : [beforeUpgrade.message];
}

function candidatesOf(assessed: Assessment, hop: TalosHop): readonly Candidate[] {
  const view = assessed.etcdMembership;
  const leads = ({ look }: AssessedMachine): boolean =>
    view.kind === "known" && look.kind === "running" && look.etcd?.localMember !== undefined && look.etcd.localMember === view.leader;
  const own = ownMachine(assessed);
  const isOwn = ({ declared: { name } }: AssessedMachine): boolean => own.kind === "here" && own.machine === name;
  const weight = ({ machine, isInstalled }: Candidate): number =>
    isInstalled ? 0 : machine.drain !== undefined ? 1 : isOwn(machine) ? 4 : leads(machine) ? 3 : 2;
  // Others wait until it is back.
  const turn = (one: Candidate): number => (brokenBy(assessed.facts, one.machine) === undefined ? weight(one) : -1);
  return hop.machines
    .flatMap((one): readonly Candidate[] => {
      const machine = assessed.byName.get(one.name);
      // What is open on it is settled elsewhere.
      if (machine === undefined || machine.intents.some((intent) => isUpgrade(intent))) return [];
      const installed = machine.fact?.installed;
      return [{ machine, hop: one, name: one.name, isInstalled: installed !== undefined && isSameBuild(installed, one.to) }];
    })
    .toSorted((a, b) => turn(a) - turn(b) || (a.name < b.name ? -1 : 1));
}

/** Whose turn it is, with what is done; `outage` = what is told of it first. */
interface Turn {
  readonly name: string;
  readonly begun: Begun;
  readonly outage?: string;
}

/** Nothing goes on, and nothing passes by itself: why a person is needed. */
function stoppedBy(chosen: readonly Turn[]): "ApprovalRequired" | "UpgradeBlocked" | undefined {
  const needs = chosen.map(({ begun }) => (begun.kind === "hold" ? begun.needsPerson : undefined));
  if (needs.length === 0 || needs.includes(undefined)) return undefined;
  return needs.includes("outage") ? "ApprovalRequired" : "UpgradeBlocked";
}

function chooseControlPlane(assessed: Assessment, facts: ClusterFacts, all: readonly Candidate[]): readonly Turn[] {
  if (upgradeIntents(facts).length > 0) return [];
  const [first] = all;
  if (first === undefined) return [];
  const { name } = first;
  const other = notBack(assessed, name);
  if (other !== undefined) return [{ name, begun: { kind: "hold", why: `${other.declared.name} is not ready, and comes back first` } }];
  const outage = outageOf(assessed, first.machine);
  if (outage.kind === "unapproved") return [{ name, begun: { kind: "hold", why: outage.why, needsPerson: "outage" } }];
  return [{ name, begun: begin(assessed, facts, first), ...(outage.kind === "announced" ? { outage: outage.says } : {}) }];
}

function chooseWorkers(assessed: Assessment, facts: ClusterFacts, hop: TalosHop, all: readonly Candidate[]): readonly Turn[] {
  const budgets = poolBudgets(assessed);
  // Kernel arguments are as new to every machine as a version is to the first.
  const isProven = all.every((one) => !isAboutArguments(one) && isProvenOn(assessed, "worker", one.hop.to));
  const under = upgradeIntents(facts).length;
  const most = isProven ? Number.POSITIVE_INFINITY : 1;
  const margin = controlPlaneMargin(assessed, facts);
  const chosen: Turn[] = [];
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
            why: `${place.count} of at most ${countOf(place.limit, "machine")} of ${machine.declared.owner.name} are down, leaving or being changed`,
          },
        });
      continue;
    }
    const begun = begin(assessed, facts, one);
    chosen.push({ name, begun });
    // One that a person holds up holds up nobody else.
    if (begun.kind === "hold" && begun.needsPerson !== undefined) continue;
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
