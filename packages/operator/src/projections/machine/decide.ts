import { conditionFor, findCondition } from "@talos-operator/api";
import type { ConditionInput, MachineIdentityStatus, MachineState, ReasonOf, TalosMachine, TalosMachineStatus } from "@talos-operator/api";
import { addressReasonOf } from "../../controllers/shared/address-conditions.ts";
import { UNTIL_KEYS_ARE_BACK } from "../../assess/keys-in-doubt.ts";
import { comingUpReason, isInstalling, isReady, sharedNodeWords, unmetWords } from "../../assess/machine-state.ts";
import type { UnderWay } from "../../assess/under-way.ts";
import { identityStatus, keptIdentity } from "../../observe/reported-identity.ts";
import { failureKind } from "../../record/read-before.ts";
import { identityWords, pinnedWords } from "../../report/identity.ts";
import { isComingUp, stageWords } from "../../looking/stage-words.ts";
import { mayHoldConfig } from "../../record/facts.ts";
import type { Look, Running, Silent } from "../../model/look.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { SentEffect } from "../../model/observation.ts";
import type { MachineFact } from "../../model/record.ts";
import type { IdentityKind } from "../../model/assessment.ts";
import type { StoppedMachine } from "../../model/plans.ts";
import type { UpgradeProgress } from "../../report/upgrade-progress.ts";

/** Everything that the report about a machine is made from. */
export interface MachineSeen {
  readonly machine: TalosMachine;
  readonly look: Look;
  /** What the cluster's record says about it. */
  readonly fact: MachineFact | undefined;
  /** What came of the configuration, as far as this process knows. */
  readonly sent?: SentEffect | undefined;
  /** What was ordered of it and is not over. */
  readonly underWay?: UnderWay | undefined;
  /** Why nothing is sent to it, as its cluster says it. */
  readonly stopped?: StoppedMachine | undefined;
  /** As the specs declare it; `undefined` while the brain has not seen it. */
  readonly declared?: DeclaredMachine | undefined;
  /** How far its UUID tells it from others; `undefined` before it was written down. */
  readonly identity?: IdentityKind | undefined;
  /** False while the record is away, or was not read yet: what an earlier pass said of it stays, for it may be the last trace. */
  readonly hasRecord: boolean;
  /** Nobody can say whether the keys that it was configured with are there: what answers proves nothing, and nobody is told to do anything to it. */
  readonly areKeysInDoubt?: boolean;
  /** False when the object that it belongs to is gone. */
  readonly hasOwner: boolean;
  /** True while that object is being deleted. */
  readonly isPoolGoing?: boolean;
  /** A change of it was begun, and its end was not seen. */
  readonly hasOpenEffect?: boolean;
  /** The operator restarts it, and it may still come back in its time. */
  readonly isRestarted?: boolean;
  /** Where it stands on its way to another Talos. */
  readonly upgrade?: UpgradeProgress | undefined;
}

/** What is reported. */
export interface MachineReport {
  readonly state: MachineState;
  readonly observedVersion: string | undefined;
  /** What is left of the record when it is lost. */
  readonly identity: MachineIdentityStatus | undefined;
  readonly failedConfig: TalosMachineStatus["failedConfig"];
  readonly upgrade: TalosMachineStatus["upgrade"];
  readonly conditions: readonly ConditionInput[];
}

interface Finding<R extends string> {
  readonly reason: R;
  readonly message: string;
}

