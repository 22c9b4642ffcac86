import { isTalosError, TalosError } from "@talos-operator/talos";
import { isEffectError } from "../../../errors.ts";
import type { Effects } from "../execute.ts";
import type { Action } from "../model.ts";
import { asAdmin } from "./admin.ts";

/**
 * Wipes a machine whose wipe stands in the record. The answer says only that it was accepted: the proof is the machine in maintenance mode.
 *
 * Not graceful: the cluster, or the whole pool, goes; waiting for etcd to let a member go would wait for ever on the last ones.
 */
export async function resetMachine(action: Extract<Action, { readonly kind: "ResetMachine" }>, effects: Effects): Promise<void> {
  const { session, log, signal } = effects;
  const effect = `Reset/${action.machine}`;
  try {
    await asAdmin(action.address, effects, async (client) => {
      await client.version({ timeoutMs: 2_000, signal });
      const timeoutMs = await effects.guard.check((facts) =>
        facts.resets.some((reset) => reset.machine === action.machine && reset.address === action.address),
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
    } else if (!(thrown instanceof TalosError) && !isEffectError(thrown, "PRECONDITION_GONE")) {
      throw thrown;
    }
  } finally {
    session.nudge(action.machine);
  }
}
