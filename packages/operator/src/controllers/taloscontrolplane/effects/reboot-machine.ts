import { EffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import { intentOn } from "../record/facts.ts";
import { sending } from "./apply-config.ts";
import { demandQuorum } from "./demand-quorum.ts";
import { demandMachine } from "./demand-machine.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/**
 * Boots a machine anew whose reboot stands in the record.
 *
 * On the connection of the send: it is the machine that was written down, and it still runs the boot of then. A repetition is thus harmless: once it has
 * rebooted its boot id is another one.
 */
export async function rebootMachine(action: Extract<Action, { readonly kind: "RebootMachine" }>, effects: Effects): Promise<void> {
  const { signal } = effects;
  await sending("Reboot", action, effects, async (client, send) => {
    await demandMachine(client, action.machine, action.ifUuid, signal, effects.facts());
    const bootId = (await client.bootId({ timeoutMs: LOOK_TIMEOUT_MS, signal })).trim();
    if (bootId !== action.ifBootId) throw new EffectError("PRECONDITION_GONE", "it has booted meanwhile");
    if (action.role === "controlplane") await demandQuorum({ machine: action.machine, how: "is-down" }, effects);
    const timeoutMs = await effects.guard.check((facts) => {
      const intent = intentOn(facts, action.machine, "Reboot");
      return intent?.bootIdBefore === action.ifBootId && intent.uuid === action.ifUuid;
    });
    await send(() => client.reboot({}, { timeoutMs, signal }));
  });
}