/** Says what was seen of a machine. Pure; nothing is ever sent from here. */
export function decideMachine(seen: MachineSeen): MachineReport {
  const { machine, look, fact, hasRecord, hasOwner } = seen;
  const generation = machine.metadata.generation;
  const ready = unlessRestarted(seen, readyOf(seen));
  const reachable = reachableOf(seen);
  const pinned = pinnedWords(fact, look.kind === "maintenance");
  const config = configOf(seen);
  const state = stateOf(seen);
  return {
    state: hasOwner ? (hasRecord ? state : laterOf(machine.status?.state, state)) : "Orphaned",
    observedVersion: look.kind === "running" || look.kind === "maintenance" ? look.version : undefined,
    identity: identityToTell(seen),
    failedConfig: fact?.failed === undefined ? undefined : { kind: failureKind(fact.failed) },
    upgrade: upgradeOf(seen),
    conditions: [
      conditionFor("Ready", ready.reason, ready.message, generation),
      conditionFor("Reachable", reachable.reason, reachable.message, generation),
      ...addressOf(seen, generation),
      ...uniqueOf(seen, generation),
      keptWithout(hasRecord, machine, conditionFor("MaintenanceIdentityPinned", pinned.reason, pinned.message, generation)),
      keptWithout(hasRecord, machine, conditionFor("ConfigApplied", config.reason, config.message, generation)),
      ...(machine.metadata.deletionTimestamp === undefined ? [] : [conditionFor("Deleting", "Blocked", deletionWords(seen), generation)]),
    ],
  };
}

/** What a restart brings along: that a machine is down which the operator restarts is no fault of anybody. */
const OF_RESTART: ReadonlySet<ReasonOf<"Ready">> = new Set(["MachineUnreachable", "Booting", "NodesNotReady"]);

function unlessRestarted({ isRestarted, underWay, look }: MachineSeen, ready: Finding<ReasonOf<"Ready">>): Finding<ReasonOf<"Ready">> {
  if (isRestarted !== true || !OF_RESTART.has(ready.reason)) return ready;
  if (underWay === "reset") return { reason: "Removing", message: "Resetting." };
  const message = ready.reason === "MachineUnreachable" && look.kind === "silent" ? `Restarting: ${look.detail}.` : ready.message;
  return { reason: "Restarting", message };
}

/** Without its machine, whose object this is the status of. */
function upgradeOf({ upgrade }: MachineSeen): TalosMachineStatus["upgrade"] {
  if (upgrade === undefined) return undefined;
  const { machine: _machine, ...told } = upgrade;
  return told;
}

/** It was asked to boot another Talos, or the one of before, and that is not over: that it does not answer is part of it. */
function isBootingTalos({ upgrade }: MachineSeen): boolean {
  return upgrade?.stage === "Booting" || upgrade?.stage === "BakeTime" || upgrade?.stage === "RollingBack";
}

/** Only where an address is looked up there is something to say. */
function addressOf({ declared }: MachineSeen, generation: number | undefined): readonly ConditionInput[] {
  if (declared?.problem !== undefined)
    return [conditionFor("AddressResolved", addressReasonOf(declared.problem.reason), declared.problem.message, generation)];
  if (declared?.reference === undefined) return [];
  return [conditionFor("AddressResolved", "Resolved", `${declared.reference} gives ${declared.address}.`, generation)];
}

/** Without a record what stands is the last trace of who the machine is, in whatever form. */
function identityToTell({ machine, identity, fact, hasRecord }: MachineSeen): MachineIdentityStatus | undefined {
  if (!hasRecord) return keptIdentity(machine);
  return identity === undefined || fact === undefined ? undefined : identityStatus(identity, fact);
}

/** The same in words. */
function uniqueOf({ machine, identity, fact, hasRecord }: MachineSeen, generation: number | undefined): readonly ConditionInput[] {
  const words = identity === undefined || fact === undefined ? undefined : identityWords(identity, fact);
  if (words !== undefined) return [conditionFor("IdentityUnique", words.reason, words.message, generation)];
  const told = hasRecord ? undefined : findCondition(machine.status?.conditions, "IdentityUnique");
  return told === undefined ? [] : [told];
}

/** Without a record a machine that was further on once is not called new. */
function laterOf(told: string | undefined, seen: MachineState): MachineState {
  if (seen !== "Pending") return seen;
  if (told === "Unreachable" || told === "IdentityMismatch" || told === "Installing" || told === "Resetting") return told;
  return told === "Available" || told === "Rebooting" ? "Unreachable" : seen;
}

/** The condition, or without a record the one that stands. */
function keptWithout(hasRecord: boolean, { status }: TalosMachine, condition: ConditionInput): ConditionInput {
  return (hasRecord ? undefined : findCondition(status?.conditions, condition.type)) ?? condition;
}

