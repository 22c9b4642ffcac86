import { isTalosError, META_KEYS } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { metaHashOf, wantedMeta } from "../config-changes/meta-plan.ts";
import type { WantedMeta } from "../config-changes/meta-plan.ts";
import { platformOf } from "../config-changes/platform-of.ts";
import { readMeta } from "../config-changes/read-config.ts";
import { howNow, sending } from "./apply-config.ts";
import { demandInTime } from "./demand-in-time.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/**
 * Writes a machine's static network settings to its META, or takes them out. The machine follows them at once, and nothing takes them back by itself.
 *
 * On the connection of the send: it is the machine that was written down, META holds what the decision was made on, and etcd bears the loss of a control
 * plane. A repetition is harmless: it writes the same text.
 */
export async function writeMeta(action: Extract<Action, { readonly kind: "WriteMeta" }>, effects: Effects): Promise<void> {
  await sending("WriteMeta", action, effects, async (client, send) => {
    const options = { timeoutMs: LOOK_TIMEOUT_MS, signal: effects.signal };
    const wanted = wantedNow(action, effects);
    await demandMachine(client, action.machine, action.ifUuid, effects.signal, effects.facts());
    const live = metaHashOf(await readMeta(client, options));
    if (live !== action.ifLive) throw new EffectError("PRECONDITION_GONE", "its META changed meanwhile");
    if (action.role === "controlplane") await demandQuorum({ machine: action.machine, how: "is-down" }, effects);
    const timeoutMs = await effects.guard.check((facts) => {
      const intent = intentOn(facts, action.machine, "WriteMeta");
      return intent?.configHash === action.settings && intent.uuid === action.ifUuid;
    });
    demandInTime(action.machine, "WriteMeta", timeoutMs, effects);
    await send(() => put(client, wanted, { timeoutMs, signal: effects.signal }), howNow(action, effects));
  });
}

function wantedNow(action: Extract<Action, { readonly kind: "WriteMeta" }>, effects: Effects): WantedMeta {
  const machine = effects.seen.machines.find((one) => one.declared.name === action.machine);
  const fact = machineFact(effects.facts(), action.machine);
  const wanted = machine === undefined ? undefined : wantedMeta(machine.declared, platformOf(machine.look, fact));
  if (wanted?.hash !== action.settings) throw new EffectError("PRECONDITION_GONE", "it is not declared with these settings any more");
  return wanted;
}

async function put(client: TalosClient, { text }: WantedMeta, options: CallOptions): Promise<void> {
  if (text !== undefined) return client.metaWrite(META_KEYS.metalNetwork, text, options);
  try {
    await client.metaDelete(META_KEYS.metalNetwork, options);
  } catch (thrown) {
    if (!isTalosError(thrown, "NOT_FOUND")) throw thrown;
  }
}

/**
 * Writes the settings before the first configuration where the machine lets strangers do so: over SideroLink it does, elsewhere it refuses, and they are
 * written once it runs.
 */
export async function writeMetaInMaintenance(client: TalosClient, { text }: WantedMeta, options: CallOptions): Promise<void> {
  if (text === undefined) return;
  try {
    await client.metaWrite(META_KEYS.metalNetwork, text, options);
  } catch (thrown) {
    if (!isTalosError(thrown, "PERMISSION_DENIED", "UNIMPLEMENTED")) throw thrown;
  }
}
