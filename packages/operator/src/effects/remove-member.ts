import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { besideFull } from "../assess/quorum.ts";
import { withEtcd, withFacts } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn, machineFact, withoutIntent } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";
import { demandMachine } from "./demand-machine.ts";
import { membersNow, quorumWithout } from "./demand-quorum.ts";
import { unlisted } from "./demand-unlisted.ts";
import { unpaused } from "./demand-unpaused.ts";
import { endRemoval } from "./member-removal.ts";
import { acceptedPauseMs } from "./reset-machine.ts";
import { defineSend } from "./send-to-machine.ts";

interface RemoveMember {
  /** The machine that is gone. */
  readonly machine: MachineName;
  readonly memberId: string;
  readonly via: { readonly machine: MachineName; readonly address: string; readonly ifUuid: string };
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Takes the member of a machine that is gone out of etcd's list. Asked of a healthy member; the intent stands in the record. */
    RemoveMember: RemoveMember;
  }
}

const refusals: readonly TalosErrorCode[] = ["NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "RemoveMember", refusals, pauseMs: acceptedPauseMs } as const;

/**
 * Takes the member of a machine that is gone out of etcd's list.
 *
 * Talos hands the id to etcd and looks at nothing, so the whole guard is here: no machine that answers shows this member as its own, the others agree and
 * keep their quorum, a person took the machine off the list, and the record holds this very intent. A repetition is harmless: the id never comes back.
 */
export const removeMember = defineSend("RemoveMember", {
  inventory: "T8",
  machine: ({ machine }) => machine,
  whom: ({ memberId }) => memberId,
  address: ({ via }) => via.address,
  disrupts: "etcd member",
  intent: "RemoveMember",
  retry,
  before: { unpaused },
  checks: {
    sameWitness: ({ action: { via }, client, effects }) => demandMachine(client, via.machine, via.ifUuid, effects.signal, effects.facts()),
    ...quorumWithout<RemoveMember>("leaves", ({ machine, memberId }) => ({ machine, memberId }), besideFull),
    notShown: async (connected) => {
      const { machine, memberId } = connected.action;
      const { answers } = await connected.ask(membersNow);
      const owner = answers.findLast(({ etcd }) => etcd.localMember === memberId)?.machine;
      // Only a container that is on its way out may be there still: one whose member cannot leave by itself.
      const isLeaving = owner === machine && isBeingReset(connected.effects.facts(), machine);
      if (owner !== undefined && !isLeaving)
        throw new EffectError("PRECONDITION_GONE", `${owner} answers and shows member ${memberId} as its own`);
    },
    ...unlisted,
  },
  record: {
    member: (facts, { machine, memberId }) =>
      intentOn(facts, machine, "RemoveMember")?.memberId === memberId || isBeingReset(facts, machine),
  },
  doing: "Removing etcd member",
  send: ({ client, action }, options) => client.etcdRemoveMemberById(action.memberId, options),
  taken: ({ action: { machine, memberId }, effects }) =>
    effects.event("Reconciling", "RemoveMember", `Removed member ${memberId} of ${machine}, which is gone, from etcd.`),
  ended: (ending, { action: { machine, memberId, via }, effects }) =>
    endRemoval(ending, retry, memberId, effects, (words) => `${via.machine} refused to remove member ${memberId} of ${machine}: ${words}`),
  lastly: ({ action, effects }) => effects.session.machines.nudge(action.via.machine),
  step: ({ machine }) => onMachine("membership", machine, (named) => `Remove member: ${named}.`),
  afterwards(seen, { machine, memberId }) {
    const facts = factsOf(seen);
    const without = withEtcd(seen, (etcd, members) => ({ ...etcd, members: members.filter(({ id }) => id !== memberId) }));
    return facts === undefined ? without : withFacts(without, withoutIntent(facts, machine));
  },
});

/** Its reset stands in the record, and it is a container: a member that does not leave by itself is removed under the same intent. */
function isBeingReset(facts: ClusterFacts, machine: MachineName): boolean {
  return machineFact(facts, machine)?.platform === "container" && intentOn(facts, machine, "Reset") !== undefined;
}