function stateOf(seen: MachineSeen): MachineState {
  const { machine, look, fact, underWay } = seen;
  if (look.kind === "running") return stateOfStage(look.stage, seen);
  if (underWay === "reset") return "Resetting";
  if (!mayHoldConfig(fact)) return "Pending";
  // Without the cluster's keys nobody can tell who answers: what was said before stands.
  if (isOther(look) && seen.areKeysInDoubt === true) {
    const stands = laterOf(machine.status?.state, "Pending");
    return stands === "Pending" ? "Unreachable" : stands;
  }
  if (isOther(look)) return "IdentityMismatch";
  if (look.kind === "maintenance" && look.spki !== fact.spki) return "IdentityMismatch";
  if (look.kind === "maintenance" || look.kind === "not-asked") return "Installing";
  // What was read from it once was there, and nothing was begun on it before that: it is past its installation.
  if (fact.appliedHash === undefined && seen.hasOpenEffect !== true) return "Installing";
  if (isBootingTalos(seen)) return "Upgrading";
  return underWay === "reboot" ? "Rebooting" : "Unreachable";
}

/** Of one that answers as a machine of the cluster. */
function stateOfStage(stage: string | undefined, seen: MachineSeen): MachineState {
  const { fact, underWay } = seen;
  switch (stage) {
    case "resetting":
      return "Resetting";
    case "upgrading":
      return "Upgrading";
    case "rebooting":
      // The boot after an installation is a part of it.
      if (underWay === "reset") return "Resetting";
      if (isBootingTalos(seen)) return "Upgrading";
      return mayHoldConfig(fact) && fact.appliedHash === undefined ? "Installing" : "Rebooting";
    case "installing":
      return "Installing";
    default:
      return "Available";
  }
}

/** Something answers, and it is not this machine, or cannot prove to be it. */
function isOther(look: Look): boolean {
  if (look.kind === "silent") return look.stopped?.reason === "IdentityMismatch";
  return look.kind === "foreign" && look.isByTime !== true;
}

function readyOf(seen: MachineSeen): Finding<ReasonOf<"Ready">> {
  const { machine, look, fact, hasOwner, hasRecord, declared, sent, stopped, hasOpenEffect = false } = seen;
  const { name } = machine.metadata;
  if (!hasOwner)
    return {
      reason: "Orphaned",
      message: `${name} belongs to no TalosControlPlane or TalosWorker that exists. Create it, or correct spec.controlPlaneRef or workerRef.`,
    };
  const wasConfigured = mayHoldConfig(fact);
  if (declared?.problem !== undefined && look.kind !== "running")
    return { reason: declared.problem.reason, message: declared.problem.message };
  const doubt = doubtAbout(seen);
  if (doubt !== undefined) return { reason: "SecretsLost", message: doubt };
  switch (look.kind) {
    case "not-asked":
      return { reason: "Unobserved", message: "Pending." };
    case "silent":
      if (look.stopped !== undefined) return look.stopped;
      if (isBootingTalos(seen)) return { reason: "Booting", message: bootWords(seen) };
      return wasConfigured
        ? silentOf(machine, look, fact, hasOpenEffect)
        : { reason: "WaitingForMachines", message: `No answer: ${look.detail}. Boot the machine into maintenance mode.` };
    case "not-talos":
      return { reason: "NotTalos", message: `What answers is not Talos: ${look.detail}. Correct the address, or boot Talos there.` };
    case "foreign":
      if (look.isByTime === true)
        return {
          reason: "ClockSkewed",
          message: `Certificates are refused for their dates: ${look.detail}. Set the clocks of this operator's host and of the machine.`,
        };
      return wasConfigured
        ? {
            reason: "IdentityMismatch",
            message: `What answers is not the machine that was configured: ${look.detail}. Nothing is sent to it.`,
          }
        : {
            reason: "ForeignCluster",
            message: `The machine is already configured for another cluster: ${look.detail}. Reset it into maintenance mode, or remove it from the list.`,
          };
    case "maintenance":
      if (stopped !== undefined) return { reason: stopped.reason, message: stopped.message };
      if (wasConfigured && fact.spki !== look.spki)
        return {
          reason: "MaintenanceUnexpected",
          message:
            "The machine was configured and waits in maintenance mode with another key. Nothing is sent to it; the TalosControlPlane says how to release it.",
        };
      if (wasConfigured && sent?.outcome === "refused") return { reason: "ConfigRejected", message: refusedWords(sent) };
      return wasConfigured
        ? { reason: "Configuring", message: "Applying the configuration." }
        : { reason: "WaitingForMachines", message: "In maintenance mode, not configured yet." };
    case "running":
      if (fact === undefined && hasRecord && stopped !== undefined) return { reason: stopped.reason, message: stopped.message };
      if (fact === undefined && hasRecord)
        return {
          reason: "MachineInUse",
          message:
            "What answers runs with this cluster's keys, and the record does not know it by this name. Another entry leads to it, which the TalosControlPlane names, or it is written down in a moment.",
        };
      if (look.sharesNode !== undefined)
        return {
          reason: "NodeShared",
          message: `${sharedNodeWords(look)}. Give each machine its own host name in machines[].configPatches.`,
        };
      if (isReady(look)) return { reason: "AllReady", message: "The machine is a ready node." };
      return runningOf(look, fact);
  }
}

