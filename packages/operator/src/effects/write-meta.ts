import { isTalosError, META_KEYS } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { metaHashOf, wantedMeta } from "../procedures/configure/meta-plan.ts";
import type { WantedMeta } from "../procedures/configure/meta-plan.ts";
import { renamingByMeta, renamingWords } from "../procedures/configure/renaming.ts";
import { platformOf } from "../procedures/configure/platform-of.ts";
import { readMeta } from "../procedures/configure/read-config.ts";
import { known, withConfig, withFact } from "../planning/afterwards-machines.ts";
import { withRenamedNode } from "../planning/afterwards-nodes.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";
import { always, where } from "./define.ts";
import type { Sending } from "./define.ts";
import { inTime } from "./demand-in-time.ts";
import { sameMachine } from "./demand-machine.ts";
import { ownMember, quorumWithout } from "./demand-quorum.ts";
import { howNow, onRunningMachine } from "./on-running-machine.ts";
import { notDeclared } from "./reading-now.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface WriteMeta {
  readonly machine: MachineName;
  /** etcd must bear the loss of a control plane: the machine follows the settings at once. */
  readonly role: MachineRole;
  readonly address: string;
  readonly ifUuid: string;
  /** Hash of the settings that are wanted; `none` = the key is removed. */
  readonly settings: string;
  /** Hash of what META held. */
  readonly ifLive: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Changes the static network settings in the machine's META. Only while META holds what the decision was made on, and the record this very intent. */
    WriteMeta: WriteMeta;
  }
}

/** The settings that the machine is declared with. */
const wantedNow = ({ action, effects }: Sending<WriteMeta>): WantedMeta | undefined => {
  const machine = effects.seen.machines.find((one) => one.declared.name === action.machine);
  const fact = machineFact(effects.facts(), action.machine);
  return machine === undefined ? undefined : wantedMeta(machine.declared, platformOf(machine.look, fact));
};

/**
 * Writes a machine's static network settings to its META, or takes them out. The machine follows them at once, and nothing takes them back by itself.
 *
 * On the connection of the send: it is the machine that was written down, META holds what the decision was made on, and etcd bears the loss of a control
 * plane. A repetition is harmless: it writes the same text.
 */
export const writeMeta = defineSend("WriteMeta", {
  inventory: "T3",
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "WriteMeta",
  ...onRunningMachine("WriteMeta", always(0)),
  checks: {
    declaredSettings: (sending) => {
      if (sending.ask(wantedNow)?.hash !== sending.action.settings) throw notDeclared();
    },
    sameMachine,
    seenMeta: async ({ action, client, effects: { signal } }) => {
      if (metaHashOf(await readMeta(client, { timeoutMs: LOOK_TIMEOUT_MS, signal })) !== action.ifLive)
        throw new EffectError("PRECONDITION_GONE", "its META changed meanwhile");
    },
    ...where(({ action }: Connected<WriteMeta>) => action.role === "controlplane", { ownMember, ...quorumWithout("is-down") }),
  },
  record: {
    settings: (facts, { machine, settings }) => intentOn(facts, machine, "WriteMeta")?.configHash === settings,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "WriteMeta")?.uuid === ifUuid,
  },
  late: { inTime: inTime("WriteMeta") },
  doing: "Writing to META",
  async send(connected, options) {
    const wanted = connected.ask(wantedNow);
    if (wanted !== undefined) await put(connected.client, wanted, options);
  },
  known: howNow,
  step({ machine }, seen) {
    const look = seen.machines.find(({ declared }) => declared.name === machine)?.look;
    const renaming = look === undefined ? undefined : renamingByMeta(look, known(seen, machine));
    const named = renaming === undefined ? machine : `${machine}: ${renamingWords(renaming)}`;
    return onMachine(renaming === undefined ? "live" : "service restart", machine, (those) => `Write meta: ${those}.`, named);
  },
  afterwards(seen, { machine, settings }) {
    const found = seen.machines.find(({ declared }) => declared.name === machine);
    const renaming = found === undefined ? undefined : renamingByMeta(found.look, known(seen, machine));
    const renamed = renaming?.to === undefined ? seen : withRenamedNode(seen, machine, renaming.to);
    const next = withConfig(renamed, machine, { ...known(seen, machine), meta: { wanted: settings, live: settings } });
    return withFact(next, machine, (fact) => ({ ...fact, metaHash: settings }));
  },
});

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
