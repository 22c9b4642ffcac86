import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { asAdmin } from "./admin.ts";
import { attempt, noteNotSent } from "./attempt.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";
import { demandUnlisted } from "./demand-unlisted.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

const REFUSALS: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];

/**
 * Has a container leave etcd before it is stopped, under the intent of its reset. What the answer says is no proof: that is the list of the others.
 *
 * Talos runs it under the call: removed, stopped, emptied. Whoever dies in the middle leaves a machine without a vote that never joins again with its data, and
 * whoever asks twice is told that nothing is left to do, or waits for a member in vain; the list of the others says which.
 *
 * @see siderolabs/talos v1.13.9 `internal/pkg/etcd/etcd.go` LeaveCluster
 */
export async function leaveEtcd(action: Extract<Action, { readonly kind: "LeaveEtcd" }>, effects: Effects): Promise<void> {
  const { session, seen, log, signal } = effects;
  const { machine } = action;
  const key = `LeaveEtcd/${machine}`;
  try {
    const ending = await attempt(key, REFUSALS, effects, (send) =>
      asAdmin(action.address, effects, async (client) => {
        await demandMachine(client, machine, action.ifUuid, signal, effects.facts());
        const { view, memberId } = await demandQuorum({ machine, how: "leaves" }, effects);
        if (view.leader === memberId) throw new EffectError("PRECONDITION_GONE", `${machine} leads etcd and has to hand over first`);
        await demandUnlisted(machine, effects);
        const timeoutMs = await effects.guard.check((facts) =>
          facts.intents.some(
            (intent) =>
              intent.what === "Reset" && intent.machine === machine && intent.address === action.address && intent.uuid === action.ifUuid,
          ),
        );
        log.info({ action: "LeaveEtcd", machine, member: memberId, endpoint: action.address }, "Leaving etcd");
        await send(() => client.etcdLeaveCluster({ timeoutMs, signal }));
        effects.event(seen.controlPlane, "Reconciling", "LeaveEtcd", `${machine} has left etcd and is stopped next.`);
      }),
    );
    if (ending.kind === "not-sent") noteNotSent(key, ending, effects);
    if (ending.kind === "refused")
      effects.event(seen.controlPlane, "MemberRemovalFailed", "LeaveEtcd", `${machine} did not leave etcd: ${ending.words}`);
  } finally {
    for (const { declared } of seen.machines) if (declared.role === "controlplane") session.nudge(declared.name);
    session.nudge(machine);
  }
}