/** Of a machine that runs, or is about to, and is no ready node. */
function runningOf(look: Running, fact: MachineFact | undefined): Finding<ReasonOf<"Ready">> {
  const { stage, unmet } = look;
  const missing = unmet.length === 0 ? "" : unmetWords(unmet);
  if (stage === "running")
    return { reason: "NodesNotReady", message: missing === "" ? "The node is not ready." : `Not ready: ${missing}.` };
  const words = `${stageWords(stage)}${missing === "" ? "" : `; not ready: ${missing}`}.`;
  if (stage === "resetting") return { reason: "Removing", message: words };
  return { reason: isComingUp(look) ? comingUpReason(fact) : "NodesNotReady", message: words };
}

function bootWords({ upgrade }: MachineSeen): string {
  return upgrade?.stage === "RollingBack"
    ? `Boots Talos ${upgrade.from} again.`
    : `Boots Talos ${upgrade?.to ?? ""} in the place of ${upgrade?.from ?? ""}.`;
}

/** Who was sent a configuration installs and reboots with it, unheard; one that was read since, or stays away for longer, is away. */
function silentOf(machine: TalosMachine, look: Silent, fact: MachineFact, hasOpenEffect: boolean): Finding<ReasonOf<"Ready">> {
  if (!hasOpenEffect && isInstalling(look, fact)) return { reason: "Configuring", message: "Rebooting after install." };
  const address = machine.spec?.endpoint ?? machine.metadata.name;
  const place = address.includes(":") ? `[${address}]:50000` : `${address}:50000`;
  return {
    reason: "MachineUnreachable",
    message: `No answer from ${place} since ${silentSince(machine, look)} (${look.detail}). Check its power and network.`,
  };
}

/** What is said of a machine while its keys are in doubt, where that says something of it at all. */
function doubtAbout({ look, areKeysInDoubt }: MachineSeen): string | undefined {
  if (areKeysInDoubt !== true) return undefined;
  switch (look.kind) {
    case "not-asked":
    case "not-talos":
    // It proved who it is with the keys that this process remembers.
    case "running":
      return undefined;
    case "silent":
      return `The machine does not answer${look.stopped === undefined ? `: ${look.detail}` : " as one that can be distinguished from others"}. ${UNTIL_KEYS_ARE_BACK}`;
    case "foreign":
      return `Something answers, and without the cluster's keys it cannot be determined whether it is the machine that was configured. ${UNTIL_KEYS_ARE_BACK}`;
    case "maintenance":
      return `The machine waits in maintenance mode. ${UNTIL_KEYS_ARE_BACK}`;
  }
}

