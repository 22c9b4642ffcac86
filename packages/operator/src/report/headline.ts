import type { ReasonOf, UpgradeStatus } from "@talos-operator/api";
import { isReadyNode } from "../assess/machine-state.ts";
import { forecastOf } from "../planning/forecast-of.ts";
import { configIntents } from "../procedures/configure/config-intents.ts";
import { wordsOf } from "../procedures/upgrade/words.ts";
import { factsOf, machineFact, mayHoldConfig } from "../record/facts.ts";
import { upgradeIntents } from "../record/upgrades.ts";
import { removalsOf } from "./describe-removal.ts";
import { countOf, listed } from "./listed.ts";
import { upgradeStageWord, upgradeStatusOf } from "./upgrade-progress.ts";
import type { Assessment } from "../model/assessment.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { UpgradeStep } from "../model/plans.ts";

/** What goes on in a cluster. */
interface Headline {
  /** Verb first: `Upgrading Talos v1.13.9 → v1.13.10`. */
  readonly what: string;
  /** How far it is: `2 of 6 done`. */
  readonly done?: string;
  /** With whom it is done now: `first-127.1.0.3 verifying`. */
  readonly now?: readonly string[];
  readonly secondsLeft?: number | undefined;
}

/**
 * What goes on in a cluster, as the sentence that stands first in its conditions and on every screen: what, how far, with which machine, and how long still.
 * Pure; `undefined` = nothing of a cluster goes on.
 *
 * @param reason of `Progressing`
 */
export function headlineOf(assessed: Assessment, reason: string): string | undefined {
  const headline = headlineFor(assessed, reason as ReasonOf<"Progressing">);
  return headline === undefined ? undefined : sayHeadline(headline);
}

/** What is done about another Talos, with its headline for some machines; without one where they run what is asked for, or a person is needed. */
export function withHeadline(
  assessed: Assessment,
  machines: readonly SeenMachine[],
): (UpgradeStep & { readonly headline?: string }) | undefined {
  const { upgrade, facts } = assessed;
  const headline = ofUpgrade(assessed, machines);
  if (upgrade === undefined || headline === undefined) return upgrade;
  // Which machine is where the headline says.
  const open = `${upgradeIntents(facts).map(wordsOf).join("; ")}.`;
  const says = upgrade.says.startsWith(open) ? upgrade.says.slice(open.length).trim() : upgrade.says;
  return { ...upgrade, says, headline: sayHeadline(headline) };
}

function headlineFor(assessed: Assessment, reason: ReasonOf<"Progressing">): Headline | undefined {
  switch (reason) {
    case "UpgradingTalos":
      return ofUpgrade(assessed, assessed.seen.machines);
    case "ChangingConfiguration":
      return ofSettings(assessed);
    case "Removing":
      return ofRemovals(assessed);
    case "Deleting":
      return { what: "Deleting the cluster", done: `${countOf(assessed.seen.machineObjects.length, "machine")} left` };
    case "Configuring":
      return ofMachines(assessed, "configuring");
    case "Bootstrapping":
      return ofMachines(assessed, "bootstrapping etcd");
    case "Joining":
    case "WaitingForEtcd":
      return ofMachines(assessed, "joining etcd");
    case "WaitingForMachines":
    case "WaitingForNodes":
      return ofMachines(assessed, "starting");
    default:
      return undefined;
  }
}

function sayHeadline({ what, done, now = [], secondsLeft }: Headline): string {
  const parts = [
    ...(done === undefined ? [] : [done]),
    ...(now.length === 0 ? [] : [listed(now)]),
    ...(secondsLeft === undefined ? [] : [`about ${sayTime(secondsLeft)} left`]),
  ];
  return `${what}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}.`;
}

