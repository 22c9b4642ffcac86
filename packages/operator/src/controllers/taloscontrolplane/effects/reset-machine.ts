import type { TalosClient, TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS, seenEtcd } from "../../../looking/look-at.ts";
import { waitsForEtcd } from "../membership/etcd-view.ts";
import { asAdmin } from "./admin.ts";
import { attempt, noteNotSent } from "./attempt.ts";
import { demandDeleted } from "./demand-deleted.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandNoMember, demandNoVoter, demandQuorum } from "./demand-quorum.ts";
import { demandUnlisted } from "./demand-unlisted.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

const REFUSALS: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];

/**
 * Wipes a machine whose wipe stands in the record. The answer says only that it was accepted: the proof is the machine in maintenance mode.
 *
 * A container is only stopped by it: it has left etcd before, and the proof is that nobody answers any more.
 *
 * Graceful where the cluster stays: the machine drains its node and leaves etcd first. Not so for the last ones of a cluster that goes, which would wait for
 * ever for etcd to let a member go.
 */
export async function resetMachine(action: Extract<Action, { readonly kind: "ResetMachine" }>, effects: Effects): Promise<void> {
  const { session, seen, log, signal } = effects;
  const key = `Reset/${action.machine}`;
  try {
    const ending = await attempt(key, REFUSALS, effects, (send) =>
      asAdmin(action.address, effects, async (client) => {
        await demandMachine(client, action.machine, action.ifUuid, signal, effects.facts());
        if (action.leavesEtcd === true) await demandLeave(action, effects);
        if (action.ifUnlisted === undefined) await demandDeleted(action.machine, effects);
        else {
          if (action.ifUnlisted === "no-voter") await demandNoVoter(action.machine, effects);
          if (action.ifUnlisted === "no-member") await demandNoMember(action.machine, effects);
          if (action.ifUnlisted === "no-etcd") await demandNoEtcdOn(client, action.machine, signal);
          await demandUnlisted(action.machine, effects);
        }
        const timeoutMs = await effects.guard.check((facts) =>
          facts.intents.some(
            (intent) =>
              intent.what === "Reset" &&
              intent.machine === action.machine &&
              intent.address === action.address &&
              intent.uuid === action.ifUuid,
          ),
        );
        log.info({ action: "ResetMachine", machine: action.machine, endpoint: action.address }, "Resetting machine");
        await send(() => client.reset({ graceful: action.isGraceful === true, reboot: true }, { timeoutMs, signal }));
        effects.event(seen.controlPlane, "Reconciling", "ResetMachine", `Resetting ${action.machine}.`);
      }),
    );
    if (ending.kind === "not-sent") noteNotSent(key, ending, effects);
    if (ending.kind === "refused")
      effects.event(seen.controlPlane, "DeleteFailed", "ResetMachine", `${action.machine} refused its reset: ${ending.words}`);
  } finally {
    session.nudge(action.machine);
  }
}

/** A voter leaves only while the others keep their quorum without it, and only after it handed over the leadership. */
async function demandLeave(action: Extract<Action, { readonly kind: "ResetMachine" }>, effects: Effects): Promise<void> {
  const { view, memberId } = await demandQuorum({ machine: action.machine, how: "leaves" }, effects);
  if (view.leader === memberId && view.voters.length > 1)
    throw new EffectError("PRECONDITION_GONE", `${action.machine} leads etcd and has to hand over first`);
}

/** Before etcd is bootstrapped a control plane that waits for it holds nothing. */
async function demandNoEtcdOn(client: TalosClient, machine: string, signal: AbortSignal): Promise<void> {
  if (!waitsForEtcd(await seenEtcd(client, { timeoutMs: LOOK_TIMEOUT_MS, signal })))
    throw new EffectError("PRECONDITION_GONE", `etcd on ${machine} does not wait to be bootstrapped any more`);
}
