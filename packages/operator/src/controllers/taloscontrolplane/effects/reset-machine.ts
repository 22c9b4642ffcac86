import { isTalosError, TalosError } from "@talos-operator/talos/client";
import { isEffectError } from "../../../errors.ts";
import type { Effects } from "../execute.ts";
import type { Action } from "../model.ts";
import { asAdmin } from "./admin.ts";
import { demandMachine } from "./demand-machine.ts";

/**
 * Wipes a machine whose wipe stands in the record. The answer says only that it was accepted: the proof is the machine in maintenance mode.
 *
 * Not graceful: the cluster, or the whole pool, goes; waiting for etcd to let a member go would wait for ever on the last ones.
 */
export async function resetMachine(action: Extract<Action, { readonly kind: "ResetMachine" }>, effects: Effects): Promise<void> {
  const { session, log, signal } = effects;
  const effect = `Reset/${action.machine}`;
  const before = session.sent().get(effect);
  try {
    await asAdmin(action.address, effects, async (client) => {
      await demandMachine(client, action.machine, action.ifUuid, signal);
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
      session.noteSent(effect, "unknown", "no answer");
      await client.reset({ graceful: false, reboot: true }, { timeoutMs, signal });
      session.noteSent(effect, "answered", "");
      effects.event(effects.seen.controlPlane, "Normal", "Reconciling", "ResetMachine", `${action.machine} accepted its reset.`);
    });
  } catch (thrown) {
    if (isTalosError(thrown, "PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED")) {
      session.noteSent(effect, "refused", thrown.nodeText.slice(0, 200));
      effects.event(
        effects.seen.controlPlane,
        "Warning",
        "DeleteFailed",
        "ResetMachine",
        `${action.machine} refused its reset: ${thrown.nodeText.slice(0, 200)}`,
      );
    } else if (thrown instanceof TalosError || isEffectError(thrown, "PRECONDITION_GONE")) {
      // Not even asked: without a pause the next pass would ask again at once.
      if (session.sent().get(effect) === before)
        session.noteSent(effect, before?.outcome ?? "unknown", before?.detail ?? "it could not be asked");
      log.debug({ action: "ResetMachine", machine: action.machine, err: thrown.message }, "Reset not known to have arrived; looking again");
    } else {
      throw thrown;
    }
  } finally {
    session.nudge(action.machine);
  }
}
