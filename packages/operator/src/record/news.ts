import type { EventReason } from "@talos-operator/api";
import { timeWords } from "../elapsed.ts";
import { machineFact } from "./facts.ts";
import { openRun } from "./upgrades.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts, DecisionFact, MachineFact, OperationFact } from "../model/record.ts";

/** Something that people ask about, and that was just written down. */
export type News =
  /** A step, reported on its machine alone. */
  | { readonly kind: "step"; readonly reason: EventReason; readonly machine: MachineName; readonly note: string }
  /** A machine left, which is reported on what lists it. */
  | { readonly kind: "left"; readonly reason: "MachineRemoved"; readonly machine: MachineName }
  | { readonly kind: "failure"; readonly reason: EventReason; readonly machine: MachineName; readonly note: string }
  | { readonly kind: "cluster"; readonly reason: EventReason; readonly note: string };

/** What the facts do not say. */
export interface NewsContext {
  /** Machines whose Nodes are drained. */
  readonly drained: ReadonlySet<MachineName>;
  readonly now: number;
  /** How many machines an upgrade is through with, by the second facts. */
  readonly count: (run: OperationFact) => { readonly done: number; readonly machines: number };
}

/**
 * What the second facts say that the first did not. Pure.
 *
 * The record is what outlives a process, and is written by compare-and-swap: whoever tells this once the write succeeded tells each fact once, whatever
 * restarts.
 *
 * @param before what the write was made from: decisions that both hold are the same objects
 */
export function newsOf(before: ClusterFacts, after: ClusterFacts, context: NewsContext): readonly News[] {
  const decided = after.decisions.filter((decision) => !before.decisions.includes(decision));
  return [
    ...bootstrapped(before, after),
    ...begunRun(before, after, context),
    ...begun(before, after, context.drained),
    ...decided.flatMap((decision) => endOf(decision, before, after)),
    ...upgraded(before, after, decided, context),
    ...endedRun(before, after, context),
    ...after.machines.flatMap((fact) => changed(machineFact(before, fact.name), fact)),
    ...wiped(before, after, decided),
  ];
}

/** Of a cluster that was found running nobody asked for a bootstrap. */
function bootstrapped(before: ClusterFacts, after: ClusterFacts): readonly News[] {
  if (before.bootstrapDone !== undefined || after.bootstrapDone === undefined || before.bootstrapIntent === undefined) return [];
  return [{ kind: "cluster", reason: "EtcdBootstrapped", note: `etcd bootstrapped on ${after.bootstrapDone.machine}.` }];
}

const askedBy = (run: OperationFact): string => `Upgrade to Talos ${run.inputs["asked"] ?? ""}`.trimEnd();

function begunRun(before: ClusterFacts, after: ClusterFacts, { count }: NewsContext): readonly News[] {
  const run = openRun(after);
  if (run === undefined || openRun(before) !== undefined) return [];
  const { done, machines } = count(run);
  return [{ kind: "cluster", reason: "UpgradeStarted", note: `${askedBy(run)} started: ${machines - done} of ${machines} machines.` }];
}

/** One that a failure ended is reported by that. */
function endedRun(before: ClusterFacts, after: ClusterFacts, { count, now }: NewsContext): readonly News[] {
  const run = openRun(before);
  const hasFailed = (after.quarantine?.length ?? 0) > (before.quarantine?.length ?? 0);
  if (run === undefined || openRun(after) !== undefined || hasFailed) return [];
  const { done, machines } = count(run);
  const took = timeWords(now - run.startedAt);
  const how = done === machines ? "completed" : "ended before its last machine";
  return [{ kind: "cluster", reason: "UpgradeEnded", note: `${askedBy(run)} ${how}: ${done} of ${machines} machines in ${took}.` }];
}

/** Machines that are through with it; several may be in one write. */
function upgraded(before: ClusterFacts, after: ClusterFacts, decided: readonly DecisionFact[], { count }: NewsContext): readonly News[] {
  const run = openRun(before);
  const through = decided.flatMap(({ reason, machine }) => (reason === "Upgraded" && machine !== undefined ? [machine] : []));
  if (through.length === 0) return [];
  const counted = run === undefined ? undefined : count(run);
  // A hop on the way to what is asked for is not the last one of its machine.
  const isLast = (talos: string): boolean => run?.inputs["asked"]?.split(", ").includes(talos) === true;
  return through.map((machine, index) => {
    const talos = targetOf(before, after, machine) ?? "another version";
    const turn = counted === undefined || !isLast(talos) ? "" : ` (${counted.done - through.length + 1 + index}/${counted.machines})`;
    return { kind: "step", reason: "MachineUpgraded", machine, note: `Upgraded ${machine} to Talos ${talos}${turn}.` };
  });
}

