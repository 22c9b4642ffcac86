import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { asAdmin } from "./admin.ts";
import { attempt, noteNotSent } from "./attempt.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";
import { demandUnlisted } from "./demand-unlisted.ts";
import { machineFact } from "../record/facts.ts";
import type { Action } from "../../../model/effect.ts";
import type { ClusterFacts } from "../../../model/record.ts";
import type { Effects } from "./ports.ts";

const REFUSALS: readonly TalosErrorCode[] = ["NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];

/**
 * Takes the member of a machine that is gone out of etcd's list.
 *
 * Talos hands the id to etcd and looks at nothing, so the whole guard is here: no machine that answers shows this member as its own, the others agree and
 * keep their quorum, a person took the machine off the list, and the record holds this very intent. A repetition is harmless: the id never comes back.
 */
export async function removeMember(action: Extract<Action, { readonly kind: "RemoveMember" }>, effects: Effects): Promise<void> {
  const { session, seen, log, signal } = effects;
  const { machine, memberId, via } = action;
  const key = `RemoveMember/${memberId}`;
  try {
    const ending = await attempt(key, REFUSALS, effects, (send) =>
      asAdmin(via.address, effects, async (client) => {
        await demandMachine(client, via.machine, via.ifUuid, signal, effects.facts());
        const { shownBy } = await demandQuorum({ machine, memberId, how: "leaves" }, effects);
        const owner = shownBy.get(memberId);
        // Only a container that is on its way out may be there still: one whose member cannot leave by itself.
        const isLeaving = owner === machine && isBeingReset(effects, machine);
        if (owner !== undefined && !isLeaving)
          throw new EffectError("PRECONDITION_GONE", `${owner} answers and shows member ${memberId} as its own`);
        await demandUnlisted(machine, effects);
        const timeoutMs = await effects.guard.check((facts) =>
          facts.intents.some(
            (intent) =>
              intent.machine === machine &&
              (intent.what === "RemoveMember" ? intent.memberId === memberId : intent.what === "Reset" && isContainerFact(facts, machine)),
          ),
        );
        log.info({ action: "RemoveMember", machine, member: memberId, endpoint: via.address }, "Removing etcd member");
        await send(() => client.etcdRemoveMemberById(memberId, { timeoutMs, signal }));
        effects.event(
          seen.controlPlane,
          "Reconciling",
          "RemoveMember",
          `Member ${memberId} of ${machine}, which is gone, was removed from etcd.`,
        );
      }),
    );
    if (ending.kind === "not-sent") noteNotSent(key, ending, effects);
    if (ending.kind !== "refused") return;
    // Somebody was first: what was wanted.
    if (ending.code === "NOT_FOUND") session.noteSent(key, "answered", "");
    else
      effects.event(
        seen.controlPlane,
        "MemberRemovalFailed",
        "RemoveMember",
        `${via.machine} refused to remove member ${memberId} of ${machine}: ${ending.words}`,
      );
  } finally {
    session.nudge(via.machine);
  }
}

/** Its reset stands in the record, and it is a container: a member that does not leave by itself is removed under the same intent. */
function isBeingReset(effects: Effects, machine: string): boolean {
  const facts = effects.facts();
  return isContainerFact(facts, machine) && facts.intents.some((intent) => intent.what === "Reset" && intent.machine === machine);
}

function isContainerFact(facts: ClusterFacts, machine: string): boolean {
  return machineFact(facts, machine)?.platform === "container";
}
