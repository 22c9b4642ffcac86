import { annotations, rfc3339 } from "@talos-operator/api";
import { factsOf, intentOn, machineFact } from "../../record/facts.ts";
import { controlPlaneMargin } from "../../disruption/control-plane-margin.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { releaseOf, whyHeld } from "../../disruption/slot-words.ts";
import { wordFor } from "../../assess/identity.ts";
import { stateOf } from "../../assess/machine-state.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import { compareIdentity } from "../../observe/proven-look.ts";
import { endOfContainer, isContainer, isStop, wordsOfEnd, wordsOfStop } from "../remove/container-end.ts";
import { configMayArriveUntil } from "../remove/removal.ts";
import { hasToBeWiped, isAbandoned, mayShowUntil, mayWipe } from "./whom-to-wipe.ts";
import { WIPE_TAKES_MS } from "./times.ts";
import type { ReasonOf } from "@talos-operator/api";
import type { MarginHolder } from "../../disruption/control-plane-margin.ts";
import type { SlotHolder } from "../../disruption/control-plane-slot.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Assessment } from "../../model/assessment.ts";

/** What becomes of a machine whose cluster, or pool, goes. */
export type Fate =
  /** It holds nothing that has to be wiped, or is left as it is: its object goes. */
  | { readonly kind: "kept" }
  | { readonly kind: "released"; readonly reason: string; readonly message: string }
  | {
      readonly kind: "waits";
      readonly reason: ReasonOf<"Deleting">;
      readonly message: string;
      /** What is done meanwhile. */
      readonly actions?: readonly Action[];
      /** It must be wiped, and does not answer as a machine of the cluster. */
      readonly isUnreached?: true;
      /** The intent of a container that is silent since: it was stopped. */
      readonly stopped?: IntentFact;
    }
  /** An effect on its cluster goes first, and is told elsewhere. */
  | { readonly kind: "held" }
  | { readonly kind: "wiped"; readonly intent: IntentFact | undefined; readonly message: string };

/** A machine that goes, and what is known of it. */
interface Going {
  readonly assessed: Assessment;
  readonly seen: Observed;
  readonly facts: ClusterFacts | undefined;
  readonly machine: SeenMachine;
  readonly fact: MachineFact | undefined;
  readonly intent: IntentFact | undefined;
  readonly isClusterGoing: boolean;
  readonly isWiped: boolean;
  readonly isGivenUp: boolean;
  readonly inContainer: boolean;
}

/** What keeps a machine from being wiped now, or makes it needless; the first that has an answer decides. */
const QUESTIONS: readonly ((going: Going) => Fate | undefined)[] = [
  mayHoldUnknown,
  keptAsItIs,
  configMayArrive,
  ended,
  forbidden,
  stopped,
  beingWiped,
  keysAway,
  missing,
  othersFirst,
  drained,
];

/** What becomes of one machine of a cluster, or pool, that goes. */
export function fateOf(assessed: Assessment, machine: SeenMachine, isClusterGoing: boolean): Fate {
  const { seen } = assessed;
  const { declared, look } = machine;
  const facts = factsOf(seen);
  const fact = machineFact(facts, declared.name);
  const intent = intentOn(facts, declared.name, "Reset");
  // Another machine at its address proves nothing about it.
  const isOther =
    look.kind === "maintenance" && facts !== undefined && fact !== undefined && compareIdentity(facts, fact, look) === "other";
  const isWiped = look.kind === "maintenance" && !isOther;
  const isGivenUp = isAbandoned(seen, machine, facts);
  const going = { assessed, seen, facts, machine, fact, intent, isClusterGoing, isWiped, isGivenUp, inContainer: isContainer(look, fact) };
  for (const question of QUESTIONS) {
    const fate = question(going);
    if (fate !== undefined) return fate;
  }
  const isStubborn = intent !== undefined && seen.now - intent.at >= WIPE_TAKES_MS;
  return { kind: "wiped", intent, message: isStubborn ? toldAgain(declared.name, intent, facts) : busy(going) };
}

