import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { isMinority } from "../assess/corrupt.ts";
import { despiteCorrupt } from "../assess/quorum.ts";
import { withEtcdOf, withoutMember } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { noteNotSent } from "./attempt.ts";
import { rememberedAs } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { memberShown, membersNow, ownMember, quorumWithout } from "./demand-quorum.ts";
import { nudgeMembers } from "./leave-etcd.ts";
import { acceptedPauseMs } from "./reset-machine.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface ReplaceMember {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
  /** Only while the machine shows this member as its own. */
  readonly memberId: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** The machine removes its own member from etcd and empties its data: its data are not those of the majority. The intent stands in the record. */
    ReplaceMember: ReplaceMember;
  }
}

const refusals: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "ReplaceMember", refusals, pauseMs: acceptedPauseMs } as const;

/**
 * Has a member with wrong data leave etcd, so that its machine joins anew. The machine stays wanted, which is the one exception to "no member of a machine that is
 * wanted is removed": so all that allows it is asked once more here, of what the members tell now.
 *
 * Nothing but etcd's own data is lost: Talos removes the member, stops etcd and empties its directory, all under the call.
 *
 * @see siderolabs/talos v1.13.9 `internal/pkg/etcd/etcd.go` LeaveCluster
 */
export const replaceMember = defineSend("ReplaceMember", {
  inventory: "T7",
  ...toMachine,
  disrupts: "etcd member",
  intent: "ReplaceMember",
  retry,
  checks: {
    sameMachine,
    ownMember,
    ...quorumWithout<ReplaceMember>("leaves", ({ machine, memberId }) => ({ machine, memberId }), despiteCorrupt),
    wrongData: async (connected) => {
      const { view } = await connected.ask(membersNow);
      const { machine, memberId } = connected.action;
      const corrupt = view.kind === "unsafe" ? view.corrupt : undefined;
      if (corrupt === undefined || !corrupt.members.includes(memberId) || !isMinority(corrupt))
        throw new EffectError("PRECONDITION_GONE", `no majority of etcd's members says that the data of ${machine} are wrong`);
    },
    sameMember: async (connected) => {
      const { machine, memberId } = connected.action;
      const own = memberShown(await connected.ask(membersNow), machine);
      if (own !== memberId) throw new EffectError("PRECONDITION_GONE", `${machine} does not show member ${memberId} of etcd as its own`);
    },
  },
  record: {
    member: (facts, { machine, memberId }) => intentOn(facts, machine, "ReplaceMember")?.memberId === memberId,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "ReplaceMember")?.uuid === ifUuid,
  },
  doing: "Leaving etcd with wrong data",
  send: ({ client }, options) => client.etcdLeaveCluster(options),
  taken: ({ action, effects }) =>
    effects.tellStep(
      action.machine,
      "MemberLeft",
      `${action.machine} left etcd, for its data differ from those of the other members, and boots to join again.`,
    ),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine), ending, effects);
    if (ending.kind === "refused") effects.event("MemberRemovalFailed", "ReplaceMember", `${machine} did not leave etcd: ${ending.words}`);
  },
  lastly: nudgeMembers,
  step: ({ machine }) =>
    onMachine(
      "membership",
      machine,
      (named) => `Have ${named} leave etcd, for its data are not those of the others: its copy of etcd's data is lost.`,
    ),
  afterwards: (seen, { machine }) =>
    withEtcdOf(withoutMember(seen, machine), machine, (etcd) => ({
      ...etcd,
      members: undefined,
      service: "Finished",
      isHealthy: false,
      localMember: "none",
      hasData: false,
    })),
});
