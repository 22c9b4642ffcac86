import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS, seenEtcd } from "../looking/look-at.ts";
import { platformOf } from "../procedures/configure/platform-of.ts";
import { waitsForEtcd } from "../assess/etcd-view.ts";
import { lookedAgain, settled, wipedLook, withLook } from "../planning/afterwards.ts";
import { withoutDrain, withoutMember } from "../planning/afterwards-machines.ts";
import { withoutKubelet } from "../planning/afterwards-nodes.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn, machineFact } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import { noteNotSent } from "./attempt.ts";
import { rememberedAs, where } from "./define.ts";
import type { Check, Retry } from "./define.ts";
import { poolGoes } from "./demand-deleted.ts";
import { sameMachine } from "./demand-machine.ts";
import { leads, noMember, noVote, ownMember, quorumWithout, tellsMember } from "./demand-quorum.ts";
import { unlisted } from "./demand-unlisted.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface ResetMachine {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
  /** The machine drains its node and leaves etcd by itself first. Default: it wipes at once, for the cluster goes. */
  readonly isGraceful?: boolean;
  /** A voter of etcd leaves: the members are asked live whether they keep their quorum without it. */
  readonly leavesEtcd?: boolean;
  /**
   * The machine leaves a cluster that stays: the specs are read live, and none may list it. `no-voter`: etcd's members are asked, and it must be none
   * that votes; `no-member`: the others list no member of it at all; `no-etcd`: etcd is not bootstrapped, and the machine must hold none. Default: cluster or
   * pool are deleted.
   */
  readonly ifUnlisted?: "voter" | "no-voter" | "no-member" | "no-etcd" | "worker";
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Wipes. Only a machine whose intent stands in the record. */
    ResetMachine: ResetMachine;
  }
}

type Asked = Connected<ResetMachine>;
const unlistedAs =
  (...kinds: readonly ResetMachine["ifUnlisted"][]) =>
  ({ action }: Asked): boolean =>
    kinds.includes(action.ifUnlisted);

/** A machine that accepted a call which it carries out by itself gets a minute; after an unknown outcome it gets a moment to show what happened. */
export const acceptedPauseMs: Retry["pauseMs"] = { answered: 60_000, refused: 2_000, unknown: 2_000 };
const refusals: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "Reset", refusals, pauseMs: acceptedPauseMs } as const;

/** A leader hands over before it leaves, where others vote. */
const handedOver: Check<Asked> = async (connected) => {
  const { machine } = connected.action;
  if (await leads(connected, 1)) throw new EffectError("PRECONDITION_GONE", `${machine} leads etcd and has to hand over first`);
};

/** Before etcd is bootstrapped a control plane that waits for it holds nothing. */
const noEtcd: Check<Asked> = async ({ action, client, effects: { signal } }) => {
  if (!waitsForEtcd(await seenEtcd(client, { timeoutMs: LOOK_TIMEOUT_MS, signal })))
    throw new EffectError("PRECONDITION_GONE", `etcd on ${action.machine} does not wait to be bootstrapped any more`);
};

/**
 * Wipes a machine whose wipe stands in the record. The answer says only that it was accepted: the proof is the machine in maintenance mode.
 *
 * A container is only stopped by it: it has left etcd before, and the proof is that nobody answers any more.
 *
 * Graceful where the cluster stays: the machine drains its node and leaves etcd first. Not so for the last ones of a cluster that goes, which would wait for
 * ever for etcd to let a member go.
 */
export const resetMachine = defineSend("ResetMachine", {
  inventory: "T9",
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "Reset",
  retry,
  checks: {
    sameMachine,
    ...where(({ action }: Asked) => action.leavesEtcd === true, { ownMember, ...quorumWithout<ResetMachine>("leaves"), handedOver }),
    ...where(unlistedAs(undefined), poolGoes),
    ...where(unlistedAs("no-voter", "no-member"), { tellsMember }),
    ...where(unlistedAs("no-voter"), noVote),
    ...where(unlistedAs("no-member"), noMember),
    ...where(unlistedAs("no-etcd"), { noEtcd }),
    ...where(({ action }: Asked) => action.ifUnlisted !== undefined, unlisted),
  },
  record: {
    address: (facts, { machine, address }) => intentOn(facts, machine, "Reset")?.address === address,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "Reset")?.uuid === ifUuid,
  },
  doing: "Resetting machine",
  send: ({ client, action }, options) => client.reset({ graceful: action.isGraceful === true, reboot: true }, options),
  taken: ({ action: { machine }, effects }) => effects.tellStep(machine, "ResetStarted", `Resetting ${machine}.`),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine), ending, effects);
    if (ending.kind === "refused") effects.event("DeleteFailed", "ResetMachine", `${machine} refused its reset: ${ending.words}`);
  },
  lastly: ({ action, effects }) => effects.session.machines.nudge(action.machine),
  step(action, seen) {
    const { machine, address } = action;
    const named = `${machine} (${address})`;
    if (isContainerHere(seen, machine))
      return onMachine(
        "membership",
        machine,
        (named) => `Stop the container of ${named}: nothing is wiped, and it is released when it does not answer any more.`,
        named,
      );
    const leaves = action.leavesEtcd === true || isLeavingEtcd(action, seen);
    return onMachine(
      "destroys data",
      machine,
      (named) =>
        `${leaves ? `Have ${named} leave etcd, then wipe it` : `Wipe ${named}`}: all its data is lost; it is released when it answers in maintenance mode.`,
      named,
    );
  },
  afterwards(seen, { machine, isGraceful }) {
    // A graceful one leaves etcd by itself before it is wiped.
    const left = isGraceful === true ? withoutMember(seen, machine) : seen;
    // With its drain it would keep its place in the budget of its pool.
    const reset = withoutDrain(withLook(left, machine, wipedLook(left, machine)), machine);
    return withoutKubelet(settled(lookedAgain(reset)), machine);
  },
});

/** The machine says that it runs in a container. */
export function isContainerHere(seen: Observed, name: MachineName): boolean {
  const look = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === name)?.look;
  return look !== undefined && platformOf(look, machineFact(factsOf(seen), name)) === "container";
}

/** A control plane that is reset gracefully leaves etcd by itself first. */
function isLeavingEtcd({ isGraceful, machine }: ResetMachine, seen: Observed): boolean {
  const target = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === machine);
  return isGraceful === true && target?.declared.role === "controlplane";
}