/** A record that was made anew does not know what every machine holds. */
function mayHoldUnknown({ seen, facts, machine, isGivenUp }: Going): Fate | undefined {
  const shownBy = mayShowUntil(seen, machine, facts);
  if (shownBy === undefined || isGivenUp) return undefined;
  const { name } = machine.declared;
  return {
    kind: "waits",
    reason: "MachineUnreachable",
    message: `${name} does not report whether it holds a configuration of this cluster (${stateOf(machine)}), and the record was lost. It is released at ${rfc3339(shownBy)} if it does not answer by then.`,
  };
}

function keptAsItIs({ seen, facts, machine }: Going): Fate | undefined {
  return hasToBeWiped(seen, machine, facts) ? undefined : { kind: "kept" };
}

function configMayArrive({ seen, machine, fact, isWiped, isGivenUp }: Going): Fate | undefined {
  const until = fact === undefined ? undefined : configMayArriveUntil(seen, { machine, fact });
  if (!isWiped || until === undefined || isGivenUp) return undefined;
  return {
    kind: "waits",
    reason: "Resetting",
    message: `${machine.declared.name} waits with the key that its configuration was sent to, and it may still arrive: it is released at ${rfc3339(until)} if it waits then. Boot it anew to release it at once.`,
  };
}

function ended({ seen, machine, intent, isWiped, isGivenUp, inContainer }: Going): Fate | undefined {
  const { name } = machine.declared;
  const end = inContainer && intent !== undefined ? endOfContainer(seen, machine, intent) : undefined;
  if (isWiped)
    return {
      kind: "released",
      reason: "AnswersInMaintenance",
      message: end === undefined ? `${name} is released.` : wordsOfEnd(name, end),
    };
  if (end !== undefined)
    return { kind: "released", reason: end === "stopped" ? "Stopped" : "StartedAgain", message: wordsOfEnd(name, end) };
  return isGivenUp ? { kind: "released", reason: "AbandonedByPerson", message: `${name} is released.` } : undefined;
}

function forbidden({ seen, machine: { declared } }: Going): Fate | undefined {
  const toKeep = `set deletionPolicy to preserve on the ${declared.owner.kind} ${declared.owner.name}`;
  const asks = (message: string): Fate => ({ kind: "waits", reason: "ConfirmationRequired", message });
  if (seen.unknownMode !== undefined)
    return asks(
      `The annotation ${annotations.reconcileMode} says ${JSON.stringify(seen.unknownMode)}, which is no known value, so ${declared.name} is not wiped. Correct or remove it, or ${toKeep}.`,
    );
  if (mayWipe(seen)) return undefined;
  return asks(
    `The namespace or a CRD is going away, so ${declared.name} is not wiped. Annotate the TalosControlPlane with ${annotations.confirmReset}: ${seen.controlPlane.metadata.name}, or ${toKeep}.`,
  );
}

/** A container that was told to reset is stopped, and comes back with its volumes only by somebody's hand. */
function stopped(going: Going): Fate | undefined {
  const { seen, machine, intent, inContainer } = going;
  if (!inContainer || machine.look.kind !== "silent" || intent === undefined) return undefined;
  const isNew = isStop(seen, machine, intent);
  return { kind: "waits", reason: "Resetting", message: busy(going), ...(isNew ? { stopped: intent } : {}) };
}

function beingWiped(going: Going): Fate | undefined {
  const { seen, machine, intent } = going;
  if (machine.look.kind === "running" || intent === undefined || seen.now - intent.at >= WIPE_TAKES_MS) return undefined;
  return { kind: "waits", reason: "Resetting", message: busy(going), isUnreached: true };
}