/** A machine is disturbed as soon as its drain is over: that the one was written down says that the other is so. */
function begun(before: ClusterFacts, after: ClusterFacts, drained: ReadonlySet<MachineName>): readonly News[] {
  return after.intents
    .filter(({ what, machine }) => (what === "Reset" || what === "Reboot" || what === "UpgradeTalos") && drained.has(machine))
    .filter(({ machine }) => before.intents.every((intent) => intent.machine !== machine))
    .map(({ machine }) => ({ kind: "step", reason: "MachineDrained", machine, note: `Drained ${machine}.` }));
}

/** The Talos that a machine is brought to, as its intent names it: the one that ends, or the one that begins. */
function targetOf(before: ClusterFacts, after: ClusterFacts, machine: MachineName): string | undefined {
  const intents = [...before.intents, ...after.intents].filter((intent) => intent.machine === machine);
  return intents.flatMap(({ talosVersion }) => talosVersion ?? [])[0];
}

/** How an effect on the configuration of a machine ended. */
function endOf({ action, reason, machine, message }: DecisionFact, before: ClusterFacts, after: ClusterFacts): readonly News[] {
  if (machine === undefined) return [];
  const talos = targetOf(before, after, machine);
  const step = (of: EventReason, note: string): readonly News[] => [{ kind: "step", reason: of, machine, note }];
  if (action === "Announce") return [{ kind: "cluster", reason: "ControlPlaneOutage", note: message }];
  if (action === "Quarantine") return [{ kind: "failure", reason: "TalosVersionFailed", machine, note: message }];
  if (action === "InstallTalos")
    return reason === "Installed" ? step("TalosInstalled", `Installed Talos ${talos ?? ""} on ${machine} (boots next).`) : [];
  if (reason === "VersionAsked") return step("TalosBooting", `Booting ${machine} into Talos ${talos ?? ""}.`);
  if (reason === "RolledBack") return step("MachineRolledBack", message);
  if (action === "Reboot" && reason === "Booted") return step("MachineRebooted", `Rebooted ${machine}.`);
  if (reason === "Upgraded" || (action === "Reboot" && reason === "Refused")) return [];
  if (action !== "ApplyConfig" && action !== "WriteMeta" && action !== "Reboot") return [];
  if (reason === "Applied") return step("SettingsChanged", `Applied new settings to ${machine} without a reboot.`);
  return reason === "Refused" || reason === "TakenBack" ? [{ kind: "failure", reason: "ConfigApplyFailed", machine, note: message }] : [];
}

/** One that was met configured, by an import or without its record, is no news. */
function changed(before: MachineFact | undefined, after: MachineFact): readonly News[] {
  if (before === undefined) return [];
  const { name: machine } = after;
  if (before.releasedAt === undefined && after.releasedAt !== undefined && before.configuredAt !== undefined)
    return [{ kind: "left", reason: "MachineRemoved", machine }];
  if (before.appliedHash === undefined && after.appliedHash !== undefined && after.spki !== undefined)
    return [{ kind: "step", reason: "MachineJoined", machine, note: `${machine} joined the cluster.` }];
  return [];
}

/** Released by the proof that nothing is left on it, after a reset was asked for. */
function wiped(before: ClusterFacts, after: ClusterFacts, decided: readonly DecisionFact[]): readonly News[] {
  return decided.flatMap(({ action, reason, machine }) => {
    if (action !== "Release" || machine === undefined || (reason !== "AnswersInMaintenance" && reason !== "Stopped")) return [];
    const wasAsked = before.intents.some((intent) => intent.machine === machine && intent.what === "Reset");
    const isReleased = machineFact(after, machine)?.releasedAt !== undefined;
    return wasAsked && isReleased ? [{ kind: "step", reason: "MachineReset", machine, note: `Reset ${machine}.` } as const] : [];
  });
}
