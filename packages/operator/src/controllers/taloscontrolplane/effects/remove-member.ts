import { isTalosError, TalosError } from "@talos-operator/talos/client";
import { EffectError, isEffectError } from "../../../errors.ts";
import type { Effects } from "../execute.ts";
import type { Action } from "../model.ts";
import { asAdmin } from "./admin.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";
import { demandUnlisted } from "./demand-unlisted.ts";

/**
 * Takes the member of a machine that is gone out of etcd's list.
 *
 * Talos hands the id to etcd and looks at nothing, so the whole guard is here: no machine that answers shows this member as its own, the others agree and
 * keep their quorum, a person took the machine off the list, and the record holds this very intent. A repetition is harmless: the id never comes back.
 */
export async function removeMember(action: Extract<Action, { readonly kind: "RemoveMember" }>, effects: Effects): Promise<void> {
  const { session, seen, log, signal } = effects;
  const { machine, memberId, via } = action;
  const effect = `RemoveMember/${memberId}`;
  const before = session.sent().get(effect);
  try {
    await asAdmin(via.address, effects, async (client) => {
      await demandMachine(client, via.machine, via.ifUuid, signal, effects.facts());
      const { shownBy } = await demandQuorum({ machine, memberId, how: "leaves" }, effects);
      const owner = shownBy.get(memberId);
      if (owner !== undefined) throw new EffectError("PRECONDITION_GONE", `${owner} answers and shows member ${memberId} as its own`);
      await demandUnlisted(machine, effects);
      const timeoutMs = await effects.guard.check((facts) =>
        facts.intents.some((intent) => intent.what === "RemoveMember" && intent.machine === machine && intent.memberId === memberId),
      );
      log.info({ action: "RemoveMember", machine, member: memberId, endpoint: via.address }, "Removing etcd member");
      session.noteSent(effect, "unknown", "no answer");
      await client.etcdRemoveMemberById(memberId, { timeoutMs, signal });
      session.noteSent(effect, "answered", "");
      effects.event(
        seen.controlPlane,
        "Normal",
        "Reconciling",
        "RemoveMember",
        `Member ${memberId} of ${machine}, which is gone, was removed from etcd.`,
      );
    });
  } catch (thrown) {
    // What a machine says to a question before it is no answer to what was never sent.
    const wasSent = session.sent().get(effect) !== before;
    if (wasSent && isTalosError(thrown, "NOT_FOUND")) {
      // Somebody was first: what was wanted.
      session.noteSent(effect, "answered", "");
    } else if (wasSent && isTalosError(thrown, "PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED")) {
      session.noteSent(effect, "refused", thrown.nodeText.slice(0, 200));
      effects.event(
        seen.controlPlane,
        "Warning",
        "MemberRemovalFailed",
        "RemoveMember",
        `${via.machine} refused to remove member ${memberId} of ${machine}: ${thrown.nodeText.slice(0, 200)}`,
      );
    } else if (thrown instanceof TalosError || isEffectError(thrown, "PRECONDITION_GONE")) {
      // Not even asked: without a pause the next pass would ask again at once.
      if (!wasSent) session.noteSent(effect, before?.outcome ?? "unknown", before?.detail ?? "it could not be asked");
      log.debug({ action: "RemoveMember", machine, err: thrown.message }, "Removal not known to have arrived; looking again");
    } else {
      throw thrown;
    }
  } finally {
    session.nudge(via.machine);
  }
}