function reachableOf(seen: MachineSeen): Finding<ReasonOf<"Reachable">> {
  const { look } = seen;
  // Nothing that others may act on: that a machine is not reached counts as a sign that it is gone.
  if (seen.areKeysInDoubt === true && look.kind === "foreign")
    return { reason: "Answers", message: "Something answers; who it is cannot be determined without the cluster's keys." };
  if (seen.areKeysInDoubt === true && look.kind === "silent" && look.stopped !== undefined)
    return { reason: "NoAnswer", message: "No answer of a machine that can be distinguished from others." };
  switch (look.kind) {
    case "not-asked":
      return { reason: "NotAskedYet", message: "Pending." };
    case "silent":
      if (look.stopped?.reason === "IdentityMismatch") return { reason: "IdentityMismatch", message: look.stopped.message };
      return { reason: "NoAnswer", message: `No answer since ${silentSince(seen.machine, look)}: ${look.detail}.` };
    case "not-talos":
      return { reason: "NotTalos", message: `Not Talos: ${look.detail}.` };
    case "foreign":
      return { reason: "IdentityMismatch", message: `Another identity: ${look.detail}.` };
    case "maintenance":
      return { reason: "Answers", message: "Answers in maintenance mode." };
    case "running":
      return { reason: "Answers", message: "Answers with a certificate of this cluster." };
  }
}

/** To the second. A process that just began has not watched the silence: what an earlier one said counts. */
function silentSince({ status }: TalosMachine, look: Silent): string {
  const told = findCondition(status?.conditions, "Reachable");
  const toldAt = told?.reason === "NoAnswer" && told.lastTransitionTime !== undefined ? Date.parse(told.lastTransitionTime) : look.since;
  return new Date(Math.min(look.since, toldAt)).toISOString().replace(/\.\d+Z$/, "Z");
}

function configOf({ look, fact, sent, hasRecord, areKeysInDoubt }: MachineSeen): Finding<ReasonOf<"ConfigApplied">> {
  // A second entry for a machine that is known by another name: what is said here may one day be all that is left of the record.
  if (look.kind === "running" && fact === undefined && hasRecord)
    return {
      reason: "WaitingForMachine",
      message: "What answers runs with this cluster's keys, and the record does not know it by this name.",
    };
  if (look.kind === "running") return { reason: "Applied", message: "The machine runs with the configuration made for it." };
  if (!mayHoldConfig(fact)) return { reason: "WaitingForMachine", message: "No configuration was sent." };
  if (look.kind === "maintenance" && fact.spki !== look.spki)
    return { reason: "Blocked", message: "The machine waits in maintenance mode with another key than was written down." };
  if (areKeysInDoubt === true && look.kind === "foreign")
    return { reason: "OutcomeUnknown", message: "Something answers; who it is cannot be determined without the cluster's keys." };
  if (look.kind === "foreign" || look.kind === "not-talos")
    return { reason: "Blocked", message: "What answers is not the machine that was configured." };
  if (look.kind === "maintenance" && sent?.outcome === "refused") return { reason: "Rejected", message: refusedWords(sent) };
  // What was read from it once was there: only whether it is there still, nobody can say.
  if (look.kind === "silent" && fact?.appliedHash !== undefined)
    return { reason: "OutcomeUnknown", message: "It ran with its configuration when that was last read, and does not answer now." };
  return { reason: "OutcomeUnknown", message: "The configuration may have been sent; what the machine shows decides." };
}

function refusedWords({ detail }: SentEffect): string {
  return `The machine refused its configuration: ${detail}. Correct the patches or settings.`;
}

function deletionWords({ fact, isPoolGoing, areKeysInDoubt }: MachineSeen): string {
  if (areKeysInDoubt === true) return `Somebody deleted this object. ${UNTIL_KEYS_ARE_BACK}`;
  if (!mayHoldConfig(fact)) return "Waits for the pool that it belongs to.";
  return isPoolGoing === true
    ? "It goes with its pool: the condition Deleting of the TalosControlPlane says what is waited for."
    : "Its pool lists it: take it out of spec.metalSpec.machines there, and it is drained, reset and released.";
}