function keysAway({ assessed, machine: { declared, look }, isClusterGoing }: Going): Fate | undefined {
  const isRunning = look.kind === "running";
  if (isRunning ? assessed.keys !== "lost" : isClusterGoing || assessed.keys === "sound") return undefined;
  return {
    kind: "waits",
    reason: "Blocked",
    message: `${declared.name} must be wiped, which takes the cluster's keys${withoutKeys(assessed, declared.name, isClusterGoing)}`,
    ...(isRunning ? {} : { isUnreached: true }),
  };
}

function missing({ facts, machine }: Going): Fate | undefined {
  const { name } = machine.declared;
  if (machine.look.kind === "running") return undefined;
  return {
    kind: "waits",
    reason: "MachineUnreachable",
    message: `${name} must be wiped and does not answer as a machine of this cluster (${stateOf(machine)}). Bring it back, or annotate the TalosControlPlane with ${annotations.abandonMachine}: ${wordFor(facts, name, undefined)}.`,
    isUnreached: true,
  };
}

function othersFirst({ assessed, facts, machine, intent, isClusterGoing }: Going): Fate | undefined {
  if (intent !== undefined || facts === undefined) return undefined;
  const keeps = keptFromWipe(assessed, facts, machine, isClusterGoing);
  if (keeps === undefined || keeps.kind === "effect") return keeps && { kind: "held" };
  const message = `${machine.declared.name} is wiped later: ${whyHeld(keeps)}. ${releaseOf(keeps)}`;
  return { kind: "waits", reason: "Resetting", message };
}

/** When the whole cluster goes, pods have nowhere to go to. */
function drained({ assessed, machine, intent, isClusterGoing }: Going): Fate | undefined {
  if (intent !== undefined || isClusterGoing) return undefined;
  const drain = readyToDisturb(assessed, machine.declared.name);
  if (drain.kind === "ready") return undefined;
  return { kind: "waits", reason: "Draining", message: drain.message, ...(drain.kind === "act" ? { actions: drain.actions } : {}) };
}

function busy({ machine: { declared }, inContainer }: Going): string {
  return inContainer
    ? wordsOfStop(declared.name, declared.role)
    : `${declared.name} is being wiped; it is released once it answers in maintenance mode.`;
}

function toldAgain(name: string, { at }: IntentFact, facts: ClusterFacts | undefined): string {
  return `${name} was told to wipe itself at ${rfc3339(at)} and still runs; it is told again. Look at its console and wipe it by hand, or give it up: annotate the TalosControlPlane with ${annotations.abandonMachine}: ${wordFor(facts, name, undefined)}.`;
}

/** What releases a machine whose wipe takes keys that are away; the condition SecretsLost is told of a cluster that stays. */
function withoutKeys({ seen }: Assessment, name: string, isClusterGoing: boolean): string {
  if (!isClusterGoing) return ": see the condition SecretsLost. It stays as it is until they are back.";
  const facts = factsOf(seen);
  return `, and Secret ${facts?.bundle.secretName ?? ""} does not hold them. Restore it from a backup, or annotate the TalosControlPlane with ${annotations.abandonMachine}: ${wordFor(facts, name, undefined)}.`;
}

/**
 * What keeps a machine from being wiped now, of what else is done to its cluster: a control plane that goes with everything waits for whatever is open, and workers of
 * a pool that goes alone while their control plane needs attention, if there is one.
 */
function keptFromWipe(
  assessed: Assessment,
  facts: ClusterFacts,
  { declared: { name, role } }: SeenMachine,
  isClusterGoing: boolean,
): SlotHolder | MarginHolder | undefined {
  if (role === "controlplane") {
    const slot = controlPlaneSlot(assessed, facts, { machine: name, why: "delete", member: undefined });
    return slot.kind === "held" ? slot.holder : undefined;
  }
  if (isClusterGoing) return undefined;
  const margin = controlPlaneMargin(assessed, facts);
  return margin.kind === "none" && margin.holder.kind !== "founding" ? margin.holder : undefined;
}
