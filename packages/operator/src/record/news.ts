import type { EventReason, MachineEventReason } from "@talos-operator/api";
import { machineFact } from "./facts.ts";
import { openRun } from "./upgrades.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts, DecisionFact, MachineFact } from "../model/record.ts";

/** Something that people ask about, and that was just written down. */
export type News =
  /** `isOwn`: a step between others, told on the machine alone. `talos`: the version that it is about. */
  | {
      readonly kind: "machine";
      readonly reason: MachineEventReason;
      readonly machine: MachineName;
      readonly isOwn?: true;
      readonly talos?: string | undefined;
    }
  | { readonly kind: "failure"; readonly reason: EventReason; readonly machine: MachineName; readonly note: string }
  | { readonly kind: "cluster"; readonly reason: EventReason; readonly note: string };

/**
 * What the second facts say that the first did not. Pure.
 *
 * The record is what outlives a process, and is written by compare-and-swap: whoever tells this once the write succeeded tells each fact once, whatever
 * restarts.
 *
 * @param before what the write was made from: decisions that both hold are the same objects
 * @param drained machines whose Nodes are drained
 */
export function newsOf(before: ClusterFacts, after: ClusterFacts, drained: ReadonlySet<MachineName>): readonly News[] {
  const decided = after.decisions.filter((decision) => !before.decisions.includes(decision));
  return [
    ...bootstrapped(before, after),
    ...run(before, after),
    ...begun(before, after, drained),
    ...decided.flatMap((decision) => endOf(decision, targetOf(before, after, decision))),
    ...after.machines.flatMap((fact) => changed(machineFact(before, fact.name), fact)),
    ...wiped(before, after, decided),
  ];
}

/** Of a cluster that was found running nobody asked for a bootstrap. */
function bootstrapped(before: ClusterFacts, after: ClusterFacts): readonly News[] {
  if (before.bootstrapDone !== undefined || after.bootstrapDone === undefined || before.bootstrapIntent === undefined) return [];
  return [{ kind: "cluster", reason: "EtcdBootstrapped", note: `etcd bootstrapped on ${after.bootstrapDone.machine}.` }];
}

/** An upgrade of Talos, as a whole. */
function run(before: ClusterFacts, after: ClusterFacts): readonly News[] {
  const [was, is] = [openRun(before), openRun(after)];
  if (was === undefined && is !== undefined)
    return [
      { kind: "cluster", reason: "UpgradeStarted", note: `An upgrade of Talos begins, with ${is.inputs["asked"] ?? "another version"}.` },
    ];
  const hasFailed = (after.quarantine?.length ?? 0) > (before.quarantine?.length ?? 0);
  if (was === undefined || is !== undefined || hasFailed) return [];
  return [{ kind: "cluster", reason: "UpgradeEnded", note: "The upgrade of Talos is over." }];
}

/** A machine is disturbed as soon as its drain is over: that the one was written down says that the other is so. */
function begun(before: ClusterFacts, after: ClusterFacts, drained: ReadonlySet<MachineName>): readonly News[] {
  return after.intents
    .filter(({ what, machine }) => (what === "Reset" || what === "Reboot" || what === "UpgradeTalos") && drained.has(machine))
    .filter(({ machine }) => before.intents.every((intent) => intent.machine !== machine))
    .map(({ machine }) => ({ kind: "machine", reason: "MachineDrained", machine }));
}

/** The Talos that a machine is brought to, as its intent names it: the one that ends, or the one that begins. */
function targetOf(before: ClusterFacts, after: ClusterFacts, { machine }: DecisionFact): string | undefined {
  const intents = machine === undefined ? [] : [...before.intents, ...after.intents].filter((intent) => intent.machine === machine);
  return intents.flatMap(({ talosVersion }) => talosVersion ?? [])[0];
}

/** How an effect on the configuration of a machine ended. */
function endOf({ action, reason, machine, message }: DecisionFact, talos: string | undefined): readonly News[] {
  if (machine === undefined) return [];
  if (action === "Announce") return [{ kind: "cluster", reason: "ControlPlaneOutage", note: message }];
  if (action === "Quarantine") return [{ kind: "failure", reason: "TalosVersionFailed", machine, note: message }];
  if (action === "InstallTalos")
    return reason === "Installed" ? [{ kind: "machine", reason: "TalosInstalled", machine, isOwn: true, talos }] : [];
  if (reason === "VersionAsked") return [{ kind: "machine", reason: "TalosBooting", machine, isOwn: true, talos }];
  if (reason === "RolledBack") return [{ kind: "machine", reason: "MachineRolledBack", machine }];
  if (reason === "Upgraded") return [{ kind: "machine", reason: "MachineUpgraded", machine, talos }];
  if (action === "Reboot" && reason === "Refused") return [];
  if (action === "Reboot" && reason === "Booted") return [{ kind: "machine", reason: "MachineRebooted", machine }];
  if (action !== "ApplyConfig" && action !== "WriteMeta" && action !== "Reboot") return [];
  if (reason === "Applied") return [{ kind: "machine", reason: "SettingsChanged", machine }];
  return reason === "Refused" || reason === "TakenBack" ? [{ kind: "failure", reason: "ConfigApplyFailed", machine, note: message }] : [];
}

/** One that was met configured, by an import or without its record, is no news. */
function changed(before: MachineFact | undefined, after: MachineFact): readonly News[] {
  if (before === undefined) return [];
  const { name: machine } = after;
  if (before.releasedAt === undefined && after.releasedAt !== undefined && before.configuredAt !== undefined)
    return [{ kind: "machine", reason: "MachineRemoved", machine }];
  if (before.appliedHash === undefined && after.appliedHash !== undefined && after.spki !== undefined)
    return [{ kind: "machine", reason: "MachineJoined", machine }];
  return [];
}

/** Released by the proof that nothing is left on it, after a reset was asked for. */
function wiped(before: ClusterFacts, after: ClusterFacts, decided: readonly DecisionFact[]): readonly News[] {
  return decided.flatMap(({ action, reason, machine }) => {
    if (action !== "Release" || machine === undefined || (reason !== "AnswersInMaintenance" && reason !== "Stopped")) return [];
    const wasAsked = before.intents.some((intent) => intent.machine === machine && intent.what === "Reset");
    const isReleased = machineFact(after, machine)?.releasedAt !== undefined;
    return wasAsked && isReleased ? [{ kind: "machine", reason: "MachineReset", machine } as const] : [];
  });
}
