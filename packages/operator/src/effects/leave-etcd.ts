import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { withoutEtcd, withoutMember } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { noteNotSent } from "./attempt.ts";
import { rememberedAs } from "./define.ts";
import type { Sending } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { leads, ownMember, quorumWithout } from "./demand-quorum.ts";
import { unlisted } from "./demand-unlisted.ts";
import { acceptedPauseMs } from "./reset-machine.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface LeaveEtcd {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** The machine removes its own member from etcd and empties its data: before a container is stopped, which leaves etcd as it is. Its reset stands in the record. */
    LeaveEtcd: LeaveEtcd;
  }
}

const refusals: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "LeaveEtcd", refusals, pauseMs: acceptedPauseMs } as const;

/**
 * Has a container leave etcd before it is stopped, under the intent of its reset. What the answer says is no proof: that is the list of the others.
 *
 * Talos runs it under the call: removed, stopped, emptied. Whoever dies in the middle leaves a machine without a vote that never joins again with its data, and
 * whoever asks twice is told that nothing is left to do, or waits for a member in vain; the list of the others says which.
 *
 * @see siderolabs/talos v1.13.9 `internal/pkg/etcd/etcd.go` LeaveCluster
 */
export const leaveEtcd = defineSend("LeaveEtcd", {
  inventory: "T7",
  ...toMachine,
  disrupts: "etcd member",
  intent: "Reset",
  retry,
  checks: {
    sameMachine,
    ownMember,
    ...quorumWithout<LeaveEtcd>("leaves"),
    handedOver: async (connected) => {
      const { machine } = connected.action;
      if (await leads(connected)) throw new EffectError("PRECONDITION_GONE", `${machine} leads etcd and has to hand over first`);
    },
    ...unlisted,
  },
  record: {
    address: (facts, { machine, address }) => intentOn(facts, machine, "Reset")?.address === address,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "Reset")?.uuid === ifUuid,
  },
  doing: "Leaving etcd",
  send: ({ client }, options) => client.etcdLeaveCluster(options),
  taken: ({ action, effects }) => effects.tellStep(action.machine, "MemberLeft", `${action.machine} left etcd and is stopped next.`),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine), ending, effects);
    if (ending.kind === "refused") effects.event("MemberRemovalFailed", "LeaveEtcd", `${machine} did not leave etcd: ${ending.words}`);
  },
  lastly: nudgeMembers,
  step: ({ machine, address }) =>
    onMachine("membership", machine, (named) => `Have ${named} leave etcd, before its container is stopped.`, `${machine} (${address})`),
  afterwards(seen, { machine }) {
    const left = withoutMember(seen, machine);
    return { ...left, former: left.former.map((one) => (one.declared.name === machine ? withoutEtcd(one) : one)) };
  },
});

/** Every control plane shows what became of the members. */
export function nudgeMembers({ action, effects: { seen, session } }: Sending<{ readonly machine: MachineName }>): void {
  for (const { declared } of seen.machines) if (declared.role === "controlplane") session.machines.nudge(declared.name);
  session.machines.nudge(action.machine);
}
