import { TalosError } from "@talos-operator/talos/client";
import { isEffectError } from "../../../errors.ts";
import { asAdmin } from "./admin.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/** Has a leader that is about to leave hand over first, so that nobody waits for an election. Harmless to repeat; who leads next is seen in the next look. */
export async function forfeitLeadership(action: Extract<Action, { readonly kind: "ForfeitLeadership" }>, effects: Effects): Promise<void> {
  const { session, log, signal } = effects;
  const { machine } = action;
  const effect = `ForfeitLeadership/${machine}`;
  session.noteSent(effect, "unknown", "no answer");
  try {
    await asAdmin(action.address, effects, async (client) => {
      await demandMachine(client, machine, action.ifUuid, signal, effects.facts());
      const { view, memberId } = await demandQuorum({ machine, how: "leaves" }, effects);
      if (view.leader !== memberId) return;
      const timeoutMs = await effects.guard.check((facts) =>
        facts.intents.some((intent) => intent.what === "Reset" && intent.machine === machine && intent.uuid === action.ifUuid),
      );
      log.info({ action: "ForfeitLeadership", machine, endpoint: action.address }, "Handing over etcd leadership");
      await effects.letEnd(() => client.etcdForfeitLeadership({ timeoutMs, signal }));
    });
  } catch (thrown) {
    // The next look shows who leads.
    if (!(thrown instanceof TalosError) && !isEffectError(thrown, "PRECONDITION_GONE")) throw thrown;
    log.debug({ action: "ForfeitLeadership", machine, err: thrown.message }, "Leadership not known to have moved; looking again");
  } finally {
    for (const { declared } of effects.seen.machines) if (declared.role === "controlplane") session.nudge(declared.name);
    session.nudge(machine);
  }
}