function sayTime(seconds: number): string {
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function ofUpgrade(assessed: Assessment, machines: readonly SeenMachine[]): Headline | undefined {
  const { kind } = assessed.upgrade ?? {};
  const status = kind === "running" || kind === "held" ? upgradeStatusOf(assessed, machines) : undefined;
  if (status === undefined) return undefined;
  const { done = 0, machines: all = 0, underWay = [] } = status;
  const versions = versionsOf(machines, underWay);
  return {
    what: kind === "held" ? `Upgrade of Talos${versions} waits` : `Upgrading Talos${versions}`,
    done: `${done} of ${all} done`,
    now: underWay.map(({ machine, stage }) => `${machine} ${upgradeStageWord(stage)}`),
    // A pool does not change its words for what is left of others.
    secondsLeft: kind === "held" || machines !== assessed.seen.machines ? undefined : forecastOf(assessed)?.seconds,
  };
}

/** ` v1.13.9 → v1.13.10`; nothing where machines are asked for different ones. */
function versionsOf(machines: readonly SeenMachine[], rows: NonNullable<UpgradeStatus["underWay"]>): string {
  const ways = machines.flatMap(({ declared: { name, version: to }, look }) => {
    const row = rows.find(({ machine }) => machine === name);
    const from = row?.from ?? (look.kind === "running" ? look.version : undefined);
    return from === undefined || (row === undefined && from === to) ? [] : [{ from, to }];
  });
  const [from, ...otherFrom] = new Set(ways.map((way) => way.from));
  const [to, ...otherTo] = new Set(ways.map((way) => way.to));
  if (to === undefined || otherTo.length > 0) return "";
  if (from === to) return ` ${to} to another image`;
  return otherFrom.length > 0 ? ` to ${to}` : ` ${from} → ${to}`;
}

function ofSettings({ configs, facts }: Assessment): Headline | undefined {
  if (facts === undefined || configs.length === 0) return undefined;
  const open = configIntents(facts);
  const names = new Set(open.map(({ machine }) => machine));
  const left = configs.filter(
    ({ machine, state }) => names.has(machine.declared.name) || state.kind === "change" || state.kind === "staged",
  );
  return {
    what: "Changing settings",
    done: `${configs.length - left.length} of ${configs.length} done`,
    now: open.map(({ machine, what }) => `${machine} ${what === "Reboot" ? "rebooting" : "applying"}`),
  };
}

/** Reasons by which something is done with the machine now. */
const LEAVING_NOW: ReadonlySet<string> = new Set<ReasonOf<"Removing">>(["Resetting", "Draining", "RemovingMember"]);

function ofRemovals(assessed: Assessment): Headline | undefined {
  const removals = removalsOf(assessed);
  if (removals.length === 0) return undefined;
  const now = removals.filter(({ reason }) => LEAVING_NOW.has(reason)).map(({ machine }) => machine);
  const next = removals.filter(({ reason }) => !LEAVING_NOW.has(reason)).map(({ machine }) => machine);
  if (now.length === 0) return { what: `Removing ${listed(next)}` };
  return { what: `Removing ${listed(now)}`, ...(next.length === 0 ? {} : { done: `next ${listed(next)}` }) };
}

/** Machines that come, or come back. */
function ofMachines({ seen }: Assessment, phase: string): Headline | undefined {
  const { machines } = seen;
  const facts = factsOf(seen);
  const unready = machines.filter((machine) => !isReadyNode(machine));
  if (unready.length === 0) return undefined;
  const names = unready.map(({ declared }) => declared.name);
  const done = `${machines.length - unready.length} of ${countOf(machines.length, "machine")} ready`;
  if (facts?.bootstrapDone === undefined || seen.kubeconfig.kind !== "present")
    return { what: "Creating the cluster", done, now: [phase === "starting" ? `${listed(names)} starting` : phase] };
  const isNew = ({ declared }: SeenMachine): boolean =>
    !mayHoldConfig(machineFact(facts, declared.name)) || machineFact(facts, declared.name)?.appliedHash === undefined;
  const added = unready.filter(isNew).map(({ declared }) => declared.name);
  if (added.length > 0) return { what: `Adding ${listed(added)}`, done };
  return { what: `Waiting for ${listed(names)}`, done };
}
